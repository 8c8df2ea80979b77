import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { placeOrder, withCart } from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
})

/** Publishes the demo's site with this language and these taxes, and waits until it is shown. */
async function publish(language: string, tax: object, prices_include_tax: boolean): Promise<void> {
  const { manifest } = (await merchant.get('/v1/my/site')).body.active
  const behavior = { ...manifest.behavior, tax }
  const store = { ...manifest.store, language }
  const title = `${language} ${JSON.stringify(tax)} ${prices_include_tax}`
  const seo = { ...manifest.seo, title }
  const changed = { ...manifest, store, behavior, seo, tax: { prices_include_tax } }
  const saved = await merchant.put('/v1/my/store/manifest', { manifest: changed })
  assert.equal(saved.status, 200, saved.text)
  const shopper = openShopper(shop.url, 'demo.localhost')
  const shown = `<title>${title.replaceAll('"', '&quot;')}`
  await until('it is shown', async () => (await shopper.get('/')).text.includes(shown))
}

const FLAT = { provider: 'flat_rate', rate_bps: 1_900 }
const plain = (text: string) => text.replace(/\s/g, ' ')

describe('a store whose prices have the tax inside', () => {
  for (const [language, note] of [
    ['en', 'incl. 19% VAT'],
    ['de', 'inkl. 19 % MwSt.'],
    ['fr', 'TVA de 19 % incluse'],
    ['es', 'IVA del 19 % incluido'],
  ] as const) {
    test(`says so in ${language} at the product, in the cart, the checkout and the order`, async () => {
      await publish(language, FLAT, true)
      const shopper = await withCart(shop, 'cedar-candle')
      const product = plain((await shopper.get('/products/cedar-candle')).text)
      assert.ok(product.includes(`<p class="price-note">${note}</p>`), product.slice(0, 4_000))
      for (const place of ['/cart', '/checkout', 'the order']) {
        const path = place === 'the order' ? await placeOrder(shopper) : place
        const page = plain((await shopper.get(path)).text)
        assert.ok(page.includes(`<div class="totals-tax"><dt>${note}</dt>`), path)
        const [, above = ''] = /<dl class="totals">(.*?)<div class="totals-final">/.exec(page) ?? []
        assert.doesNotMatch(above, /<dt>(Tax|Steuer|Taxes|Impuestos)<\/dt>/, path)
      }
    })
  }

  test('names no rate that only the tax provider knows, and no tax of zero', async () => {
    const product = async () =>
      plain((await openShopper(shop.url, 'demo.localhost').get('/products/cedar-candle')).text)
    await publish('en', { provider: 'acme_tax', rate_bps: 0 }, true)
    assert.ok((await product()).includes('<p class="price-note">incl. VAT</p>'))
    await publish('en', { provider: 'flat_rate', rate_bps: 0 }, true)
    assert.ok(!(await product()).includes('price-note'))
  })

  test('names no tax at a gift card, which is not taxed', async () => {
    await publish('en', FLAT, true)
    const shopper = openShopper(shop.url, 'demo.localhost')
    assert.doesNotMatch((await shopper.get('/products/gift-card')).text, /price-note/)
    const { text } = await shopper.get('/products')
    const cards = [...text.matchAll(/<li class="card">.*?<\/li>/gs)].map(([card]) => card)
    assert.ok(cards.some((card) => card.includes('/products/cedar-candle') && card.includes('VAT')))
    const [gift = ''] = cards.filter((card) => card.includes('/products/gift-card'))
    assert.match(gift, /from \$25\.00/)
    assert.doesNotMatch(gift, /VAT/)
  })

  test('shows a tax that is added above the total, as before', async () => {
    await publish('en', FLAT, false)
    const shopper = await withCart(shop, 'cedar-candle')
    assert.ok(!(await shopper.get('/products/cedar-candle')).text.includes('price-note'))
    const page = (await shopper.get('/checkout')).text
    assert.match(page, /<dt>Tax<\/dt>[\s\S]+totals-final/)
    assert.ok(!page.includes('totals-tax'))
  })
})
