import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { countStatuses, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { cart, openCheckoutApp, openShop } from './setup.ts'

const SHOPPER = '198.51.100.7'
const ATTACKER = '203.0.113.9'

const shared = share(openCheckoutApp)
let stores = 0

/** The next store, which has counted no code yet. */
async function open() {
  const app = shared.current
  const shop = await openShop(app, `acme-${++stores}`)
  const coupon = { code: 'WELCOME', type: 'percent', percent_bps: 1_000 }
  const made = await shop.merchant.post('/v1/merchant/marketing/coupons', coupon)
  assert.equal(made.status, 201, made.text)
  const url = `/v1/tenants/${shop.tenant}/checkout`
  const item = { variant_id: shop.variants[1_000], quantity: 1 }
  const preview = (coupon_code: string | null, ip?: string) =>
    app.storefront.post(`${url}/preview`, { items: [item], coupon_code, ip })
  const buy = (coupon_code: string, ip: string) =>
    app.storefront.post(
      url,
      cart(shop.variants[1_000], { customer_ref: randomUUID(), coupon_code, ip }),
      { 'idempotency-key': randomUUID() },
    )
  return { preview, buy }
}

describe('the limit on wrong coupon codes', () => {
  test('stops 150 guesses of one shopper after ten, and no other shopper', async () => {
    const { preview } = await open()
    const answers = await times(150, (i) => preview(`GUESS${i}`, ATTACKER))
    assert.deepEqual(countStatuses(answers), { 200: 10, 429: 140 })
    const right = await preview('WELCOME', ATTACKER)
    assert.equal((await preview('WELCOME', ATTACKER)).status, 429, 'however often it is sent')
    assert.deepEqual([right.status, right.body.error.code], [429, 'rate_limited'])
    assert.equal(
      right.headers['retry-after'],
      '60',
      'a good code is refused too, and tells nothing',
    )
    assert.equal((await preview(null, ATTACKER)).status, 200, 'a cart without a code has its price')
    const other = await preview('WELCOME', SHOPPER)
    assert.deepEqual([other.status, other.body.coupon.applied], [200, true])
  })

  test('does not count good codes, and counts a repeated wrong code once', async () => {
    const { preview } = await open()
    for (let i = 0; i < 15; i++) {
      assert.equal((await preview('WELCOME', SHOPPER)).body.coupon.applied, true)
      assert.equal((await preview('WELCOM', SHOPPER)).body.coupon.reason, 'unknown')
    }
    for (const typo of ['WELCMOE', 'WELLCOME', 'WLCOME']) {
      assert.equal((await preview(typo, SHOPPER)).status, 200)
    }
    assert.equal((await preview('WELCOME', SHOPPER)).body.coupon.applied, true)
  })

  test('takes any number of good codes at once', async () => {
    const { preview, buy } = await open()
    const ofOne = await times(30, () => preview('WELCOME', SHOPPER))
    assert.deepEqual(countStatuses(ofOne), { 200: 30 })
    const ofServer = await times(100, () => preview('WELCOME'))
    assert.deepEqual(countStatuses(ofServer), { 200: 100 })
    const orders = await times(20, () => buy('WELCOME', SHOPPER))
    assert.deepEqual(countStatuses(orders), { 201: 20 })
  })

  test('tells no good code once the limit is reached, among many guesses at once', async () => {
    const { preview } = await open()
    const guesses = await times(60, (i) => preview(`GUESS${i}`, ATTACKER))
    assert.deepEqual(countStatuses(guesses), { 200: 10, 429: 50 })
    const more = await times(60, (i) => preview(i % 2 === 0 ? 'WELCOME' : `GUESS${i}`, ATTACKER))
    assert.deepEqual(countStatuses(more), { 429: 60 })
  })

  test('counts previews and checkouts together, and takes a good checkout', async () => {
    const { preview, buy } = await open()
    for (let i = 0; i < 5; i++) {
      assert.equal((await preview(`PREVIEW${i}`, ATTACKER)).status, 200)
      assert.equal((await buy(`BUY${i}`, ATTACKER)).status, 422)
    }
    const refused = await buy('ONEMORE', ATTACKER)
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limited'])
    assert.equal((await buy('WELCOME', SHOPPER)).status, 201)
  })

  test('allows sixty to a server that names no shopper, and two hundred to a store', async () => {
    const { preview } = await open()
    const unnamed = await times(80, (i) => preview(`GUESS${i}`))
    assert.deepEqual(countStatuses(unnamed), { 200: 60, 429: 20 })
    const many = await times(200, (i) => preview(`MORE${i}`, `203.0.113.${i % 100}`))
    assert.ok((countStatuses(many)[200] ?? 0) <= 140, JSON.stringify(countStatuses(many)))
  })
})
