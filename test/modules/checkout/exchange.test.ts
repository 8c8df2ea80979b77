import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { giveBalances, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, RETURNS, receipt, refusal } from '../returns/setup.ts'
import { type Exchanges, exchangesOf, settlement } from './exchange-setup.ts'
import { addVariant, enable, setLive } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let exchanges: Exchanges

const TAX = { tax: { provider: 'flat_rate', rate_bps: 1_000 } }

/** A customer whose store credit no other test spends. */
const CLEO = { customer_ref: 'cleo' }

const chargesOf = async (id: string) =>
  (await store.read(id)).charges.map((each: Record<string, unknown>) => [
    each.tender,
    each.captured_cents,
    each.refunded_cents,
  ])

const typesOf = async (order_id: string) => {
  const { rows } = await store.superuser.query(
    `select type from webhook_events where order_id = $1 order by created_at, id`,
    [order_id],
  )
  return rows.map(({ type }) => type as string)
}

describe('an exchange', () => {
  before(() => {
    store = shared.current
    exchanges = exchangesOf(store)
  })

  test('an exchange of the same worth is placed at once, paid from the refund, and sold from stock', async () => {
    const to = await exchanges.tracked(3)
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const items = [{ variant_id: to, quantity: 1 }]
    const key = randomUUID()
    const first = await exchanges.exchange(made.id, { items, advance: true }, key)
    const body = ok(first, 201)
    assert.deepEqual(
      [body.order.status, body.order.source, body.credit_cents, body.amount_due_cents],
      ['placed', 'exchange', 1_000, 0],
    )
    assert.deepEqual([body.remaining_cents, body.payment_request], [0, null])
    assert.deepEqual(
      [body.return.exchanges[0].order_id, body.return.exchanges[0].status],
      [body.order.id, 'placed'],
    )
    assert.equal((await exchanges.stockOf(to)).allocated, 1)
    const again = await exchanges.exchange(made.id, { items, advance: true }, key)
    assert.deepEqual([again.text, again.headers['idempotent-replayed']], [first.text, 'true'])
    const old = await store.read(order.order.id)
    assert.deepEqual([old.order.status, old.refunds[0].method], ['refunded', 'exchange'])
    assert.equal(await store.net(order.order.id), 1_000, 'the gateway has the money still')
    const read = await store.read(body.order.id)
    assert.deepEqual(read.exchange, {
      return_id: made.id,
      order_id: order.order.id,
      advance: true,
      credit_cents: 1_000,
    })
    assert.deepEqual(await chargesOf(body.order.id), [['card', 1_000, 0]])
    assert.ok((await typesOf(order.order.id)).includes('commerce.return.exchanged.v1'))
    assert.ok((await typesOf(body.order.id)).includes('commerce.order.placed.v1'))
    const url = `/v1/merchant/idempotency/exchange/${key}`
    const found = ok(await store.shop.merchant.get(url))
    assert.deepEqual([found.status, found.answer.order.id], [201, body.order.id])
    const csv = await store.shop.merchant.get('/v1/merchant/orders/export.csv')
    assert.match(csv.text, new RegExp(`"${body.order.id}".*,"exchange",`))
  })

  test('units that an exchange has paid for come back without a refund', async () => {
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '', 2)
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
    const first = ok(await exchanges.receive(made.id, receipt(made, 1)))
    assert.deepEqual([first.refund, first.return.lines[0].already_refunded_quantity], [null, 1])
    const second = ok(await exchanges.receive(made.id, receipt(made, 1)))
    assert.deepEqual([second.refund.amount_cents, second.return.status], [1_000, 'closed'])
    assert.equal(await store.net(order.order.id), 1_000)
    assert.equal((await store.read(order.order.id)).order.refunded_cents, 2_000)
  })

  test('an exchange of less worth leaves the difference to the receipt, to the tender that it names', async () => {
    const cheap = await addVariant(store.shop.merchant, 300)
    const items = [{ variant_id: cheap, quantity: 1 }]
    await enable(store.shop.merchant, 'store_credit')
    for (const [method, refunded] of [
      ['original', 700],
      ['store_credit', 700],
      ['none', 0],
    ] as const) {
      const { made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '', 1, CLEO)
      const body = ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
      assert.deepEqual([body.credit_cents, body.remaining_cents], [300, 700])
      const taken = receipt(made, 1, { refund: { method } })
      const shown = ok(await exchanges.previewReceipt(made.id, taken))
      const answer = ok(await exchanges.receive(made.id, taken))
      assert.equal(shown.refund?.amount_cents ?? 0, refunded)
      assert.equal(answer.refund?.amount_cents ?? 0, refunded)
      assert.equal(answer.return.status, 'closed')
    }
  })

  test('an exchange that costs more is held with a payment request, and nothing is charged', async () => {
    const { body, exchanged, to, order } = await exchanges.asked(1_000, 1_500)
    assert.deepEqual([body.credit_cents, body.amount_due_cents], [1_000, 500])
    assert.deepEqual([body.order.status, body.order.payment_status], ['on_hold', 'pending'])
    assert.equal(body.order.hold.reason, 'payment_request')
    assert.deepEqual(
      [body.payment_request.status, body.payment_request.amount_cents],
      ['open', 500],
    )
    const stock = await exchanges.stockOf(to)
    assert.deepEqual([stock.reserved, stock.available], [1, 4])
    assert.deepEqual(await chargesOf(exchanged.id), [])
    assert.equal(await store.net(order.order.id), 1_000)
    const old = await store.read(order.order.id)
    assert.deepEqual([old.order.status, old.refunds[0].status], ['shipped', 'pending'])
    const url = `/v1/merchant/orders/${exchanged.id}/explain`
    const { allowed, refused } = ok(await store.shop.merchant.get(url))
    assert.deepEqual(allowed, ['reject', 'cancel', 'pay'])
    const release = refused.find((each: { action: string }) => each.action === 'release')
    assert.equal(release.reason, 'payment_requested')
    assert.deepEqual(refusal(await store.merchant(exchanged.id, 'release')), [
      409,
      'invalid_transition',
    ])
  })

  test('shows in its preview exactly what it then does, with group price, tax and shipping', async () => {
    const variant = await addVariant(store.shop.merchant, 2_000)
    await enable(store.shop.merchant, 'pricing_groups')
    const { merchant } = store.shop
    const group = ok(await merchant.post('/v1/merchant/pricing-groups', { name: 'friends' }), 201)
    const groupUrl = `/v1/merchant/pricing-groups/${group.pricing_group.id}`
    await merchant.post(`${groupUrl}/members`, { customer_ref: 'ann' })
    await merchant.put(`${groupUrl}/prices`, { variant_id: variant, price_cents: 1_800 })
    const { made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '', 1, TAX)
    const wanted = { items: [{ variant_id: variant, quantity: 1 }], advance: true }
    const free = ok(await exchanges.preview(made.id, wanted))
    assert.deepEqual(
      [free.subtotal_cents, free.tax_cents, free.shipping_cents, free.total_cents],
      [1_800, 180, 0, 1_980],
    )
    assert.deepEqual([free.credit_cents, free.amount_due_cents], [1_100, 880])
    const shipped = { ...wanted, shipping_cents: 250 }
    const shown = ok(await exchanges.preview(made.id, shipped))
    assert.equal(shown.shipping_cents, 250)
    const body = ok(await exchanges.exchange(made.id, shipped), 201)
    assert.deepEqual(
      [body.order.total_cents, body.credit_cents, body.amount_due_cents, body.remaining_cents],
      [shown.total_cents, shown.credit_cents, shown.amount_due_cents, shown.remaining_cents],
    )
  })

  test('an exchange after the receipt takes the amount that was waived or left open', async () => {
    for (const method of ['none', 'later'] as const) {
      const { made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '', 2)
      const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
      assert.deepEqual(refusal(await exchanges.exchange(made.id, { items })), [
        409,
        'nothing_to_exchange',
      ])
      const came = receipt(made, 2, { refund: { method } })
      const received = ok(await exchanges.receive(made.id, came))
      assert.equal(received.return.status, method === 'none' ? 'closed' : 'received')
      const body = ok(await exchanges.exchange(made.id, { items }), 201)
      assert.deepEqual([body.order.status, body.credit_cents], ['placed', 1_000])
      assert.equal(body.remaining_cents, 1_000)
      const rest = await exchanges.receive(made.id, settlement('original'))
      if (method === 'none') {
        // The merchant has chosen not to refund it.
        assert.deepEqual(refusal(rest), [409, 'invalid_transition'])
      } else {
        assert.deepEqual([ok(rest).refund.amount_cents, rest.body.return.status], [1_000, 'closed'])
      }
    }
  })

  test('is paid by each tender that had paid, and refunded to the same tenders', async () => {
    const { code } = await giveBalances(store, 300, 400)
    const { made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '', 1, {
      apply_store_credit: true,
      gift_card_code: code,
    })
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const { order } = ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
    assert.deepEqual((await chargesOf(order.id)).toSorted(), [
      ['card', 300, 0],
      ['gift_card', 400, 0],
      ['store_credit', 300, 0],
    ])
    const refunded = await store.merchant(order.id, 'refunds', { amount_cents: 1_000 })
    assert.equal(ok(refunded, 201).refund.amount_cents, 1_000)
    const tenders = refunded.body.refund.tenders.map((each: Record<string, unknown>) => [
      each.tender,
      each.amount_cents,
    ])
    assert.deepEqual(tenders.toSorted(), [
      ['card', 300],
      ['gift_card', 400],
      ['store_credit', 300],
    ])
    await store.check()
  })

  test('a cancelled exchange gives everything back, and the return refunds it once', async () => {
    const to = await exchanges.tracked(1)
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const items = [{ variant_id: to, quantity: 1 }]
    const exchanged = ok(await exchanges.exchange(made.id, { items, advance: true }), 201).order
    ok(await exchanges.receive(made.id, receipt(made, 1)))
    const cancelled = ok(await store.merchant(exchanged.id, 'cancel', { reason: 'customer' }))
    assert.deepEqual([cancelled.order.status, cancelled.refunds], ['cancelled', []])
    assert.equal((await exchanges.stockOf(to)).available, 1)
    const row = (await exchanges.readReturn(made.id)).exchanges[0]
    assert.deepEqual([row.status, row.amount_cents], ['released', 0])
    const old = await store.read(order.order.id)
    assert.deepEqual([old.order.status, old.order.refunded_cents], ['shipped', 0])
    assert.equal(await store.net(order.order.id), 1_000)
    await store.check()
    const settled = ok(await exchanges.receive(made.id, settlement('original')))
    assert.equal(settled.refund.amount_cents, 1_000)
    assert.equal(await store.net(order.order.id), 0)
    const twice = await exchanges.receive(made.id, settlement('original'))
    assert.deepEqual(refusal(twice), [409, 'invalid_transition'])
    const events = await typesOf(order.order.id)
    assert.ok(events.includes('commerce.return.exchange_released.v1'))
  })

  test('an exchange that has refunded a part gives back only the rest', async () => {
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const exchanged = ok(await exchanges.exchange(made.id, { items, advance: true }), 201).order
    ok(await store.merchant(exchanged.id, 'refunds', { amount_cents: 350 }), 201)
    assert.equal(await store.net(order.order.id), 650, 'refunded to the card that had paid')
    ok(await store.merchant(exchanged.id, 'cancel', { reason: 'customer' }))
    const row = (await exchanges.readReturn(made.id)).exchanges[0]
    assert.deepEqual([row.status, row.amount_cents], ['released', 350])
    await store.check()
    const settled = ok(await exchanges.receive(made.id, receipt(made, 1)))
    assert.equal(settled.refund.amount_cents, 650)
    assert.equal(await store.net(order.order.id), 0)
  })

  test('an exchange of an exchange moves the money on, and its cancellation moves it back', async () => {
    const variant = store.shop.variants[1_000] ?? ''
    const items = [{ variant_id: variant, quantity: 1 }]
    const { order, made } = await exchanges.returnedOf(variant)
    const first = ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
    await exchanges.ship(first.order.id)
    const again = await exchanges.returned({ ...first, parcels: [] }, 1)
    const second = ok(await exchanges.exchange(again.id, { items, advance: true }), 201).order
    assert.deepEqual(await chargesOf(second.id), [['card', 1_000, 0]])
    await store.check()
    ok(await store.merchant(second.id, 'cancel', { reason: 'customer' }))
    await store.check()
    const settled = ok(await exchanges.receive(again.id, receipt(again, 1)))
    assert.equal(settled.refund.amount_cents, 1_000)
    assert.equal(await store.net(order.order.id), 0)
  })

  test('forbids the cancellation of its return, but not its closing', async () => {
    const { made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const { order } = ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
    const refused = await exchanges.act(made.id, 'cancel')
    assert.deepEqual(refusal(refused), [409, 'exchange_open'])
    assert.deepEqual(refused.body.order_ids, [order.id])
    const closed = ok(await exchanges.act(made.id, 'close')).return
    assert.equal(closed.status, 'closed')
    assert.equal((await store.read(order.id)).order.status, 'placed', 'at the risk of the merchant')
    const more = await exchanges.exchange(made.id, { items, advance: true })
    assert.deepEqual(refusal(more), [409, 'nothing_to_exchange'])
    const other = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const body = ok(await exchanges.exchange(other.made.id, { items, advance: true }), 201)
    ok(await store.merchant(body.order.id, 'cancel', { reason: 'customer' }))
    assert.equal(ok(await exchanges.act(other.made.id, 'cancel')).return.status, 'cancelled')
  })

  test('never sells stock that does not exist, and leaves no row behind', async () => {
    const to = await exchanges.tracked(1)
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '', 2)
    const wanted = { items: [{ variant_id: to, quantity: 2 }], advance: true }
    assert.equal(ok(await exchanges.preview(made.id, wanted)).items[0].available, false)
    const refused = await exchanges.exchange(made.id, wanted)
    assert.deepEqual(refusal(refused), [409, 'insufficient_stock'])
    assert.equal((await exchanges.readReturn(made.id)).exchanges.length, 0)
    assert.equal((await exchanges.stockOf(to)).reserved, 0)
    assert.deepEqual((await store.read(order.order.id)).refunds, [])
  })

  test('two exchanges at once share one refund and one last unit', async () => {
    const to = await exchanges.tracked(1)
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const wanted = { items: [{ variant_id: to, quantity: 1 }], advance: true }
    const answers = await Promise.all([1, 2, 3].map(() => exchanges.exchange(made.id, wanted)))
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [201, 409, 409])
    assert.equal((await exchanges.stockOf(to)).allocated, 1)
    assert.equal((await store.read(order.order.id)).order.refunded_cents, 1_000)
  })

  test('an exchange and a receipt at once never pay for a unit twice', async () => {
    for (let round = 0; round < 5; round++) {
      const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
      const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
      const [exchanged, received] = await Promise.all([
        exchanges.exchange(made.id, { items, advance: true }),
        exchanges.receive(made.id, receipt(made, 1)),
      ])
      ok(received)
      const refunded = received.body.refund?.amount_cents ?? 0
      const credit = exchanged.status === 201 ? exchanged.body.credit_cents : 0
      assert.equal(refunded + credit, 1_000, exchanged.text)
      assert.equal((await store.read(order.order.id)).order.refunded_cents, 1_000)
    }
  })

  test('refuses an unknown return, one that is not approved or has nothing left, and bad input', async () => {
    const variant = store.shop.variants[1_000] ?? ''
    const items = [{ variant_id: variant, quantity: 1 }]
    const wanted = { items, advance: true }
    const unknown = randomUUID()
    for (const ask of [exchanges.exchange, exchanges.preview]) {
      assert.deepEqual(refusal(await ask(unknown, wanted)), [404, 'return_not_found'])
      assert.deepEqual(refusal(await ask('nothing', wanted)), [404, 'return_not_found'])
    }
    const { order, made } = await exchanges.returnedOf(variant)
    for (const bad of [
      {},
      { items: [] },
      { ...wanted, advanced: true },
      { ...wanted, shipping_cents: -1 },
      { ...wanted, expires_in_days: 31 },
      { items: [{ variant_id: variant, quantity: 0 }] },
    ]) {
      assert.deepEqual(refusal(await exchanges.exchange(made.id, bad)), [400, 'invalid_body'])
      assert.deepEqual(refusal(await exchanges.preview(made.id, bad)), [400, 'invalid_body'])
    }
    const strange = { items: [{ variant_id: randomUUID(), quantity: 1 }], advance: true }
    assert.deepEqual(refusal(await exchanges.exchange(made.id, strange)), [
      404,
      'variant_not_found',
    ])
    const euros = await addVariant(store.shop.merchant, 1_000, {}, { currency: 'EUR' })
    const other = { items: [{ variant_id: euros, quantity: 1 }], advance: true }
    for (const ask of [exchanges.exchange, exchanges.preview]) {
      assert.deepEqual(refusal(await ask(made.id, other)), [422, 'currency_mismatch'])
    }
    await enable(store.shop.merchant, 'gift_cards')
    const card = await addVariant(store.shop.merchant, 1_000, {}, { gift_card: true })
    const gift = { items: [{ variant_id: card, quantity: 1 }], advance: true }
    for (const ask of [exchanges.exchange, exchanges.preview]) {
      assert.deepEqual(refusal(await ask(made.id, gift)), [400, 'invalid_body'])
    }
    const keyless = await store.shop.merchant.post(`${RETURNS}/${made.id}/exchange`, wanted)
    assert.deepEqual(refusal(keyless), [400, 'idempotency_key_required'])
    ok(await exchanges.receive(made.id, receipt(made, 1)))
    assert.deepEqual(refusal(await exchanges.exchange(made.id, wanted)), [
      409,
      'nothing_to_exchange',
    ])
    const second = await exchanges.shipped({ items })
    const lines = [{ order_item_id: second.items[0]?.id, quantity: 1 }]
    const requested = ok(await exchanges.request(second.order.id, lines), 201).return
    assert.deepEqual(refusal(await exchanges.exchange(requested.id, wanted)), [
      409,
      'invalid_transition',
    ])
    assert.equal((await store.read(order.order.id)).order.refunded_cents, 1_000)
  })

  test('an exchange of a disputed payment waits until the dispute is over', async () => {
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '', 2)
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const first = ok(await exchanges.exchange(made.id, { items, advance: true }), 201).order
    const dispute = (outcome: string) =>
      store.app.operator.post(`/v1/stores/acme/orders/${order.order.id}/dispute`, { outcome })
    assert.ok((await dispute('opened')).status < 300)
    // The money moved to another order, and its bank may take it all the same.
    const refund = await store.merchant(first.id, 'refunds', { amount_cents: 100 })
    assert.deepEqual(refusal(refund), [409, 'disputed'])
    assert.ok((await dispute('won')).status < 300)
    ok(await store.merchant(first.id, 'refunds', { amount_cents: 100 }), 201)
  })

  test('sells nothing in a store that is not live', async () => {
    const { made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const wanted = {
      items: [{ variant_id: store.shop.variants[1_000], quantity: 1 }],
      advance: true,
    }
    await setLive(store.app, 'acme', false)
    try {
      for (const ask of [exchanges.exchange, exchanges.preview]) {
        assert.deepEqual(refusal(await ask(made.id, wanted)), [404, 'unknown_tenant'])
      }
    } finally {
      await setLive(store.app, 'acme', true)
    }
  })
})
