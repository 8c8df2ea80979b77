import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { giveBalances, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, receipt, refusal } from '../returns/setup.ts'
import { type Exchanges, exchangesOf, settlement } from './exchange-setup.ts'
import { addVariant } from './setup.ts'

/** Disputes of orders between which exchanges have moved card money: the bank knows one payment. */

const shared = shareOrderStore()
let store: OrderStore
let exchanges: Exchanges
let cheap: string

const dispute = (id: string, outcome: string, amount_cents?: number) =>
  store.app.operator.post(`/v1/stores/acme/orders/${id}/dispute`, { outcome, amount_cents })

const lost = async (id: string, amount_cents?: number) => {
  ok(await dispute(id, 'opened'))
  return ok(await dispute(id, 'lost', amount_cents)).order
}

const refund = (id: string, body: object = {}) => store.merchant(id, 'refunds', body)

const moneyOf = async (id: string) => {
  const { order } = await store.read(id)
  return [order.status, order.payment_status, order.refunded_cents]
}

/** An order of two units at 1,000, of which one is exchanged in advance for one unit at 300. */
async function exchangedOrder(more: object = {}) {
  const variant = store.shop.variants[1_000] ?? ''
  const { order, made } = await exchanges.returnedOf(variant, 2, more)
  const exchanged = await exchangeFor(made.id, cheap)
  return { first: order.order, made, exchanged }
}

async function exchangeFor(return_id: string, variant_id: string): Promise<{ id: string }> {
  const items = [{ variant_id, quantity: 1 }]
  return ok(await exchanges.exchange(return_id, { items, advance: true }), 201).order
}

/** Ships the order of an exchange, and exchanges it for another unit of its kind. */
async function exchangedAgain({ id }: { id: string }) {
  await exchanges.ship(id)
  const { order, items } = await store.read(id)
  const made = await exchanges.returned({ order, items, parcels: [] }, 1)
  return { made, exchanged: await exchangeFor(made.id, cheap) }
}

describe('a dispute of an exchanged order', () => {
  before(async () => {
    store = shared.current
    exchanges = exchangesOf(store)
    cheap = await addVariant(store.shop.merchant, 300)
  })

  test('a lost dispute of an exchanged order takes the money that an exchange has moved, and no refund pays it again', async () => {
    const { first, exchanged } = await exchangedOrder()
    const after = await lost(first.id)
    assert.deepEqual([after.status, after.refunded_cents], ['refunded', 2_000])
    assert.deepEqual(await moneyOf(exchanged.id), ['refunded', 'refunded', 300])
    assert.deepEqual(refusal(await refund(exchanged.id)), [409, 'not_refundable'])
    const { timeline, refunds } = await store.read(exchanged.id)
    const entry = timeline.find(({ type }: { type: string }) => type === 'dispute_lost')
    assert.deepEqual(entry.data, { amount_cents: 300, disputed_order_id: first.id })
    assert.deepEqual([refunds.length, refunds[0].tenders[0].tender], [1, 'card'])
    assert.equal(await store.net(first.id), 2_000, 'no gateway is asked')
    await store.check()
  })

  test('a lost dispute of an exchanged order for a named amount takes the rest of the order itself first', async () => {
    const { first, exchanged } = await exchangedOrder()
    assert.equal((await lost(first.id, 1_800)).refunded_cents, 2_000)
    assert.deepEqual(await moneyOf(exchanged.id), ['partially_refunded', 'partially_refunded', 100])
    const rest = ok(await refund(exchanged.id), 201).refund
    assert.equal(rest.amount_cents, 200)
    const other = await exchangedOrder()
    ok(await dispute(other.first.id, 'opened'))
    const more = await dispute(other.first.id, 'lost', 2_001)
    assert.deepEqual([...refusal(more), more.body.refundable_cents].slice(1), [
      'amount_exceeds_refundable',
      2_000,
    ])
    await store.check()
  })

  test('a lost dispute of an exchanged order after the refund of the exchange books that part as taken twice', async () => {
    const { first, exchanged } = await exchangedOrder()
    ok(await refund(exchanged.id, { amount_cents: 120 }), 201)
    await lost(first.id, 2_000)
    const { timeline } = await store.read(first.id)
    const entry = timeline.find(({ type }: { type: string }) => type === 'dispute_lost')
    assert.deepEqual(entry.data, { amount_cents: 2_000, lost_twice_cents: 120 })
    assert.deepEqual(await moneyOf(exchanged.id), ['refunded', 'refunded', 300])
    await store.check()
  })

  test('a lost dispute of an exchanged order follows an exchange of an exchange, and leaves what other tenders paid', async () => {
    const { code } = await giveBalances(store, 0, 150)
    const variant = store.shop.variants[1_000] ?? ''
    const { order, made } = await exchanges.returnedOf(variant, 1, { gift_card_code: code })
    const dear = await exchanges.tracked(3, 1_400)
    const waiting = await exchangeFor(made.id, dear)
    ok(await exchanges.pay(waiting.id))
    await exchanges.ship(waiting.id)
    const read = await store.read(waiting.id)
    const again = await exchanges.returned({ ...read, parcels: [] }, 1)
    const last = await exchangeFor(again.id, dear)
    const charges = (await store.read(last.id)).charges
    assert.deepEqual(charges.map((c: { tender: string }) => c.tender).toSorted(), [
      'card',
      'card',
      'gift_card',
    ])
    await lost(order.order.id)
    assert.deepEqual(await moneyOf(last.id), ['partially_refunded', 'partially_refunded', 850])
    const rest = ok(await refund(last.id), 201).refund
    assert.equal(rest.amount_cents, 550, 'the card of the payment request and the gift card')
    await store.check()
  })

  test('waits for the shopper of an exchange who has not paid yet', async () => {
    const { exchanged, order } = await exchanges.asked(1_000, 1_500)
    ok(await dispute(order.order.id, 'opened'))
    assert.deepEqual(refusal(await exchanges.pay(exchanged.id)), [409, 'disputed'])
    const refused = await dispute(order.order.id, 'lost')
    assert.deepEqual(refusal(refused), [409, 'exchange_open'])
    assert.deepEqual(refused.body.order_ids, [exchanged.id])
    ok(await exchanges.withdraw(exchanged.id))
    assert.equal(ok(await dispute(order.order.id, 'lost')).order.refunded_cents, 1_000)
    await store.check()
  })

  test('a won dispute of an exchanged order lets the shopper of an exchange pay', async () => {
    const { exchanged, order } = await exchanges.asked(1_000, 1_500)
    ok(await dispute(order.order.id, 'opened'))
    ok(await dispute(order.order.id, 'won'))
    assert.equal(ok(await exchanges.pay(exchanged.id)).order.status, 'placed')
  })

  test('a lost dispute of an exchanged order leaves no money for the cancellation of the exchange to move back', async () => {
    const { first, made, exchanged } = await exchangedOrder()
    ok(await exchanges.receive(made.id, receipt(made, 2, { refund: { method: 'later' } })))
    await lost(first.id)
    ok(await store.merchant(exchanged.id, 'cancel', { reason: 'customer' }))
    const settled = await exchanges.receive(made.id, settlement('original'))
    assert.equal(settled.body.refund ?? null, null, settled.text)
    assert.deepEqual(refusal(await refund(first.id)), [409, 'not_refundable'])
    assert.equal(await store.net(first.id), 2_000)
    await store.check()
  })

  test('stops the refunds of every order of the chain, whichever order it was opened in', async () => {
    const { first, made, exchanged } = await exchangedOrder()
    const { exchanged: last } = await exchangedAgain(exchanged)
    const { exchanged: beside } = { exchanged: await exchangeFor(made.id, cheap) }
    const all = [first.id, exchanged.id, last.id, beside.id]
    for (const disputed of [first.id, last.id, beside.id]) {
      ok(await dispute(disputed, 'opened'))
      for (const id of all.filter((each) => each !== exchanged.id)) {
        const answers = await Promise.all([
          refund(id, { amount_cents: 10 }),
          store.merchant(id, 'refunds/preview', { amount_cents: 10 }),
        ])
        for (const each of answers) assert.deepEqual(refusal(each), [409, 'disputed'], each.text)
        const url = `/v1/merchant/orders/${id}/explain`
        const { refused } = ok(await store.shop.merchant.get(url))
        const reason = refused.find((each: { action: string }) => each.action === 'refund')?.reason
        assert.equal(reason, 'disputed', `${id} of ${disputed}`)
      }
      const received = await exchanges.receive(made.id, receipt(made, 1))
      assert.deepEqual(refusal(received), [409, 'disputed'])
      const shown = await exchanges.previewReceipt(made.id, receipt(made, 1))
      assert.deepEqual(refusal(shown), [409, 'disputed'])
      const more = { items: [{ variant_id: cheap, quantity: 1 }], advance: true }
      for (const ask of [exchanges.exchange, exchanges.preview]) {
        assert.deepEqual(refusal(await ask(made.id, more)), [409, 'disputed'])
      }
      ok(await dispute(disputed, 'won'))
    }
    ok(await refund(first.id, { amount_cents: 10 }), 201)
    ok(await refund(last.id, { amount_cents: 10 }), 201)
  })

  test('lets an exchange be cancelled, and explains that its money goes back to the disputed order', async () => {
    const { first, exchanged } = await exchangedOrder()
    const allowedOf = async (id: string) =>
      ok(await store.shop.merchant.get(`/v1/merchant/orders/${id}/explain`)).allowed as string[]
    ok(await dispute(exchanged.id, 'opened'))
    assert.ok(!(await allowedOf(exchanged.id)).includes('cancel'), 'its own dispute')
    ok(await dispute(exchanged.id, 'won'))
    ok(await dispute(first.id, 'opened'))
    assert.ok((await allowedOf(exchanged.id)).includes('cancel'))
    assert.ok(!(await allowedOf(exchanged.id)).includes('refund'))
    const refused = await refund(exchanged.id)
    assert.deepEqual(refusal(refused), [409, 'disputed'])
    assert.ok(refused.body.allowed.includes('cancel'))
    ok(await store.merchant(exchanged.id, 'cancel', { reason: 'customer' }))
    assert.equal(ok(await dispute(first.id, 'lost')).order.refunded_cents, 2_000)
    await store.check()
  })

  test('forbids the cancellation of an exchange that its shopper has paid in part, and explains why', async () => {
    const { order, exchanged } = await exchanges.asked()
    ok(await exchanges.pay(exchanged.id))
    ok(await dispute(order.order.id, 'opened'))
    const { allowed } = ok(
      await store.shop.merchant.get(`/v1/merchant/orders/${exchanged.id}/explain`),
    )
    const cancelled = await store.merchant(exchanged.id, 'cancel', { reason: 'customer' })
    assert.equal(allowed.includes('cancel'), cancelled.status === 200, cancelled.text)
    await store.check()
  })

  test('holds an exchange that has not shipped until the dispute ends', async () => {
    const { first, exchanged } = await exchangedOrder()
    const stateOf = async (id: string) => {
      const { order } = await store.read(id)
      return [order.status, order.payment_status, order.hold?.reason ?? null]
    }
    ok(await dispute(first.id, 'opened'))
    assert.deepEqual(await stateOf(exchanged.id), ['on_hold', 'paid', 'dispute'])
    ok(await dispute(exchanged.id, 'opened'))
    ok(await dispute(first.id, 'won'))
    assert.deepEqual(await stateOf(exchanged.id), ['on_hold', 'disputed', 'dispute'])
    ok(await dispute(exchanged.id, 'won'))
    assert.deepEqual(await stateOf(exchanged.id), ['placed', 'paid', null])
    const { rows } = await store.superuser.query(
      `select type from webhook_events where order_id = $1 order by created_at, id`,
      [exchanged.id],
    )
    const types = rows.map(({ type }) => type.replace(/^commerce\.|\.v1$/g, ''))
    assert.deepEqual(types, ['order.placed', 'order.held', 'dispute.opened', 'order.released'])
  })

  test('a dispute of an exchange forbids its cancellation, and a loss takes the money of the exchange', async () => {
    const { first, exchanged } = await exchangedOrder()
    ok(await dispute(exchanged.id, 'opened'))
    const refused = await store.merchant(exchanged.id, 'cancel', { reason: 'customer' })
    assert.deepEqual(refusal(refused), [409, 'disputed'])
    assert.equal(ok(await dispute(exchanged.id, 'lost')).order.refunded_cents, 300)
    assert.equal(ok(await refund(first.id), 201).refund.amount_cents, 1_700)
    await store.check()
  })

  test('a cancelled exchange cannot be disputed: its money belongs to the first order again', async () => {
    const { first, exchanged } = await exchangedOrder()
    ok(await store.merchant(exchanged.id, 'cancel', { reason: 'customer' }))
    assert.deepEqual(refusal(await dispute(exchanged.id, 'opened')), [409, 'invalid_transition'])
    assert.equal((await lost(first.id)).refunded_cents, 2_000)
    await store.check()
  })
})
