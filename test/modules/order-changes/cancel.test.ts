import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { shipBySql } from '../../harness/parcels.ts'
import { addVariant, preview, stock } from '../checkout/setup.ts'
import { giveBalances, type OrderStore, shareOrderStore } from '../orders/setup.ts'

const shared = shareOrderStore()

describe('cancelling', () => {
  let store: OrderStore
  before(() => {
    store = shared.current
  })

  const counted = async (on_hand: number) => {
    const id = await addVariant(store.shop.merchant, 1_000)
    const url = `/v1/merchant/inventory/${id}`
    await store.shop.merchant.put(url, { track_inventory: true })
    await store.shop.merchant.post(`${url}/adjust`, { set_on_hand: on_hand, reason: 'counted' })
    return {
      id,
      available: async () => (await store.shop.merchant.get(url)).body.item.available as number,
    }
  }

  test('an order that was cancelled does not count as the first order of a customer', async () => {
    const coupon = { code: randomUUID(), type: 'percent', percent_bps: 1_000 }
    const first = { ...coupon, first_order_only: true }
    await store.shop.merchant.post('/v1/merchant/marketing/coupons', first)
    const wanted = { customer_ref: 'newcomer', coupon_code: coupon.code }
    const { order } = await store.place(wanted)
    assert.equal((await store.shopper(order.id, 'cancel')).status, 200)
    const again = await store.place(wanted)
    assert.equal(again.order.discount_cents, 200, 'nothing was bought before')
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const second = await preview(store.app, store.shop, { items, ...wanted })
    assert.equal(second.body.coupon.reason, 'not_applicable')
  })

  test('refunds every tender and releases the stock and the coupon in one operation', async () => {
    const gift = await giveBalances(store, 300, 700)
    const { id, available } = await counted(5)
    const code = randomUUID()
    const coupon = { code, type: 'fixed', amount_cents: 100, usage_limit: 1 }
    await store.shop.merchant.post('/v1/merchant/marketing/coupons', coupon)
    const { order } = await store.place({
      items: [{ variant_id: id, quantity: 2 }],
      apply_store_credit: true,
      gift_card_code: gift.code,
      coupon_code: code,
    })
    const had = await available()
    const answer = await store.shopper(order.id, 'cancel', {
      reason: 'changed my mind',
      actor: 'Ann',
    })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.order.status, 'cancelled')
    assert.equal(answer.body.already_cancelled, false)
    assert.equal(answer.body.refunds[0].amount_cents, 1_900)
    assert.equal(await store.net(order.id), 0)
    assert.deepEqual([had, await available()], [3, 5])
    const detail = await store.read(order.id)
    assert.equal(detail.notes[0].note, 'changed my mind (Ann)')
    assert.equal(detail.timeline.at(-1).type, 'cancelled')
    assert.ok(!JSON.stringify(detail.timeline).includes('Ann'), 'the timeline names no person')
    const again = await store.place({ coupon_code: code })
    assert.equal(again.order.discount_cents, 100, 'the coupon can be used again')
  })

  test('gives expiring store credit back with its original date, and so do refunds', async () => {
    const date = '2999-01-01T00:00:00.000Z'
    const dates = async () => {
      const { rows } = await store.superuser.query<{ expires_at: Date | null }>(
        `select expires_at from store_credit_lots
          where remaining_cents > 0 and expires_at is not null`,
      )
      return rows.map(({ expires_at }) => expires_at?.toISOString())
    }
    await giveBalances(store, 500, 700, date)
    for (const verb of ['cancel', 'refunds']) {
      const { order } = await store.place({ apply_store_credit: true })
      assert.deepEqual(await dates(), [], 'all of it is spent')
      const answer = await store.merchant(order.id, verb, { reason: 'staff' })
      assert.ok(answer.status < 300, answer.text)
      assert.deepEqual(await dates(), [date], verb)
    }
    await store.place({ apply_store_credit: true })
  })

  test('changes nothing when it is repeated, and the answer says so', async () => {
    const { order } = await store.place()
    await store.merchant(order.id, 'cancel', { reason: 'staff' })
    const again = await store.merchant(order.id, 'cancel', { reason: 'staff' })
    assert.equal(again.status, 200)
    assert.equal(again.body.already_cancelled, true)
    assert.equal(again.body.refunds.length, 1)
    assert.equal(again.body.order.is_test, false)
  })

  test('refunds only the amount that an earlier refund has left', async () => {
    const { order } = await store.place()
    await store.merchant(order.id, 'refunds', { amount_cents: 700 })
    const answer = await store.merchant(order.id, 'cancel', { reason: 'inventory', restock: false })
    assert.equal(answer.body.refunds[0].amount_cents, 1_300, answer.text)
    assert.equal(answer.body.order.status, 'cancelled')
    assert.equal(answer.body.order.payment_status, 'refunded')
    assert.equal(await store.net(order.id), 0)
  })

  test('cancelling a refunded order releases its stock and coupon, and refunds nothing more', async () => {
    const { id, available } = await counted(4)
    const code = randomUUID()
    const coupon = { code, type: 'fixed', amount_cents: 100, usage_limit: 2 }
    await store.shop.merchant.post('/v1/merchant/marketing/coupons', coupon)
    const items = [{ variant_id: id, quantity: 2 }]
    const placed = [
      await store.place({ items, coupon_code: code }),
      await store.place({ items, coupon_code: code }),
    ].map(({ order }) => order.id)
    for (const order of placed) {
      const refunded = await store.merchant(order, 'refunds')
      assert.equal(refunded.body.order.status, 'refunded', refunded.text)
    }
    assert.equal(await available(), 0, 'allocated stock stays allocated')
    const [first = '', second = ''] = placed
    const explained = await store.shop.merchant.get(`/v1/merchant/orders/${first}/explain`)
    assert.deepEqual(explained.body.allowed, ['cancel'])
    const answers = [
      await store.merchant(first, 'cancel', { reason: 'customer' }),
      await store.shopper(second, 'cancel'),
    ]
    for (const { status, body, text } of answers) {
      assert.equal(status, 200, text)
      assert.deepEqual([body.order.status, body.order.payment_status], ['cancelled', 'refunded'])
      assert.deepEqual([body.refunds, body.already_cancelled], [[], false])
    }
    assert.equal(await available(), 4)
    for (const order of placed) {
      assert.equal(await store.net(order), 0)
      assert.equal((await store.read(order)).refunds.length, 1)
    }
    const again = await store.place({ coupon_code: code })
    assert.equal(again.order.discount_cents, 100, 'the coupon can be used again')
  })

  test('cancelling a refunded order that was shipped is refused', async () => {
    const { order } = await store.place()
    await store.merchant(order.id, 'refunds')
    await shipBySql(store.superuser, order.id)
    const answer = await store.shopper(order.id, 'cancel')
    assert.equal(answer.body.error?.code, 'invalid_transition', answer.text)
    assert.equal(answer.body.reason, 'already_shipped')
  })

  test('returns its units to stock or writes them off, and leaves none allocated', async () => {
    const { merchant } = store.shop
    const variant_id = await addVariant(merchant, 1_500)
    await stock(merchant, variant_id, 10)
    const items = [{ variant_id, quantity: 3 }]
    const level = async () => {
      const { item } = (await merchant.get(`/v1/merchant/inventory/${variant_id}`)).body
      return [item.on_hand, item.allocated, item.reserved, item.available]
    }
    const cancel = async (restock: boolean) => {
      const { order } = await store.place({ items })
      const answer = await store.merchant(order.id, 'cancel', { reason: 'inventory', restock })
      assert.equal(answer.status, 200, answer.text)
      return order.id
    }
    await cancel(true)
    assert.deepEqual(await level(), [10, 0, 0, 10])
    const lost = await cancel(false)
    assert.deepEqual(await level(), [7, 0, 0, 7])
    const url = `/v1/merchant/inventory/movements?variant_id=${variant_id}`
    const { movements } = (await merchant.get(url)).body
    assert.deepEqual(
      movements
        .filter((each: { order_id: string }) => each.order_id === lost)
        .map(({ kind, quantity, reason }: Record<string, unknown>) => [kind, quantity, reason]),
      [
        ['adjusted', -3, 'not restocked'],
        ['released', -3, null],
        ['allocated', 3, null],
      ],
    )
    const owed = { track_inventory: true, allow_backorder: true }
    await merchant.put(`/v1/merchant/inventory/${variant_id}`, owed)
    await merchant.post(`/v1/merchant/inventory/${variant_id}/adjust`, {
      set_on_hand: 1,
      reason: 'count',
    })
    await cancel(false)
    assert.deepEqual(await level(), [0, 0, 0, 0], 'units that never arrived are not written off')
  })

  test('cancelling an order with a total of zero writes its units off, too', async () => {
    const { merchant } = store.shop
    const variant_id = await addVariant(merchant, 0)
    await stock(merchant, variant_id, 5)
    const { order } = await store.place({ items: [{ variant_id, quantity: 2 }], card: null })
    await store.merchant(order.id, 'cancel', { reason: 'inventory', restock: false })
    const { item } = (await merchant.get(`/v1/merchant/inventory/${variant_id}`)).body
    assert.deepEqual([item.on_hand, item.allocated], [3, 0])
  })

  test('many at once cancel once', async () => {
    const { order } = await store.place()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => store.merchant(order.id, 'cancel', { reason: 'other' })),
    )
    const done = answers.filter(({ status, body }) => status === 200 && !body.already_cancelled)
    assert.equal(done.length, 1)
    for (const { status, body } of answers) {
      assert.ok(status === 200 || body.error.code === 'order_busy', JSON.stringify(body))
    }
    assert.equal(await store.net(order.id), 0)
  })

  test('voids the authorisation of an order that was held for review', async () => {
    const value = 'review@bad.example'
    await store.shop.merchant.post('/v1/merchant/fraud/bans', {
      kind: 'email',
      value,
      action: 'review',
      reason: 'a test',
    })
    const { order, fraud } = await store.place({ email: value })
    assert.equal(fraud.decision, 'review')
    const edit = await store.shopper(order.id, 'edit', {
      edits: [{ order_item_id: (await store.read(order.id)).items[0].id, quantity: 1 }],
    })
    assert.equal(edit.body.error.code, 'invalid_transition', edit.text)
    assert.equal(edit.body.reason, 'not_captured')
    const { body } = await store.shop.merchant.get(`/v1/merchant/orders/${order.id}/explain`)
    assert.deepEqual(body.allowed, ['release', 'reject', 'cancel', 'correct'])
    assert.deepEqual(edit.body.allowed, body.allowed)
    const refund = await store.merchant(order.id, 'refunds', {})
    assert.equal(refund.body.error.code, 'not_refundable')
    const answer = await store.merchant(order.id, 'cancel', { reason: 'fraud' })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body.refunds, [])
    assert.equal(answer.body.order.payment_status, 'voided')
    assert.equal(answer.body.order.hold, null)
    const { rows } = await store.superuser.query(
      `select s.voided_at is not null as voided, s.captured_cents::int
         from sim_charges s join charges c on c.txn_id = s.txn_id::text where c.order_id = $1`,
      [order.id],
    )
    assert.deepEqual(rows, [{ voided: true, captured_cents: 0 }])
  })

  test("does not show the merchant's note to the shopper", async () => {
    const { order } = await store.place()
    const key = randomUUID()
    const note = 'known to have stolen cards'
    await store.merchant(order.id, 'cancel', { reason: 'fraud', note }, key)
    const seen = await Promise.all([
      store.app.storefront.get(`/v1/tenants/acme/orders/${order.id}?customer_ref=ann`),
      store.app.storefront.get(`/v1/tenants/acme/idempotency/cancel/${key}`),
      store.shopper(order.id, 'cancel'),
    ])
    for (const { status, text } of seen) {
      assert.equal(status, 200, text)
      assert.ok(!text.includes(note), text)
    }
    assert.equal((await store.read(order.id)).notes[0].note, note)
  })

  test('accepts a note of the maximum length', async () => {
    const { order } = await store.place()
    const words = { reason: 'x'.repeat(2_000), actor: 'y'.repeat(200) }
    const answer = await store.shopper(order.id, 'cancel', words)
    assert.equal(answer.status, 200, answer.text)
  })

  test('is refused for a shipped order, and the refusal names the allowed actions', async () => {
    const { order } = await store.place()
    await store.shop.merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
    const [{ id }] = (await store.read(order.id)).fulfillments
    await store.shop.merchant.post(`/v1/merchant/fulfillments/${id}/ship`)
    const answer = await store.merchant(order.id, 'cancel', { reason: 'staff' })
    assert.equal(answer.status, 409)
    assert.equal(answer.body.error.code, 'invalid_transition')
    assert.ok(answer.body.allowed.includes('refund'))
  })

  test('refuses a charge of another order', async () => {
    const [{ order, charges }, other] = [await store.place(), await store.place()]
    for (const charge_id of [other.charges[0].charge_id, randomUUID(), 'nothing']) {
      const refused = await store.shopper(order.id, 'cancel', { charge_id })
      assert.equal(refused.status, 404, refused.text)
      assert.equal(refused.body.error.code, 'charge_not_found')
    }
    assert.equal(await store.net(order.id), 2_000)
    const charge_id = charges[0].charge_id.toUpperCase()
    const cancelled = await store.shopper(order.id, 'cancel', { charge_id })
    assert.equal(cancelled.body.order?.status, 'cancelled', cancelled.text)
    const again = await store.shopper(order.id, 'cancel', { charge_id: randomUUID() })
    assert.equal(again.body.error?.code, 'charge_not_found', 'also for a cancelled order')
  })

  test('bad input is refused', async () => {
    const { order } = await store.place()
    for (const body of [{}, { reason: 'because' }, { reason: 'staff', restock: 'no' }]) {
      const refused = await store.merchant(order.id, 'cancel', body)
      assert.equal(refused.body.error.code, 'invalid_body')
    }
    assert.equal((await store.shopper('none', 'cancel')).body.error.code, 'order_not_found')
  })
})
