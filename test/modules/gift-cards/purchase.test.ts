import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  APPROVED,
  addVariant,
  checkout,
  enable,
  issueGiftCard,
  preview,
} from '../checkout/setup.ts'
import { giveBalances, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { codeOf, RECIPIENT, refusal, sellGiftCard, spend } from './setup.ts'

const shared = shareOrderStore()

const item = (variant_id: string | undefined, more: object = {}) => ({
  variant_id,
  quantity: 1,
  ...more,
})

/** The entries of an order's journals, summed by account. */
async function bookedOf({ superuser }: OrderStore, order_id: string) {
  const { rows } = await superuser.query(
    `select e.account, sum(e.amount_cents)::int as cents
       from ledger_journals j
       join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
      where j.order_id = $1
      group by e.account having sum(e.amount_cents) <> 0 order by e.account`,
    [order_id],
  )
  return Object.fromEntries(rows.map(({ account, cents }) => [account, cents]))
}

describe('buying a gift card', () => {
  test('issues one card for each unit, as a debt and no sale, and delivers the order by itself', async () => {
    const store = shared.current
    const variant = await sellGiftCard(store.shop)
    const items = [item(variant, { quantity: 3, gift_card: RECIPIENT })]
    const { order } = await store.place({ items })
    assert.deepEqual(
      [order.status, order.fulfillment_status, order.total_cents, order.gift_card_cents],
      ['delivered', 'delivered', 15_000, 15_000],
    )
    assert.deepEqual(await bookedOf(store, order.id), {
      card_clearing: 15_000,
      gift_card: -15_000,
    })
    const { gift_cards, items: lines, open } = await store.read(order.id)
    assert.deepEqual([lines[0].gift_card, open], [true, []])
    assert.equal(gift_cards[0].cards.length, 3)
    const codes = new Set<string>()
    for (const { gift_card_id } of gift_cards[0].cards) {
      codes.add(await codeOf(store.app, 'acme', gift_card_id))
      const { body } = await store.shop.merchant.get(`/v1/merchant/gift-cards/${gift_card_id}`)
      const { balance_cents, status, issued_order_id, recipient_email, customer_ref } =
        body.gift_card
      assert.deepEqual(
        [balance_cents, status, issued_order_id, recipient_email, customer_ref],
        [5_000, 'active', order.id, RECIPIENT.recipient_email, null],
      )
    }
    assert.equal(codes.size, 3)
  })

  test('is neither taxed, discounted nor shipped, and counts towards no minimum', async () => {
    const store = shared.current
    const { merchant, variants } = store.shop
    const variant = await sellGiftCard(store.shop)
    const coupon = { code: 'TEN', type: 'percent', percent_bps: 1_000, min_subtotal_cents: 2_000 }
    assert.equal((await merchant.post('/v1/merchant/marketing/coupons', coupon)).status, 201)
    const terms = {
      coupon_code: 'TEN',
      tax: { provider: 'flat_rate', rate_bps: 1_000 },
      shipping: {
        mode: 'flat',
        flat_rate_cents: 500,
        expedited_rate_cents: 900,
        max_cents: 900,
        free_shipping_threshold_cents: 5_000,
      },
    }
    const small = [item(variants[1_000]), item(variant, { gift_card: RECIPIENT })]
    const refused = await preview(store.app, store.shop, { items: small, ...terms })
    assert.equal(refused.body.coupon.reason, 'min_subtotal')
    const { order, items } = await store.place({
      items: [item(variants[1_000], { quantity: 2 }), item(variant, { gift_card: RECIPIENT })],
      ...terms,
    })
    assert.deepEqual(
      [order.discount_cents, order.tax_cents, order.shipping_cents, order.total_cents],
      [200, 180, 500, 2_000 - 200 + 180 + 500 + 5_000],
    )
    const { discount_cents, tax_cents, shipping_cents } = items[1]
    assert.deepEqual([discount_cents, tax_cents, shipping_cents], [0, 0, 0])
    assert.deepEqual(await bookedOf(store, order.id), {
      card_clearing: order.total_cents,
      gift_card: -5_000,
      sales: -2_000,
      discount: 200,
      tax_payable: -180,
      shipping_income: -500,
    })
    assert.equal(order.status, 'placed', 'the goods are still to be shipped')
    const { open } = await store.read(order.id)
    assert.deepEqual(
      open[0].items.map((each: { variant_id: string }) => each.variant_id),
      [variants[1_000]],
    )
  })

  test('costs its face value, whatever group the customer is in', async () => {
    const store = shared.current
    const { merchant } = store.shop
    const variant = await sellGiftCard(store.shop)
    await enable(merchant, 'pricing_groups')
    const group = await merchant.post('/v1/merchant/pricing-groups', {
      name: 'Half price',
      adjustment_bps: 5_000,
    })
    const path = `/v1/merchant/pricing-groups/${group.body.pricing_group.id}`
    await merchant.post(`${path}/members`, { customer_ref: 'half' })
    const items = [item(variant, { gift_card: RECIPIENT })]
    const { order } = await store.place({ customer_ref: 'half', items })
    assert.equal(order.total_cents, 5_000)
  })

  test('cannot be paid with store credit or another gift card, which pay for goods beside it', async () => {
    const store = shared.current
    const { variants } = store.shop
    const variant = await sellGiftCard(store.shop)
    const { code } = await giveBalances(store, 300, 20_000)
    const { order, charges } = await store.place({
      items: [item(variants[1_000]), item(variant, { gift_card: RECIPIENT })],
      apply_store_credit: true,
      gift_card_code: code,
    })
    assert.deepEqual(
      charges.map(({ tender, amount_cents }: { tender: string; amount_cents: number }) => [
        tender,
        amount_cents,
      ]),
      [
        ['store_credit', 300],
        ['gift_card', 700],
        ['card', 5_000],
      ],
    )
    assert.equal(order.total_cents, 6_000)
    const alone = { customer_ref: 'ann', items: [item(variant, { gift_card: RECIPIENT })] }
    const refused = await checkout(store.app, store.shop, { ...alone, gift_card_code: code })
    assert.deepEqual(refusal(refused), [402, 'card_required'])
    assert.equal(refused.body.amount_due_cents, 5_000)
  })

  test('sends the card to the buyer if no recipient is named, and needs an address', async () => {
    const store = shared.current
    const variant = await sellGiftCard(store.shop)
    const body = { customer_ref: 'ann', items: [item(variant)], card: APPROVED }
    const refused = await checkout(store.app, store.shop, body)
    assert.deepEqual(refusal(refused), [400, 'invalid_body'])
    assert.equal(refused.body.issues[0].path, 'email')
    const { order } = await store.place({ items: [item(variant)], email: 'ann@example.com' })
    const { gift_cards } = await store.read(order.id)
    assert.equal(gift_cards[0].recipient_email, 'ann@example.com')
    const [{ gift_card_id }] = gift_cards[0].cards
    const { body: read } = await store.shop.merchant.get(`/v1/merchant/gift-cards/${gift_card_id}`)
    assert.equal(read.gift_card.customer_ref, 'ann')
  })

  test('gives a card that can be spent like any other', async () => {
    const store = shared.current
    const variant = await sellGiftCard(store.shop)
    const { order } = await store.place({ items: [item(variant, { gift_card: RECIPIENT })] })
    const [{ gift_card_id }] = (await store.read(order.id)).gift_cards[0].cards
    const { charges } = await spend(store.app, store.shop, {
      gift_card_id,
      variant_id: store.shop.variants[1_000],
    })
    assert.deepEqual(
      charges.map(({ tender }: { tender: string }) => tender),
      ['gift_card'],
    )
  })

  test('waits for a held order: no card exists before its money is captured', async () => {
    const store = shared.current
    const { merchant } = store.shop
    const variant = await sellGiftCard(store.shop)
    const ban = { kind: 'email', value: 'held@example.com', action: 'review' }
    assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
    const items = [item(variant, { gift_card: RECIPIENT })]
    const { order } = await store.place({ items, email: 'held@example.com' })
    assert.equal(order.status, 'on_hold')
    const before = (await store.read(order.id)).gift_cards
    assert.deepEqual([before[0].recipient_email, before[0].cards], [RECIPIENT.recipient_email, []])
    const released = await store.merchant(order.id, 'release')
    assert.equal(released.body.order.status, 'delivered', released.text)
    assert.equal((await store.read(order.id)).gift_cards[0].cards.length, 1)
  })

  test('issues nothing for a payment that is declined', async () => {
    const store = shared.current
    const variant = await sellGiftCard(store.shop)
    const items = [item(variant, { gift_card: RECIPIENT })]
    const card = { ...APPROVED, ccnumber: '4000000000000002' }
    const answer = await checkout(store.app, store.shop, { customer_ref: 'ann', items, card })
    assert.deepEqual(refusal(answer), [402, 'payment_declined'])
    const { gift_cards } = await store.read(answer.body.order.id)
    assert.deepEqual(gift_cards[0].cards, [])
  })

  test('replays the answer of its key, and issues no second card', async () => {
    const store = shared.current
    const variant = await sellGiftCard(store.shop)
    const items = [item(variant, { gift_card: RECIPIENT })]
    const body = { customer_ref: 'ann', items, card: APPROVED }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        checkout(store.app, store.shop, body, 'bought-once-and-for-all'),
      ),
    )
    const placed = answers.filter(({ status }) => status === 201)
    assert.ok(placed.length > 0)
    const id = placed[0]?.body.order.id
    assert.equal((await store.read(id)).gift_cards[0].cards.length, 1)
  })
})

describe('a gift card is refused', () => {
  test('while the store does not have the add-on, in the preview too', async () => {
    const store = shared.current
    const { merchant } = store.shop
    const variant = await sellGiftCard(store.shop)
    const items = [item(variant, { gift_card: RECIPIENT })]
    const { order } = await store.place({ items })
    const [{ gift_card_id }] = (await store.read(order.id)).gift_cards[0].cards
    await merchant.post('/v1/merchant/entitlements/disable', { feature_key: 'gift_cards' })
    try {
      const body = { customer_ref: 'ann', items, card: APPROVED }
      const refused = await checkout(store.app, store.shop, body)
      assert.deepEqual(refusal(refused), [403, 'feature_not_enabled'])
      assert.equal(refused.body.feature_key, 'gift_cards')
      assert.deepEqual(refusal(await preview(store.app, store.shop, { items })), [
        403,
        'feature_not_enabled',
      ])
      const { charges } = await spend(store.app, store.shop, {
        gift_card_id,
        variant_id: store.shop.variants[333],
      })
      assert.equal(charges[0].tender, 'gift_card', 'what shoppers hold stays theirs')
    } finally {
      await enable(merchant, 'gift_cards')
    }
  })

  const cases: [string, (variant: string) => object, string][] = [
    ['a day in the past', () => ({ send_on: '2020-01-01' }), 'items.0.gift_card.send_on'],
    ['a day that is none', () => ({ send_on: '2026-02-30' }), 'items.0.gift_card.send_on'],
    ['a day years ahead', () => ({ send_on: '2999-01-01' }), 'items.0.gift_card.send_on'],
    ['a message of a book', () => ({ message: 'x'.repeat(1_001) }), 'items.0.gift_card.message'],
    ['a name of two lines', () => ({ recipient_name: 'a\nb' }), 'items.0.gift_card.recipient_name'],
    [
      'an address that is none',
      () => ({ recipient_email: 'robin' }),
      'items.0.gift_card.recipient_email',
    ],
    [
      'a card number in the message',
      () => ({ message: 'Use 4111 1111 1111 1111' }),
      'items.0.gift_card.message',
    ],
  ]
  for (const [what, more, path] of cases) {
    test(`a gift card is refused with ${what}`, async () => {
      const store = shared.current
      const variant = await sellGiftCard(store.shop)
      const gift_card = { ...RECIPIENT, ...more(variant) }
      const body = { customer_ref: 'ann', items: [item(variant, { gift_card })], card: APPROVED }
      const refused = await checkout(store.app, store.shop, body)
      assert.deepEqual(refusal(refused), [400, 'invalid_body'], refused.text)
      const paths = refused.body.issues.map(({ path: at }: { path: string }) => at)
      assert.deepEqual(paths, [path])
    })
  }

  test('a recipient for a line that is no gift card is refused, and so is a gift card beyond the hundredth', async () => {
    const store = shared.current
    const variant = await sellGiftCard(store.shop)
    const send = (items: object[]) =>
      checkout(store.app, store.shop, { customer_ref: 'ann', items, card: APPROVED })
    const goods = await send([item(store.shop.variants[1_000], { gift_card: RECIPIENT })])
    assert.deepEqual(refusal(goods), [400, 'invalid_body'])
    assert.equal(goods.body.issues[0].path, 'items.0.gift_card')
    const days = ['2020-01-01', '2999-01-01'].map((send_on) =>
      item(variant, { gift_card: { ...RECIPIENT, send_on } }),
    )
    const late = await send(days)
    assert.deepEqual(
      late.body.issues.map(({ path }: { path: string }) => path),
      ['items.0.gift_card.send_on', 'items.1.gift_card.send_on'],
    )
    const many = [60, 41].map((quantity) => item(variant, { quantity, gift_card: RECIPIENT }))
    assert.deepEqual(refusal(await send(many)), [400, 'invalid_body'])
  })

  test('a gift card is refused beyond the limit of the store, before anything is paid', async () => {
    const store = shared.current
    const variant = await sellGiftCard(store.shop)
    const limits = '/v1/entitlements/tenants/acme/limits'
    const { body } = await store.app.operator.get(limits)
    const { used } = body.limits.find(({ limit }: { limit: string }) => limit === 'gift_cards')
    assert.equal((await store.app.operator.put(limits, { gift_cards: used + 1 })).status, 200)
    try {
      const items = [item(variant, { quantity: 2, gift_card: RECIPIENT })]
      const refused = await checkout(store.app, store.shop, {
        customer_ref: 'ann',
        items,
        card: APPROVED,
      })
      assert.deepEqual(refusal(refused), [409, 'limit_reached'])
      assert.equal(refused.body.limit, 'gift_cards')
    } finally {
      await store.app.operator.put(limits, { gift_cards: null })
    }
  })

  test('a gift card is refused as a subscription, without a price, and with counted stock', async () => {
    const store = shared.current
    const { merchant } = store.shop
    const products = '/v1/merchant/catalog/products'
    const monthly = await merchant.post(products, {
      slug: 'monthly',
      name: 'Monthly',
      subscription_interval: 'month',
    })
    const path = `${products}/${monthly.body.product.id}`
    const card = { sku: 'GC-1', price_cents: 5_000, gift_card: true }
    const subscribed = await merchant.post(`${path}/variants`, card)
    assert.equal(subscribed.body.issues[0].path, 'gift_card')
    const free = await merchant.post(`${path}/variants`, { ...card, price_cents: 0 })
    assert.deepEqual(
      free.body.issues.map(({ path: at }: { path: string }) => at),
      ['gift_card', 'price_cents'],
    )

    const once = await merchant.post(products, { slug: 'once', name: 'Once' })
    const own = `${products}/${once.body.product.id}`
    const made = await merchant.post(`${own}/variants`, card)
    assert.equal(made.body.variant.gift_card, true, made.text)
    const patched = await merchant.patch(own, { subscription_interval: 'month' })
    assert.equal(patched.body.issues[0].path, 'is_subscription')
    const stock = `/v1/merchant/inventory/${made.body.variant.id}`
    const tracked = await merchant.put(stock, { track_inventory: true })
    assert.equal(tracked.body.issues[0].path, 'track_inventory')

    const goods = await addVariant(merchant, 5_000)
    assert.equal(
      (await merchant.put(`/v1/merchant/inventory/${goods}`, { track_inventory: true })).status,
      200,
    )
    const { rows } = await store.superuser.query('select product_id from variants where id = $1', [
      goods,
    ])
    const marked = await merchant.patch(`${products}/${rows[0].product_id}/variants/${goods}`, {
      gift_card: true,
    })
    assert.equal(marked.body.issues[0].path, 'gift_card')
  })
})

test('a variant is never a gift card with counted stock, also if both are set at the same time', async () => {
  const { shop, superuser } = shared.current
  for (let n = 0; n < 5; n++) {
    const id = await addVariant(shop.merchant, 5_000)
    const { rows } = await superuser.query('select product_id from variants where id = $1', [id])
    const variant = `/v1/merchant/catalog/products/${rows[0].product_id}/variants/${id}`
    const answers = await Promise.all([
      shop.merchant.patch(variant, { gift_card: true }),
      shop.merchant.put(`/v1/merchant/inventory/${id}`, { track_inventory: true }),
    ])
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [200, 400], JSON.stringify(statuses))
  }
})

test('the public catalog and its export say which variants are gift cards', async () => {
  const store = shared.current
  const variant = await sellGiftCard(store.shop)
  const { body } = await store.app.anyone.get('/v1/tenants/acme/catalog/products')
  const listed = body.products
    .flatMap(({ variants }: { variants: object[] }) => variants)
    .filter(({ gift_card }: { gift_card: boolean }) => gift_card)
  assert.ok(listed.some(({ id }: { id: string }) => id === variant))
  const { text } = await store.shop.merchant.get('/v1/merchant/catalog/products/export.csv')
  const cells = (line: string) => line.replaceAll('"', '').split(',')
  const [header = '', ...rows] = text.split(/\r?\n/)
  const [at, of] = ['gift_card', 'variant_id'].map((name) => cells(header).indexOf(name))
  const row = rows.map(cells).find((each) => each[of ?? 0] === variant)
  assert.equal(row?.[at ?? 0], 'true')
})

test('a gift card that a merchant issues belongs to no order', async () => {
  const store = shared.current
  await enable(store.shop.merchant, 'gift_cards')
  const { gift_card } = await issueGiftCard(store.shop.merchant, 1_000)
  const { body } = await store.shop.merchant.get(`/v1/merchant/gift-cards/${gift_card.id}`)
  assert.deepEqual([body.gift_card.issued_order_id, body.gift_card.order_item_id], [null, null])
})
