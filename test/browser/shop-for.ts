import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { Tab } from '../harness/browser.ts'
import { showsCard } from '../harness/card-digits.ts'

/** The steps of a shopper in the demo store, from the home page to an order that is cancelled. */

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

export const DECLINED = '4000 0000 0000 0002'
/** The gateway does not answer. */
export const UNANSWERED = '4000 0000 0000 5126'
export const APPROVED = '4111 1111 1111 1111'

export const DETAILS = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  line1: '12 St James’s Square',
  postal_code: 'SW1Y 4JH',
  city: 'London',
  country: 'GB',
}

export const field = (page: Page, name: string) => page.locator(`main [name="${name}"]`)

export async function fillDetails(page: Page) {
  const { country, ...typed } = DETAILS
  await field(page, 'country').selectOption(country)
  for (const [name, value] of Object.entries(typed)) await field(page, name).fill(value)
}

export async function pay(page: Page, number: string) {
  await field(page, 'card_number').fill(number)
  await field(page, 'card_expiry').fill('10/40')
  await field(page, 'card_cvv').fill('999')
  await page.locator('[data-pay]').click()
}

export const heading = (page: Page, text: string) =>
  page.getByRole('heading', { level: 1, name: text })

export interface Options {
  /** Whether the browser runs the script. */
  script: boolean
  /** Checks each page. */
  check(): Promise<void>
}

export const noCheck = async () => {}

/** Finds the teapot by a misspelt word, and adds two of them to the cart. */
export async function findAndAdd({ page }: Tab, { script, check }: Options) {
  await page.goto('/')
  await heading(page, 'Made for slow mornings').waitFor()
  await check()
  const opener = page.locator('.search-button')
  if (await opener.isVisible()) await opener.click()
  await page.locator('#search-box').fill('teapto')
  await page.locator('#search-box').press('Enter')
  await page.getByRole('link', { name: 'Fern Teapot' }).waitFor()
  const sheet = page.locator('.filter-button')
  if (await sheet.isVisible()) await sheet.click()
  await page.getByLabel('Tableware').check()
  const apply = page.getByRole('button', { name: /^Show \d+ product/ })
  if (await apply.isVisible()) await apply.click()
  await page.waitForURL(/collection=tableware/)
  await check()
  await page.locator('main').getByRole('link', { name: 'Fern Teapot' }).click()
  await heading(page, 'Fern Teapot').waitFor()
  await check()
  await field(page, 'quantity').fill('2')
  await page.getByRole('button', { name: 'Add to cart' }).click()
  if (script) {
    await page.locator('.drawer-said', { hasText: 'Fern Teapot was added to your cart.' }).waitFor()
    await page.getByRole('link', { name: 'View cart' }).click()
  }
  await heading(page, 'Your cart').waitFor()
}

export async function applyCoupon({ page }: Tab, { check }: Options) {
  await field(page, 'coupon').fill('WELCOME10')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('The code WELCOME10 has been applied.').waitFor()
  // $96.00 less ten per cent, free shipping, and seven per cent tax.
  assert.equal(await page.locator('[data-total]').innerText(), '$92.45')
  await check()
}

export async function buy({ page }: Tab, { check }: Options) {
  await page.getByRole('button', { name: 'Check out' }).click()
  await heading(page, 'Checkout').waitFor()
  await check()
  await fillDetails(page)
  await pay(page, DECLINED)
  await page.getByText('Your card was declined.').waitFor()
  await check()
  for (const [name, value] of Object.entries(DETAILS)) {
    assert.equal(await field(page, name).inputValue(), value, name)
  }
  assert.equal(await field(page, 'card_number').inputValue(), '')
  assert.ok(!showsCard(await page.content(), DECLINED, '999'))
  await pay(page, APPROVED)
  await heading(page, 'Thank you for your order!').waitFor()
  await page.getByText('Visa ending in 1111', { exact: true }).waitFor()
  await check()
}

export async function editAndCancel({ page }: Tab, { check }: Options) {
  await page.getByText('Change quantities').click()
  await page.getByLabel('Quantity of Fern Teapot').fill('1')
  await page.getByRole('button', { name: 'Save quantities' }).click()
  await page.getByText('Your order has been changed.').waitFor()
  await page.getByRole('heading', { name: 'Refunds' }).waitFor()
  await check()
  await page.getByText('Cancel this order').click()
  await page.getByRole('button', { name: 'Yes, cancel the order' }).click()
  await page.getByText('Your order has been cancelled.').waitFor()
  assert.equal(await page.locator('[data-status]').getAttribute('data-status'), 'cancelled')
  await check()
}

export async function shopFor(tab: Tab, options: Options) {
  await findAndAdd(tab, options)
  await applyCoupon(tab, options)
  await buy(tab, options)
  await editAndCancel(tab, options)
}
