import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import { createMailWorker, type MailWorkerOptions } from '../../../src/modules/shopper-mail/jobs.ts'
import { openShopperMail } from '../../../src/modules/shopper-mail/open.ts'
import { queueMails } from '../../../src/modules/shopper-mail/service.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { createTransport } from '../../../src/platform/mail.ts'
import type { SlotWorker } from '../../../src/platform/slot-worker.ts'
import { openTestApp, type TestApp, type TestAppOptions } from '../../harness/app.ts'
import { type ReadMail, readMail } from '../../harness/mime.ts'
import { share } from '../../harness/scope.ts'
import { startSmtp } from '../../harness/smtp.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { cart, checkout, openShop, type Shop } from '../checkout/setup.ts'

export const FROM = 'Fairdock <no-reply@fairdock.example>'

export interface MailApp extends TestApp {
  /** The address of the mail server. */
  smtpUrl: string
  /** Queues the mails of all events so far. */
  queue(): Promise<void>
  worker(more?: Partial<MailWorkerOptions>): SlotWorker
  /** Queues and sends all that is due, and returns the mails that the mail server has got meanwhile. */
  sendAll(worker?: SlotWorker): Promise<ReadMail[]>
  /** All that the mail server has got so far. */
  received(): ReadMail[]
  sql<T extends object = Record<string, unknown>>(query: string, values?: unknown[]): Promise<T[]>
}

export interface MailAppOptions extends TestAppOptions {
  smtp?: SMTPServerOptions
}

const SIGNAL = new AbortController().signal

/** Works on all that is due. */
export async function drain(worker: SlotWorker): Promise<number> {
  for (let done = 0; ; ) {
    const begun = await worker.step(SIGNAL)
    await worker.drain()
    if (begun === 0) return done
    done += begun
  }
}

/** The platform with a mail server of its own. */
export async function openMailApp(t: TestContext, options: MailAppOptions = {}): Promise<MailApp> {
  const { url, received } = await startSmtp(t, options.smtp)
  const env = { CHECKOUT_VELOCITY_PER_MINUTE: '1000000', ...options.env }
  const app = await openTestApp(t, { ...options, env })
  const superuser = await openSuperuser(t, app.database)
  const { workerDatabase: database, limits, logger } = app.runtime
  const transport = createTransport(url, FROM)
  assert.ok(transport)
  const worker = (more: Partial<MailWorkerOptions> = {}) =>
    createMailWorker({
      ...openShopperMail(app.runtime),
      database,
      transport,
      limits,
      logger,
      perMinute: 1_000_000,
      ...more,
    })
  const usual = worker()
  const queue = async () => {
    while ((await numberNewEvents(database, { onNumbered: queueMails })) > 0);
  }
  return {
    ...app,
    smtpUrl: url,
    queue,
    worker,
    async sendAll(by = usual) {
      const before = received.length
      await queue()
      await drain(by)
      return received.slice(before).map(readMail)
    },
    received: () => received.map(readMail),
    sql: async (query, values) => (await superuser.query(query, values)).rows,
  }
}

/** One app for all tests of a suite. Call it in the suite. */
export const shareMailApp = (): { current: MailApp } => share((scope) => openMailApp(scope))

export const keyed = () => ({ 'idempotency-key': randomUUID() })

export const SHIP_TO = {
  label: 'Home',
  name: 'Ann Smith',
  line1: '1 Main Street',
  city: 'Springfield',
  state: 'IL',
  postal_code: '62701',
  country: 'US',
}

export interface Bought {
  order: { id: string; order_number: number }
  items: { id: string }[]
}

/** An order of two units, paid by card. */
export async function buy(app: TestApp, shop: Shop, more: object = {}): Promise<Bought> {
  const body = cart(shop.variants[1_000], {
    items: [{ variant_id: shop.variants[1_000], quantity: 2 }],
    email: 'ann@example.com',
    shipping_address: SHIP_TO,
    ...more,
  })
  const answer = await checkout(app, shop, body)
  assert.ok(answer.status === 201 || answer.status === 202, answer.text)
  return answer.body
}

/** A store of its own for a test. */
export const newShop = (app: TestApp, manifest?: object): Promise<Shop> =>
  openShop(app, `shop-${randomUUID().slice(0, 8)}`, [1_000], manifest)

/** Packs and ships units of an order, and returns the parcel. */
export async function ship({ merchant }: Shop, order_id: string, body: object = {}, more = {}) {
  const packed = await merchant.post(`/v1/merchant/orders/${order_id}/fulfillments`, body)
  assert.equal(packed.status, 201, packed.text)
  const { id } = packed.body.fulfillment
  const shipped = await merchant.post(`/v1/merchant/fulfillments/${id}/ship`, more)
  assert.equal(shipped.status, 200, shipped.text)
  return shipped.body.fulfillment as { id: string }
}

export const mailsOf = async ({ merchant }: Shop, query = '') =>
  (await merchant.get(`/v1/merchant/mails?limit=100&${query}`)).body.mails as {
    id: string
    kind: string
    state: string
    reason: string | null
    recipient: string | null
    attempt_count: number
    next_attempt_at: string | null
  }[]
