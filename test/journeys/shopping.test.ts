import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { noCheck, PHONE, shopFor } from '../browser/shop-for.ts'
import { openBrowser, openTab } from '../harness/browser.ts'
import { addProducts } from '../harness/products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { openSuperuser } from '../harness/superuser.ts'
import { allowRefunds } from '../storefront/setup.ts'

let shop: TestShop
let browser: Browser

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  browser = await openBrowser(scope)
  await allowRefunds(scope, shop)
})

test('a shopper finds a product, is declined, buys, edits the order and cancels it without the script', async (t) => {
  const tab = await openTab(t, browser, shop.at('demo'), { javaScriptEnabled: false })
  await shopFor(tab, { script: false, check: noCheck })
})

describe('a list of many products', () => {
  for (const script of [true, false]) {
    test(`is paged by links, ${script ? 'with' : 'without'} the script`, async (t) => {
      const tenant = script ? 'many' : 'many-plain'
      const merchant = await shop.merchant(tenant)
      await merchant.put('/v1/my/store/manifest', { manifest: { brand: { name: 'Many' } } })
      await shop.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
      await addProducts(await openSuperuser(t, shop.database), tenant, 60)
      const options = { ...PHONE, javaScriptEnabled: script }
      const tab = await openTab(t, browser, shop.at(tenant), options)
      const { page } = tab
      const shows = async (label: string, first: string) => {
        await page.getByText(label, { exact: true }).waitFor()
        const cards = page.locator('main .card-name')
        assert.deepEqual([await cards.first().innerText()], [first])
      }
      await page.goto('/products')
      await page.getByText('60 products', { exact: true }).waitFor()
      await shows('Page 1 of 3', 'Item 60')
      assert.equal(await page.getByRole('link', { name: 'Previous' }).count(), 0)
      await page.getByRole('link', { name: 'Next' }).click()
      await shows('Page 2 of 3', 'Item 36')
      if (script) await tab.checkAccessibility()
      await page.getByRole('link', { name: 'Next' }).click()
      await shows('Page 3 of 3', 'Item 12')
      assert.equal(await page.getByRole('link', { name: 'Next' }).count(), 0)
      await page.getByRole('link', { name: 'Previous' }).click()
      await shows('Page 2 of 3', 'Item 36')
      await page.getByRole('link', { name: 'Previous' }).click()
      await shows('Page 1 of 3', 'Item 60')
      assert.equal(new URL(page.url()).search, '')
    })
  }
})
