import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import {
  addLongProduct,
  buy,
  checkOf,
  DETAILS,
  fillCheckout,
  PHONE,
  visitPages,
} from '../browser/visit-pages.ts'
import type { Caller } from '../harness/app.ts'
import { openBrowser, openTab } from '../harness/browser.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

/**
 * Checks every kind of page of every demo store with axe. An error on the console, and a request to
 * another origin, fail the test as well (see the harness).
 */

let shop: TestShop
let browser: Browser
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'])
  browser = await openBrowser(scope)
  merchant = await shop.merchant('demo')
  await addLongProduct(merchant)
})

/** A section of the home page that the other demo stores do not have. */
const OWN_SECTION: Record<string, string> = { objects: '.logos img', ember: '.countdown .clock' }

const CATALOGS: Record<string, { slug: string; collection: string }> = {
  objects: { slug: 'cup-01', collection: 'table' },
  ember: { slug: 'midnight-bar', collection: 'evening' },
}

const PAGES = [
  '/',
  '/products',
  '/collections',
  '/collections/tableware',
  '/search',
  '/search?q=candle',
  '/search?q=zzzzzz',
  '/cart',
  '/orders',
  '/products/long',
]

describe('every page', { concurrency: 2 }, () => {
  test('is accessible', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'))
    await visitPages(tab, PAGES, checkOf(tab))
    await buy(tab, merchant, checkOf(tab))
  })

  // The pages are the same in every theme: what differs is seen on one of each kind.
  for (const tenant of ['objects', 'ember']) {
    test(`is accessible in the theme of ${tenant}`, async (t) => {
      const tab = await openTab(t, browser, shop.at(tenant))
      const { slug, collection } = CATALOGS[tenant] ?? { slug: '', collection: '' }
      for (const path of ['/', `/collections/${collection}`, `/products/${slug}`]) {
        await tab.page.goto(path)
        if (path === '/') {
          const own = tab.page.locator(OWN_SECTION[tenant] ?? '').first()
          // An image is not loaded, and has no size, before it is near the screen.
          await own.scrollIntoViewIfNeeded()
          await own.waitFor()
        }
        await checkOf(tab)(tab.page)
      }
      const icon = await tab.page.locator('link[rel="icon"]').getAttribute('href')
      assert.match(icon ?? '', new RegExp(`^/stores/${tenant}/assets/\\w+\\.svg`))
      const name = await tab.page.locator('.page-footer-name').boundingBox()
      assert.ok((name?.width ?? 0) > 150, 'the name in the footer is squeezed')
      await tab.page.locator('[data-add] button').first().click()
      await tab.page.locator('.drawer[open]').waitFor()
      await tab.page.goto('/checkout')
      await checkOf(tab)(tab.page)
    })
  }

  test('is accessible on a phone, with long names, too', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), PHONE)
    await visitPages(tab, PAGES, checkOf(tab))
  })
})

describe('a page', () => {
  test('a page of a missing address, a closed store or an outage is accessible', async (t) => {
    const expect404 = { expected: /status of (404|503)/ }
    for (const [tenant, path] of [
      ['demo', '/nowhere'],
      ['demo', '/products/none'],
      ['demo', '/orders/00000000-0000-4000-8000-000000000000'],
      ['ember', '/nowhere'],
      ['objects', '/nowhere'],
      ['nobody', '/'],
      ['demo', '/?preview=fdpv_none'],
    ] as const) {
      const tab = await openTab(t, browser, shop.at(tenant), {}, expect404)
      assert.equal((await tab.page.goto(path))?.status(), 404, path)
      await checkOf(tab)(tab.page)
    }
    const database = await shop.database.openAdmin()
    t.after(() => database.end())
    await database.query('alter table orders rename to orders_away')
    const tab = await openTab(t, browser, shop.at('demo'), PHONE, expect404)
    await tab.page.goto('/products/fern-teapot')
    await tab.page.locator('[data-add] button').first().click()
    await tab.page.locator('.drawer[open]').waitFor()
    await tab.page.goto('/checkout')
    await fillCheckout(tab.page)
    await tab.page.locator('[data-pay]').click()
    await tab.page.getByRole('button', { name: 'Try again' }).waitFor()
    await checkOf(tab)(tab.page)
    await database.query('alter table orders_away rename to orders')
    await tab.page.getByRole('button', { name: 'Try again' }).click()
    assert.equal(await tab.page.locator('[name="email"]').inputValue(), DETAILS.email)
  })

  test('a page of a preview is accessible, and its image can be enlarged', async (t) => {
    const { body } = await merchant.get('/v1/my/site')
    const { token } = (
      await merchant.post('/v1/my/site/preview-token', { version: body.active.version })
    ).body
    const tab = await openTab(t, browser, shop.at('demo'), PHONE)
    const { page } = tab
    for (const path of [`/?preview=${token}`, '/search?q=candle', '/products/fern-teapot']) {
      await page.goto(path)
      await page.locator('.ribbon').waitFor()
      await checkOf(tab)(page)
    }
    await page.getByRole('button', { name: /^Enlarge: / }).click()
    const large = page.locator('dialog.zoom img')
    await large.waitFor()
    await tab.checkAccessibility()
    const before = (await large.boundingBox())?.width ?? 0
    await large.click()
    assert.ok(((await large.boundingBox())?.width ?? 0) > 2 * before)
    await page.keyboard.press('Escape')
    await large.waitFor({ state: 'detached' })
    const focused = await page.evaluate('document.activeElement.className')
    assert.equal(focused, 'zoomable')
  })
})
