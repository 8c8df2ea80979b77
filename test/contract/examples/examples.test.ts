import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadEvents } from '../../../src/compose/events.ts'
import type { ApiDocument } from '../../../src/http/api-document.ts'
import { countAndClose } from '../../../src/modules/billing/jobs.ts'
import { nameOf } from '../../../src/modules/webhooks/describe.ts'
import { RESOURCES } from '../../harness/all-resources.ts'
import type { Caller } from '../../harness/app.ts'
import { runWorker } from '../../harness/books.ts'
import { startNmi } from '../../harness/nmi.ts'
import type { ExampleOrder } from '../../harness/resources.ts'
import { moveTo } from '../../harness/store-time.ts'
import { countAll } from '../../modules/analytics/setup.ts'
import {
  addVariant,
  cart,
  checkout,
  enable,
  openShop,
  preview,
  type Shop,
} from '../../modules/checkout/setup.ts'
import { recountNow } from '../../modules/inventory/setup.ts'
import { FEEDBACK_KEY, signFeedback } from '../../modules/marketing/readers.ts'
import { ok } from '../../modules/returns/setup.ts'
import { keyed, type MailApp, openMailApp } from '../../modules/shopper-mail/setup.ts'
import { freshKey } from '../ids.ts'
import { recruit } from './affiliates.ts'
import { givePrices } from './balances.ts'
import { fillShelves } from './catalog.ts'
import { DEAD_ENDPOINT, letThingsHappen, readEvents } from './events.ts'
import { sellLamps } from './orders.ts'
import { hearOfPayments, signUp } from './people.ts'
import { listExpected, openRecorder, type Recorder } from './record.ts'
import { GATEWAY_KEY, openKiosk } from './stores.ts'
import { moveTime, sendBeans } from './subscriptions.ts'

/**
 * One day of a tea shop, told by its requests. Each becomes the example of its operation in the API
 * document, so that every example is a real answer to a test. `UPDATE_EXAMPLES=1` writes the file again.
 */

const FILE = fileURLToPath(new URL('../../../generated/api-examples.json', import.meta.url))

const SHIP_TO = {
  label: 'Home',
  name: 'Ann Archer',
  line1: '17 Quarrystone Lane',
  city: 'Cheyenne',
  state: 'WY',
  postal_code: '82001',
  country: 'US',
}

const INVENTORY = '/v1/merchant/inventory'
const PURCHASES = '/v1/merchant/purchasing'
const RETURNS = '/v1/merchant/returns'

test('the examples of the API document are what the routes answer', async (t) => {
  const nmi = await startNmi(GATEWAY_KEY)
  t.after(() => nmi.close())
  const env = {
    MAIL_FEEDBACK_KEY: FEEDBACK_KEY,
    NMI_URL: nmi.url,
    WEBHOOK_TEST_TARGETS: DEAD_ENDPOINT,
  }
  const app = await openMailApp(t, { env })
  const shop = await openShop(app, 'acme', [])
  await enable(shop.merchant, 'bulk_fulfillment', 'affiliates')
  const published = await app.anyone.get('/openapi.json')
  const recorder = openRecorder(published.body as ApiDocument)
  await fillShelves(app, recorder)
  await givePrices(app, recorder)
  await sellLamps(app, recorder)
  await sendBeans(app, recorder)
  await moveTime(app, recorder)
  await openKiosk(app, recorder)
  await signUp(app, recorder)
  await hearOfPayments(app, recorder)
  const merchant = recorder.recorded(shop.merchant)
  const storefront = recorder.recorded(app.storefront)
  const tea = await addVariant(merchant, 1_200, { name: 'Green tea' }, { sku: 'TEA-100' })
  const cup = await addVariant(merchant, 900, { name: 'Cup' }, { sku: 'CUP-1' })

  await stockUp(merchant, tea, cup)
  await countStock(merchant, tea)

  const buy = async (items: object[], members: object = {}) => {
    const more = { items, email: 'ann@example.com', shipping_address: SHIP_TO, ...members }
    return ok(await checkout(app, shop, cart(undefined, more)), 201)
  }
  const first = await buy([
    { variant_id: tea, quantity: 2 },
    { variant_id: cup, quantity: 1 },
  ])
  const second = await buy([{ variant_id: tea, quantity: 3 }])
  const third = await buy([{ variant_id: cup, quantity: 2 }])
  await chooseReaders(merchant)
  const operator = recorder.recorded(app.operator)
  const orders = { first, second, third }
  for (const { examples } of RESOURCES) {
    await examples?.({ app, merchant, storefront, operator, tea, cup, orders })
  }
  await app.sendAll()
  await takeBack(merchant, storefront, first)
  await readMails(merchant, operator)
  await hearOfBounces(recorder.recorded(app.anyone), operator)

  await recruit({
    merchant,
    storefront,
    buy: async (more) => (await buy([{ variant_id: tea, quantity: 1 }], more)).order.id,
  })

  // A counter that is wrong, as a fault of a disk would leave it.
  await app.sql(`update inventory_levels set on_hand = on_hand + 1 where variant_id = $1`, [cup])
  const admin = await app.database.openAdmin()
  await recountNow(app.runtime.workerDatabase, admin, { error: () => {} })
  ok(await merchant.get(`${INVENTORY}/discrepancies`))

  ok(await merchant.get(`${PURCHASES}/suggestions?lead_time_days=365`))

  await runCampaigns(app, { ...shop, merchant }, tea)
  await remindShoppers(app, { ...shop, merchant }, cup)
  await billMonth(app, recorder)

  await letThingsHappen(app)

  const operations = recorder.examples()
  assert.deepEqual(Object.keys(operations), listExpected(published.body), 'each has an example')
  const told = await readEvents(app)
  const names = [...(await loadEvents()).keys()].map(nameOf)
  assert.deepEqual(Object.keys(told), names.toSorted(), 'each event has an example')
  const examples = { ...operations, ...told }
  const text = `${JSON.stringify(examples, null, 2)}\n`
  assert.doesNotMatch(text, /\+00:00/, 'every time is written in one form')
  if (process.env.UPDATE_EXAMPLES === '1') writeFileSync(FILE, text)
  assert.deepEqual(JSON.parse(readFileSync(FILE, 'utf8')), examples)
})

/** Consents and suppressions. */
async function chooseReaders(merchant: Caller): Promise<void> {
  const url = '/v1/merchant/marketing'
  const given = {
    email: 'bob@example.com',
    given_at: '2025-11-03T08:00:00Z',
    text: 'Yes, send me offers by e-mail. I can stop them at any time.',
    locale: 'en',
    form: 'old shop',
  }
  ok(await merchant.post(`${url}/consents/import`, { consents: [given] }))
  ok(await merchant.get(`${url}/consents?email=bob@example.com`))
  const told = { email: 'carl@example.com', note: 'Told us at the counter.' }
  ok(await merchant.post(`${url}/consents/withdraw`, told))
  const rival = { email: 'rival@example.com', detail: 'A competitor' }
  const { suppression } = ok(await merchant.post(`${url}/suppressions`, rival), 201)
  ok(await merchant.get(`${url}/suppressions`))
  ok(await merchant.post(`${url}/suppressions/${suppression.id}/lift`))
}

/** A campaign with a coupon, and one that is mailed. */
async function runCampaigns(app: MailApp, shop: Shop, tea: string): Promise<void> {
  const { merchant } = shop
  const url = '/v1/merchant/marketing'
  const { campaign } = ok(
    await merchant.post(`${url}/campaigns`, {
      name: 'Tea in May',
      channel: 'social',
      budget: { type: 'spend', limit: 50_000 },
      utm: { source: 'instagram', medium: 'social', campaign: 'may' },
    }),
    201,
  )
  const one = `${url}/campaigns/${campaign.id}`
  ok(await merchant.post(`${one}/schedule`, {}))
  const coupon = { code: 'MAY10', type: 'percent', percent_bps: 1_000, campaign_id: campaign.id }
  const made = ok(await merchant.post(`${url}/coupons`, coupon), 201)
  const more = { customer_ref: 'bea', email: 'bea@example.com', coupon_code: 'MAY10' }
  ok(await checkout(app, shop, cart(tea, more)), 201)
  await countAll(app)
  ok(await merchant.get(one))
  ok(await merchant.get(`${one}/performance`))
  ok(await merchant.get(`${url}/coupons/${made.coupon.id}/report`))
  ok(await merchant.post(`${one}/pause`))
  ok(await merchant.post(`${one}/resume`))
  ok(await merchant.patch(one, { name: 'Tea in May and June' }))
  ok(await merchant.get(`${url}/campaigns`))

  await app.sql(`update stores set owner_email = 'owner@example.com' where tenant_ref = 'acme'`)
  const letter = {
    name: 'A letter about tea',
    channel: 'email',
    subject: 'New teas',
    body_markdown: 'Five **new teas** are in the shop.',
  }
  const mailed = ok(await merchant.post(`${url}/campaigns`, letter), 201)
  const mailing = `${url}/campaigns/${mailed.campaign.id}`
  ok(await merchant.post(`${mailing}/test`), 202)
  await app.sql(
    `insert into campaign_recipients (tenant_ref, campaign_id, email, email_folded)
     values ('acme', $1, 'bob@example.com', 'bob@example.com')`,
    [mailed.campaign.id],
  )
  ok(await merchant.get(`${mailing}/recipients`))
  // As after a worker was killed while it sent the only mail.
  const unsure = [
    `update campaigns set status = 'ended', starts_at = now() where id = $1`,
    `insert into campaign_mailings (tenant_ref, id, state, recipients_count, unknown_count, due_at)
     values ('acme', $1, 'done', 1, 1, null)`,
    `update campaign_recipients set state = 'unknown', reason = 'interrupted', next_attempt_at = null
      where campaign_id = $1`,
  ]
  for (const statement of unsure) await app.sql(statement, [mailed.campaign.id])
  ok(await merchant.post(`${mailing}/resend-unknown`, undefined, keyed()))
  ok(await merchant.post(`${mailing}/cancel`))
  const draft = ok(await merchant.post(`${url}/campaigns`, { ...letter, name: 'A draft' }), 201)
  ok(await merchant.send('DELETE', `${url}/campaigns/${draft.campaign.id}`))
}

/** Checkouts that were begun and not finished. */
async function remindShoppers(app: MailApp, shop: Shop, cup: string): Promise<void> {
  const url = '/v1/merchant/marketing/reminders'
  ok(await shop.merchant.put(`${url}/settings`, { enabled: true, law_allows: true }))
  ok(await shop.merchant.get(`${url}/settings`))
  const items = [{ variant_id: cup, quantity: 1 }]
  ok(await preview(app, shop, { customer_ref: 'dan', items, email: 'dan@example.com' }))
  ok(await shop.merchant.get(url))
}

/** What a mail provider tells, and what an operator does about it. */
async function hearOfBounces(provider: Caller, operator: Caller): Promise<void> {
  const bounce = {
    event_id: 'bounce-1',
    kind: 'hard_bounce',
    email: 'gone@example.com',
    tenant_ref: 'acme',
    detail: '550 5.1.1 mailbox does not exist',
  }
  const body = { events: [bounce] }
  ok(await provider.post('/v1/mail/feedback', body, signFeedback(JSON.stringify(body))))
  ok(await operator.get('/v1/mail/suppressions'))
  ok(await operator.post('/v1/mail/suppressions/lift', { email: 'gone@example.com' }))
}

/** Locations, settings, and the stock of two goods. */
async function stockUp(merchant: Caller, tea: string, cup: string): Promise<void> {
  ok(await merchant.post(`${INVENTORY}/locations`, { id: 'east', name: 'East warehouse' }), 201)
  ok(await merchant.post(`${INVENTORY}/locations`, { id: 'attic', name: 'Attic' }), 201)
  const settings = { track_inventory: true, allow_backorder: false, low_stock_threshold: 5 }
  ok(await merchant.put(`${INVENTORY}/${tea}`, settings))
  ok(await merchant.put(`${INVENTORY}/${cup}`, settings))
  const counted = { set_on_hand: 40, reason: 'first count' }
  ok(await merchant.post(`${INVENTORY}/${tea}/adjust`, counted))
  const rows = [{ variant_id: cup, delta: 12 }]
  const found = { adjustments: rows, reason: 'found in the attic' }
  ok(await merchant.post(`${INVENTORY}/adjust-bulk`, found))
  const moved = {
    variant_id: tea,
    from_location_id: 'default',
    to_location_id: 'east',
    quantity: 10,
    reason: 'for the east coast',
  }
  ok(await merchant.post(`${INVENTORY}/transfers`, moved), 201)
  ok(await merchant.get(INVENTORY))
  ok(await merchant.get(`${INVENTORY}/${tea}`))
  ok(await merchant.get(`${INVENTORY}/movements?limit=2`))
  ok(await merchant.get(`${INVENTORY}/locations`))
  ok(await merchant.get(`${INVENTORY}/locations/east`))
  await merchant.patch(`${INVENTORY}/locations/attic`, { name: 'Attic, second door' })
  await merchant.send('DELETE', `${INVENTORY}/locations/attic`)
}

async function countStock(merchant: Caller, tea: string): Promise<void> {
  const url = `${INVENTORY}/counts`
  const begin = async () => {
    const body = { location_id: 'east', variant_ids: [tea] }
    return ok(await merchant.post(url, body), 201).count.id as string
  }
  const id = await begin()
  const lines = [{ variant_id: tea, counted: 9, reason: 'one was torn' }]
  ok(await merchant.put(`${url}/${id}/lines`, { lines }))
  ok(await merchant.get(`${url}/${id}`))
  ok(await merchant.post(`${url}/${id}/post`))
  ok(await merchant.post(`${url}/${await begin()}/cancel`))
  ok(await merchant.get(url))
}

/** A return by the shopper, one by the merchant, and two that come to nothing. */
async function takeBack(merchant: Caller, storefront: Caller, { order, items }: ExampleOrder) {
  const [tea, cup] = items
  const ask = async (item: { id: string } | undefined, reason: string) => {
    const lines = [{ order_item_id: item?.id, quantity: 1, reason }]
    const path = `/v1/tenants/acme/orders/${order.id}/returns`
    const body = { customer_ref: 'ann', lines }
    return ok(await storefront.post(path, body, freshKey()), 201).return
  }
  const asked = await ask(tea, 'The bag was open.')
  const guidance = {
    instructions: 'Use the box it came in.',
    label_url: 'https://acme.example/label',
  }
  ok(await merchant.post(`${RETURNS}/${asked.id}/approve`, guidance))
  const { return: approved } = ok(await merchant.get(`${RETURNS}/${asked.id}`))
  const line = { return_line_id: approved.lines[0].id, received_quantity: 1 }
  const receipt = {
    lines: [{ ...line, disposition: 'quarantine' }],
    refund: { method: 'original', restocking_fee_cents: 100 },
  }
  ok(await merchant.post(`${RETURNS}/${asked.id}/receive/preview`, receipt))
  ok(await merchant.post(`${RETURNS}/${asked.id}/receive`, receipt, freshKey()))
  const resolved = { return_line_id: line.return_line_id, quantity: 1, disposition: 'restock' }
  ok(await merchant.post(`${RETURNS}/${asked.id}/resolve`, { lines: [resolved] }))
  const declined = await ask(cup, 'It is too small.')
  ok(await merchant.post(`${RETURNS}/${declined.id}/decline`, { reason: 'It was used.' }))
  const make = async () => {
    const lines = [{ order_item_id: cup?.id, quantity: 1, reason: 'The handle is loose.' }]
    return ok(await merchant.post(RETURNS, { order_id: order.id, lines }), 201).return.id as string
  }
  ok(await merchant.post(`${RETURNS}/${await make()}/cancel`))
  ok(await merchant.post(`${RETURNS}/${await make()}/close`))
  const wanted = { items: [{ variant_id: cup?.variant_id, quantity: 1 }], advance: true }
  const exchanged = `${RETURNS}/${await make()}/exchange`
  ok(await merchant.post(`${exchanged}/preview`, wanted))
  ok(await merchant.post(exchanged, wanted, freshKey()), 201)
  ok(await merchant.get(`${RETURNS}?limit=2`))
}

async function readMails(merchant: Caller, operator: Caller): Promise<void> {
  ok(await merchant.get('/v1/my/store/mails'))
  const off = { mails: [{ kind: 'order_delivered', enabled: false }] }
  ok(await merchant.put('/v1/my/store/mails', off))
  const { mails } = ok(await merchant.get('/v1/merchant/mails?kind=order_placed&limit=2'))
  ok(await merchant.get('/v1/merchant/mails/preview?kind=order_shipped'))
  ok(await merchant.get(`/v1/merchant/mails/${mails[0].id}`))
  ok(await merchant.post(`/v1/merchant/mails/${mails[0].id}/resend`), 202)
  ok(await operator.get('/v1/mails?limit=2'))
}

/** January of a store: its plan, two orders and a charge, the invoice, and what becomes of it. */
async function billMonth(app: MailApp, recorder: Recorder): Promise<void> {
  const operator = recorder.recorded(app.operator)
  const setTime = (time: string) => moveTo(app.runtime, 'harbour', time)
  /** Calls of the API depend on how fast the test is: none is counted. */
  const close = async () => {
    await runWorker(app)
    await app.runtime.apiCalls.flush()
    await app.sql(`delete from api_calls`)
    await app.sql(`update billing_accounts set due_at = 'epoch'`)
    while ((await countAndClose(app.runtime.workerDatabase)) > 0);
  }
  setTime('2032-01-01T00:00:00Z')
  const shop = await openShop(app, 'harbour', [1_200])
  const merchant = recorder.recorded(shop.merchant)
  const issuer = { name: 'Quay Hosting Ltd', lines: ['1 Quay Street', 'Portside'] }
  ok(await operator.put('/v1/billing/issuer', issuer))
  ok(await operator.get('/v1/billing/issuer'))
  const orders = { included: 1, tiers: [{ up_to: null, price_cents: 50, per: 1 }] }
  const volume = { included: 0, tiers: [{ up_to: null, price_cents: 1, per: 100 }] }
  const plan = {
    plan_key: 'pro',
    name: 'Pro',
    tier: 'growth',
    currency: 'USD',
    base_cents: 3_000,
    meters: { orders, gross_volume: volume },
    features: ['Support by phone'],
    is_public: true,
  }
  ok(await operator.post('/v1/billing/plans', plan), 201)
  ok(await operator.get('/v1/billing/plans?limit=1'))
  const url = '/v1/stores/harbour/billing'
  ok(await operator.put(`${url}/plan`, { plan_key: 'pro' }))
  ok(await operator.get(`${url}/plan`))
  ok(await merchant.get('/v1/merchant/billing/plan'))
  ok(await merchant.get('/v1/merchant/billing/plans'))
  for (const _ of [1, 2]) {
    ok(await checkout(app, shop, cart(shop.variants[1_200])), 201)
  }
  const charge = { description: 'Move from the old shop', amount_cents: 1_500 }
  ok(await operator.post(`${url}/charges`, charge, freshKey()), 201)
  setTime('2032-01-16T12:00:00Z')
  await close()
  ok(await merchant.get('/v1/merchant/billing/usage?period=2032-01'))
  ok(await merchant.get('/v1/merchant/billing/preview?plan=default'))
  setTime('2032-02-03T00:00:01Z')
  await close()
  const { invoices } = ok(await merchant.get('/v1/merchant/billing/invoices'))
  const invoice = `${url}/invoices/${invoices[0].id}`
  const credit = { amount_cents: 500, reason: 'Half a day of outage' }
  ok(await operator.post(`${invoice}/credit-notes`, credit, freshKey()), 201)
  const payment = { amount_cents: 4_000, paid_on: '2032-02-02', reference: 'transfer 7' }
  ok(await operator.post(`${invoice}/payments`, payment, freshKey()), 201)
  ok(await merchant.get(`/v1/merchant/billing/invoices/${invoices[0].id}`))
  ok(await operator.get(invoice))
  ok(await operator.get(`${url}/invoices`))
  ok(await operator.get('/v1/billing/invoices?limit=1'))
}
