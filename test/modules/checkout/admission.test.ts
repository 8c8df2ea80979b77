import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  APPROVED,
  addVariant,
  cart,
  checkout,
  enable,
  giveCredit,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  preview,
  setLive,
  stock,
} from './setup.ts'

const TAX = { provider: 'flat_rate', rate_bps: 825 }

test('a checkout', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [1_000, 333])
  const [thousand, third] = [shop.variants[1_000], shop.variants[333]]
  t.afterEach(() => app.assertAddsUp())

  await t.test('a checkout with a quote token is refused when the total has changed', async () => {
    const wanted = { items: [{ variant_id: third, quantity: 1 }], tax: TAX }
    const quote = await preview(app, shop, wanted)
    const quote_token = quote.body.quote_token as string
    const buy = (token: unknown, more: object = {}) =>
      checkout(app, shop, cart(third, { tax: TAX, quote_token: token, ...more }))
    assert.equal((await buy(quote_token)).status, 201)
    const changed = await buy(quote_token, { tax: null })
    assert.equal(changed.status, 409)
    assert.equal(changed.body.error.code, 'price_changed')
    assert.deepEqual(
      [changed.body.quoted_cents, changed.body.current_cents],
      [quote.body.total_cents, 333],
    )
    const other = await openShop(app, 'other', [333])
    const foreign = await preview(app, other, {
      items: [{ variant_id: other.variants[333], quantity: 1 }],
    })
    const altered =
      quote_token.slice(0, 20) + (quote_token[20] === 'A' ? 'B' : 'A') + quote_token.slice(21)
    for (const token of [
      altered,
      foreign.body.quote_token,
      'fdqt_',
      'nonsense',
      `${quote_token}A`,
    ]) {
      const answer = await buy(token)
      assert.equal(answer.status, 400, token)
      assert.equal(answer.body.issues[0].path, 'quote_token')
    }
    app.clock.advance(10 * 60_000)
    assert.equal((await buy(quote_token)).status, 400, 'ten minutes are over')
    app.clock.reset()
  })

  await t.test('needs the attestation of a store that requires one', async () => {
    const gated = await openShop(app, 'gated', [1_000], {
      behavior: { funnelGate: { enabled: true, statementVersion: 'v2' } },
    })
    const variant = gated.variants[1_000]
    assert.equal((await checkout(app, gated, cart(variant))).status, 201, 'the add-on is off')
    const on = await app.operator.put('/v1/entitlements/tenants/gated/features/funnel_gate', {
      state: 'allow',
    })
    assert.ok(on.status < 300, on.text)
    const accepted_at = new Date().toISOString()
    for (const attestation of [undefined, null, { statement_version: 'v1', accepted_at }]) {
      const answer = await checkout(app, gated, cart(variant, { attestation }))
      assert.equal(answer.status, 403, answer.text)
      assert.equal(answer.body.error.code, 'attestation_required')
      assert.equal(answer.body.statement_version, 'v2')
    }
    const attestation = { statement_version: 'v2', accepted_at }
    const { body } = await checkout(app, gated, cart(variant, { attestation }))
    const { id, customer_ref } = body.order
    const read = await gated.merchant.get(`/v1/merchant/orders/${id}`)
    assert.deepEqual(read.body.attestation, attestation, 'which the merchant may have to show')
    const own = `/v1/tenants/gated/orders/${id}?customer_ref=${customer_ref}`
    assert.equal((await app.storefront.get(own)).body.attestation, undefined)
    const [, before] = (await gated.merchant.get('/v1/merchant/orders')).body.orders
    const none = await gated.merchant.get(`/v1/merchant/orders/${before.id}`)
    assert.equal(none.body.attestation, null)
  })

  await t.test('ships only to the countries that the store lists, where it lists any', async () => {
    const countries = ['DE', 'AT', 'Atlantis']
    const local = await openShop(app, 'local', [1_000], { behavior: { shipping: { countries } } })
    const unlimited = { behavior: { shipping: { countries: ['Atlantis'] } } }
    const everywhere = await openShop(app, 'everywhere', [1_000], unlimited)
    const to = { label: 'Home', line1: '1 Way', city: 'X', state: '', postal_code: '1' }
    const buy = (store: typeof local, country: string) =>
      checkout(app, store, cart(store.variants[1_000], { shipping_address: { ...to, country } }))
    for (const country of ['US', 'Germany', 'D', 'constructor', '4111111111111111'.slice(0, 4)]) {
      const { status, body, text } = await buy(local, country)
      assert.deepEqual([status, body.error?.code], [422, 'country_not_served'], text)
      assert.deepEqual(body.issues[0].path, 'shipping_address.country')
      assert.deepEqual(body.countries, ['DE', 'AT'])
    }
    for (const country of ['DE', 'at', ' De ']) {
      assert.equal((await buy(local, country)).status, 201, country)
    }
    const none = await checkout(app, local, cart(local.variants[1_000]))
    assert.equal(none.status, 201, 'an order without an address')
    for (const country of ['US', 'Germany']) {
      assert.equal((await buy(everywhere, country)).status, 201)
      assert.equal((await buy(shop, country)).status, 201)
    }
  })

  await t.test('accepts no tender and no subscription that the site does not offer', async () => {
    const plain = await openShop(app, 'plain', [1_000], {})
    const variant = plain.variants[1_000]
    for (const [feature_key, more] of [
      ['store_credit', { apply_store_credit: true }],
      ['gift_cards', { gift_card_code: 'ABCD' }],
      ['subscriptions', { subscribe: true }],
    ] as const) {
      const answer = await checkout(app, plain, cart(variant, more))
      assert.equal(answer.status, 422, answer.text)
      assert.equal(answer.body.error.code, 'feature_disabled')
      assert.equal(answer.body.feature_key, feature_key)
    }
  })

  await t.test('takes no subscription without a card that can be stored', async () => {
    const club = await openShop(app, 'club', [1_000])
    await enable(club.merchant, 'subscriptions', 'store_credit', 'gift_cards')
    const terms = { is_subscription: true, subscription_interval: 'month' }
    const tea = await addVariant(club.merchant, 1_000, terms)
    await giveCredit(club.merchant, 'rich', 5_000)
    const covered = { customer_ref: 'rich', apply_store_credit: true, subscribe: true }
    for (const card of [APPROVED, null]) {
      const answer = await checkout(app, club, cart(tea, { ...covered, card }))
      assert.deepEqual(
        [answer.status, answer.body.error?.code],
        [422, 'subscription_card_required'],
        answer.text,
      )
    }
    const giftCard = await issueGiftCard(club.merchant, 5_000)
    const free = { code: 'GIFT100', type: 'percent', percent_bps: 10_000 }
    assert.equal((await club.merchant.post('/v1/merchant/marketing/coupons', free)).status, 201)
    for (const tender of [{ gift_card_code: giftCard.code }, { coupon_code: free.code }]) {
      const answer = await checkout(
        app,
        club,
        cart(tea, { subscribe: true, card: null, ...tender }),
      )
      assert.equal(answer.body.error?.code, 'subscription_card_required', answer.text)
    }
    const once = await checkout(app, club, cart(tea, { ...covered, subscribe: false, card: null }))
    assert.equal(once.status, 201, 'the same order without a subscription')
    const mixed = { variant_id: club.variants[1_000], quantity: 1 }
    const items = [{ variant_id: tea, quantity: 5 }, mixed]
    const part = await checkout(app, club, cart(tea, { ...covered, items }))
    assert.equal(part.status, 201, 'a card that pays a part can be stored')
    assert.equal(part.body.subscriptions.length, 1)
  })

  await t.test('is open for live stores only, and the refusal tells no more', async () => {
    const closed = await openShop(app, 'closed', [1_000])
    await stock(closed.merchant, closed.variants[1_000] ?? '', 0)
    await setLive(app, 'closed', false)
    const unknown = await checkout(app, { tenant: 'nobody' }, cart(thousand))
    const answers = await Promise.all([
      checkout(app, closed, cart(closed.variants[1_000])),
      checkout(app, closed, cart(randomUUID())),
      preview(app, closed, cart(closed.variants[1_000])),
      preview(app, { tenant: 'nobody' }, cart(thousand)),
    ])
    for (const answer of answers) {
      assert.equal(answer.status, 404)
      assert.equal(answer.text, unknown.text)
    }
    assert.equal(unknown.body.error.code, 'unknown_tenant')
  })
})
