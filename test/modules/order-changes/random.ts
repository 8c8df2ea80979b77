import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Answer, Caller } from '../../harness/app.ts'
import { ALL_OPTIONS, APPROVED, addVariant, enable, stock } from '../checkout/setup.ts'
import { keyed, type OrderStore } from '../orders/setup.ts'

/** One change of an order in a random sequence. */
export type Step =
  | { do: 'refund'; cents: number; method: 'original' | 'store_credit' }
  | { do: 'refund units'; line: number; quantity: number }
  | { do: 'refund charge'; charge: number; cents: number | null }
  | { do: 'refund shipping'; cents: number }
  | { do: 'refund rest'; method: 'original' | 'store_credit' }
  | { do: 'edit'; quantities: [number, number] }
  | { do: 'cancel'; restock: boolean }
  | { do: 'hold' }
  | { do: 'release' }
  | { do: 'reject' }
  | { do: 'process' }
  | { do: 'spend'; cents: number }
  | { do: 'dispute'; outcome: 'opened' | 'won' | 'lost'; cents: number | null }
  | { do: 'correct'; street: number; flat_rate_cents: number | null; rate_bps: number | null }
  | { do: 'pay' }
  | { do: 'withdraw' }
  | { do: 'many'; steps: Step[] }

const RATE_BPS = 777

const cents = fc.integer({ min: 1, max: 4_000 })
const method = fc.constantFrom('original' as const, 'store_credit' as const)
const single: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      cents,
      method,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('refund units' as const),
      line: fc.nat(2),
      quantity: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refund charge' as const),
      charge: fc.nat(2),
      cents: fc.option(cents),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      quantities: fc.tuple(fc.nat(4), fc.nat(4)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('cancel' as const), restock: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('refund shipping' as const),
      cents: fc.integer({ min: 0, max: 499 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refund rest' as const), method }) },
  { weight: 1, arbitrary: fc.constant({ do: 'hold' } as const) },
  { weight: 2, arbitrary: fc.constant({ do: 'release' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'reject' } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('dispute' as const),
      outcome: fc.constantFrom('opened' as const, 'won' as const, 'lost' as const),
      cents: fc.option(cents),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('correct' as const),
      street: fc.nat(2),
      flat_rate_cents: fc.option(fc.constantFrom(0, 101, 499, 900)),
      rate_bps: fc.option(fc.constantFrom(0, 333, RATE_BPS, 1_900)),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'pay' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'withdraw' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'process' } as const) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('spend' as const), cents }) },
)

/** Single steps, or several at the same time. */
const many: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('many' as const),
  steps: fc.array(single, { minLength: 2, maxLength: 4 }),
})

/** Coupons. The second makes the goods free, and with free shipping the whole order. */
const COUPONS = [
  null,
  { type: 'percent', percent_bps: 10_000 },
  { type: 'percent', percent_bps: 1_500, min_subtotal_cents: 2_000 },
  { type: 'fixed', amount_cents: 1_234 },
  { type: 'free_shipping' },
] as const

type Sequence = typeof sequences extends fc.Arbitrary<infer S> ? S : never

export const sequences = fc.record({
  credit: fc.constantFrom(0, 150),
  gift: fc.constantFrom(0, 700),
  /** How many gift cards the order buys. */
  cards: fc.constantFrom(0, 0, 1, 2),
  coupon: fc.constantFrom(...COUPONS),
  /** Placed under a ban with the decision `review`. */
  held: fc.boolean(),
  isShipped: fc.boolean(),
  /** Whether the store's prices have the tax inside when the order is placed. */
  isTaxInside: fc.boolean(),
  steps: fc.array(fc.oneof({ weight: 5, arbitrary: single }, { weight: 1, arbitrary: many }), {
    minLength: 1,
    maxLength: 6,
  }),
})

/** The codes that a step may be refused with. Any other refusal fails the test. */
const REFUSALS = [
  'not_refundable',
  'amount_exceeds_refundable',
  'invalid_transition',
  'order_busy',
  'disputed',
  'charge_not_found',
  'insufficient_stock',
  'gift_card_spent',
  'insufficient_balance',
  'payment_request_closed',
]

/** The stock of the one variant that is tracked: not enough for every edit. */
const ON_HAND = 3

/**
 * Runs a sequence of steps on a new order, and compares the order with its facts after every step.
 */
export async function runSequence(
  store: OrderStore,
  { steps, credit, gift, cards, coupon, held, isShipped, isTaxInside }: Sequence,
  giveBalances: (creditCents: number, giftCents: number) => Promise<{ code: string }>,
): Promise<void> {
  const { merchant, variants } = store.shop
  await setTaxInside(merchant, isTaxInside)
  const counted = await addVariant(merchant, 333)
  await stock(merchant, counted, ON_HAND)
  const card = gift > 0 || credit > 0 ? await giveBalances(credit, Math.max(gift, 1)) : null
  const { order, items, charges } = await store.place({
    items: [
      { variant_id: variants[1_000], quantity: 2 },
      { variant_id: counted, quantity: 3 },
      ...(cards === 0 ? [] : [await giftCardLine(store, cards)]),
    ],
    ...(isShipped && { shipping: SHIPPING }),
    ...(coupon && { coupon_code: await makeCoupon(merchant, coupon) }),
    ...(held && { email: await banEmail(merchant) }),
    tax: { provider: 'flat_rate', rate_bps: RATE_BPS },
    apply_store_credit: credit > 0,
    ...(card === null || gift === 0 ? {} : { gift_card_code: card.code }),
  })
  assert.equal(order.prices_include_tax, isTaxInside)
  // A later change of the store's prices does not touch the order.
  await setTaxInside(merchant, !isTaxInside)
  const take = async (step: Step, isAmong = false): Promise<void> => {
    if (step.do === 'many') {
      await Promise.all(step.steps.map((each) => take(each, true)))
      return
    }
    const { body: explained } = await store.shop.merchant.get(
      `/v1/merchant/orders/${order.id}/explain`,
    )
    const answer = await send(store, order.id, { items, charges }, step)
    if (!isAmong) assertAsExplained(explained, { step, answer, cards })
    const { code } = answer.body.error ?? {}
    // A dispute that is lost with nothing left has to name what the bank took.
    const isUnnamed = step.do === 'dispute' && code === 'invalid_body'
    const isFine = answer.status < 300 || isUnnamed || REFUSALS.includes(code)
    assert.ok(isFine, `${JSON.stringify(step)}: ${answer.text}`)
  }
  for (const step of steps) {
    await take(step)
    await assertConsistent(store, order.id)
  }
}

/** Gift cards of 1,500 for another person. */
async function giftCardLine({ shop: { merchant } }: OrderStore, quantity: number) {
  await enable(merchant, 'gift_cards')
  const variant_id = await addVariant(merchant, 1_500, {}, { gift_card: true })
  return { variant_id, quantity, gift_card: { recipient_email: 'robin@example.com' } }
}

/** Takes an amount of a bought card, as its holder would by spending it. Without a card, reads the order. */
async function spend(store: OrderStore, id: string, cents: number) {
  const { gift_cards } = await store.read(id)
  const card = gift_cards[0]?.cards[0]
  const { merchant } = store.shop
  if (card === undefined) return merchant.get(`/v1/merchant/orders/${id}`)
  const path = `/v1/merchant/gift-cards/${card.gift_card_id}/adjust`
  return merchant.post(path, { delta_cents: -cents, reason: 'spent' }, keyed())
}

/** Corrects the address, and with it the shipping and the tax, as another address would change them. */
function correct(
  { shop: { merchant } }: OrderStore,
  id: string,
  { street, flat_rate_cents, rate_bps }: Extract<Step, { do: 'correct' }>,
) {
  const body = {
    ship_to: { ...ADDRESS, line1: `${street} Random Street` },
    ...(flat_rate_cents !== null && { shipping: { ...SHIPPING, flat_rate_cents } }),
    ...(rate_bps !== null && { tax: { provider: 'flat_rate', rate_bps } }),
  }
  return merchant.send('PATCH', `/v1/merchant/orders/${id}`, body, keyed())
}

const ADDRESS = {
  label: 'Home',
  name: 'Ann Example',
  city: 'Aberdale',
  state: 'WY',
  postal_code: '82001',
  country: 'US',
}

const SHIPPING = {
  mode: 'flat',
  flat_rate_cents: 499,
  expedited_rate_cents: 900,
  max_cents: 900,
}

async function setTaxInside(merchant: Caller, prices_include_tax: boolean): Promise<void> {
  const manifest = { ...ALL_OPTIONS, tax: { prices_include_tax } }
  const saved = await merchant.put('/v1/my/store/manifest', { manifest })
  assert.equal(saved.status, 200, saved.text)
}

/** The rate of an order. A correction may change it. */
async function rateOf({ superuser }: OrderStore, id: string): Promise<number> {
  const rate = `select (pricing -> 'tax' ->> 'rate_bps')::int as rate_bps from orders where id = $1`
  return (await superuser.query(rate, [id])).rows[0].rate_bps
}

/** The tax of some goods, by a calculation of its own: half a cent counts as a cent. */
function taxOf(goods_cents: number, rate_bps: number, isInside: boolean): number {
  const whole = 10_000n + (isInside ? BigInt(rate_bps) : 0n)
  const [tax, rest] = [
    BigInt(goods_cents * rate_bps) / whole,
    BigInt(goods_cents * rate_bps) % whole,
  ]
  return Number(2n * rest >= whole ? tax + 1n : tax)
}

async function makeCoupon(merchant: Caller, terms: object): Promise<string> {
  const body = { code: randomUUID(), usage_limit: 1, ...terms }
  const made = await merchant.post('/v1/merchant/marketing/coupons', body)
  assert.equal(made.status, 201, made.text)
  return body.code
}

/** Bans an address with the decision `review`, and returns it. */
async function banEmail(merchant: Caller): Promise<string> {
  const value = `${randomUUID()}@example.com`
  const ban = { kind: 'email', value, action: 'review' }
  assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  return value
}

type Placed = { items: { id: string }[]; charges: { charge_id: string }[] }

function send(store: OrderStore, id: string, { items, charges }: Placed, step: Step) {
  switch (step.do) {
    case 'refund':
      return store.merchant(id, 'refunds', { amount_cents: step.cents, method: step.method })
    case 'refund units': {
      const { id: order_item_id } = items[step.line % items.length] ?? {}
      const wanted = { order_item_id, quantity: step.quantity }
      return store.merchant(id, 'refunds', { items: [wanted] })
    }
    case 'refund charge': {
      // A free order has no charges.
      const charge_id = charges[step.charge % charges.length]?.charge_id ?? randomUUID()
      return store.shopper(id, 'refund', {
        charge_id,
        ...(step.cents === null ? {} : { amount_cents: step.cents }),
      })
    }
    case 'refund shipping':
      return store.merchant(id, 'refunds', { shipping_cents: step.cents })
    case 'refund rest':
      return store.merchant(id, 'refunds', { method: step.method })
    case 'reject':
      return store.shop.merchant.post(`/v1/merchant/fraud/reviews/${id}/reject`, {}, keyed())
    case 'dispute': {
      const { outcome, cents } = step
      const amount = outcome === 'lost' && cents !== null ? { amount_cents: cents } : {}
      return store.app.operator.post(`/v1/stores/acme/orders/${id}/dispute`, { outcome, ...amount })
    }
    case 'edit': {
      const edits = step.quantities.map((quantity, at) => ({
        order_item_id: items[at]?.id,
        quantity,
      }))
      return store.shopper(id, 'edit', { edits, card: APPROVED })
    }
    case 'correct':
      return correct(store, id, step)
    case 'pay':
      return store.shopper(id, 'pay', { customer_ref: 'ann', card: APPROVED })
    case 'withdraw':
      return store.merchant(id, 'payment-request/withdraw')
    case 'spend':
      return spend(store, id, step.cents)
    case 'cancel':
      return store.merchant(id, 'cancel', { reason: 'other', restock: step.restock })
    default:
      return store.merchant(id, step.do)
  }
}

const UNALLOWED = [
  'invalid_transition',
  'not_refundable',
  'order_busy',
  'disputed',
  'charge_not_found',
]
const NAMED: readonly string[] = ['refund charge', 'refund units', 'refund shipping']

/** Fails unless an allowed action of the explanation is accepted, and any other is refused. */
function assertAsExplained(
  explained: Answer['body'],
  { step, answer, cards }: { step: Step; answer: Answer; cards: number },
) {
  const { status, text, body } = answer
  if (['dispute', 'spend', 'withdraw'].includes(step.do)) return
  // An edit that removes all units of an unpaid order cancels it. It never removes gift cards.
  const isLetGo =
    step.do === 'edit' &&
    cards === 0 &&
    !step.quantities.some(Boolean) &&
    !explained.facts.placed_at
  const action = isLetGo ? 'cancel' : step.do.split(' ')[0]
  const isAllowed = explained.allowed.includes(action)
  // What is not allowed may also be refused for another reason, such as its amount.
  const isRefused = isAllowed ? UNALLOWED.includes(body.error?.code) : status >= 400
  // A cancellation can be repeated, and so can an edit that was one.
  const isRepeated = explained.status === 'cancelled' && status === 200
  // The named line or charge may have nothing left, or have cost nothing, while others have.
  const isOfOne = NAMED.includes(step.do) && isAllowed
  // An address can be corrected where the money cannot: such a correction is refused like an edit.
  const isPriced = step.do === 'correct' && isAllowed && !explained.allowed.includes('edit')
  // A dispute is about cards: other charges are refunded, and an edit may need no refund.
  const isOfPart =
    explained.facts.disputed && ['refund charge', 'edit', 'correct'].includes(step.do)
  assert.ok(
    isAllowed !== isRefused || isRepeated || isOfOne || isOfPart || isPriced,
    `${JSON.stringify(step)}: ${text}`,
  )
}

/** The sum of one part of all refunds, without those that an edit made. */
const sum = (refunds: Answer['body'][], part: string): number =>
  refunds.filter(({ kind }) => kind === 'refund').reduce((all, each) => all + each[part], 0)

/**
 * Fails unless the stored status follows from the facts, and the gateway has the same net amount.
 */
async function assertConsistent(store: OrderStore, id: string): Promise<void> {
  const { order, charges, refunds } = await store.read(id)
  const { body } = await store.shop.merchant.get(`/v1/merchant/orders/${id}/explain`)
  assert.deepEqual(
    [body.status, body.payment_status, body.fulfillment_status],
    [order.status, order.payment_status, order.fulfillment_status],
  )
  const { subtotal_cents, discount_cents, shipping_cents, tax_cents, prices_include_tax } = order
  const { gift_card_cents } = order
  const goods_cents = subtotal_cents - gift_card_cents - discount_cents
  // Tax inside is inside the price of the shipping, too.
  const taxed_cents = goods_cents + (prices_include_tax ? shipping_cents : 0)
  assert.equal(tax_cents, taxOf(taxed_cents, await rateOf(store, id), prices_include_tax))
  const added = prices_include_tax ? 0 : tax_cents
  assert.equal(order.total_cents, goods_cents + gift_card_cents + shipping_cents + added)
  const refundedTax = sum(refunds, 'tax_cents')
  assert.ok(refundedTax >= 0 && refundedTax <= tax_cents, `${refundedTax} of ${tax_cents}`)
  assert.equal(sum(refunds, 'amount_cents'), order.refunded_cents)
  assert.ok(order.refunded_cents <= order.captured_cents)
  assert.equal(order.captured_cents, order.placed_at === null ? 0 : order.total_cents)
  assert.ok(refunds.every(({ status }: { status: string }) => status === 'succeeded'))
  for (const each of charges) assert.ok(each.refunded_cents <= each.captured_cents)
}
