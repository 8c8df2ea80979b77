import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { HOUR_MS } from '../../src/kernel/time.ts'
import { cart, checkout, enable, openCheckoutApp, openShop } from '../modules/checkout/setup.ts'

/** A store that has used far more than its share, while another one is at work. */
async function openSpentStore(t: TestContext) {
  const app = await openCheckoutApp(t, { poolWaitMs: 1_000 })
  const shop = await openShop(app)
  await enable(shop.merchant, 'gift_cards')
  const { database } = app.runtime
  const others = setInterval(() => database.tenantForMoney('globex'), 100)
  t.after(() => clearInterval(others))
  database.tenantForMoney('globex')
  const { credential } = (await shop.merchant.get('/v1/my/credentials/self')).body
  // A caller waits for what it has used itself, and hardly for what others of its store have.
  const caller = { lane: 'known', name: credential.id } as const
  const spend = () => database.tenant(shop.tenant, caller).addUse(HOUR_MS)
  spend()
  return { app, shop, spend }
}

test("a shopper's payment never waits, however much of its share the store has used", async (t) => {
  const { app, shop } = await openSpentStore(t)
  const bought = await checkout(app, shop, cart(shop.variants[1_000]))
  assert.equal(bought.status, 201, bought.text)
})

test("a merchant's keyed call waits for the store's share like any other call", async (t) => {
  const { shop, spend } = await openSpentStore(t)
  const keyed = () => ({ 'idempotency-key': randomUUID() })
  for (const [path, body] of [
    ['/v1/merchant/gift-cards/batch', { count: 2, initial_balance_cents: 100 }],
    ['/v1/merchant/store-credit/ann/credit', { amount_cents: 100, reason: 'sorry' }],
    [`/v1/merchant/orders/${randomUUID()}/refunds`, { amount_cents: 1, reason: 'A flood.' }],
  ] as const) {
    spend()
    const answer = await shop.merchant.post(path, body, keyed())
    assert.equal(answer.status, 503, `${path} ${answer.text}`)
    assert.equal(answer.headers['retry-after'], '1')
  }
})
