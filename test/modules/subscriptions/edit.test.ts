import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { APPROVED, addVariant, checkout, preview } from '../checkout/setup.ts'
import { createCoupon } from '../marketing/setup.ts'
import { ADDRESS, ok, openStores, refusal, type SubscriptionStore } from './setup.ts'

const amountOf = ({ next_charges }: { next_charges: { amount_cents: number }[] }): number =>
  next_charges[0]?.amount_cents ?? 0

/** Changes the list price of a variant. */
async function reprice(store: SubscriptionStore, variant: string, price_cents: number) {
  await store.superuser.query('update variants set price_cents = $2 where id = $1', [
    variant,
    price_cents,
  ])
}

test('a change of a subscription', async (t) => {
  const stores = await openStores(t)
  const store = await stores.open('acme')
  const tea = await store.sell(1_500, { subscription_price_cents: 1_200 })

  await t.test('to another variant locks its present price, and says so', async () => {
    const { id } = await store.subscribe()
    const { subscription, price_change } = ok(await store.patch(id, { variant_id: tea }))
    assert.deepEqual(price_change, { before_cents: 800, after_cents: 1_200 })
    assert.deepEqual(
      [subscription.variant_id, subscription.unit_price_cents, amountOf(subscription)],
      [tea, 1_200, 1_200],
    )
    await reprice(store, tea, 900)
    assert.equal(amountOf(await store.read(id)), 1_200, 'locked')
    await reprice(store, tea, 1_500)
    const same = ok(await store.patch(id, { variant_id: tea.toUpperCase() }))
    assert.deepEqual([same.price_change, same.subscription.version], [null, subscription.version])
  })

  await t.test(
    "to the current price follows the catalog, and back to a locked one locks today's price",
    async () => {
      const plain = await store.sell(2_000)
      const { id } = await store.subscribe({ items: [{ variant_id: plain, quantity: 2 }] })
      const current = ok(await store.patch(id, { price_policy: 'current' }))
      assert.equal(current.price_change, null)
      await reprice(store, plain, 2_500)
      assert.equal(amountOf(await store.read(id)), 5_000)
      const locked = ok(await store.patch(id, { price_policy: 'locked' }))
      assert.deepEqual(locked.price_change, { before_cents: 2_000, after_cents: 2_500 })
      await reprice(store, plain, 100)
      assert.equal(amountOf(await store.read(id)), 5_000)
    },
  )

  await t.test('takes the price of the customer’s group, as a checkout would', async () => {
    const grouped = await stores.open('groups')
    ok(
      await grouped.merchant.post('/v1/merchant/entitlements/enable', {
        feature_key: 'pricing_groups',
      }),
    )
    const { pricing_group } = ok(
      await grouped.merchant.post('/v1/merchant/pricing-groups', { name: 'friends' }),
      201,
    )
    const url = `/v1/merchant/pricing-groups/${pricing_group.id}`
    ok(await grouped.merchant.post(`${url}/members`, { customer_ref: 'ann' }), 201)
    const cocoa = await grouped.sell(1_000)
    ok(await grouped.merchant.put(`${url}/prices`, { variant_id: cocoa, price_cents: 600 }))
    const { id } = await grouped.subscribe()
    const swapped = ok(await grouped.patch(id, { variant_id: cocoa, price_policy: 'current' }))
    assert.equal(amountOf(swapped.subscription), 600)
    const shown = ok(
      await preview(grouped.app, grouped, {
        customer_ref: 'ann',
        items: [{ variant_id: cocoa, quantity: 1 }],
        subscribe: true,
      }),
    )
    assert.equal(shown.total_cents, amountOf(swapped.subscription))
  })

  await t.test('is refused for a variant that cannot be subscribed to', async () => {
    const { id } = await store.subscribe()
    const once = await addVariant(store.merchant, 700)
    const euro = await store.sell(700, {}, { currency: 'EUR' })
    const draft = await store.sell(700, { status: 'draft' })
    const refused = [
      [randomUUID(), 404, 'variant_not_found'],
      ['nothing', 404, 'variant_not_found'],
      [draft, 404, 'variant_not_found'],
      [once, 422, 'not_subscribable'],
      [euro, 422, 'currency_mismatch'],
    ] as const
    for (const [variant_id, status, code] of refused)
      assert.deepEqual(refusal(await store.patch(id, { variant_id })), [status, code])
    for (const quantity of [0, -1, 10_001, 1.5, '2'])
      assert.deepEqual(refusal(await store.patch(id, { quantity })), [400, 'invalid_body'])
    await reprice(store, tea, 90_000_000_000)
    const dear = ok(await store.patch(id, { variant_id: tea, price_policy: 'current' }))
    assert.equal(amountOf(dear.subscription), 1_200, 'the subscription price stands')
    await store.superuser.query(
      'update products set subscription_price_cents = null where id = $1',
      [dear.subscription.product_id],
    )
    assert.deepEqual(refusal(await store.patch(id, { quantity: 2 })), [400, 'invalid_body'])
    assert.deepEqual((await store.read(id)).next_charges.length, 3)
    await reprice(store, tea, 1_500)
  })

  await t.test(
    'to another address keeps known members alone, and accepts only the countries of the site',
    async () => {
      const narrow = await stores.open('narrow')
      const { id } = await narrow.subscribe()
      const moved = { ...ADDRESS, line1: '2 Square', door: 'blue' }
      const { subscription } = ok(await narrow.patch(id, { ship_to: moved }))
      assert.deepEqual(
        [subscription.ship_to.line1, subscription.ship_to.door],
        ['2 Square', undefined],
      )
      const { rows } = await narrow.superuser.query(
        'select ship_to from subscriptions where id = $1',
        [id],
      )
      assert.equal('door' in rows[0].ship_to, false)
      const manifest = { behavior: { shipping: { countries: ['DE', 'FR'] } } }
      ok(await narrow.merchant.put('/v1/my/store/manifest', { manifest }))
      const refused = await narrow.patch(id, { ship_to: moved })
      assert.deepEqual(refusal(refused), [422, 'country_not_served'])
      assert.deepEqual(refused.body.issues[0].path, 'ship_to.country')
      assert.deepEqual(refusal(await narrow.patch(id, { ship_to: { line1: 'x' } })), [
        400,
        'invalid_body',
      ])
      assert.equal(ok(await narrow.patch(id, { ship_to: null })).subscription.ship_to, null)
      const digits = { ...ADDRESS, country: 'DE', line1: '4111 1111 1111 1111' }
      assert.deepEqual(refusal(await narrow.patch(id, { ship_to: digits })), [400, 'invalid_body'])
    },
  )

  await t.test(
    'without a change changes nothing, and names members that it does not know',
    async () => {
      const { id, version } = await store.subscribe()
      const same = ok(await store.patch(id, { quantity: 1, colour: 'red' }))
      assert.deepEqual([same.subscription.version, same.ignored], [version, ['colour']])
    },
  )

  await t.test('has the tax inside if the prices of the site do', async () => {
    const inside = await stores.open('inside')
    ok(
      await inside.merchant.put('/v1/my/store/manifest', {
        manifest: { tax: { prices_include_tax: true } },
      }),
    )
    const tax = { provider: 'flat_rate', rate_bps: 2_500 }
    assert.equal(amountOf(await inside.subscribe({ tax })), 800)
    assert.equal(amountOf(await store.subscribe({ tax })), 1_000)
  })
})

test('the subscription price needs the add-on, for new subscriptions alone', async (t) => {
  const stores = await openStores(t)
  const store = await stores.open('acme')
  const running = await store.subscribe()
  const items = [{ variant_id: store.coffee, quantity: 1 }]
  const priceNow = async () =>
    ok(await preview(store.app, store, { items, subscribe: true })).items[0].unit_price_cents
  assert.equal(await priceNow(), 800)
  const feature_key = 'subscribe_and_save'
  ok(await store.merchant.post('/v1/merchant/entitlements/disable', { feature_key }))
  assert.equal(await priceNow(), 1_000)
  const body = { customer_ref: 'bob', items, card: APPROVED, subscribe: true }
  const placed = ok(await checkout(store.app, store, body), 201)
  const started = await store.read(placed.subscriptions[0].id)
  assert.deepEqual([placed.order.total_cents, started.unit_price_cents], [1_000, 1_000])
  assert.equal((await store.read(running.id)).unit_price_cents, 800)
  const current = ok(await store.patch(running.id, { price_policy: 'current' })).subscription
  assert.equal(amountOf(current), 800, 'what runs keeps the subscription price')
})

test('a recurring coupon stays with the subscription, any other does not', async (t) => {
  const stores = await openStores(t)
  const store = await stores.open('acme')
  const tea = await store.sell(3_000)
  const coupon = async (more: Record<string, unknown>) =>
    (await createCoupon(store.merchant, more)).code as string
  const bothAt = async (coupon_code: string) => {
    const items = [
      { variant_id: store.coffee, quantity: 1 },
      { variant_id: tea, quantity: 1 },
    ]
    const body = { customer_ref: 'ann', items, card: APPROVED, subscribe: true, coupon_code }
    const placed = ok(await checkout(store.app, store, body), 201)
    const read = await Promise.all(
      placed.subscriptions.map(({ id }: { id: string }) => store.read(id)),
    )
    const byVariant = new Map(read.map((each) => [each.variant_id, each]))
    return {
      total: placed.order.total_cents,
      coffee: byVariant.get(store.coffee),
      tea: byVariant.get(tea),
    }
  }
  const percent = { type: 'percent', percent_bps: 1_000 }

  const kept = await bothAt(
    await coupon({ ...percent, recurring: true, min_subtotal_cents: 3_500 }),
  )
  assert.deepEqual([amountOf(kept.coffee), amountOf(kept.tea)], [720, 2_700])
  assert.ok(kept.coffee.coupon_code)

  const once = await bothAt(await coupon({ ...percent, recurring: false }))
  assert.deepEqual([once.total, amountOf(once.coffee), amountOf(once.tea)], [3_420, 800, 3_000])
  assert.equal(once.coffee.coupon_code, null)

  const fixed = await bothAt(
    await coupon({ type: 'fixed', percent_bps: null, amount_cents: 380, recurring: true }),
  )
  assert.deepEqual(
    [fixed.total, amountOf(fixed.coffee) + amountOf(fixed.tea)],
    [3_420, 3_420],
    'each renewal keeps its share of the amount, and not all of it',
  )

  const capped = await bothAt(
    await coupon({ ...percent, max_discount_cents: 190, recurring: true }),
  )
  assert.deepEqual([capped.total, amountOf(capped.coffee) + amountOf(capped.tea)], [3_610, 3_610])

  const { body } = await store.merchant.get(`/v1/merchant/subscriptions/${kept.tea.id}`)
  const swapped = ok(await store.patch(kept.tea.id, { variant_id: store.coffee }))
  assert.equal(amountOf(swapped.subscription), 720, 'a coupon for all products goes with the swap')
  assert.equal(body.subscription.coupon_code, kept.tea.coupon_code)
  const applies_to = { product_ids: [kept.coffee.product_id] }
  const narrow = await bothAt(await coupon({ ...percent, applies_to, recurring: true }))
  assert.deepEqual([amountOf(narrow.coffee), amountOf(narrow.tea)], [720, 3_000])
  assert.equal(narrow.tea.coupon_code, null)
})
