import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import {
  addressIn,
  type DestinationTax,
  openDestinationTax,
} from '../../harness/destination-tax.ts'
import {
  ALL_OPTIONS,
  addVariant,
  cart,
  checkout,
  enable,
  giveCredit,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  preview,
} from './setup.ts'

const RUNS = process.env.LONG === '1' ? 1_000 : 30

for (const prices_include_tax of [false, true]) {
  const prices = prices_include_tax ? 'with' : 'without'
  test(`a preview shows what the checkout costs, for any cart at prices ${prices} tax`, (t) =>
    compare(t, prices_include_tax))
}

async function compare(t: TestContext, prices_include_tax: boolean): Promise<void> {
  const provider = await openDestinationTax(t)
  const app = await openCheckoutApp(t, { env: provider.env })
  const manifest = { ...ALL_OPTIONS, tax: { prices_include_tax } }
  // A process keeps the options of a version for ever, and both tests may share one.
  const tenant = prices_include_tax ? 'gross' : 'net'
  const shop = await openShop(app, tenant, [1, 333, 1_000, 99_999], manifest)
  const { merchant } = shop
  await enable(merchant, 'subscriptions', 'pricing_groups', 'gift_cards', 'store_credit')
  const terms = {
    is_subscription: true,
    subscription_interval: 'week',
    subscription_price_cents: 77,
  }
  const variants = [...Object.values(shop.variants), await addVariant(merchant, 101, terms)]
  const giftCard = await addVariant(merchant, 2_222, {}, { gift_card: true })
  const coupons = [
    { code: 'P', type: 'percent', percent_bps: 3_333 },
    { code: 'F', type: 'fixed', amount_cents: 150 },
    { code: 'S', type: 'free_shipping' },
    { code: 'M', type: 'percent', percent_bps: 500, min_subtotal_cents: 2_000 },
  ]
  for (const coupon of coupons) {
    const made = await merchant.post('/v1/merchant/marketing/coupons', coupon)
    assert.equal(made.status, 201, made.text)
  }
  const group = await merchant.post('/v1/merchant/pricing-groups', { name: 'members' })
  const url = `/v1/merchant/pricing-groups/${group.body.pricing_group.id}`
  await merchant.post(`${url}/members`, { customer_ref: 'member' })
  const tiers = { variant_id: variants[2], price_cents: 900, min_quantity: 3 }
  assert.ok((await merchant.put(`${url}/prices`, tiers)).status < 300)

  for (const customer of ['member', 'guest']) await giveCredit(merchant, customer, 200_000)
  const codes = []
  for (const worth of [50, 40_000]) codes.push((await issueGiftCard(merchant, worth)).code)

  const cents = fc.integer({ min: 0, max: 5_000 })
  const wanted = fc.record(
    {
      customer_ref: fc.constantFrom('member', 'guest'),
      items: fc.array(
        fc.record({
          variant_id: fc.constantFrom(...variants, giftCard),
          quantity: fc.integer({ min: 1, max: 9 }),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      coupon_code: fc.constantFrom('P', 'F', 'S', 'M'),
      subscribe: fc.boolean(),
      expedited: fc.boolean(),
      shipping: fc.record({
        mode: fc.constant('flat'),
        flat_rate_cents: cents,
        expedited_rate_cents: cents,
        max_cents: cents,
        free_shipping_threshold_cents: fc.option(cents),
      }),
      tax: fc.record({
        provider: fc.constantFrom('flat_rate', 'acme_tax', 'null', null),
        rate_bps: fc.integer({ min: 0, max: 10_000 }),
      }),
      shipping_address: fc.constantFrom('ME', 'TX', 'OR').map((state) => addressIn(state)),
      apply_store_credit: fc.boolean(),
      gift_card_code: fc.constantFrom(...codes),
    },
    { requiredKeys: ['customer_ref', 'items'] },
  )
  /** What the provider says without an address. */
  const guesses = fc.record({
    needsAddress: fc.boolean(),
    estimate: fc.constantFrom('ME', 'OR'),
  })
  /** Whether the shopper has entered the address before the quote. */
  const inTime = fc.boolean()
  const property = fc.asyncProperty(wanted, guesses, inTime, async (drawn, guess, isInTime) => {
    Object.assign(provider, guess satisfies Partial<DestinationTax>)
    const { items, ...more } = drawn
    const gift_card = { recipient_email: 'robin@example.com' }
    const body = {
      ...more,
      items: items.map((each) => (each.variant_id === giftCard ? { ...each, gift_card } : each)),
    }
    const { shipping_address, ...withoutAddress } = body
    const shown = await preview(app, shop, isInTime ? body : withoutAddress)
    assert.equal(shown.status, 200, shown.text)
    const { quote_token, address_required } = shown.body
    const placed = await checkout(app, shop, cart(undefined, { ...body, quote_token }))
    if (!shipping_address && placed.status === 503) {
      assert.deepEqual([address_required, guess.needsAddress], [true, true])
      return
    }
    if (shown.body.coupon.reason !== null) {
      assert.equal(placed.body.reason, shown.body.coupon.reason)
      return
    }
    assert.equal(placed.status, 201, placed.text)
    const { changed = {} } = placed.body
    for (const name of ['subtotal', 'gift_card', 'discount', 'shipping', 'tax', 'total']) {
      const field = `${name}_cents`
      const { quoted_cents, placed_cents } = changed[field] ?? {}
      assert.equal(placed.body.order[field], placed_cents ?? shown.body[field], field)
      if (placed_cents !== undefined) assert.equal(quoted_cents, shown.body[field], field)
    }
    // Only the tax of an address that the quote did not have may differ from it.
    const isFinal = !address_required || !shipping_address
    if (isFinal) assert.ok(!('changed' in placed.body), placed.text)
    const isKnown = isInTime || !shipping_address || drawn.tax?.provider !== 'acme_tax'
    if (isKnown && shipping_address) assert.equal(address_required, false)
    const { charges } = placed.body
    const paidBy = (wanted: string) =>
      charges.find(({ tender }: { tender: string }) => tender === wanted)?.amount_cents ?? 0
    if (isFinal) {
      const { tenders, amount_due_cents } = shown.body
      for (const { tender, amount_cents } of tenders) assert.equal(paidBy(tender), amount_cents)
      assert.equal(paidBy('card'), amount_due_cents)
    }
    assert.equal(shown.body.prices_include_tax, prices_include_tax)
    assert.equal(placed.body.order.prices_include_tax, prices_include_tax)
    const { total_cents, tax_cents } = shown.body
    if (prices_include_tax) assert.ok(2 * tax_cents <= total_cents + 1)
    const lines = (items: Record<string, unknown>[]) =>
      items.map((each) => [
        each.variant_id,
        each.quantity,
        each.unit_price_cents,
        each.line_total_cents,
      ])
    assert.deepEqual(lines(placed.body.items), lines(shown.body.items))
  })
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true })
  await app.assertAddsUp()
}
