import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { RECIPIENT, sellGiftCard } from './setup.ts'

const shared = shareOrderStore()

/** Each run places an order and refunds parts of it, which takes some tenths of a second. */
const RUNS = 15

const COUPONS = [
  null,
  { type: 'percent', percent_bps: 2_500 },
  { type: 'percent', percent_bps: 10_000 },
  { type: 'fixed', amount_cents: 700 },
  { type: 'free_shipping' },
] as const

const carts = fc.record({
  goods: fc.integer({ min: 0, max: 3 }),
  /** Lines of gift cards of one variant, each for another recipient. */
  cards: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 3 }),
  price_cents: fc.integer({ min: 1, max: 9_999 }),
  coupon: fc.constantFrom(...COUPONS),
  rate_bps: fc.constantFrom(0, 777, 1_900),
  shipping_cents: fc.constantFrom(0, 499),
  refunds: fc.array(fc.record({ line: fc.nat(3), quantity: fc.integer({ min: 1, max: 2 }) }), {
    maxLength: 4,
  }),
  /** How the order ends. */
  end: fc.constantFrom('stays', 'refunded', 'cancelled'),
})

type Cart = typeof carts extends fc.Arbitrary<infer C> ? C : never

test('after any purchases and refunds the ledger owes for gift cards what they are worth', async () => {
  const store = shared.current
  await fc.assert(
    fc.asyncProperty(carts, async (cart) => {
      const id = await buyAndRefund(store, cart)
      await assertOwed(store, id)
      await store.check()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})

async function buyAndRefund(store: OrderStore, cart: Cart): Promise<string> {
  const { merchant, variants } = store.shop
  const variant_id = await sellGiftCard(store.shop, cart.price_cents)
  const goods = cart.goods === 0 ? [] : [{ variant_id: variants[1_000], quantity: cart.goods }]
  const code = cart.goods === 0 || cart.coupon === null ? null : randomUUID()
  if (code !== null) {
    const coupon = await merchant.post('/v1/merchant/marketing/coupons', { code, ...cart.coupon })
    assert.equal(coupon.status, 201, coupon.text)
  }
  const { order, items } = await store.place({
    items: [
      ...goods,
      ...cart.cards.map((quantity, at) => ({
        variant_id,
        quantity,
        gift_card: { ...RECIPIENT, recipient_name: `Robin ${at}` },
      })),
    ],
    ...(code !== null && { coupon_code: code }),
    tax: { provider: 'flat_rate', rate_bps: cart.rate_bps },
    shipping: {
      mode: 'flat',
      flat_rate_cents: cart.shipping_cents,
      expedited_rate_cents: 900,
      max_cents: 900,
    },
  })
  const units = cart.cards.reduce((sum, quantity) => sum + quantity, 0)
  assert.equal(order.gift_card_cents, units * cart.price_cents)
  for (const { line, quantity } of cart.refunds) {
    const order_item_id = items[line % items.length].id
    const answer = await store.merchant(order.id, 'refunds', {
      items: [{ order_item_id, quantity }],
    })
    const refused = ['amount_exceeds_refundable', 'not_refundable']
    assert.ok(answer.status === 201 || refused.includes(answer.body.error.code), answer.text)
  }
  if (cart.end === 'refunded') await store.merchant(order.id, 'refunds')
  if (cart.end === 'cancelled') {
    const answer = await store.merchant(order.id, 'cancel', { reason: 'other' })
    assert.equal(answer.status, 200, answer.text)
  }
  return order.id
}

/** Compares what the ledger owes for the cards of an order with their balances, and the refunds with both. */
async function assertOwed({ superuser, read }: OrderStore, id: string): Promise<void> {
  const { rows } = await superuser.query(
    `select coalesce(sum(g.balance_cents), 0)::int as balance,
            coalesce(-sum(e.cents), 0)::int as owed
       from gift_cards g
       left join lateral (select sum(amount_cents) as cents from ledger_entries
                           where tenant_ref = g.tenant_ref and account = 'gift_card'
                             and ref = g.id::text) e on true
      where g.issued_order_id = $1`,
    [id],
  )
  const { order, refunds } = await read(id)
  const taken = refunds.reduce(
    (sum: number, each: { gift_card_cents: number }) => sum + each.gift_card_cents,
    0,
  )
  assert.equal(rows[0].balance, rows[0].owed)
  assert.equal(rows[0].balance, order.gift_card_cents - taken)
}
