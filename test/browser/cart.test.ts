import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
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

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

describe('the cart beside a page', () => {
  test('opens with the added product, can be changed in place, and gives the focus back', async (t) => {
    const { page, checkAccessibility } = await openTab(t, browser, shop.at('demo'))
    await page.goto('/products/fern-teapot')
    const drawer = page.getByRole('dialog', { name: 'Your cart' })
    await page.getByRole('button', { name: 'Add to cart' }).click()
    await drawer.waitFor()
    await drawer.getByRole('status').filter({ hasText: 'Fern Teapot was added' }).waitFor()
    await checkAccessibility()
    assert.equal(await page.locator('.cart-count').innerText(), '1')
    // The page behind is inert: neither a click nor the focus reaches it.
    for (let n = 0; n < 12; n++) {
      await page.keyboard.press('Tab')
      const inside = await page.evaluate(
        'document.activeElement === document.body || !!document.activeElement.closest("dialog")',
      )
      assert.equal(inside, true)
    }
    const more = drawer.getByRole('button', { name: 'One more: Fern Teapot' })
    await more.click()
    await more.click()
    await drawer.getByText('$144.00').first().waitFor()
    assert.equal(await page.locator('.cart-count').innerText(), '3')
    assert.match(String(await page.evaluate('document.activeElement.id')), /^more-/)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Add to cart')
    await page.getByRole('button', { name: 'Add to cart' }).click()
    await drawer.getByRole('button', { name: 'Remove Fern Teapot' }).click()
    await drawer.getByText('Your cart is empty.').waitFor()
    await checkAccessibility()
    await drawer.getByRole('button', { name: 'Start shopping' }).click()
    await drawer.waitFor({ state: 'hidden' })
  })

  test('leads to the checkout with the quantities it shows, on a phone', async (t) => {
    const { page, checkAccessibility } = await openTab(t, browser, shop.at('demo'), PHONE)
    await page.goto('/products/harbour-mug')
    await page.getByRole('button', { name: 'Add to cart' }).click()
    const drawer = page.getByRole('dialog', { name: 'Your cart' })
    const quantity = drawer.getByRole('spinbutton', { name: 'Quantity of Harbour Mug' })
    await quantity.fill('4')
    await quantity.press('Tab')
    await drawer.getByText('$96.00').first().waitFor()
    await checkAccessibility()
    await drawer.getByRole('button', { name: 'Check out' }).click()
    await page.getByRole('heading', { level: 1, name: 'Checkout' }).waitFor()
    assert.equal(await page.locator('.cart-count').innerText(), '4')
  })
})
