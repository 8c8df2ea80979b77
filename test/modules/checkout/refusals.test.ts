import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { isUuid } from '../../../src/kernel/schema.ts'
import {
  APPROVED,
  addVariant,
  type CheckoutApp,
  cardOf,
  cart,
  checkout,
  counts,
  DECLINED,
  enable,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  preview,
  type Shop,
  stock,
} from './setup.ts'

/** Fails unless a checkout is refused and leaves no order, no charge and no reservation. */
async function refused(
  app: CheckoutApp,
  shop: Pick<Shop, 'tenant'>,
  body: unknown,
  expected: { status: number; code: string; path?: string },
  what = JSON.stringify(body)?.slice(0, 80),
) {
  const before = await counts(app)
  const answer = await checkout(app, shop, body as object)
  assert.equal(answer.status, expected.status, `${what}: ${answer.text}`)
  assert.equal(answer.body.error.code, expected.code, what)
  if (expected.path !== undefined) {
    const paths = answer.body.issues.map(({ path }: { path: string }) => path)
    assert.ok(paths.includes(expected.path), `${what}: ${expected.path} in ${paths}`)
  }
  assert.deepEqual(await counts(app), before, `${what} left something behind`)
  return answer
}

test('a checkout is refused', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [1_000])
  const { merchant } = shop
  await enable(merchant, 'gift_cards', 'store_credit')
  const thousand = shop.variants[1_000] ?? ''
  const counted = await addVariant(merchant, 2_000)
  await stock(merchant, counted, 3)

  await t.test('a checkout is refused with a malformed body', async () => {
    const good = cart(thousand)
    const item = { variant_id: thousand, quantity: 1 }
    const quantity = (value: unknown) => ({ ...good, items: [{ ...item, quantity: value }] })
    const shipping = { mode: 'flat', flat_rate_cents: 1, expedited_rate_cents: 1, max_cents: 9 }
    const bad: [body: unknown, path: string][] = [
      [{ ...good, customer_ref: undefined }, 'customer_ref'],
      [{ ...good, customer_ref: '' }, 'customer_ref'],
      [{ ...good, customer_ref: 7 }, 'customer_ref'],
      [{ ...good, customer_ref: 'x'.repeat(201) }, 'customer_ref'],
      [{ ...good, items: undefined }, 'items'],
      [{ ...good, items: [] }, 'items'],
      [{ ...good, items: 'many' }, 'items'],
      [{ ...good, items: [null] }, 'items.0'],
      [{ ...good, items: [{ quantity: 1 }] }, 'items.0.variant_id'],
      [{ ...good, items: [{ variant_id: 7, quantity: 1 }] }, 'items.0.variant_id'],
      [{ ...good, items: Array.from({ length: 501 }, () => item) }, 'items'],
      [quantity(undefined), 'items.0.quantity'],
      [quantity(0), 'items.0.quantity'],
      [quantity(-1), 'items.0.quantity'],
      [quantity(1.5), 'items.0.quantity'],
      [quantity('1'), 'items.0.quantity'],
      [quantity(null), 'items.0.quantity'],
      [quantity(10_001), 'items.0.quantity'],
      [quantity(1e15), 'items.0.quantity'],
      [{ ...good, card: 'mine' }, 'card'],
      [{ ...good, card: {} }, 'card.ccnumber'],
      [{ ...good, card: { ...APPROVED, ccnumber: undefined } }, 'card.ccnumber'],
      [{ ...good, card: { ...APPROVED, ccexp: undefined } }, 'card.ccexp'],
      [{ ...good, card: cardOf('4111111111111112') }, 'card.ccnumber'],
      [{ ...good, card: cardOf('4111') }, 'card.ccnumber'],
      [{ ...good, card: { ...APPROVED, ccexp: '13/40' } }, 'card.ccexp'],
      [{ ...good, card: { ...APPROVED, ccexp: '01/20' } }, 'card.ccexp'],
      [{ ...good, card: { ...APPROVED, cvv: 'abc' } }, 'card.cvv'],
      [{ ...good, apply_store_credit: 'yes' }, 'apply_store_credit'],
      [{ ...good, subscribe: 1 }, 'subscribe'],
      [{ ...good, expedited: 'fast' }, 'expedited'],
      [{ ...good, email: 'nowhere' }, 'email'],
      [{ ...good, person_id: 'ann' }, 'person_id'],
      [{ ...good, person_id: `urn:uuid:${randomUUID()}` }, 'person_id'],
      [{ ...good, gift_card_code: 7 }, 'gift_card_code'],
      [{ ...good, coupon_code: ['A'] }, 'coupon_code'],
      [{ ...good, shipping: {} }, 'shipping.mode'],
      [{ ...good, shipping: { ...shipping, mode: 'weight' } }, 'shipping.mode'],
      [{ ...good, shipping: { ...shipping, flat_rate_cents: -1 } }, 'shipping.flat_rate_cents'],
      [{ ...good, shipping: { ...shipping, max_cents: 1.5 } }, 'shipping.max_cents'],
      [{ ...good, tax: { provider: 'flat_rate' } }, 'tax.rate_bps'],
      [{ ...good, tax: { provider: 'flat_rate', rate_bps: -1 } }, 'tax.rate_bps'],
      [{ ...good, shipping_address: { line1: 'alone' } }, 'shipping_address.label'],
      [{ ...good, attestation: { statement_version: 'v1' } }, 'attestation.accepted_at'],
      [{ ...good, quote_token: 'made up' }, 'quote_token'],
    ]
    for (const [body, path] of bad) {
      await refused(app, shop, body, { status: 400, code: 'invalid_body', path })
    }
    const endless = { ...good, items: Array.from({ length: 10_000 }, () => item) }
    for (const body of [null, [], 'text', 7, endless]) {
      await refused(app, shop, body, { status: 400, code: 'invalid_body' })
    }
  })

  await t.test('a checkout is refused with numbers that are no amounts', async () => {
    const before = await counts(app)
    const text = (quantity: string) =>
      `{"customer_ref":"ann","items":[{"variant_id":"${thousand}","quantity":${quantity}}]}`
    for (const quantity of ['1e400', '9007199254740993', '-0.5', '0x10', 'NaN', '1,0', '01']) {
      const answer = await fetch(`${app.url}/v1/tenants/acme/checkout`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
          'x-storefront-token': 'the storefront token of every test app',
        },
        body: text(quantity),
      })
      assert.equal(answer.status, 400, quantity)
      assert.equal(
        ((await answer.json()) as { error: { code: string } }).error.code,
        'invalid_body',
      )
    }
    assert.deepEqual(await counts(app), before)
  })

  await t.test('a checkout is refused without a valid key', async () => {
    const before = await counts(app)
    const url = '/v1/tenants/acme/checkout'
    const none = await app.storefront.post(url, cart(thousand))
    assert.deepEqual([none.status, none.body.error.code], [400, 'idempotency_key_required'])
    for (const key of ['', 'x'.repeat(256), 'has space', 'schlüssel', 'sub:1']) {
      const answer = await app.storefront.post(url, cart(thousand), {
        'idempotency-key': Buffer.from(key, 'utf8').toString('latin1'),
      })
      assert.equal(answer.status, 400, key)
      assert.equal(answer.body.error.code, 'idempotency_key_invalid', key)
    }
    assert.deepEqual(await counts(app), before)
    const longest = await checkout(app, shop, cart(thousand), 'x'.repeat(255))
    assert.equal(longest.status, 201)
  })

  await t.test('a checkout is refused for variants that are not for sale', async () => {
    const other = await openShop(app, 'other', [1_000])
    const product = await merchant.post('/v1/merchant/catalog/products', {
      slug: 'gone',
      name: 'Gone',
    })
    const gone = await merchant.post(
      `/v1/merchant/catalog/products/${product.body.product.id}/variants`,
      { sku: 'gone', price_cents: 1 },
    )
    await stock(merchant, gone.body.variant.id, 0)
    await merchant.post(`/v1/merchant/catalog/products/${product.body.product.id}/archive`)
    for (const variant_id of [
      randomUUID(),
      'nonsense',
      '',
      other.variants[1_000],
      gone.body.variant.id,
    ]) {
      const items = [
        { variant_id: thousand, quantity: 1 },
        { variant_id, quantity: 1 },
      ]
      const expected = { status: 404, code: 'variant_not_found' }
      const answer = await refused(app, shop, cart(thousand, { items }), expected, variant_id)
      assert.equal(answer.body.variant_id, isUuid(variant_id) ? variant_id : undefined)
      const shown = await preview(app, shop, { items })
      assert.deepEqual([shown.status, shown.body.error?.code], [404, 'variant_not_found'])
    }
  })

  await t.test('a checkout is refused for more units than are available', async () => {
    const expected = { status: 409, code: 'insufficient_stock' }
    const items = [
      { variant_id: counted, quantity: 2 },
      { variant_id: counted.toUpperCase(), quantity: 2 },
    ]
    const answer = await refused(app, shop, cart(counted, { items }), expected)
    assert.deepEqual(answer.body.items, [{ variant_id: counted, available: 3 }])
    const shown = await preview(app, shop, { items })
    assert.deepEqual(
      shown.body.items.map(({ available }: { available: boolean }) => available),
      [false, false],
    )
  })

  await t.test('a checkout is refused in several currencies', async () => {
    const euro = await addVariant(merchant, 900, {}, { currency: 'EUR' })
    const items = [thousand, euro].map((variant_id) => ({ variant_id, quantity: 1 }))
    const expected = { status: 422, code: 'currency_mismatch' }
    await refused(app, shop, cart(euro, { items }), expected)
    const { code } = await issueGiftCard(merchant, 500)
    const tender = cart(euro, { gift_card_code: code })
    await refused(app, shop, tender, { status: 422, code: 'gift_card_invalid' })
    assert.equal((await checkout(app, shop, cart(euro))).body.order.currency, 'EUR')
  })

  await t.test("a checkout is refused above the limit of an order's total", async () => {
    const dear = await addVariant(merchant, 99_999_999)
    const items = [{ variant_id: dear, quantity: 10_000 }]
    await refused(app, shop, cart(dear, { items }), {
      status: 400,
      code: 'invalid_body',
      path: 'items',
    })
  })

  await t.test(
    "a checkout is refused with a shipping price above the limit of an order's total",
    async () => {
      const cents = 100_000_000_001
      const shipping = {
        mode: 'flat',
        flat_rate_cents: cents,
        expedited_rate_cents: cents,
        max_cents: cents,
      }
      const dear = cart(shop.variants[1_000], { shipping })
      await refused(app, shop, dear, { status: 400, code: 'invalid_body', path: 'shipping' })
    },
  )

  await t.test(
    'a checkout is refused with a tax above the whole price, and accepted with one equal to it',
    async () => {
      const taxed = (rate_bps: number) =>
        cart(thousand, { tax: { provider: 'flat_rate', rate_bps } })
      const expected = { status: 400, code: 'invalid_body', path: 'tax.rate_bps' }
      for (const rate_bps of [10_001, 1_000_000_000]) {
        await refused(app, shop, taxed(rate_bps), expected)
        const quoted = await preview(app, shop, taxed(rate_bps))
        assert.deepEqual([quoted.status, quoted.body.issues[0].path], [400, 'tax.rate_bps'])
      }
      const { status, body, text } = await checkout(app, shop, taxed(10_000))
      assert.equal(status, 201, text)
      assert.deepEqual([body.order.tax_cents, body.order.total_cents], [1_000, 2_000])
    },
  )

  await t.test(
    'a checkout is refused for too many units of one variant, spread over any number of lines',
    async () => {
      const variant_id = shop.variants[1_000] ?? ''
      const split = (...quantities: number[]) =>
        quantities.map((quantity, at) => ({
          variant_id: at % 2 === 0 ? variant_id : variant_id.toUpperCase(),
          quantity,
        }))
      const issues = [{ path: 'items', message: 'must have at most 10,000 units of one variant' }]
      for (const send of [checkout, preview]) {
        const refused = await send(app, shop, cart(variant_id, { items: split(10_000, 1) }))
        assert.equal(refused.status, 400, refused.text)
        assert.deepEqual(refused.body.issues, issues)
      }
      const most = await preview(app, shop, cart(variant_id, { items: split(9_000, 500, 500) }))
      assert.equal(most.status, 200, most.text)
    },
  )

  await t.test('a checkout is refused without tenders that cover the total', async () => {
    const { code } = await issueGiftCard(merchant, 400)
    const { card: _, ...body } = cart(counted, { gift_card_code: code })
    const answer = await refused(app, shop, body, { status: 402, code: 'card_required' })
    assert.equal(answer.body.amount_due_cents, 1_600)
    await refused(
      app,
      shop,
      { ...body, gift_card_code: null },
      { status: 402, code: 'card_required' },
    )
  })

  await t.test(
    'a checkout is refused with an unusable gift card, alike for every cause',
    async () => {
      const { code, gift_card } = await issueGiftCard(merchant, 400)
      const url = `/v1/merchant/gift-cards/${gift_card.id}/disable`
      const disabled = await merchant.post(url, {}, { 'idempotency-key': randomUUID() })
      assert.equal(disabled.status, 200, disabled.text)
      for (const gift_card_code of ['ABCD-EFGH-JKLM-NPQR', '*', code]) {
        const body = cart(counted, { gift_card_code })
        await refused(app, shop, body, { status: 422, code: 'gift_card_invalid' })
      }
    },
  )

  await t.test(
    'a checkout is refused with a coupon whose amounts are in another currency than the goods',
    async () => {
      const { merchant } = await openShop(app, 'coins', [])
      const yen = await addVariant(merchant, 5_000, {}, { currency: 'JPY' })
      const coupons: object[] = [
        { code: 'OFF', type: 'fixed', amount_cents: 1_000 },
        { code: 'FROM', type: 'percent', percent_bps: 1_000, min_subtotal_cents: 100 },
        { code: 'UPTO', type: 'percent', percent_bps: 1_000, max_discount_cents: 1_000 },
        { code: 'TENTH', type: 'percent', percent_bps: 1_000 },
      ]
      for (const coupon of coupons) {
        assert.equal((await merchant.post('/v1/merchant/marketing/coupons', coupon)).status, 201)
      }
      const shop = { tenant: 'coins' }
      for (const coupon_code of ['OFF', 'FROM', 'UPTO']) {
        const shown = await preview(app, shop, cart(yen, { coupon_code }))
        assert.deepEqual(
          [shown.body.coupon.reason, shown.body.total_cents],
          ['not_applicable', 5_000],
          coupon_code,
        )
        const answer = await checkout(app, shop, cart(yen, { coupon_code }))
        assert.deepEqual([answer.status, answer.body.reason], [422, 'not_applicable'])
      }
      const tenth = await checkout(app, shop, cart(yen, { coupon_code: 'TENTH' }))
      assert.equal(tenth.body.order.total_cents, 4_500)
    },
  )

  await t.test(
    'a checkout is refused with a coupon that does not apply, and the preview says why',
    async () => {
      const make = async (code: string, more: object) => {
        const body = { code, type: 'percent', percent_bps: 1_000, ...more }
        const made = await merchant.post('/v1/merchant/marketing/coupons', body)
        assert.equal(made.status, 201, made.text)
      }
      await make('LATE', { starts_at: '2001-01-01T00:00:00Z', ends_at: '2002-01-01T00:00:00Z' })
      await make('EARLY', { starts_at: '2201-01-01T00:00:00Z' })
      await make('DEAR', { min_subtotal_cents: 1_000_000 })
      await make('ONCE', { usage_limit: 1 })
      await make('MINE', { usage_limit_per_customer: 1 })
      for (const coupon_code of ['ONCE', 'MINE']) {
        assert.equal((await checkout(app, shop, cart(thousand, { coupon_code }))).status, 201)
      }
      for (const [coupon_code, reason] of [
        ['NEVER', 'unknown'],
        ['LATE', 'expired'],
        ['EARLY', 'not_started'],
        ['DEAR', 'min_subtotal'],
        ['ONCE', 'exhausted'],
        ['MINE', 'per_customer'],
      ]) {
        const body = cart(thousand, { coupon_code })
        const answer = await refused(app, shop, body, { status: 422, code: 'coupon_invalid' })
        assert.equal(answer.body.reason, reason)
        const shown = await preview(app, shop, body)
        assert.equal(shown.status, 200)
        assert.deepEqual(shown.body.coupon, { code: coupon_code, applied: false, reason })
        assert.equal(shown.body.total_cents, 1_000)
      }
      const declined = await checkout(
        app,
        shop,
        cart(thousand, { coupon_code: 'ONCE', card: DECLINED }),
      )
      assert.equal(declined.status, 422)
    },
  )

  await t.test(
    'a checkout is refused by the bank, with a reason that a shopper may read',
    async () => {
      for (const [number, reason, retryable] of [
        ['4000000000000002', 'card_declined', true],
        ['4000000000009995', 'insufficient_funds', true],
        ['4000000000000069', 'expired_card', false],
        ['4000000000000127', 'incorrect_cvv', true],
        ['4000000000000119', 'processing_error', true],
      ] as const) {
        const answer = await checkout(app, shop, cart(counted, { card: cardOf(number) }))
        assert.equal(answer.status, 402, answer.text)
        assert.equal(answer.body.error.code, 'payment_declined')
        assert.equal(answer.body.decline.reason, reason)
        assert.equal(typeof answer.body.decline.retryable, 'boolean', `${retryable}`)
        assert.equal(answer.body.order.status, 'payment_failed')
        assert.deepEqual(Object.keys(answer.body.order), ['id', 'order_number', 'status'])
      }
      await app.assertAddsUp()
    },
  )

  await t.test('a checkout is refused by a tax provider that is unknown', async () => {
    const tax = { provider: 'acme_tax', rate_bps: 0 }
    const expected = { status: 422, code: 'tax_provider_unavailable' }
    await refused(app, shop, cart(thousand, { tax }), expected)
  })

  await t.test('a key that has an order is refused, long after the key was deleted', async () => {
    assert.equal((await checkout(app, shop, cart(thousand), 'old')).status, 201)
    await app.superuser.query(`delete from idempotency_keys where key = 'old'`)
    const before = await counts(app)
    const answer = await checkout(app, shop, cart(thousand), 'old')
    assert.deepEqual([answer.status, answer.body.error.code], [422, 'idempotency_key_reused'])
    assert.deepEqual(await counts(app), before)
  })

  await app.assertAddsUp()
})
