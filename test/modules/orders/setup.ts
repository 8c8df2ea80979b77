import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import { type Answer, openTestApp, type TestApp, type TestAppOptions } from '../../harness/app.ts'
import { assertOrdersAddUp } from '../../harness/order-oracles.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { APPROVED, checkout, openShop, type Shop } from '../checkout/setup.ts'

export { APPROVED } from '../checkout/setup.ts'

export const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key })

/** A store with its callers, for tests of orders. */
export interface OrderStore {
  app: TestApp
  shop: Shop
  superuser: pg.Client
  /** Places an order and returns the body of the checkout's answer. */
  place(more?: object): Promise<Answer['body']>
  shopper(orderId: string, verb: string, body?: object, key?: string): Promise<Answer>
  merchant(orderId: string, verb: string, body?: object, key?: string): Promise<Answer>
  read(orderId: string): Promise<Answer['body']>
  /** What the simulated gateway has captured and not refunded of an order, by its own tables. */
  net(orderId: string): Promise<number>
  check(): Promise<void>
}

/** Opens an app with a live store that sells at 1,000, 2,500 and 333 cents. */
export async function openOrderStore(
  t: TestContext,
  options: TestAppOptions = {},
): Promise<OrderStore> {
  const env = { CHECKOUT_VELOCITY_PER_MINUTE: '100000', ...options.env }
  const app = await openTestApp(t, { ...options, env })
  const shop = await openShop(app, 'acme', [1_000, 2_500, 333])
  const superuser = await openSuperuser(t, app.database)
  const place = async (more: object = {}) => {
    const items = [{ variant_id: shop.variants[1_000], quantity: 2 }]
    const body = { customer_ref: 'ann', items, card: APPROVED, ...more }
    const answer = await checkout(app, shop, body)
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  const store: OrderStore = {
    app,
    shop,
    superuser,
    place,
    shopper: (id, verb, body = {}, key) =>
      app.storefront.post(`/v1/tenants/acme/orders/${id}/${verb}`, body, keyed(key)),
    merchant: (id, verb, body = {}, key) =>
      shop.merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, keyed(key)),
    read: async (id) => (await shop.merchant.get(`/v1/merchant/orders/${id}`)).body,
    net: (id) => netOf(superuser, id),
    check: () => assertOrdersAddUp(superuser),
  }
  return store
}

async function netOf(superuser: pg.Client, orderId: string): Promise<number> {
  const { rows } = await superuser.query(
    `select coalesce(sum(s.captured_cents - s.refunded_cents), 0)::int as net
       from charges c
       join sim_charges s on s.tenant_ref = c.tenant_ref and s.txn_id::text = c.txn_id
      where c.order_id = $1 and s.voided_at is null`,
    [orderId],
  )
  return rows[0].net
}

/** Gives the customer `ann` store credit, and issues a gift card. */
export async function giveBalances(
  { shop }: OrderStore,
  creditCents: number,
  giftCents: number,
  expires_at: string | null = null,
) {
  for (const feature_key of ['gift_cards', 'store_credit']) {
    await shop.merchant.post('/v1/merchant/entitlements/enable', { feature_key })
  }
  if (creditCents > 0) {
    const credit = { amount_cents: creditCents, currency: 'USD', reason: 'a test', expires_at }
    const url = '/v1/merchant/store-credit/ann/credit'
    assert.equal((await shop.merchant.post(url, credit, keyed())).status, 201)
  }
  const card = { initial_balance_cents: giftCents }
  const issued = await shop.merchant.post('/v1/merchant/gift-cards', card, keyed())
  assert.equal(issued.status, 201, issued.text)
  return issued.body as { code: string; gift_card: { id: string } }
}

/** One store for all tests of a file. The oracles check it at the end. */
export const shareOrderStore = (options: TestAppOptions = {}): { current: OrderStore } =>
  share(async (scope) => {
    const store = await openOrderStore(scope, options)
    scope.after(() => store.check())
    return store
  })
