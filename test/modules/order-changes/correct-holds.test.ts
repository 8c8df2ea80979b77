import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { expirePaymentRequests } from '../../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import type { Answer } from '../../harness/app.ts'
import { type Exchanges, exchangesOf } from '../checkout/exchange-setup.ts'
import { keyed, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok } from '../returns/setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let exchanges: Exchanges

const TAX = { tax: { provider: 'flat_rate', rate_bps: 1_000 } }

/** A correction that costs more: by a rate of tax, as another address would bring it. */
const dearer = (id: string): Promise<Answer> =>
  store.shop.merchant.send(
    'PATCH',
    `/v1/merchant/orders/${id}`,
    { tax: { provider: 'flat_rate', rate_bps: 2_000 } },
    keyed(),
  )

const dispute = (id: string, outcome: string): Promise<Answer> =>
  store.app.operator.post(`/v1/stores/acme/orders/${id}/dispute`, { outcome })

const expire = async (id: string): Promise<void> => {
  await store.superuser.query(
    `update payment_requests set expires_at = fd_now() - interval '1 hour', due_at = fd_now()
      where order_id = $1`,
    [id],
  )
  const { runtime } = store.app
  const deps = { ...openCheckout(runtime), database: runtime.workerDatabase }
  assert.equal(await expirePaymentRequests(deps), 1)
}

const ENDS: Record<string, (id: string) => Promise<unknown>> = {
  paid: async (id) => ok(await exchanges.pay(id)),
  withdrawn: async (id) => ok(await exchanges.withdraw(id)),
  expired: expire,
}

describe('a correction that the shopper has paid with a banned card', () => {
  test('is held for review, like an edit', async () => {
    store = shared.current
    exchanges = exchangesOf(store)
    const { order } = await store.place({ ...TAX, email: 'ban@example.com' })
    assert.equal(ok(await dearer(order.id)).applied, false)
    const ban = { kind: 'email', value: 'ban@example.com', action: 'review' }
    ok(await store.shop.merchant.post('/v1/merchant/fraud/bans', ban), 201)
    ok(await exchanges.pay(order.id))
    const { order: held } = await store.read(order.id)
    assert.deepEqual([held.status, held.hold?.reason], ['on_hold', 'fraud_review'])
    ok(await store.merchant(order.id, 'release'))
    assert.equal((await store.read(order.id)).order.status, 'placed')
  })
})

describe('a dispute that is opened while the shopper is asked to pay for a correction', () => {
  before(() => {
    store = shared.current
    exchanges = exchangesOf(store)
  })

  for (const [end, make] of Object.entries(ENDS)) {
    test(`holds the order once the payment request is ${end}, so that nothing ships before the bank has decided`, async () => {
      const { order } = await store.place(TAX)
      assert.equal(ok(await dearer(order.id)).applied, false)
      ok(await dispute(order.id, 'opened'))
      await make(order.id)
      const { order: held } = await store.read(order.id)
      assert.deepEqual([held.status, held.hold?.reason], ['on_hold', 'dispute'])
      assert.equal((await store.merchant(order.id, 'fulfillments')).status, 409)
      ok(await dispute(order.id, 'won'))
      const { order: free } = await store.read(order.id)
      assert.deepEqual([free.status, free.hold], ['placed', null])
    })
  }

  test('holds the order of an exchange, too, which is paid with the money of the disputed order', async () => {
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const { order: later } = ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
    assert.equal(ok(await dearer(later.id)).applied, false)
    ok(await dispute(order.order.id, 'opened'))
    ok(await exchanges.withdraw(later.id))
    const { order: held } = await store.read(later.id)
    assert.deepEqual([held.status, held.hold?.reason], ['on_hold', 'dispute'])
    ok(await dispute(order.order.id, 'won'))
    assert.equal((await store.read(later.id)).order.status, 'placed')
  })
})
