import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import {
  ADDRESS,
  APPROVED,
  buyNow,
  field,
  fillAddress,
  focused,
  PHONE,
  shoot,
  typeCard,
} from '../browser/checkout-page.ts'
import { openBrowser, openTab } from '../harness/browser.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop
let browser: Browser

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  browser = await openBrowser(scope)
})

const DECLINED = '4000 0000 0000 0002'

const openCheckout = async (t: TestContext, options: BrowserContextOptions = {}) =>
  buyNow(await openTab(t, browser, shop.at('demo'), options), 'fern-teapot')

/** The visible parts below the street, in the order of the tab key. */
const parts = (page: Page) =>
  page.evaluate(
    `[...document.querySelectorAll('[data-part]:not([hidden])')].map((part) => [part.dataset.part, part.querySelector('span').textContent, part.querySelector('input, select').tagName])`,
  )

describe('the form of an address', () => {
  test('changes with the country: names, order and regions of the fields, and which fields there are', async (t) => {
    const { page, checkAccessibility } = await openCheckout(t)
    assert.deepEqual(await parts(page), [
      ['city', 'City', 'INPUT'],
      ['state', 'State', 'SELECT'],
      ['postal_code', 'ZIP code', 'INPUT'],
    ])
    await field(page, 'state').selectOption('CA')
    await field(page, 'city').fill('Springfield')
    await field(page, 'country').selectOption('DE')
    assert.deepEqual(await parts(page), [
      ['postal_code', 'Postal code', 'INPUT'],
      ['city', 'City', 'INPUT'],
    ])
    assert.equal(await field(page, 'city').inputValue(), 'Springfield')
    await field(page, 'country').selectOption('JP')
    assert.deepEqual(await parts(page), [
      ['postal_code', 'Postal code', 'INPUT'],
      ['state', 'Prefecture', 'SELECT'],
      ['city', 'City', 'INPUT'],
    ])
    assert.equal(await field(page, 'state').inputValue(), '')
    await field(page, 'country').selectOption('KE')
    assert.deepEqual(await parts(page), [
      ['postal_code', 'Postal code (optional)', 'INPUT'],
      ['city', 'City', 'INPUT'],
      ['state', 'State or region (optional)', 'INPUT'],
    ])
    await checkAccessibility()
  })

  test('works without the script, also for another country than the one the page was rendered for', async (t) => {
    const { page } = await openCheckout(t, { javaScriptEnabled: false })
    await fillAddress(page)
    await typeCard(page, APPROVED)
    await page.locator('[data-pay]').click()
    await page.getByText('Thank you for your order!').waitFor()
    await page.getByText('United Kingdom').waitFor()
  })
})

describe('a checkout with mistakes', () => {
  for (const [name, options] of [
    ['desktop', {}],
    ['phone', PHONE],
  ] as const) {
    test(`leads to a list of them and from there to each field, on a ${name}`, async (t) => {
      const { page, checkAccessibility } = await openCheckout(t, options)
      await shoot(page, `checkout-${name}`)
      await field(page, 'email').fill('nonsense')
      await typeCard(page, '4111 1111 1111 1112')
      await page.locator('[data-pay]').click()
      await page.locator('#city-error').waitFor()
      assert.match(String(await focused(page)), /^Please check the marked fields/)
      await shoot(page, `errors-${name}`)
      await checkAccessibility()
      await page.getByRole('link', { name: /^City/ }).click()
      assert.equal(await page.evaluate('document.activeElement.name'), 'city')
      // The card is known to this page alone, and need not be typed again.
      assert.equal(await field(page, 'card_number').inputValue(), '4111 1111 1111 1112')
      await fillAddress(page)
      await typeCard(page, DECLINED)
      await page.locator('[data-pay]').click()
      await page.locator('#card-error').waitFor()
      assert.match(String(await focused(page)), /^Your card was declined/)
      await shoot(page, `declined-${name}`)
      await checkAccessibility()
      assert.equal(await field(page, 'card_number').inputValue(), '')
      assert.equal(await field(page, 'line1').inputValue(), ADDRESS.line1)
      await typeCard(page, APPROVED)
      await field(page, 'remember').check()
      await page.locator('[data-pay]').click()
      await page.getByText('Thank you for your order!').waitFor()
      await page.goto('/products/fern-teapot')
      await page.locator('.buy-now').click()
      assert.equal(await field(page, 'line1').inputValue(), ADDRESS.line1)
      await shoot(page, `remembered-${name}`)
      await page.getByRole('button', { name: 'Forget it' }).click()
      await page.getByRole('button', { name: 'Forget it' }).waitFor({ state: 'detached' })
      assert.equal(await field(page, 'line1').inputValue(), '')
    })
  }
})

describe('the summary of an order', () => {
  test('is one line with the total on a phone, and opens', async (t) => {
    const { page } = await openCheckout(t, PHONE)
    const line = page.locator('.fold > summary')
    assert.match(await line.innerText(), /Order summary[\s\S]+\$/)
    assert.equal(await page.locator('.fold-body').isVisible(), false)
    const box = await field(page, 'email').boundingBox()
    assert.ok((box?.y ?? 9_999) < PHONE.viewport.height, 'the form begins on the first screen')
    assert.ok(((await line.boundingBox())?.height ?? 0) >= 44)
    await line.click()
    await field(page, 'coupon').fill('WELCOME10')
    await page.locator('#summary .coupon button').click()
    await page.getByText('The code WELCOME10 has been applied.').waitFor()
    await shoot(page, 'summary-phone')
  })

  test('is shown in full on a desktop, also without the script', async (t) => {
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await openCheckout(t, { javaScriptEnabled })
      assert.equal(await page.locator('.fold > summary').isVisible(), false)
      assert.equal(await page.locator('.fold-body .line-name').isVisible(), true)
      await field(page, 'coupon').fill('WELCOME10')
      await page.locator('#summary .coupon button').click()
      await page.getByText('The code WELCOME10 has been applied.').waitFor()
    }
  })
})
