import assert from 'node:assert/strict'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { runDue } from '../../../src/modules/renewals/jobs.ts'
import { createLinkToken } from '../../../src/modules/subscriptions/link.ts'
import { moveClocks } from '../../../src/modules/test-clock/jobs.ts'
import type { Caller } from '../../harness/app.ts'
import { moveTo } from '../../harness/store-time.ts'
import {
  APPROVED,
  addVariant,
  cardOf,
  checkout,
  enable,
  openShop,
  type Shop,
} from '../../modules/checkout/setup.ts'
import { ok } from '../../modules/returns/setup.ts'
import type { MailApp } from '../../modules/shopper-mail/setup.ts'
import { CLOCK, inDays, moverOf } from '../../modules/test-clock/setup.ts'
import { freshKey } from '../ids.ts'
import { readFigures } from './figures.ts'
import type { Recorder } from './record.ts'

const TENANT = 'roastery'
const SHIP_TO = {
  label: 'Home',
  line1: '17 Quarrystone Lane',
  city: 'Cheyenne',
  state: 'WY',
  postal_code: '82001',
  country: 'US',
}

/** Once it is stored, its bank says twice that it will not pay. */
const TWICE_DECLINED = cardOf('4000000000002685')

/** A roastery that sends beans each month: what its merchant does, and what a shopper does. */
export async function sendBeans(app: MailApp, recorder: Recorder): Promise<void> {
  moveTo(app.runtime, TENANT, '2032-01-10T12:00:00Z')
  const shop = await openShop(app, TENANT, [])
  await enable(shop.merchant, 'subscriptions', 'subscribe_and_save')
  const terms = {
    name: 'House beans',
    is_subscription: true,
    subscription_interval: 'month',
    subscription_price_cents: 1_350,
  }
  const beans = await addVariant(shop.merchant, 1_500, terms, { sku: 'BEANS-250' })
  const subscribe = async (customer_ref: string): Promise<string> => {
    const items = [{ variant_id: beans, quantity: 1 }]
    const more = { email: `${customer_ref}@example.com`, shipping_address: SHIP_TO }
    const body = { customer_ref, items, card: APPROVED, subscribe: true, ...more }
    return ok(await checkout(app, shop, body), 201).subscriptions[0].id
  }
  await serveAsMerchant(app, { ...shop, recorded: recorder.recorded(shop.merchant) }, subscribe)
  const id = await subscribe('bea')
  const key = app.runtime.key('subscription link')
  const token = createLinkToken(key, app.runtime.database.tenant(TENANT), id, 30)
  const storefront = recorder.recorded(app.storefront)
  const url = `/v1/tenants/${TENANT}/subscriptions`
  ok(await storefront.post(`${url}/links/open`, { token }))
  await serveAsShopper(storefront, url, id)
  const of = { storefront, tenant: TENANT, day: '2032-02-10' }
  await readFigures(app, recorder.recorded(shop.merchant), of)
}

async function serveAsMerchant(
  app: MailApp,
  { merchant, recorded }: Shop & { recorded: Caller },
  subscribe: (customer_ref: string) => Promise<string>,
): Promise<void> {
  const renew = async (at: string) => {
    moveTo(app.runtime, TENANT, at)
    await runDue(openCheckout(app.runtime), app.runtime.workerDatabase.tenant(TENANT))
  }
  const base = '/v1/merchant/subscriptions'
  const settings = { dunning: { delays_days: [1, 3, 5] }, pre_renewal_notice_days: 7 }
  ok(await recorded.put(`${base}/settings`, settings))
  ok(await recorded.get(`${base}/settings`))
  const id = await subscribe('ann')
  const url = `${base}/${id}`
  ok(await recorded.get(`${base}?limit=1`))
  ok(await recorded.get(url))
  ok(await recorded.post(`${url}/skip`, { cycle: 2 }))
  ok(await recorded.post(`${url}/unskip`, { cycle: 2 }))
  ok(await recorded.post(`${url}/pause`, { until: '2032-03-01' }))
  ok(await recorded.post(`${url}/resume`, {}))
  ok(await recorded.patch(url, { quantity: 2, max_cycles: 12 }))
  ok(await recorded.post(`${url}/payment-method`, { card: APPROVED }))
  ok(await recorded.get(`${base}/upcoming?days=45`))
  ok(await merchant.post(`${url}/payment-method`, { card: TWICE_DECLINED }))
  await renew('2032-02-10T12:00:00Z')
  ok(await recorded.get(`${url}/cycles`))
  ok(await merchant.post(`${url}/payment-method`, { card: APPROVED }))
  await renew('2032-02-10T13:00:00Z')
  ok(await recorded.post(`${url}/charge`, undefined, freshKey()), 201)
  const ending = { at_period_end: true, reason: 'They are moving abroad.' }
  ok(await recorded.post(`${url}/cancel`, ending))
}

async function serveAsShopper(storefront: Caller, url: string, id: string): Promise<void> {
  const own = (verb = '') => `${url}/${id}${verb}?customer_ref=bea`
  ok(await storefront.get(`${url}?customer_ref=bea`))
  ok(await storefront.get(own()))
  ok(await storefront.post(own('/skip'), { cycle: 2 }))
  ok(await storefront.get(own('/cycles')))
  ok(await storefront.post(own('/unskip'), { cycle: 2 }))
  ok(await storefront.post(own('/pause'), {}))
  ok(await storefront.post(own('/resume'), {}))
  ok(await storefront.patch(own(), { interval: 'week', interval_count: 6 }))
  ok(await storefront.post(own('/payment-method'), { card: APPROVED }))
  ok(await storefront.post(own('/cancel'), { reason: 'Too much coffee.' }))
}

/** A sandbox moves its time past the end of a gift card, and back to that of the machine. */
export async function moveTime(app: MailApp, recorder: Recorder): Promise<void> {
  const shop = await openShop(app, 'tryout', [])
  ok(await recorder.recorded(app.operator).put('/v1/stores/tryout/sandbox', { sandbox: true }))
  await enable(shop.merchant, 'gift_cards')
  const card = { initial_balance_cents: 2_500, expires_at: inDays(7) }
  ok(await shop.merchant.post('/v1/merchant/gift-cards', card, freshKey()), 201)
  const merchant = recorder.recorded(shop.merchant)
  ok(await merchant.post(CLOCK, { advance: 'P1M' }), 202)
  const mover = await moverOf(app.runtime, app.smtpUrl)
  const state = async () => {
    await moveClocks(mover, new AbortController().signal)
    return ok(await shop.merchant.get(CLOCK)).state
  }
  while ((await state()) === 'advancing');
  const { ran } = ok(await merchant.get(CLOCK))
  assert.ok(ran.some(({ kind }: { kind: string }) => kind === 'gift_card_expiry'))
  ok(await merchant.send('DELETE', CLOCK))
}
