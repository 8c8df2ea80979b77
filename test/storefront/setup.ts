import assert from 'node:assert/strict'
import { openShopper, type Shopper } from '../harness/shopper.ts'
import type { TestShop } from '../harness/storefront.ts'

/** What somebody types who buys by hand. */
export const DETAILS = {
  email: 'ada@example.com',
  name: 'Ada',
  line1: '1 Square',
  line2: '',
  postal_code: '1',
  city: 'London',
  state: 'London',
  country: 'UK',
}

export const card = (number: string) => ({
  card_number: number,
  card_expiry: '10/40',
  card_cvv: '999',
})
export const GOOD = card('4111 1111 1111 1111')

export async function variantOf(
  shop: TestShop,
  slug: string,
): Promise<{ id: string; product_id: string }> {
  const { body } = await shop.anyone.get(`/v1/tenants/demo/catalog/products/${slug}`)
  return body.product.variants[0]
}

/** Somebody with this in the cart. */
export async function withCart(shop: TestShop, slug: string, quantity = 1): Promise<Shopper> {
  const shopper = openShopper(shop.url, 'demo.localhost')
  const { id } = await variantOf(shop, slug)
  const added = await shopper.post('/cart/add', { variant: id, quantity: String(quantity) })
  assert.equal(added.headers.location, '/cart')
  return shopper
}
