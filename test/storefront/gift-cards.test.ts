import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../src/kernel/time.ts'
import type { Caller } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { DETAILS, GOOD_CARD, variantOf } from './setup.ts'

let shop: TestShop
let merchant: Caller
let variant: string

/** The gift card that the demo store sells, so that every shopper can try one. */
const SLUG = 'gift-card'

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
  const { body } = await shop.anyone.get(`/v1/tenants/demo/catalog/products/${SLUG}`)
  const sold: { id: string; price_cents: number }[] = body.product.variants
  variant = sold.find(({ price_cents }) => price_cents === 5_000)?.id ?? ''
})

const newShopper = () => openShopper(shop.url, 'demo.localhost')

/** A day in some weeks, as a form has it and as a page shows it. */
const DAY = new Date(Date.now() + 60 * DAY_MS)
const SHOWN = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' }).format(DAY)
const MAILED = new RegExp(`For Robin \\(robin@example\\.com\\)\\. Mailed on ${SHOWN}`)

const GIFT = {
  recipient_email: 'robin@example.com',
  recipient_name: 'Robin',
  message: 'Happy <b>birthday</b>',
  send_on: DAY.toISOString().slice(0, 10),
}

const add = (shopper: Shopper, gift: Record<string, string> = GIFT) =>
  shopper.follow('/cart/add', { variant, quantity: '1', ...gift })

const { email } = DETAILS

async function pay(shopper: Shopper, details: Record<string, string>): Promise<string> {
  const key = (await shopper.get('/checkout')).field('key')
  const answer = await shopper.post('/checkout', { ...details, ...GOOD_CARD, key })
  return String(answer.headers.location)
}

describe('a gift card in the shop', () => {
  test('is sold by the demo store in three amounts, with a picture and a link to it', async () => {
    const { body } = await shop.anyone.get(`/v1/tenants/demo/catalog/products/${SLUG}`)
    const { variants, image_url } = body.product
    assert.deepEqual(
      variants.map((each: { gift_card: boolean; price_cents: number }) => [
        each.gift_card,
        each.price_cents,
      ]),
      [2_500, 5_000, 10_000].map((cents) => [true, cents]),
    )
    const picture = await fetch(image_url.replace(/^https?:\/\/[^/]+/, shop.url))
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/webp'])
    const { text } = await newShopper().get('/')
    assert.match(text, new RegExp(`href="/products/${SLUG}"[^>]*>Gift cards<`))
  })

  test('asks on its page who gets it, and has no express checkout', async () => {
    const { text } = await newShopper().get(`/products/${SLUG}`)
    for (const name of ['recipient_email', 'recipient_name', 'message', 'send_on']) {
      assert.match(text, new RegExp(`name="${name}"`))
    }
    assert.doesNotMatch(text, /Buy now|Shipping \$/)
    const goods = await newShopper().get('/products/cedar-candle')
    assert.doesNotMatch(goods.text, /recipient_email/)
    assert.match(goods.text, /Buy now/)
  })

  test('stands in the cart with its recipient, the words escaped, and a line for each of them', async () => {
    const shopper = newShopper()
    const { text } = await add(shopper)
    assert.match(text, MAILED)
    assert.match(text, /Happy &lt;b&gt;birthday&lt;\/b&gt;/)
    await add(shopper)
    const again = await add(shopper, { recipient_email: 'kim@example.com' })
    assert.match(again.text, /For kim@example\.com\. Mailed right away\./)
    assert.equal(again.text.match(/class="line"/g)?.length, 2)
    assert.match(again.text, /value="2" min="0"/, 'the same recipient is the same line')
    const [key] = /(?<=name="q:)[^"]+\.[^"]+/.exec(again.text) ?? []
    const rest = await shopper.follow('/cart', { remove: String(key) })
    assert.doesNotMatch(rest.text, /Robin/)
    assert.match(rest.text, /kim@example\.com/)
  })

  test('is bought without an address, and the order says who gets it', async () => {
    const shopper = newShopper()
    await add(shopper)
    const page = await shopper.get('/checkout')
    assert.doesNotMatch(page.text, /name="line1"/)
    assert.match(page.text, /For Robin/)
    const location = await pay(shopper, { email })
    const order = await shopper.get(location)
    assert.match(order.text, MAILED)
    assert.match(order.text, /Happy &lt;b&gt;birthday/)
    assert.doesNotMatch(order.text, /class="progress"|name="q:/)
    const id = /orders\/([0-9a-f-]+)/.exec(location)?.[1]
    const { body } = await merchant.get(`/v1/merchant/orders/${id}`)
    assert.deepEqual([body.order.status, body.order.ship_to], ['delivered', null])
    assert.equal(body.gift_cards[0].recipient_name, 'Robin')
    const cancelled = await shopper.follow(`/orders/${id}/cancel`, {
      action_key: order.field('action_key'),
    })
    assert.match(cancelled.text, /Cancelled/)
  })

  test('asks for an address where goods are beside it, and lets no balance pay for it', async () => {
    const shopper = newShopper()
    await add(shopper)
    const goods = await variantOf(shop, 'cedar-candle')
    await shopper.post('/cart/add', { variant: goods.id })
    const page = await shopper.get('/checkout')
    assert.match(page.text, /name="line1"/)
    assert.equal(await pay(shopper, { email }), 'undefined', 'the address is missing')
    assert.match(await pay(shopper, DETAILS), /^\/orders\//)
  })

  test('goes to the shopper if no recipient is named, and is refused with half an address', async () => {
    const shopper = newShopper()
    const wrong = await add(shopper, { recipient_email: 'robin', message: 'Hello' })
    assert.match(wrong.text, /valid email address of the recipient/)
    assert.match(wrong.text, /Your cart is empty/)
    const own = await add(shopper, {})
    assert.match(own.text, /We will mail it to you\./)
    assert.match(await pay(shopper, { email }), /^\/orders\//)
  })

  test('fills a cart no further than the cookie allows', async () => {
    const shopper = newShopper()
    for (let at = 0; at < 12; at++) {
      await add(shopper, { recipient_email: `robin${at}@example.com`, message: 'é'.repeat(300) })
    }
    const { text } = await add(shopper, {
      recipient_email: 'last@example.com',
      message: 'é'.repeat(300),
    })
    assert.match(text, /Your cart is full/)
    assert.match(text, /robin0@example\.com/)
    assert.ok((shopper.cookies.get('fd_cart') ?? '').length < 4_000)
  })
})
