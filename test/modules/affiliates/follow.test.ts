import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { times } from '../../harness/refusals.ts'
import { ok, refusal } from '../returns/setup.ts'
import {
  AFFILIATES,
  type AffiliateShop,
  balanceOf,
  buy,
  commissionsOf,
  editOrder,
  keyed,
  linesOf,
  makeAffiliate,
  openAffiliateShop,
  passDays,
  payOut,
  refund,
  shareAffiliateApp,
} from './setup.ts'

describe('a commission follows its order', () => {
  const shared = shareAffiliateApp()

  /** An order of two units at 10,000 cents, of which the affiliate gets ten percent. */
  const begin = async (more: object = {}, terms: object = {}) => {
    const shop = await openAffiliateShop(shared.current)
    const { id, code } = await makeAffiliate(shop, terms)
    const items = [{ variant_id: shop.variant, quantity: 2 }]
    const placed = await buy(shop, { referral_code: code, items, ...more })
    return { shop, id, order: placed.order, items: placed.items, placed }
  }
  const act = ({ merchant }: AffiliateShop, id: string, verb: string, body: object) =>
    merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, keyed())

  test('is clawed back in proportion to a refund, and reversed by the last one', async () => {
    const { shop, id, order } = await begin()
    ok(await refund(shop, order.id, { amount_cents: 5_000 }), 201)
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 2000', 'clawback pending -500'])
    assert.deepEqual(await balanceOf(shop, id), [1_500, 0, 0, 0])
    const [sale, clawback] = await commissionsOf(shop, { order_id: order.id })
    assert.deepEqual(
      [clawback.base_cents, clawback.reason, clawback.approves_at],
      [-5_000, 'refund', sale.approves_at],
    )
    const { refunds } = ok(await shop.merchant.get(`/v1/merchant/orders/${order.id}`))
    assert.equal(clawback.cause_ref, refunds[0].refund_id)
    ok(await refund(shop, order.id), 201)
    assert.deepEqual(await linesOf(shop, order.id), [
      'sale reversed 2000',
      'clawback reversed -500',
      'clawback reversed -1500',
    ])
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 0])
  })

  test('does not change by a refund of shipping or tax alone', async () => {
    const { shop, order } = await begin({
      shipping: { mode: 'flat', flat_rate_cents: 500, expedited_rate_cents: 900, max_cents: 900 },
    })
    ok(await refund(shop, order.id, { shipping_cents: 500 }), 201)
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 2000'])
  })

  test('is clawed back at once after its approval, and taken from the next payout once it was paid', async () => {
    const { shop, id, order } = await begin()
    assert.equal(await passDays(shop, 29), 0)
    assert.equal(await passDays(shop, 31), 1)
    assert.deepEqual(await balanceOf(shop, id), [0, 2_000, 0, 0])
    ok(await refund(shop, order.id, { amount_cents: 5_000 }), 201)
    assert.deepEqual(await balanceOf(shop, id), [0, 1_500, 0, 0])
    await payOut(shop)
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 1_500])
    ok(await refund(shop, order.id), 201)
    assert.deepEqual(await balanceOf(shop, id), [0, -1_500, 0, 1_500])
    assert.deepEqual(await linesOf(shop, order.id), [
      'sale paid 2000',
      'clawback paid -500',
      'clawback approved -1500',
    ])
  })

  test('shrinks and grows with edits of the order', async () => {
    const { shop, id, order, items } = await begin()
    const edit = async (quantity: number) =>
      ok(await editOrder(shop, order.id, items[0].id, quantity))
    await edit(1)
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 2000', 'clawback pending -1000'])
    await edit(3)
    assert.deepEqual((await linesOf(shop, order.id)).at(-1), 'sale pending 2000')
    assert.deepEqual(await balanceOf(shop, id), [3_000, 0, 0, 0])
    const last = (await commissionsOf(shop, { order_id: order.id })).at(-1)
    assert.deepEqual([last.base_cents, last.reason], [20_000, 'edit'])
  })

  test('is reversed with its cancellation, and shrinks when a part of the order is cancelled', async () => {
    const whole = await begin()
    ok(await act(whole.shop, whole.order.id, 'cancel', { reason: 'customer' }))
    assert.deepEqual(await linesOf(whole.shop, whole.order.id), [
      'sale reversed 2000',
      'clawback reversed -2000',
    ])
    const rest = await begin()
    const { merchant } = rest.shop
    const units = { items: [{ order_item_id: rest.items[0].id, quantity: 1 }] }
    const url = `/v1/merchant/orders/${rest.order.id}/fulfillments`
    const { fulfillment } = ok(await merchant.post(url, units), 201)
    ok(await merchant.post(`/v1/merchant/fulfillments/${fulfillment.id}/ship`))
    ok(await act(rest.shop, rest.order.id, 'cancel-remaining', { reason: 'inventory' }))
    assert.deepEqual(await linesOf(rest.shop, rest.order.id), [
      'sale pending 2000',
      'clawback pending -1000',
    ])
  })

  test('is clawed back by a lost dispute, and not by one that is won', async () => {
    const { shop, order } = await begin()
    const { operator } = shared.current
    const url = `/v1/stores/${shop.tenant}/orders/${order.id}/dispute`
    const dispute = async (body: object) => ok(await operator.post(url, body))
    await dispute({ outcome: 'opened' })
    await dispute({ outcome: 'won' })
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 2000'])
    await dispute({ outcome: 'opened' })
    await dispute({ outcome: 'lost', amount_cents: 10_000 })
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 2000', 'clawback pending -1000'])
  })

  test('is zero while the order is flagged as a test', async () => {
    const { shop, id, order } = await begin()
    const url = `/v1/stores/${shop.tenant}/orders/${order.id}/test-flag`
    const flag = async (is_test: boolean) =>
      ok(await shared.current.operator.post(url, { is_test }))
    await flag(true)
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 0])
    ok(await refund(shop, order.id, { amount_cents: 5_000 }), 201)
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 0])
    await flag(false)
    assert.deepEqual(await balanceOf(shop, id), [1_500, 0, 0, 0])
  })

  /** Ships an order, and exchanges units of its first line for units of another variant. */
  const exchange = async (
    { merchant }: AffiliateShop,
    order_id: string,
    quantity: number,
    wanted: { variant_id: string | undefined; quantity: number },
  ) => {
    const read = async () => ok(await merchant.get(`/v1/merchant/orders/${order_id}`))
    if ((await read()).order.fulfillment_status !== 'shipped') {
      const url = `/v1/merchant/orders/${order_id}/fulfillments`
      const { fulfillments } = ok(await merchant.post(url), 201)
      for (const each of fulfillments)
        ok(await merchant.post(`/v1/merchant/fulfillments/${each.id}/ship`))
    }
    const lines = [{ order_item_id: (await read()).items[0].id, quantity }]
    const made = ok(await merchant.post('/v1/merchant/returns', { order_id, lines }), 201)
    const url = `/v1/merchant/returns/${made.return.id}/exchange`
    const body = { items: [wanted], advance: true }
    return ok(await merchant.post(url, body, keyed()), 201) as { order: { id: string } }
  }

  test('moves to the order of an exchange', async () => {
    const { shop, id, order } = await begin()
    const wanted = { variant_id: shop.variants[1_000], quantity: 3 }
    const exchanged = await exchange(shop, order.id, 1, wanted)
    const [fresh] = await commissionsOf(shop, { order_id: exchanged.order.id })
    assert.deepEqual([fresh.amount_cents, fresh.attribution.source], [300, 'exchange'])
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 2000', 'clawback pending -300'])
    assert.deepEqual(await balanceOf(shop, id), [2_000, 0, 0, 0])
    ok(await act(shop, exchanged.order.id, 'cancel', { reason: 'customer' }))
    assert.deepEqual(await balanceOf(shop, id), [2_000, 0, 0, 0])
    assert.equal((await linesOf(shop, order.id)).at(-1), 'sale pending 300')
  })

  test('a commission of a fixed amount is earned once, however often the goods are exchanged', async () => {
    const terms = { commission_type: 'fixed', amount_cents: 300 }
    const { shop, id, order } = await begin({}, terms)
    const same = { variant_id: shop.variant, quantity: 1 }
    const first = await exchange(shop, order.id, 1, same)
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 300', 'clawback pending -150'])
    assert.deepEqual(await linesOf(shop, first.order.id), ['sale pending 150'])
    const second = await exchange(shop, order.id, 1, same)
    const third = await exchange(shop, first.order.id, 1, same)
    assert.deepEqual(await linesOf(shop, third.order.id), ['sale pending 150'])
    assert.deepEqual(await balanceOf(shop, id), [300, 0, 0, 0])
    ok(await act(shop, second.order.id, 'cancel', { reason: 'customer' }))
    assert.deepEqual(await balanceOf(shop, id), [300, 0, 0, 0])
    ok(await refund(shop, third.order.id), 201)
    assert.deepEqual(await balanceOf(shop, id), [150, 0, 0, 0])
  })

  test('the commission of an exchange uses the terms of the first order', async () => {
    const { shop, id, order } = await begin()
    const fixed = { commission_type: 'fixed', amount_cents: 5_000 }
    ok(await shop.merchant.patch(`${AFFILIATES}/${id}`, fixed))
    const same = { variant_id: shop.variant, quantity: 1 }
    const { order: later } = await exchange(shop, order.id, 1, same)
    assert.deepEqual(await linesOf(shop, later.id), ['sale pending 1000'])
    assert.deepEqual(await balanceOf(shop, id), [2_000, 0, 0, 0])
  })

  test('a declined commission does not come back by an exchange', async () => {
    const { shop, id, order } = await begin()
    const [sale] = await commissionsOf(shop, { order_id: order.id })
    ok(await shop.merchant.post(`${AFFILIATES}/commissions/${sale.id}/decline`, {}))
    const same = { variant_id: shop.variant, quantity: 1 }
    const { order: later } = await exchange(shop, order.id, 1, same)
    const [refused] = await commissionsOf(shop, { order_id: later.id })
    assert.deepEqual([refused.status, refused.reason], ['declined', 'commission_declined'])
    const { order: last } = await exchange(shop, later.id, 1, same)
    assert.deepEqual(await linesOf(shop, last.id), [])
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 0])
  })

  test('a commission of a fixed amount shrinks in the same proportion as the order', async () => {
    const { shop, order } = await begin({}, { commission_type: 'fixed', amount_cents: 333 })
    ok(await refund(shop, order.id, { amount_cents: 5_000 }), 201)
    ok(await refund(shop, order.id, { amount_cents: 5_000 }), 201)
    ok(await refund(shop, order.id), 201)
    const amounts = (await commissionsOf(shop, { order_id: order.id })).map(
      ({ amount_cents }) => amount_cents,
    )
    assert.deepEqual(amounts, [333, -83, -83, -167])
  })

  test('is clawed back once by concurrent refunds', async () => {
    const { shop, id, order } = await begin()
    const answers = await times(4, () => refund(shop, order.id, { amount_cents: 4_000 }))
    for (const answer of answers) ok(answer, 201)
    assert.deepEqual(await balanceOf(shop, id), [400, 0, 0, 0])
  })

  test('is booked with the refund or not at all', async () => {
    const { shop, order } = await begin()
    const more = await refund(shop, order.id, { amount_cents: 20_001 })
    assert.deepEqual(refusal(more), [422, 'amount_exceeds_refundable'])
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 2000'])
  })

  test('emits an event for each clawback', async () => {
    const { shop, order } = await begin()
    ok(await refund(shop, order.id, { amount_cents: 5_000 }), 201)
    const { rows } = await shared.current.superuser.query(
      `select data from webhook_events where type = 'commerce.affiliate.clawed_back.v1' and order_id = $1`,
      [order.id],
    )
    assert.equal(rows.length, 1)
    const { commission } = JSON.parse(rows[0].data)
    assert.deepEqual(
      [commission.amount_cents, commission.base_cents, commission.reason],
      [-500, -5_000, 'refund'],
    )
  })
})

describe('a merchant decides about a commission', () => {
  const shared = shareAffiliateApp()

  const begin = async () => {
    const shop = await openAffiliateShop(shared.current)
    const { id, code } = await makeAffiliate(shop)
    const { order, items } = await buy(shop, { referral_code: code })
    const [commission] = await commissionsOf(shop, { order_id: order.id })
    const act = (verb: string, body?: object, of: string = commission.id) =>
      shop.merchant.post(`${AFFILIATES}/commissions/${of}/${verb}`, body)
    return { shop, id, order, items, act }
  }

  test('approves it before its delay is over, together with its clawbacks', async () => {
    const { shop, id, order, act } = await begin()
    ok(await refund(shop, order.id, { amount_cents: 4_000 }), 201)
    assert.equal(ok(await act('approve')).commission.status, 'approved')
    assert.deepEqual(await balanceOf(shop, id), [0, 600, 0, 0])
    const again = await act('approve')
    assert.deepEqual(
      [...refusal(again), again.body.allowed],
      [409, 'invalid_transition', ['decline']],
    )
  })

  test('declines it with its clawbacks, and the order earns and loses nothing more', async () => {
    const { shop, id, order, act } = await begin()
    ok(await refund(shop, order.id, { amount_cents: 4_000 }), 201)
    const declined = ok(await act('decline', { reason: 'bought ads on our name' })).commission
    assert.deepEqual([declined.status, declined.reason], ['declined', 'bought ads on our name'])
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 0])
    ok(await refund(shop, order.id), 201)
    assert.deepEqual(await linesOf(shop, order.id), [
      'sale declined 1000',
      'clawback declined -400',
    ])
    for (const verb of ['approve', 'decline'])
      assert.deepEqual(refusal(await act(verb)), [409, 'invalid_transition'])
  })

  test('cannot decline a clawback, or a commission that is paid or in a payout', async () => {
    const { shop, order, act } = await begin()
    ok(await act('approve'))
    const { payouts } = ok(await shop.merchant.post(`${AFFILIATES}/payouts`, {}, keyed()), 201)
    assert.deepEqual(refusal(await act('decline')), [409, 'invalid_transition'])
    ok(await shop.merchant.post(`${AFFILIATES}/payouts/${payouts[0].id}/mark-paid`))
    assert.deepEqual(refusal(await act('decline')), [409, 'invalid_transition'])
    ok(await refund(shop, order.id, { amount_cents: 4_000 }), 201)
    const [, clawback] = await commissionsOf(shop, { order_id: order.id })
    assert.deepEqual(refusal(await act('decline', {}, clawback.id)), [409, 'invalid_transition'])
  })

  test('refuses a commission of another store, and bad input', async () => {
    const { shop, act } = await begin()
    const other = await openAffiliateShop(shared.current)
    const [own] = await commissionsOf(shop, {})
    for (const id of [own.id, '00000000-0000-4000-8000-000000000000', 'none']) {
      const answer = await other.merchant.post(`${AFFILIATES}/commissions/${id}/approve`)
      assert.deepEqual(refusal(answer), [404, 'commission_not_found'])
    }
    assert.deepEqual(refusal(await act('decline', { reason: '' })), [400, 'invalid_body'])
  })

  test('a decision about a commission and a refund at the same time both count', async () => {
    for (let n = 0; n < 4; n++) {
      const { shop, id, order, act } = await begin()
      const [decided, refunded] = await Promise.all([
        act(n % 2 === 0 ? 'approve' : 'decline'),
        refund(shop, order.id, { amount_cents: 5_000 }),
      ])
      ok(decided)
      ok(refunded, 201)
      const [pending = 0, approved = 0] = await balanceOf(shop, id)
      assert.equal(pending + approved, n % 2 === 0 ? 500 : 0)
    }
  })
})
