import type { Database, TenantDb } from '../../db/database.ts'
import { DAY_MS } from '../../kernel/time.ts'
import type { DueWork } from '../../platform/due-work.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import { describeReply, type MailTransport, readerRefusal } from '../../platform/mail.ts'
import { createSlotWorker, type SlotWorker } from '../../platform/slot-worker.ts'
import { bounceOf } from '../campaigns/bounce.ts'
import type { MailDeps } from '../campaigns/deps.ts'
import { scanMail } from '../campaigns/scan.ts'
import { loadLook, writeMail } from '../campaigns/write-mail.ts'
import * as catalog from '../catalog/service.ts'
import * as inventory from '../inventory/service.ts'
import { recordRefusal } from '../marketing/suppressions.ts'
import * as queries from './queries.ts'
import type { CartItem, DueReminder, ReminderSettings, StopReason } from './schema.ts'
import { readSettings } from './service.ts'
import { textsIn } from './texts.ts'

/** Mails that a worker sends at the same time. */
const SLOTS = 5

/** The age from which a cart is too old: a reminder of a week ago is no use. */
const STALE_MS = 7 * DAY_MS

export interface ReminderWorkerOptions extends MailDeps {
  /** As fd_worker. */
  database: Database
  transport: MailTransport
  onFree?: () => void
}

type DueCart = DueReminder & Lease

/** Creates the worker that sends the reminders that are due. Each is sent at most once, even if a process is killed. */
export function createReminderWorker(options: ReminderWorkerOptions): SlotWorker {
  const { database, onFree } = options
  return createSlotWorker({
    database,
    queue: queries.queue,
    slots: SLOTS,
    perStore: 2,
    onFree,
    async work(cart) {
      const db = database.tenant(cart.tenant_ref)
      await queries.queue.runWithLease(db, cart, () => remind(options, db, cart))
    },
  })
}

/** The reminders of one store as work that is due, for a store whose clock is being moved. */
export const dueReminders = (options: ReminderWorkerOptions): DueWork => ({
  kind: 'checkout_reminder',
  nextDue: queries.nextReminder,
  async runDue(db) {
    const [cart] = await queries.queue.claim(db, 1)
    if (cart === undefined) return { count: 0, ran: [] }
    const outcome = await remind(options, db, cart)
    return { count: 1, ran: [{ id: cart.id, outcome }] }
  },
})

async function remind(
  options: ReminderWorkerOptions,
  db: TenantDb,
  cart: DueCart,
): Promise<StopReason | 'sent'> {
  const settings = await readSettings(db)
  const stopped = await findStop(options, db, cart, settings)
  if (stopped !== null) {
    await queries.finishStopped(db, cart, stopped)
    return stopped
  }
  const look = await loadLook(options, db)
  const draft = await writeDraft(db, cart, look)
  if (!(await scanMail(options.scanner, db.tenant, draft)).passed) {
    await queries.finishStopped(db, cart, 'claims')
    return 'claims'
  }
  const isFirst = cart.sent_count === 0
  const second = isFirst ? settings.second_after_minutes : null
  if (!(await queries.markSent(db, cart, second))) {
    throw new LeaseLostError(`reminder ${cart.id}`, cart.lease_token)
  }
  const reader = options.unsubscribeOf(db, cart.email)
  const { headers, text, ...mail } = writeMail(look, draft, reader)
  const id = `${cart.id}.${cart.sent_count}`
  const sending = options.transport.deliver({
    ...mail,
    id,
    recipient: cart.email,
    body: text,
    listHeaders: headers,
  })
  const failure = await sending.then(
    () => null,
    (error: unknown) => error ?? new Error('not an Error'),
  )
  await endSending(db, cart, failure)
  return 'sent'
}

/**
 * Ends the sending of a reminder. If the mail server refuses the address, that counts as in campaigns:
 * no further mail is sent to it.
 */
const endSending = (db: TenantDb, cart: DueCart, failure: unknown): Promise<void> =>
  db.transaction('checkout reminder: result', async (tx) => {
    const { id, email, sent_count } = cart
    const words = failure instanceof Error ? failure.message : null
    await queries.endSending(tx, cart, words === null ? null : describeReply(words, [email]))
    const refusal = readerRefusal(failure)
    const kind = refusal === null ? null : bounceOf(refusal)
    if (kind === null) return
    await recordRefusal(tx, { event_id: `${id}.${sent_count}`, kind, email, detail: refusal })
  })

/** Returns why nothing more is sent to a cart, or null if its reminder is sent. */
async function findStop(
  { mayBeMailed, hasNotLeft }: MailDeps,
  db: TenantDb,
  cart: DueCart,
  { enabled, basis }: ReminderSettings,
): Promise<StopReason | null> {
  if (!enabled) return 'off'
  if (Date.parse(cart.began_at) < db.clock.now() - STALE_MS) return 'too_old'
  if ((await queries.hasOrdered(db, cart)).found) return 'ordered'
  const ids = cart.items.map(({ variant_id }) => variant_id)
  const sold = await catalog.variantsForSale(db, ids)
  if (ids.length === 0 || sold.length < new Set(ids).size) return 'not_sold'
  if (!(await isInStock(db, cart.items))) return 'out_of_stock'
  const { email, email_folded } = cart
  const isReader = (await mayBeMailed(db, [email])).has(email)
  if (isReader) return null
  const isCustomer = basis === 'soft_opt_in' && (await queries.hasBought(db, email_folded)).found
  return isCustomer && (await hasNotLeft(db, [email])).has(email) ? null : 'not_allowed'
}

async function isInStock(db: TenantDb, items: readonly CartItem[]): Promise<boolean> {
  const stock = await inventory.available(
    db,
    items.map(({ variant_id }) => variant_id),
  )
  return items.every(({ variant_id, quantity }) => (stock.get(variant_id) ?? quantity) >= quantity)
}

/** Escapes the name of a product: its characters must not become marks of Markdown. */
const escapeMarkdown = (text: string): string => text.replace(/[!-/:-@[-`{-~]/g, '\\$&')

async function writeDraft(
  db: TenantDb,
  { items, sent_count }: DueCart,
  {
    name,
    language,
    storefrontUrl,
  }: { name: string; language: string; storefrontUrl: string | null },
) {
  const texts = textsIn(language)
  const names = await catalog.variantNames(
    db,
    items.map(({ variant_id }) => variant_id),
  )
  const lines = items.map(({ variant_id, quantity }) => {
    const found = names.get(variant_id)
    const label = found?.label ? ` (${found.label})` : ''
    return `${quantity} × ${found?.product_name ?? ''}${label}`
  })
  const intro = sent_count === 0 ? texts.first : texts.second
  const url = storefrontUrl === null ? null : `${storefrontUrl}/cart`
  const listed = lines.map((line) => `- ${escapeMarkdown(line)}`).join('\n')
  return {
    subject: texts.subject({ store: name }).slice(0, 200),
    body_markdown: `${intro}\n\n${listed}${url === null ? '' : `\n\n[${texts.link}](${url})`}`,
    text: `${intro}\n\n${lines.map((line) => `- ${line}`).join('\n')}${url === null ? '' : `\n\n${texts.link}: ${url}`}`,
    sender_name: null,
    reply_to: null,
    utm: { source: null, medium: null, campaign: null },
  }
}

/** Carts of one store that one statement deletes. */
const ROWS_MAX = 1_000

/** One step, as fd_worker: deletes carts that were last seen a month ago. Returns how many. */
export async function deleteOldCarts(database: Database): Promise<number> {
  const stores = await queries.listStoresWithOldCarts(database.due)
  return forEachStore(stores, (tenant) => queries.deleteOld(database.tenant(tenant), ROWS_MAX))
}
