import type { Db } from '../../db/database.ts'
import * as fulfillment from '../fulfillment/service.ts'
import * as media from '../media/service.ts'
import * as orders from '../orders/service.ts'
import * as sites from '../sites/service.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import { type DocumentStore, invoiceOf } from './invoice.ts'
import { letterheadOf } from './letterhead.ts'
import { packingSlipOf } from './packing-slip.ts'
import { type Page, writePage } from './page.ts'
import type { PdfProcesses } from './pdf-processes.ts'
import type { Invoice, PackingSlip, StoreDocument } from './schema.ts'
import { toSheet } from './sheet.ts'

export interface DocumentDeps extends Pick<media.MediaDeps, 'blobs' | 'assetBase'> {
  pdfs: PdfProcesses
}

/** A larger logo is not printed: every PDF would read it, and shrink it to the size of a stamp. */
const LOGO_BYTES_MAX = 2 * 1_024 * 1_024

/** The store as its documents show it: by its settings, and its active manifest. */
export async function readStore(db: Db): Promise<DocumentStore> {
  const { display_name, language, time_zone, activeVersion } = await stores.get(db)
  const manifest = activeVersion === null ? null : await sites.readManifest(db, activeVersion)
  return { letterhead: letterheadOf(manifest, display_name), language, time_zone }
}

/** The invoice of an order. An order that was never placed has none: nothing was sold. */
export async function readInvoice(db: Db, order_id: string): Promise<Invoice> {
  const order = await orders.get(db, order_id)
  if (order.placed_at === null) throw refuse('order_not_placed')
  const [store, items, charges, refunds] = await Promise.all([
    readStore(db),
    orders.listItems(db, order.id),
    orders.listCharges(db, order.id),
    orders.listRefunds(db, order.id),
  ])
  return invoiceOf(store, { order, items, charges, refunds })
}

export async function readPackingSlip(db: Db, id: string): Promise<PackingSlip> {
  const parcel = await fulfillment.get(db, id)
  const [store, order] = await Promise.all([readStore(db), orders.get(db, parcel.order_id)])
  return packingSlipOf(store, parcel, order)
}

/** The document as a page for a browser. */
export function showPage({ assetBase }: DocumentDeps, db: Db, document: StoreDocument): Page {
  const { logo_ref } = document.letterhead
  const isOwn = logo_ref !== null && media.parseAssetRef(db.tenant, logo_ref) !== null
  return writePage(toSheet(document), isOwn ? media.assetUrl(assetBase(), logo_ref) : null)
}

/** The document as a PDF, drawn in a process of its own when it is the store's turn. */
export async function drawPdf(
  deps: DocumentDeps,
  db: Db,
  document: StoreDocument,
  signal?: AbortSignal,
): Promise<Buffer> {
  const { logo_ref } = document.letterhead
  const logo = logo_ref && (await media.readImage(db, deps, logo_ref, LOGO_BYTES_MAX))
  return deps.pdfs.draw(
    db.tenant,
    { kind: 'sheet', sheet: toSheet(document), logo: logo || null },
    signal,
  )
}

/** The name of the file that a reader saves. */
export const fileNameOf = (document: StoreDocument): string =>
  document.kind === 'invoice'
    ? `invoice-${document.order_number}`
    : `packing-slip-${document.fulfillment_number}`
