import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Caller } from '../harness/app.ts'
import { openBrowser, openTab, type Tab } from '../harness/browser.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

/**
 * Checks every kind of page of every demo store with axe. An error on the console, and a request to
 * another origin, fail the test as well (see the harness).
 */

let shop: TestShop
let browser: Browser
let merchant: Caller

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenständerhalterung'.repeat(2)

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'])
  browser = await openBrowser(scope)
  merchant = await shop.merchant('demo')
  const product = { slug: 'long', name: LONG, description: LONG }
  const { body } = await merchant.post('/v1/merchant/catalog/products', product)
  const path = `/v1/merchant/catalog/products/${body.product.id}/variants`
  for (const at of [1, 2]) {
    await merchant.post(path, { sku: `LONG-${at}`, price_cents: 123_456_789, label: LONG })
  }
})

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

/** A section of the home page that the other demo stores do not have. */
const OWN_SECTION: Record<string, string> = { objects: '.logos img', ember: '.countdown .clock' }

const CATALOGS: Record<string, { slug: string; collection: string; word: string }> = {
  demo: { slug: 'long', collection: 'tableware', word: 'candle' },
  objects: { slug: 'cup-01', collection: 'table', word: 'cup' },
  ember: { slug: 'midnight-bar', collection: 'evening', word: 'honig' },
}

/** Checks a page for accessibility, and that it is not wider than the screen. */
type Check = (page: Page) => Promise<void>

const checkOf =
  (tab: Tab): Check =>
  async (page) => {
    await tab.checkAccessibility()
    const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
    assert.ok(wide <= (page.viewportSize()?.width ?? 0), `${page.url()} is ${wide} wide`)
  }

async function visitCatalog({ page }: Tab, tenant: string, check: Check) {
  const { slug, collection, word } = CATALOGS[tenant] ?? { slug: '', collection: '', word: '' }
  for (const path of [
    '/',
    '/products',
    '/collections',
    `/collections/${collection}`,
    '/search',
    `/search?q=${word}`,
    '/search?q=zzzzzz',
    '/cart',
    '/orders',
    `/products/${slug}`,
  ]) {
    const answer = await page.goto(path)
    assert.equal(answer?.status(), 200, path)
    await check(page)
  }
}

const CARD = { card_number: '4111111111111111', card_expiry: '10/40', card_cvv: '999' }
const DETAILS = {
  email: 'ada@example.com',
  name: LONG,
  line1: LONG,
  postal_code: 'SW1Y 4JH',
  city: 'London',
  country: 'GB',
}

async function fillCheckout(page: Page) {
  const { country, ...typed } = DETAILS
  await page.locator('main [name="country"]').selectOption(country)
  for (const [name, value] of Object.entries({ ...typed, ...CARD })) {
    await page.locator(`main [name="${name}"]`).fill(value)
  }
}

/** Ships an order of the demo store. */
async function sendParcel(order_id: string) {
  const tracking = { carrier: 'UPS', service: LONG.slice(0, 100), tracking_number: '1Z999' }
  const path = `/v1/merchant/orders/${order_id}/fulfillments`
  const { body } = await merchant.post(path, tracking)
  await merchant.post(`/v1/merchant/fulfillments/${body.fulfillment.id}/ship`)
}

async function buy({ page }: Tab, check: Check) {
  await page.locator('[data-add] button').first().click()
  await page.locator('.drawer[open]').waitFor()
  await check(page)
  await page.goto('/cart')
  await page.locator('[name="coupon"]').fill('NOPE')
  await page.locator('.coupon button').click()
  await page.locator('.summary .error').waitFor()
  await check(page)
  await page.locator('[name="coupon"]').fill('')
  await page.locator('.coupon button').click()
  await page.locator('.summary .error').waitFor({ state: 'detached' })
  await page.goto('/checkout')
  await check(page)
  // The browser does not validate the form, so the store itself must say what is missing.
  await page.locator('[data-checkout]').evaluate((form) => form.setAttribute('novalidate', ''))
  await page.locator('[data-pay]').click()
  await page.locator('#city-error').waitFor()
  await check(page)
  await fillCheckout(page)
  await page.locator('[data-pay]').click()
  await page.waitForURL(/\/orders\/[0-9a-f-]{36}/)
  for (const each of await page.locator('details summary').all()) await each.click()
  await check(page)
  await sendParcel(new URL(page.url()).pathname.slice('/orders/'.length))
  await page.reload()
  await page.getByRole('link', { name: 'Track this parcel' }).waitFor()
  await check(page)
  await page.goto('/orders')
  await check(page)
}

describe('every page', { concurrency: 2 }, () => {
  test('is accessible', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'))
    await visitCatalog(tab, 'demo', checkOf(tab))
    await buy(tab, checkOf(tab))
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
    await visitCatalog(tab, 'demo', checkOf(tab))
    await buy(tab, checkOf(tab))
  })
})

describe('a page', () => {
  test('of a missing address, a closed store or an outage is accessible', async (t) => {
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

  test('of a preview is accessible, and its image can be enlarged', async (t) => {
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

  test('of a search updates its results while a shopper types, and keeps the focus', async (t) => {
    const { page } = await openTab(t, browser, shop.at('demo'))
    await page.goto('/search')
    await page.locator('#q').pressSequentially('cedr candle')
    await page.locator('#results').getByRole('link', { name: 'Cedar Candle' }).waitFor()
    await page.waitForURL(/q=cedr(\+|%20)candle/)
    assert.equal(await page.locator('#q').inputValue(), 'cedr candle')
    assert.equal(await page.evaluate('document.activeElement.id'), 'q')
  })
})
