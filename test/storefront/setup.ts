import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { openShopper, type Shopper } from '../harness/shopper.ts'
import type { TestShop } from '../harness/storefront.ts'

/** What a shopper enters at the checkout. */
export const DETAILS = {
  email: 'ada@example.com',
  name: 'Ada',
  line1: '1 Square',
  line2: '',
  postal_code: 'SW1Y 4JH',
  city: 'London',
  country: 'GB',
}

export const card = (number: string) => ({
  card_number: number,
  card_expiry: '10/40',
  card_cvv: '999',
})
export const GOOD_CARD = card('4111 1111 1111 1111')

export async function variantOf(
  shop: TestShop,
  slug: string,
): Promise<{ id: string; product_id: string }> {
  const { body } = await shop.anyone.get(`/v1/tenants/demo/catalog/products/${slug}`)
  return body.product.variants[0]
}

/** A shopper with this product in the cart. */
export async function withCart(shop: TestShop, slug: string, quantity = 1): Promise<Shopper> {
  const shopper = openShopper(shop.url, 'demo.localhost')
  const { id } = await variantOf(shop, slug)
  const added = await shopper.post('/cart/add', { variant: id, quantity: String(quantity) })
  assert.equal(added.headers.location, '/cart')
  return shopper
}

/** Pays for the cart. Returns the path of the order. */
export async function placeOrder(shopper: Shopper): Promise<string> {
  const key = (await shopper.get('/checkout')).field('key')
  const { headers } = await shopper.post('/checkout', { ...DETAILS, ...GOOD_CARD, key })
  return String(headers.location).split('?')[0] ?? ''
}

export async function countOrders(merchant: Caller): Promise<number> {
  return (await merchant.get('/v1/merchant/orders?limit=1')).body.total
}

/** Publishes the demo store's site with another behavior, until the test ends. Its title tells when it is shown. */
export async function withBehavior(
  t: { after(end: () => Promise<void>): void },
  shop: TestShop,
  more: object,
): Promise<void> {
  const merchant = await shop.merchant('demo')
  const { manifest, version } = (await merchant.get('/v1/my/site')).body.active
  const title = randomUUID()
  const isShown = async () =>
    (await openShopper(shop.url, 'demo.localhost').get('/')).text.includes(title)
  const behavior = { ...manifest.behavior, ...more }
  const changed = { ...manifest, behavior, seo: { title } }
  const saved = await merchant.put('/v1/my/store/manifest', { manifest: changed })
  assert.equal(saved.status, 200, saved.text)
  await until('the change is shown', isShown)
  t.after(async () => {
    await merchant.post('/v1/my/site/publish', { version })
  })
}

/** Lets the shoppers of the demo store refund their own orders, which its site does not offer. */
export const allowRefunds = (
  t: { after(end: () => Promise<void>): void },
  shop: TestShop,
): Promise<void> => withBehavior(t, shop, { refunds: { selfServe: true } })
