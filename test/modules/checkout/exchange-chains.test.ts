import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { giveBalances, keyed, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, receipt, refusal } from '../returns/setup.ts'
import { type Exchanges, exchangesOf } from './exchange-setup.ts'
import { addVariant } from './setup.ts'

/** Exchanges of exchanges: what the first order was paid with comes back as it was. */

const shared = shareOrderStore()
let store: OrderStore
let exchanges: Exchanges

const ERASE = '/v1/my/privacy/erase'

const DATE = '2031-05-01T00:00:00.000Z'

/** The lots of a customer that have something left, by the date on which they expire. */
async function lotsOf(customer_ref: string) {
  const { rows } = await store.superuser.query(
    `select l.remaining_cents::int as cents, l.expires_at
       from store_credit_lots l
       join store_credit_accounts a on a.tenant_ref = l.tenant_ref and a.id = l.account_id
      where a.customer_ref = $1 and l.remaining_cents > 0
      order by l.expires_at, l.remaining_cents`,
    [customer_ref],
  )
  return rows.map(({ cents, expires_at }) => [cents, expires_at?.toISOString() ?? null])
}

async function giveCredit(customer_ref: string, amount_cents: number, expires_at: string | null) {
  await giveBalances(store, 0, 100)
  const credit = { amount_cents, currency: 'USD', reason: 'a test', expires_at }
  const url = `/v1/merchant/store-credit/${customer_ref}/credit`
  ok(await store.shop.merchant.post(url, credit, keyed()), 201)
}

/** Exchanges all units of an order for as many of the same. */
async function exchangedFor(order_id: string, quantity = 1) {
  await exchanges.ship(order_id)
  const { order, items } = await store.read(order_id)
  const made = await exchanges.returned({ order, items, parcels: [] }, quantity)
  const wanted = [{ variant_id: store.shop.variants[1_000], quantity }]
  const body = ok(await exchanges.exchange(made.id, { items: wanted, advance: true }), 201)
  return { made, exchanged: body.order as { id: string } }
}

async function paidByCredit(customer_ref: string, quantity = 1): Promise<{ id: string }> {
  const items = [{ variant_id: store.shop.variants[1_000], quantity }]
  const { order } = await store.place({ customer_ref, items, apply_store_credit: true })
  return order
}

describe('an exchange chain', () => {
  before(() => {
    store = shared.current
    exchanges = exchangesOf(store)
  })

  test('returns store credit with its original date, over any number of exchanges', async () => {
    await giveCredit('dora', 1_000, DATE)
    const order = await paidByCredit('dora')
    assert.deepEqual(await lotsOf('dora'), [])
    const first = await exchangedFor(order.id)
    const second = await exchangedFor(first.exchanged.id)
    ok(await store.merchant(second.exchanged.id, 'refunds', { amount_cents: 400 }), 201)
    assert.deepEqual(await lotsOf('dora'), [[400, DATE]])
    ok(await store.merchant(second.exchanged.id, 'cancel', { reason: 'customer' }))
    ok(await exchanges.receive(second.made.id, receipt(second.made, 1)))
    assert.deepEqual(await lotsOf('dora'), [
      [400, DATE],
      [600, DATE],
    ])
    await store.check()
  })

  test('an exchange chain that pays for a unit leaves the remaining cents of the line to the last unit', async () => {
    const tax = { provider: 'flat_rate', rate_bps: 777 }
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 3 }]
    const order = await exchanges.shipped({ items, tax })
    const made = await exchanges.returned(order, 3)
    const exact = await addVariant(store.shop.merchant, 999)
    const wanted = { items: [{ variant_id: exact, quantity: 1 }], advance: true }
    assert.equal(ok(await exchanges.exchange(made.id, wanted), 201).credit_cents, 1_077)
    for (let unit = 1; unit <= 3; unit++) ok(await exchanges.receive(made.id, receipt(made, 1)))
    const { status, refunded_cents } = (await store.read(order.order.id)).order
    assert.deepEqual([status, refunded_cents], ['refunded', 3_233], 'no third of it is whole')
    assert.equal((await exchanges.readReturn(made.id)).status, 'closed')
  })

  test('gives back to an order that was cancelled before only the amount that can be refunded there', async () => {
    const variant = store.shop.variants[1_000] ?? ''
    const { order, made } = await exchanges.returnedOf(variant, 2)
    const items = [{ variant_id: variant, quantity: 1 }]
    const body = ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
    ok(await exchanges.act(made.id, 'close'))
    const parcel = `/v1/merchant/fulfillments/${order.parcels[0]}/cancel`
    ok(await store.shop.merchant.post(parcel, { reason: 'returned_to_sender' }))
    const { id } = order.order
    ok(await store.merchant(id, 'cancel', { reason: 'customer' }))
    const refund = () => store.merchant(id, 'refunds')
    assert.deepEqual(refusal(await refund()), [409, 'not_refundable'], 'the exchange has the rest')
    ok(await store.merchant(body.order.id, 'cancel', { reason: 'customer' }))
    assert.equal(ok(await refund(), 201).refund.amount_cents, 1_000)
    assert.equal(await store.net(id), 0)
    const { status, payment_status } = (await store.read(id)).order
    assert.deepEqual([status, payment_status], ['cancelled', 'refunded'])
    assert.deepEqual(refusal(await refund()), [409, 'not_refundable'])
    await store.check()
  })

  test('refuses credit that an erased customer could never spend, and says how much can be refunded', async () => {
    await giveCredit('frida', 400, null)
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const more = { customer_ref: 'frida', items, apply_store_credit: true }
    const order = await exchanges.shipped(more)
    const made = await exchanges.returned(order, 1)
    const who = { customer_ref: 'frida' }
    const { confirm } = ok(await store.shop.merchant.post(ERASE, who), 202)
    ok(await store.shop.merchant.post(ERASE, { ...who, confirm }, keyed()))
    const id = order.order.id
    const refund = (body: object) => store.merchant(id, 'refunds', body)
    const came = (method: string) => receipt(made, 1, { refund: { method } })
    const refused = await Promise.all([
      refund({ method: 'store_credit', amount_cents: 10 }),
      refund({ amount_cents: 601 }),
      refund({}),
      store.merchant(id, 'refunds/preview', { method: 'store_credit' }),
      exchanges.receive(made.id, came('store_credit')),
      exchanges.receive(made.id, came('original')),
      exchanges.previewReceipt(made.id, came('original')),
    ])
    for (const { status, body, text } of refused) {
      const shown = [status, body.error?.code, body.refundable_cents]
      assert.deepEqual(shown, [409, 'credit_unspendable', 600], text)
    }
    ok(await refund({ amount_cents: 600 }), 201)
    ok(await exchanges.receive(made.id, came('none')))
    await store.check()
  })

  test('gives each amount of credit one date, whichever order of the chain is refunded', async () => {
    await giveCredit('emil', 600, DATE)
    await giveCredit('emil', 1_400, null)
    const order = await paidByCredit('emil', 2)
    await exchanges.ship(order.id)
    const read = await store.read(order.id)
    const made = await exchanges.returned({ ...read, parcels: [] }, 1)
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const body = ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
    ok(await store.merchant(body.order.id, 'refunds'), 201)
    ok(await store.merchant(order.id, 'refunds'), 201)
    const lots = await lotsOf('emil')
    const dated = lots.filter(([, date]) => date === DATE).map(([cents]) => cents as number)
    assert.equal(
      dated.reduce((sum, cents) => sum + cents, 0),
      600,
      'the credit with a date has it again, and no other credit got one',
    )
    assert.equal(
      lots.reduce((sum, [cents]) => sum + (cents as number), 0),
      2_000,
    )
  })
})
