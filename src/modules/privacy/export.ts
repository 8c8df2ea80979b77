import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'
import type { Db, TenantDb } from '../../db/database.ts'
import { isUuid } from '../../kernel/schema.ts'
import { decryptText, encryptText } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import * as affiliates from '../affiliates/customer-data.ts'
import * as campaigns from '../campaigns/customer-data.ts'
import * as customers from '../customers/service.ts'
import * as fulfillment from '../fulfillment/customer-data.ts'
import * as giftCards from '../gift-cards/customer-data.ts'
import * as marketing from '../marketing/customer-data.ts'
import * as orders from '../orders/customer-data.ts'
import * as pricing from '../pricing/customer-data.ts'
import * as reminders from '../reminders/customer-data.ts'
import * as returns from '../returns/customer-data.ts'
import * as segments from '../segments/customer-data.ts'
import * as shopperMail from '../shopper-mail/customer-data.ts'
import * as storeCredit from '../store-credit/customer-data.ts'
import * as subscriptions from '../subscriptions/customer-data.ts'
import * as webhooks from '../webhooks/customer-data.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'

const BATCH_ROWS = 500

/** The most bytes of an export: some fifteen thousand orders. A larger export does not fit into one answer. */
const TEXT_BYTES_MAX = 64 * 1_024 * 1_024

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

export class ExportTooLargeError extends Error {}

/** Requests a copy of all data of a customer, who may be unknown to the store. */
export function requestExport(db: TenantDb, actor: audit.Actor, customer_ref: string) {
  return db.transaction('privacy: request export', async (tx) => {
    const job = await queries.insertExport(tx, customer_ref)
    // The entity is the export's id, so that the audit log does not name the customer.
    await audit.record(tx, actor, {
      action: 'privacy.export_requested',
      entity: `privacy_export:${job.id}`,
    })
    return { job }
  })
}

/** Reads an export as JSON text: the copy may be large, so it is not parsed here. */
export async function readExport(db: Db, key: Buffer, id: string): Promise<string> {
  const found = isUuid(id) ? await queries.findExport(db, id) : null
  if (found === null) throw refuse('export_not_found')
  const { sealed, ...job } = found
  const data = sealed === null ? 'null' : await decryptExport(key, sealed, db.tenant, job.id)
  return `{"job":${JSON.stringify(job)},"data":${data}}`
}

/** Binds an encrypted copy to its row: in another row it cannot be decrypted. */
const contextOf = (tenant: string, id: string) => `privacy export ${tenant}/${id}`

async function decryptExport(key: Buffer, sealed: Buffer, tenant: string, id: string) {
  return (await promisify(gunzip)(decryptText(key, sealed, contextOf(tenant, id)))).toString('utf8')
}

/** Writes the copy of a customer's data, compresses it as it grows, and encrypts it. */
export async function createExport(
  db: Db,
  keys: { exportKey: Buffer; customersKey: Buffer },
  { id, customer_ref }: { id: string; customer_ref: string },
): Promise<Buffer> {
  const gzip = createGzip()
  const chunks: Buffer[] = []
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => gzip.on('end', resolve).on('error', reject))
  let bytes = 0
  for await (const text of writeExport(db, keys.customersKey, customer_ref)) {
    bytes += Buffer.byteLength(text)
    if (bytes > TEXT_BYTES_MAX) throw new ExportTooLargeError()
    gzip.write(text)
  }
  gzip.end()
  await ended
  return encryptText(keys.exportKey, Buffer.concat(chunks), contextOf(db.tenant, id))
}

/**
 * Writes the copy as JSON text. It selects by the reference alone, and not by e-mail address: a customer
 * who once entered another person's address must not get that person's orders.
 */
async function* writeExport(db: Db, key: Buffer, customer_ref: string): AsyncGenerator<string> {
  const [customer, store_credit, gift_cards, subscribed, groups, counted, partners, carts] =
    await Promise.all([
      customers.find(db, key, customer_ref),
      storeCredit.exportOf(db, customer_ref),
      giftCards.exportOf(db, { customer_ref, emails: [] }),
      subscriptions.exportOf(db, customer_ref),
      pricing.groupsOf(db, [customer_ref]),
      segments.exportOf(db, customer_ref),
      affiliates.exportOf(db, customer_ref),
      reminders.exportOf(db, customer_ref),
    ])
  const head = {
    customer_ref,
    made_at: new Date(db.clock.now()).toISOString(),
    customer,
    store_credit,
    gift_cards,
    subscriptions: subscribed,
    pricing_groups: groups.get(customer_ref) ?? [],
    unfinished_checkouts: carts,
    marketing: { counted, ...(await exportReader(db, customer?.email ?? null)) },
    affiliates: partners,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"orders":[`
  yield* writeOrders(db, customer_ref)
  yield '],"events":['
  yield* writeEvents(db, customer_ref)
  yield '],"mails":['
  yield* writeMails(db, customer_ref, shopperMail.listMails)
  yield '],"campaign_mails":['
  yield* writeMails(db, customer_ref, campaigns.listMails)
  yield ']}'
}

/**
 * Exports the consents that the owner of the customer's address gave. An address that other customers have too is
 * left out: it may belong to another person.
 */
async function exportReader(db: Db, email: string | null) {
  const isOwn = email !== null && (await customers.listByEmail(db, email)).length === 1
  return isOwn ? marketing.exportReader(db, email) : {}
}

async function* writeOrders(db: Db, customer_ref: string): AsyncGenerator<string> {
  let separator = ''
  for (let after = BEFORE_ALL; ; ) {
    const page = await orders.listWhole(db, customer_ref, after, BATCH_ROWS)
    const ids = page.map(({ id }) => id)
    const coupons = await marketing.exportOf(db, ids)
    const parcels = await fulfillment.listOfOrders(db, ids)
    const returned = await returns.listOfOrders(db, ids)
    const linked = await orders.linkMailsOf(db, ids)
    const bought = await giftCards.purchasesOf(db, ids)
    const couponOf = new Map(coupons.map((each) => [each.order_id, each]))
    for (const { id, data } of page) {
      const more = {
        coupon_redemption: couponOf.get(id) ?? null,
        fulfillments: parcels.get(id) ?? [],
        returns: returned.get(id) ?? [],
        link_mails: linked.get(id) ?? [],
        gift_cards: bought.get(id) ?? [],
      }
      yield separator + JSON.stringify({ ...data, ...more })
      separator = ','
      after = id
    }
    if (page.length < BATCH_ROWS) return
  }
}

async function* writeEvents(db: Db, customer_ref: string): AsyncGenerator<string> {
  let separator = ''
  for (let after = BEFORE_ALL; ; ) {
    const page = await webhooks.listEvents(db, customer_ref, after, BATCH_ROWS)
    for (const { id, type, created_at, data } of page) {
      const head = JSON.stringify({ id, type, created_at }).slice(0, -1)
      yield `${separator}${head},"data":${data}}`
      separator = ','
      after = id
    }
    if (page.length < BATCH_ROWS) return
  }
}

type ListMails = (
  db: Db,
  customer_ref: string,
  after: string,
  limit: number,
) => Promise<{ id: string; data: object }[]>

async function* writeMails(db: Db, customer_ref: string, list: ListMails): AsyncGenerator<string> {
  let separator = ''
  for (let after = BEFORE_ALL; ; ) {
    const page = await list(db, customer_ref, after, BATCH_ROWS)
    for (const { id, data } of page) {
      yield separator + JSON.stringify(data)
      separator = ','
      after = id
    }
    if (page.length < BATCH_ROWS) return
  }
}
