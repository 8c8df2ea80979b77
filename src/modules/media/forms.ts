import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Db, TenantDb } from '../../db/database.ts'
import type { BlobStore } from '../../platform/blobs.ts'
import type { WorkQueue } from '../../platform/work-queue.ts'
import * as queries from './queries.ts'
import type { AssetForm, AssetRow } from './schema.ts'
import { keyOf } from './service.ts'
import { resize } from './workshop.ts'

/** The widths there are. Few, so that nobody can ask for endless work or fill the store. */
export const WIDTHS = [160, 320, 480, 640, 960, 1_280, 1_920] as const

/** Forms that may wait to be made. Beyond that a reader gets the original at once. */
const WAITING_MAX = 32

/** The bytes of a form have a name that no asset can have: neither ever deletes the other's. */
const FORM = 'form'

export const formKey = (tenant: string, { form_sha256 }: AssetForm) =>
  `${tenant}/${form_sha256}.${FORM}`

/** The next larger width that there is; null when that would not be smaller than the original. */
export function rungFor(asked: number, asset: AssetRow): number | null {
  const rung = WIDTHS.find((width) => width >= asked)
  if (rung === undefined || asset.content_type === 'image/svg+xml') return null
  return asset.width === null || asset.width <= rung ? null : rung
}

/** Where a smaller picture takes no fewer bytes, the original stands in the form's place. */
export const isOriginal = ({ form_sha256 }: AssetForm, { sha256 }: AssetRow): boolean =>
  form_sha256 === sha256

export interface FormDeps {
  blobs: BlobStore
  workshop: WorkQueue
}

/** Makes each form once, however many ask for it at the same time. */
export interface Forms {
  /** Null when too much else is being made just now. */
  get(db: TenantDb, asset: AssetRow, width: number): Promise<AssetForm | null>
  /** Also when there is one, whose bytes were lost. */
  make(db: TenantDb, asset: AssetRow, width: number): Promise<AssetForm | null>
}

export function createForms({ blobs, workshop }: FormDeps): Forms {
  const underWay = new Map<string, Promise<AssetForm>>()

  async function make(db: TenantDb, asset: AssetRow, width: number) {
    const name = `${db.tenant}/${asset.sha256}/${width}`
    const running = underWay.get(name)
    if (running !== undefined) return running
    if (workshop.waiting >= WAITING_MAX) return null
    const work = workshop
      .run(() => makeForm(db, blobs, asset, width))
      .finally(() => underWay.delete(name))
    underWay.set(name, work)
    return work
  }

  return {
    make,
    async get(db, asset, width) {
      return (await queries.findForm(db, asset.sha256, width)) ?? make(db, asset, width)
    },
  }
}

async function makeForm(db: Db, blobs: BlobStore, asset: AssetRow, width: number) {
  const { content_type: contentType } = asset
  if (contentType === 'image/svg+xml') throw new Error('a drawing has no smaller forms')
  const original = await blobs.get(keyOf(db.tenant, asset))
  if (original === null) throw new Error(`the bytes of asset ${asset.sha256} are missing`)
  const bytes = await resize(await buffer(original.stream), contentType, width)
  const form = formOf(asset, bytes)
  if (!isOriginal(form, asset)) await blobs.put(formKey(db.tenant, form), bytes, { contentType })
  await queries.saveForm(db, asset.sha256, width, form)
  return form
}

/**
 * Anybody can ask for forms, and they do not count against what the store may keep. So each is held
 * to the bytes of its original, or a few small pictures would fill the disk.
 */
function formOf(asset: AssetRow, bytes: Buffer): AssetForm {
  if (bytes.length >= asset.bytes) return { form_sha256: asset.sha256, bytes: asset.bytes }
  return { form_sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
}
