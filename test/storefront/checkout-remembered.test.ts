import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { DETAILS, GOOD_CARD } from './setup.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

const ADDRESS = 'fd_address'

/** Buys with these fields. The cookies of the last answer are in `headers`. */
async function buy(
  fields: Record<string, string>,
  shopper = openShopper(shop.url, 'demo.localhost'),
) {
  const { id } = await setup.variantOf(shop, 'cedar-candle')
  await shopper.post('/cart/add', { variant: id })
  const key = (await shopper.get('/checkout')).field('key')
  const { headers } = await shopper.post('/checkout', { ...DETAILS, ...GOOD_CARD, ...fields, key })
  assert.match(String(headers.location), /^\/orders\//)
  return { shopper, headers }
}

/** The checkout page of a shopper who has bought before. */
async function returnTo(shopper: Awaited<ReturnType<typeof buy>>['shopper']) {
  const { id } = await setup.variantOf(shop, 'cedar-candle')
  await shopper.post('/cart/add', { variant: id })
  return shopper.get('/checkout')
}

describe('the address of a shopper', () => {
  test('is not remembered unless they ask for it: the box is not ticked', async () => {
    const { shopper } = await buy({})
    assert.ok(!shopper.cookies.has(ADDRESS))
    const seen = await returnTo(shopper)
    assert.equal(seen.field('email'), '')
    assert.match(seen.text, /<input type="checkbox" id="field-remember" name="remember" value="1">/)
    assert.doesNotMatch(seen.text, /Forget it/)
  })

  test('is remembered for a year in a cookie that cannot be read, without the card', async () => {
    const { shopper, headers } = await buy({ remember: '1' })
    const cookie = [headers['set-cookie'] ?? []].flat().find((each) => each.startsWith(ADDRESS))
    assert.match(cookie ?? '', /Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax/)
    const bytes = Buffer.from(shopper.cookies.get(ADDRESS) ?? '', 'base64url').toString('latin1')
    for (const text of [DETAILS.email, DETAILS.line1, 'London', '4111']) {
      assert.ok(!bytes.includes(text), text)
    }
    const seen = await returnTo(shopper)
    for (const [name, value] of Object.entries(DETAILS)) {
      if (name !== 'country') assert.equal(seen.field(name), value, name)
    }
    assert.match(seen.text, /<option value="GB" selected>/)
    assert.match(seen.text, /name="remember" value="1" checked/)
    assert.doesNotMatch(seen.text, /4111 ?1111|name="card_number"[^>]* value=/)
  })

  test('is forgotten with one click, and by a checkout that unticks the box', async () => {
    const { shopper } = await buy({ remember: '1' })
    const seen = await returnTo(shopper)
    assert.match(seen.text, /<button form="forget"[^>]*>Forget it</)
    const forgotten = await shopper.follow('/checkout/forget', {})
    assert.ok(!shopper.cookies.has(ADDRESS))
    assert.equal(forgotten.field('email'), '')
    await buy({ remember: '1' }, shopper)
    assert.ok(shopper.cookies.has(ADDRESS))
    await buy({}, shopper)
    assert.ok(!shopper.cookies.has(ADDRESS))
  })

  test('cannot be changed, or moved to another store or another cookie', async () => {
    await (await shop.merchant('other')).put('/v1/my/store/manifest', { manifest: {} })
    await shop.operator.put('/v1/stores/other/status', { status: 'live' })
    const { shopper } = await buy({ remember: '1' })
    const value = shopper.cookies.get(ADDRESS) ?? ''
    const changed = value.slice(0, 60) + (value[60] === 'A' ? 'B' : 'A') + value.slice(61)
    for (const wrong of [changed, '', 'x', 'A'.repeat(40), value.slice(0, -4)]) {
      shopper.cookies.set(ADDRESS, wrong)
      assert.equal((await returnTo(shopper)).field('email'), '', wrong)
    }
    shopper.cookies.set(ADDRESS, shopper.cookies.get('fd_cart') ?? '')
    assert.equal((await returnTo(shopper)).field('email'), '')
    const merchant = await shop.merchant('other')
    const made = await merchant.post('/v1/merchant/catalog/products', { slug: 'hat', name: 'Hat' })
    const path = `/v1/merchant/catalog/products/${made.body.product.id}/variants`
    const { body } = await merchant.post(path, { sku: 'HAT', price_cents: 1_000 })
    await shop.operator.put(`/v1/catalog/tenants/other/products/${made.body.product.id}/status`, {
      status: 'active',
    })
    const stranger = openShopper(shop.url, 'other.localhost')
    stranger.cookies.set(ADDRESS, value)
    await stranger.post('/cart/add', { variant: body.variant.id })
    assert.equal((await stranger.get('/checkout')).field('email'), '')
  })

  test('the address of a shopper that is too long for a cookie is not remembered, and the order is placed', async () => {
    const names = ['name', 'line1', 'line2', 'city', 'state', 'postal_code']
    const long = Object.fromEntries(names.map((name) => [name, '語'.repeat(200)]))
    const { shopper } = await buy({ ...long, remember: '1', country: 'KE' })
    assert.ok(!shopper.cookies.has(ADDRESS))
  })
})

describe('a store without accounts', () => {
  test('links to no orders, offers to remember nothing, and uses no remembered address', async () => {
    const { shopper } = await buy({ remember: '1' })
    const merchant = await shop.merchant('demo')
    const { manifest } = (await merchant.get('/v1/my/site')).body.active
    const behavior = { ...manifest.behavior, accounts: { enabled: false } }
    await merchant.put('/v1/my/store/manifest', { manifest: { ...manifest, behavior } })
    await until('the links are gone', async () => {
      return !(await shopper.get('/')).text.includes('href="/orders"')
    })
    const seen = await returnTo(shopper)
    assert.equal(seen.field('email'), '')
    assert.doesNotMatch(seen.text, /name="remember"|Forget it/)
    const stranger = openShopper(shop.url, 'demo.localhost')
    await buy({ remember: '1' }, stranger)
    assert.ok(!stranger.cookies.has(ADDRESS))
  })
})
