import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { eventually } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

describe('what shoppers do', () => {
  test("is counted by the storefront's server, without a cookie or a script", async () => {
    const merchant = await shop.merchant('demo')
    const { products } = (await merchant.get('/v1/merchant/catalog/products?limit=1')).body
    const [{ id, slug }] = products
    const { product } = (await merchant.get(`/v1/merchant/catalog/products/${id}`)).body
    const ann = openShopper(shop.url, 'demo.localhost')
    assert.equal((await ann.get(`/products/${slug}`)).status, 200)
    assert.equal((await ann.get('/search?q=a')).status, 200)
    assert.deepEqual([...ann.cookies.keys()], [], 'looking sets no cookie')
    await ann.follow('/cart/add', { variant: product.variants[0].id, quantity: '1' })
    assert.equal((await ann.get('/checkout')).status, 200)
    const read = async () => (await merchant.get('/v1/merchant/analytics/funnel')).body
    await eventually(async () => assert.ok((await read()).begin_checkout > 0))
    const { view, search, add_to_cart, begin_checkout } = await read()
    assert.deepEqual([view, search, add_to_cart, begin_checkout], [1, 1, 1, 1])
    const rows = (await merchant.get('/v1/merchant/analytics/funnel/rows?type=add_to_cart')).body
    assert.equal(rows.rows[0].product_id, id)
  })
})
