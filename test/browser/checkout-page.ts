import type { Page } from 'playwright-core'
import type { Tab } from '../harness/browser.ts'

/** The checkout as a shopper sees it and types into it. */

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
export const APPROVED = '4111 1111 1111 1111'

/** Takes a picture, where a folder for them is named: for a person to look at. */
export async function shoot(page: Page, name: string) {
  const folder = process.env.PICTURES
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

export const field = (page: Page, name: string) => page.locator(`main [name="${name}"]`)

/** Leads to the checkout of one product, by "Buy now". */
export async function buyNow(tab: Tab, slug: string): Promise<Tab> {
  await tab.page.goto(`/products/${slug}`)
  await tab.page.locator('.buy-now').click()
  await tab.page.locator('[data-checkout]').waitFor()
  return tab
}

/** An address in the United Kingdom, which `fillAddress` types. */
export const ADDRESS = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  line1: '12 St James’s Square',
  city: 'London',
  postal_code: 'SW1Y 4JH',
}

export async function fillAddress(page: Page) {
  await field(page, 'country').selectOption('GB')
  for (const [name, value] of Object.entries(ADDRESS)) await field(page, name).fill(value)
}

export async function typeCard(page: Page, number: string) {
  await field(page, 'card_number').fill(number)
  await field(page, 'card_expiry').fill('10/40')
  await field(page, 'card_cvv').fill('999')
}

export const focused = (page: Page) => page.evaluate('document.activeElement.textContent')
