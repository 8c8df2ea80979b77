import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { countAll } from '../analytics/setup.ts'
import {
  addVariant,
  cardOf,
  cart,
  checkout,
  enable,
  issueGiftCard,
  LOST_AFTER_CHARGE,
  openCheckoutApp,
} from '../checkout/setup.ts'
import { CARDS } from '../renewals/setup.ts'
import { ok, refusal } from '../returns/setup.ts'
import {
  AFFILIATES,
  type AffiliateShop,
  balanceOf,
  buy,
  commissionsOf,
  linesOf,
  makeAffiliate,
  openAffiliateShop,
  passDays,
  shareAffiliateApp,
} from './setup.ts'

const HOME = {
  label: 'Home',
  line1: '17 Quarrystone Lane',
  city: 'Cheyenne',
  state: 'WY',
  postal_code: '82001',
  country: 'US',
}

describe('an order with the code of an affiliate', () => {
  const shared = shareAffiliateApp()
  const open = () => openAffiliateShop(shared.current)
  const touch = async ({ tenant }: AffiliateShop, code: string) =>
    ok(await shared.current.storefront.post(`/v1/tenants/${tenant}/affiliates/touches`, { code }))

  test('earns a pending commission on its goods, without discount, tax, shipping and gift cards', async () => {
    const shop = await open()
    const { merchant } = shop
    await enable(merchant, 'gift_cards')
    const giftCard = await addVariant(merchant, 5_000, { name: 'Gift' }, { gift_card: true })
    const coupon = { code: 'TEN', type: 'percent', percent_bps: 1_000 }
    ok(await merchant.post('/v1/merchant/marketing/coupons', coupon), 201)
    const { id, code } = await makeAffiliate(shop)
    const { order } = await buy(shop, {
      referral_code: code.toLowerCase(),
      items: [
        { variant_id: shop.variant, quantity: 2 },
        { variant_id: giftCard, quantity: 1 },
      ],
      email: 'ann@example.com',
      coupon_code: 'TEN',
      shipping: { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 },
      tax: { provider: 'flat_rate', rate_bps: 777 },
    })
    const [commission] = await commissionsOf(shop, { order_id: order.id })
    assert.equal(commission.base_cents, 18_000)
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 1800'])
    const { attribution } = commission
    assert.deepEqual(
      [attribution.code, attribution.source, attribution.model, attribution.window_days],
      [code, 'code', 'last_touch.v1', 30],
    )
    assert.deepEqual(await balanceOf(shop, id), [1_800, 0, 0, 0])
    const { body } = await merchant.get(`${AFFILIATES}/commissions/${commission.id}`)
    assert.deepEqual(body.commission, commission)
  })

  test('an order with the code of an affiliate that is all gift cards earns nothing', async () => {
    const shop = await open()
    await enable(shop.merchant, 'gift_cards')
    const giftCard = await addVariant(shop.merchant, 5_000, { name: 'Gift' }, { gift_card: true })
    const { id, code } = await makeAffiliate(shop)
    const items = [{ variant_id: giftCard, quantity: 1 }]
    const { order } = await buy(shop, { referral_code: code, items, email: 'ann@example.com' })
    assert.deepEqual(await linesOf(shop, order.id), [])
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 0])
  })

  test('earns on prices without the tax that they contain', async () => {
    const shop = await open()
    const manifest = { tax: { prices_include_tax: true } }
    ok(await shop.merchant.put('/v1/my/store/manifest', { manifest }))
    const { code } = await makeAffiliate(shop)
    const tax = { provider: 'flat_rate', rate_bps: 2_500 }
    const { order } = await buy(shop, { referral_code: code, tax })
    assert.equal(order.tax_cents, 2_000)
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 800'])
  })

  test('keeps the time at which its link was followed, as the platform has signed it', async () => {
    const shop = await open()
    const { code } = await makeAffiliate(shop)
    const other = await makeAffiliate(shop)
    const touched = await touch(shop, code.toLowerCase())
    assert.equal(touched.referral_code, code)
    assert.equal(touched.window_days, 30)
    const of = async (more: object) => {
      const { order } = await buy(shop, more)
      const [{ attribution }] = await commissionsOf(shop, { order_id: order.id })
      return attribution
    }
    const { referral_touch } = touched
    const linked = await of({ referral_code: code, referral_touch })
    assert.equal(linked.source, 'link')
    assert.ok(Math.abs(Date.parse(linked.touched_at) - Date.now()) < 60_000)
    // A touch of another code, or one that was made up, is no proof.
    assert.equal((await of({ referral_code: other.code, referral_touch })).source, 'code')
    const forged = `${referral_touch.slice(0, -1)}${referral_touch.endsWith('A') ? 'B' : 'A'}`
    assert.equal((await of({ referral_code: code, referral_touch: forged })).source, 'code')
    for (const odd of [7, null, {}, 'x'.repeat(5_000), '']) {
      assert.equal((await of({ referral_code: code, referral_touch: odd })).source, 'code')
    }
    const shown = ok(await shop.merchant.get(`${AFFILIATES}?limit=2`)).affiliates
    assert.deepEqual(
      shown.map((each: { referral_codes: { clicks: number }[] }) => each.referral_codes[0]?.clicks),
      [0, 1],
    )
  })

  test('an order after the attribution window earns nothing, and says so', async () => {
    const shop = await open()
    const { id, code } = await makeAffiliate(shop, { cookie_days: 7 })
    const { referral_touch } = await touch(shop, code)
    await passDays(shop, 6.9)
    const inside = await buy(shop, { referral_code: code, referral_touch })
    assert.deepEqual(await linesOf(shop, inside.order.id), ['sale pending 1000'])
    await passDays(shop, 7.1)
    const outside = await buy(shop, { referral_code: code, referral_touch })
    const [declined] = await commissionsOf(shop, { order_id: outside.order.id })
    assert.deepEqual([declined.status, declined.reason], ['declined', 'window_expired'])
    assert.deepEqual(await balanceOf(shop, id), [1_000, 0, 0, 0])
  })

  test('an affiliate code that a coupon carries is the last touch, whatever link was followed before', async () => {
    const shop = await open()
    const [linked, carried] = [await makeAffiliate(shop), await makeAffiliate(shop)]
    const coupon = { code: 'FAY', type: 'percent', percent_bps: 2_000, referral_code: carried.code }
    const made = ok(await shop.merchant.post('/v1/merchant/marketing/coupons', coupon), 201).coupon
    assert.equal(made.referral_code, carried.code)
    const more = { referral_code: linked.code, coupon_code: 'fay' }
    const { order } = await buy(shop, more)
    const [commission] = await commissionsOf(shop, { order_id: order.id })
    assert.deepEqual(
      [commission.affiliate_id, commission.attribution.source, commission.amount_cents],
      [carried.id, 'coupon', 800],
    )
    const url = `/v1/merchant/marketing/coupons/${made.id}`
    ok(await shop.merchant.patch(url, { referral_code: null }))
    const later = await buy(shop, more)
    const [second] = await commissionsOf(shop, { order_id: later.order.id })
    assert.equal(second.affiliate_id, linked.id)
    const bad = await shop.merchant.patch(url, { referral_code: 'not a code' })
    assert.deepEqual(refusal(bad), [400, 'invalid_body'])
  })

  test('an order is placed also if its code is unknown, inactive or of an inactive affiliate, or the add-on is off', async () => {
    const shop = await open()
    const { id, code } = await makeAffiliate(shop)
    const unknown = await buy(shop, { referral_code: 'nobody' })
    assert.deepEqual(await linesOf(shop, unknown.order.id), [])
    const reasonOf = async () => {
      const { order } = await buy(shop, { referral_code: code })
      const [commission] = await commissionsOf(shop, { order_id: order.id })
      return commission && [commission.status, commission.reason]
    }
    ok(await shop.merchant.patch(`${AFFILIATES}/${id}/codes/${code}`, { active: false }))
    assert.deepEqual(await reasonOf(), ['declined', 'code_inactive'])
    ok(await shop.merchant.post(`${AFFILIATES}/${id}/suspend`))
    assert.deepEqual(await reasonOf(), ['declined', 'affiliate_not_active'])
    ok(await shop.merchant.post(`${AFFILIATES}/${id}/resume`))
    ok(await shop.merchant.patch(`${AFFILIATES}/${id}/codes/${code}`, { active: true }))
    assert.deepEqual(await reasonOf(), ['pending', null])
    ok(await shop.merchant.post('/v1/merchant/entitlements/disable', { feature_key: 'affiliates' }))
    assert.equal(await reasonOf(), undefined)
    assert.deepEqual(await balanceOf(shop, id), [1_000, 0, 0, 0])
  })

  test('an order with the code of another store earns nothing', async () => {
    const [one, two] = [await open(), await open()]
    const { code } = await makeAffiliate(one)
    const { order } = await buy(two, { referral_code: code })
    assert.deepEqual(await linesOf(two, order.id), [])
    const { referral_touch } = await touch(one, code)
    await makeAffiliate(two, { code })
    const placed = await buy(two, { referral_code: code, referral_touch })
    const [commission] = await commissionsOf(two, { order_id: placed.order.id })
    assert.equal(commission.attribution.source, 'code', 'the touch is of the other store')
  })

  test('an order of the affiliate itself is placed, and earns nothing', async () => {
    const shop = await open()
    const person_id = randomUUID()
    const { id, code, email } = await makeAffiliate(shop, {
      customer_ref: 'fay',
      person_id,
      address: { line1: '1 Own Street', city: 'Cheyenne', postal_code: '82001', country: 'US' },
    })
    const card = cardOf('5555555555554444')
    // An order of the affiliate without any code: its card and its address are known from then on.
    await buy(shop, { email: email.toUpperCase(), card, shipping_address: HOME })
    const reasonOf = async (more: object) => {
      const { order } = await buy(shop, { referral_code: code, ...more })
      const [commission] = await commissionsOf(shop, { order_id: order.id })
      return commission.status === 'declined' ? commission.reason : commission.status
    }
    const elsewhere = { ...HOME, line1: '99 Other Road' }
    const own = { ...HOME, line1: '1, Own Street' }
    const device_ref = `device-${randomUUID()}`
    await shared.current.superuser.query(
      `insert into affiliate_devices (tenant_ref, affiliate_id, device_hash) values ($1, $2, sha256($3))`,
      [shop.tenant, id, Buffer.from(device_ref)],
    )
    const cases: [object, string][] = [
      [{ customer_ref: 'fay', card }, 'self_person'],
      [{ person_id, card }, 'self_person'],
      [{ email, card }, 'self_person'],
      [{ email: email.replace('@', '+x@'), card }, 'self_person'],
      [{ card }, 'self_card'],
      [{ shipping_address: HOME }, 'self_address'],
      [{ shipping_address: own }, 'self_address'],
      [{ device_ref }, 'self_device'],
      [{ shipping_address: elsewhere, device_ref: `device-${randomUUID()}` }, 'pending'],
    ]
    for (const [more, expected] of cases) {
      assert.equal(await reasonOf(more), expected, JSON.stringify(more))
    }
    assert.deepEqual(await balanceOf(shop, id), [1_000, 0, 0, 0])
    const declined = await commissionsOf(shop, { affiliate_id: id, status: 'declined' })
    assert.deepEqual([declined.length, declined[0].amount_cents], [8, 1_000])
  })

  test("an order with an affiliate's code that waits for a review earns when it is released, counted from its checkout", async () => {
    const shop = await open()
    const { code } = await makeAffiliate(shop, { cookie_days: 1 })
    const { referral_touch } = await touch(shop, code)
    const ban = { kind: 'email', value: 'risky@example.com', action: 'review', reason: 'x' }
    ok(await shop.merchant.post('/v1/merchant/fraud/bans', ban), 201)
    const held = await shared.current.storefront.post(
      `/v1/tenants/${shop.tenant}/checkout`,
      {
        customer_ref: 'ann',
        items: [{ variant_id: shop.variant, quantity: 1 }],
        card: CARDS.approved,
        email: 'risky@example.com',
        referral_code: code,
        referral_touch,
      },
      { 'idempotency-key': randomUUID() },
    )
    const { order } = ok(held, 202)
    assert.deepEqual(await linesOf(shop, order.id), [])
    await passDays(shop, 3)
    const url = `/v1/merchant/fraud/reviews/${order.id}/approve`
    ok(await shop.merchant.post(url, {}, { 'idempotency-key': randomUUID() }))
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 1000'])
  })

  test('an order with the code of an affiliate that is declined by its bank earns nothing', async () => {
    const shop = await open()
    const { id, code } = await makeAffiliate(shop)
    const body = {
      customer_ref: 'ann',
      items: [{ variant_id: shop.variant, quantity: 1 }],
      card: cardOf('4000000000000002'),
      referral_code: code,
    }
    const url = `/v1/tenants/${shop.tenant}/checkout`
    const refused = await shared.current.storefront.post(url, body, {
      'idempotency-key': randomUUID(),
    })
    assert.equal(refused.status, 402)
    assert.deepEqual(await commissionsOf(shop, { affiliate_id: id }), [])
  })

  test('earns one commission, wherever its checkout stopped and whichever process finishes it', async () => {
    const shop = await open()
    const app = shared.current
    const { id, code } = await makeAffiliate(shop)
    const body = cart(shop.variant, { referral_code: code })
    for (const step of ['checkout-begun', 'authorized', 'captured']) {
      const key = randomUUID()
      await app.crash(shop, body, step, key)
      await app.expireClaims()
      // The reconciler, and the shopper who sends the form again.
      app.clock.advance(10_000)
      await app.reconcile()
      app.clock.reset()
      await checkout(app, shop, body, key)
    }
    const lost = randomUUID()
    const unknown = { ...body, card: LOST_AFTER_CHARGE }
    assert.equal((await checkout(app, shop, unknown, lost)).status, 503)
    await app.expireClaims()
    await app.reconcile()
    assert.equal((await checkout(app, shop, unknown, lost)).status, 201)
    const placed = ok(await shop.merchant.get('/v1/merchant/orders?status=placed')).total
    assert.ok(placed >= 3, 'most of them were paid')
    assert.deepEqual(await balanceOf(shop, id), [placed * 1_000, 0, 0, 0])
  })

  test('an order paid with a gift card earns like any other', async () => {
    const shop = await open()
    await enable(shop.merchant, 'gift_cards')
    const { code: gift_card_code } = await issueGiftCard(shop.merchant, 10_000)
    const { code } = await makeAffiliate(shop)
    const { order } = await buy(shop, { referral_code: code, gift_card_code, card: null })
    assert.deepEqual(await linesOf(shop, order.id), ['sale pending 1000'])
  })

  test("appears under the affiliate's name in the sales report, one group for each code in any spelling", async () => {
    const shop = await open()
    const { id, code } = await makeAffiliate(shop, { name: 'Fay Friend' })
    const second = `${code}-TWO`
    ok(await shop.merchant.post(`/v1/merchant/affiliates/${id}/codes`, { code: second }), 201)
    await buy(shop, { referral_code: second })
    await buy(shop, { referral_code: code })
    await buy(shop, { referral_code: code.toLowerCase() })
    await buy(shop, {})
    await countAll(shared.current)
    const url = '/v1/merchant/analytics/sales?group_by=affiliate'
    const { groups } = ok(await shop.merchant.get(url))
    assert.deepEqual(
      groups
        .map(({ key, label, gross_cents }: Record<string, unknown>) => [key, label, gross_cents])
        .toSorted(),
      [
        ['', null, 10_000],
        [code, 'Fay Friend', 20_000],
        [second, 'Fay Friend', 10_000],
      ],
    )
  })
})

/**
 * What is not counted: what frames a statement, the limiter and the simulated gateway, the calls that are written
 * down every five seconds, and the empty statement that probes an idle connection.
 */
const NOT_COUNTED =
  /^(?:begin|commit|select set_config|$)|limit_counters|\bsim_|pg_notify|fd_add_api_calls/

/** The statements that reach the database, but for those that are not counted. */
function collectStatements(t: TestContext) {
  const texts: string[] = []
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
    const sent = args[0] as { text?: string; statements?: readonly { text: string }[] }
    const own = sent.statements?.map(({ text }) => text) ?? [sent.text ?? String(sent)]
    texts.push(...own.filter((text) => !NOT_COUNTED.test(text)))
    return query.apply(this, args)
  })
  return async (work: () => Promise<unknown>) => {
    texts.length = 0
    await work()
    return [...texts]
  }
}

test('a checkout without a code sends no statement about affiliates, and one with a code sends three', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openAffiliateShop(app)
  const { code } = await makeAffiliate(shop)
  const order = (more: object = {}) => buy(shop, { customer_ref: 'ann', ...more })
  // Before the count: connections are opened, and the site's options are cached.
  for (const more of [{}, {}, { referral_code: code }]) await order(more)
  const statementsOf = collectStatements(t)
  const plain = await statementsOf(() => order())
  const referred = await statementsOf(() => order({ referral_code: code }))
  assert.ok(plain.length > 10, 'they are counted')
  assert.deepEqual(
    plain.filter((text) => text.includes('affiliate')),
    [],
  )
  // The statements that find the affiliate of the code and their own orders, and that write the attribution.
  assert.equal(referred.length - plain.length, 3, referred.join('\n---\n'))
})
