import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { Caller } from '../harness/app.ts'
import type { Tab } from '../harness/browser.ts'

/** A visit of many pages, each of which is checked with axe. */

export const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenständerhalterung'.repeat(2)

/** Adds a product whose names are long, at `/products/long`. */
export async function addLongProduct(merchant: Caller): Promise<void> {
  const product = { slug: 'long', name: LONG, description: LONG }
  const { body } = await merchant.post('/v1/merchant/catalog/products', product)
  const path = `/v1/merchant/catalog/products/${body.product.id}/variants`
  for (const at of [1, 2]) {
    await merchant.post(path, { sku: `LONG-${at}`, price_cents: 123_456_789, label: LONG })
  }
}

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

/** Checks a page for accessibility, and that it is not wider than the screen. */
export type Check = (page: Page) => Promise<void>

export const checkOf =
  (tab: Tab): Check =>
  async (page) => {
    await tab.checkAccessibility()
    const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
    assert.ok(wide <= (page.viewportSize()?.width ?? 0), `${page.url()} is ${wide} wide`)
  }

/** Opens each of these pages, and checks it. */
export async function visitPages({ page }: Tab, paths: readonly string[], check: Check) {
  for (const path of paths) {
    const answer = await page.goto(path)
    assert.equal(answer?.status(), 200, path)
    await check(page)
  }
}

const CARD = { card_number: '4111111111111111', card_expiry: '10/40', card_cvv: '999' }
export const DETAILS = {
  email: 'ada@example.com',
  name: LONG,
  line1: LONG,
  postal_code: 'SW1Y 4JH',
  city: 'London',
  country: 'GB',
}

export async function fillCheckout(page: Page) {
  const { country, ...typed } = DETAILS
  await page.locator('main [name="country"]').selectOption(country)
  for (const [name, value] of Object.entries({ ...typed, ...CARD })) {
    await page.locator(`main [name="${name}"]`).fill(value)
  }
}

/** Ships an order of the store. */
async function sendParcel(merchant: Caller, order_id: string) {
  const tracking = { carrier: 'UPS', service: LONG.slice(0, 100), tracking_number: '1Z999' }
  const path = `/v1/merchant/orders/${order_id}/fulfillments`
  const { body } = await merchant.post(path, tracking)
  await merchant.post(`/v1/merchant/fulfillments/${body.fulfillment.id}/ship`)
}

/** Buys the product that is shown, with mistakes on the way, and gets a parcel of it. */
export async function buy({ page }: Tab, merchant: Caller, check: Check) {
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
  await sendParcel(merchant, new URL(page.url()).pathname.slice('/orders/'.length))
  await page.reload()
  await page.getByRole('link', { name: 'Track this parcel' }).waitFor()
  await check(page)
  await page.goto('/orders')
  await check(page)
}
