import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Caller } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { AFFILIATES, commissionsOf, makeAffiliate } from '../modules/affiliates/setup.ts'
import { enable } from '../modules/checkout/setup.ts'
import { ok } from '../modules/returns/setup.ts'
import { placeOrder, withCart } from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
  await enable(merchant, 'affiliates')
})

const shopper = () => openShopper(shop.url, 'demo.localhost')
const cookieOf = (headers: Record<string, unknown>): string => String(headers['set-cookie'] ?? '')

/** What an order of the storefront has earned, by its path. */
const commissionOf = async (path: string) =>
  (await commissionsOf({ merchant }, { order_id: path.split('/').at(-1) ?? '' }))[0]

describe('a link with ?ref=', () => {
  test('is kept in a cookie for the attribution window, and sent with the checkout', async () => {
    const { id, code } = await makeAffiliate({ merchant }, { cookie_days: 12 })
    const buyer = await withCart(shop, 'cedar-candle')
    const landed = await buyer.get(`/products/cedar-candle?ref=${code.toLowerCase()}`)
    assert.equal(landed.status, 200)
    assert.match(cookieOf(landed.headers), /fd_ref=[^;]+; Max-Age=1036800; Path=\/; HttpOnly/)
    const commission = await commissionOf(await placeOrder(buyer))
    assert.deepEqual(
      [commission.affiliate_id, commission.attribution.source, commission.attribution.code],
      [id, 'link', code],
    )
    const { affiliate } = ok(await merchant.get(`${AFFILIATES}/${id}`))
    assert.equal(affiliate.referral_codes[0].clicks, 1)
  })

  test('the link of the last affiliate counts, and an invalid link changes nothing', async () => {
    const [first, second] = [await makeAffiliate({ merchant }), await makeAffiliate({ merchant })]
    const buyer = await withCart(shop, 'cedar-candle')
    for (const code of [first.code, second.code]) await buyer.get(`/?ref=${code}`)
    for (const odd of ['nobody', '', '%00', 'a b', 'x'.repeat(300), '<script>']) {
      const { status, headers, text } = await buyer.get(`/?ref=${encodeURIComponent(odd)}`)
      assert.equal(status, 200)
      assert.doesNotMatch(cookieOf(headers), /fd_ref/)
      assert.ok(!text.includes('<script>alert'))
    }
    const commission = await commissionOf(await placeOrder(buyer))
    assert.equal(commission.affiliate_id, second.id)
  })

  test('a link that was changed in the browser counts for no affiliate', async () => {
    const { code } = await makeAffiliate({ merchant })
    const buyer = await withCart(shop, 'cedar-candle')
    await buyer.get(`/?ref=${code}`)
    const signed = buyer.cookies.get('fd_ref') ?? ''
    buyer.cookies.set('fd_ref', `${signed.slice(0, -4)}AAAA`)
    assert.equal(await commissionOf(await placeOrder(buyer)), undefined)
  })

  test('sets no cookie for shoppers who follow no link', async () => {
    const visitor = shopper()
    await visitor.get('/')
    await visitor.get('/products')
    assert.deepEqual([...visitor.cookies.keys()], [])
  })
})

describe('the form for affiliates', () => {
  const open = (applications_open: boolean) =>
    merchant.patch(`${AFFILIATES}/settings`, { applications_open })

  test('is shown while the store takes applications, and sends one', async () => {
    ok(await open(false))
    assert.equal((await shopper().get('/affiliates')).status, 404)
    ok(await open(true))
    const fay = shopper()
    const page = await fay.get('/affiliates')
    assert.equal(page.status, 200)
    assert.match(page.text, /earn 10% on each order/)
    const entered = {
      name: 'Fay <b>',
      email: 'fay@example.com',
      website: '',
      message: 'I write about candles.',
    }
    const sent = await fay.follow('/affiliates', entered)
    assert.match(sent.text, /We will look at your application/)
    const [found] = ok(await merchant.get(`${AFFILIATES}?status=applied`)).affiliates
    assert.deepEqual([found.name, found.message, found.website], ['Fay <b>', entered.message, null])
    ok(await open(false))
    const late = await fay.follow('/affiliates', { ...entered, email: 'gil@example.com' })
    assert.equal(late.status, 404)
  })

  test('shows again what was entered, and what is wrong with it', async () => {
    ok(await open(true))
    const wrong = await shopper().follow('/affiliates', { name: 'Fay', email: 'no address' })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /role="alert".*valid email address/s)
    assert.match(wrong.text, /value="no address"/)
  })
})

describe('the page of an affiliate', () => {
  const open = async () => {
    const made = await makeAffiliate({ merchant }, { name: 'Fay <i>Friend</i>' })
    const { url } = ok(await merchant.post(`${AFFILIATES}/${made.id}/link`), 201)
    return { ...made, path: new URL(url).pathname }
  }

  test('opens with its link, and shows earnings and no shopper', async () => {
    const { code, path } = await open()
    const buyer = await withCart(shop, 'cedar-candle')
    await buyer.get(`/?ref=${code}`)
    const order = await placeOrder(buyer)
    const { status, headers, text } = await shopper().get(path)
    assert.equal(status, 200)
    assert.match(text, /Fay &lt;i&gt;Friend/)
    assert.match(text, new RegExp(`\\?ref=${code}`))
    assert.match(text, /1 visit</)
    assert.match(text, /Order, pending/)
    assert.doesNotMatch(text, /ada@example\.com|Ada\b|1 Square/)
    assert.ok(!text.includes(order))
    assert.deepEqual(
      [headers['cache-control'], headers['x-robots-tag'], headers['referrer-policy']],
      ['no-store', 'noindex', 'no-referrer'],
    )
  })

  test("marks the browser as the affiliate's: its orders earn nothing", async () => {
    const { code, path } = await open()
    const own = await withCart(shop, 'cedar-candle')
    assert.equal((await own.get(path)).status, 200)
    await own.get(`/?ref=${code}`)
    const commission = await commissionOf(await placeOrder(own))
    assert.deepEqual([commission.status, commission.reason], ['declined', 'self_device'])
  })

  test('is not found by a link that was changed', async () => {
    const { path } = await open()
    const end = path.endsWith('AA') ? 'BB' : 'AA'
    const { status, text } = await shopper().get(path.slice(0, -2) + end)
    assert.equal(status, 404)
    assert.match(text, /expired or is incomplete/)
  })
})
