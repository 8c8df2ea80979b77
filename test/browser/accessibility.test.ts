import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { Caller } from '../harness/app.ts'
import { openBrowser, openTab } from '../harness/browser.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { addLongProduct, buy, checkOf, PHONE, visitPages } from './visit-pages.ts'

/**
 * Checks the main pages with axe, once on a phone and once in German. An error on the console, and a request
 * to another origin, fail the test as well (see the harness). Every other page, theme and device is checked
 * by `npm run journeys`.
 */

let shop: TestShop
let browser: Browser
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'ember'])
  browser = await openBrowser(scope)
  merchant = await shop.merchant('demo')
  await addLongProduct(merchant)
})

describe('the main pages', () => {
  test('are accessible on a phone, with long names, from the home page to a parcel', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), PHONE)
    await visitPages(tab, ['/', '/products', '/products/long'], checkOf(tab))
    await buy(tab, merchant, checkOf(tab))
  })

  test('are accessible on a desktop, in German', async (t) => {
    const tab = await openTab(t, browser, shop.at('ember'))
    const { page } = tab
    await visitPages(tab, ['/', '/products/midnight-bar'], checkOf(tab))
    assert.equal(await page.locator('html').getAttribute('lang'), 'de-DE')
    await page.locator('[data-add] button').first().click()
    await page.locator('.drawer[open]').waitFor()
    await visitPages(tab, ['/checkout'], checkOf(tab))
  })
})

test('a search updates its results while a shopper types, and keeps the focus', async (t) => {
  const { page } = await openTab(t, browser, shop.at('demo'))
  await page.goto('/search')
  await page.locator('#q').pressSequentially('cedr candle')
  await page.locator('#results').getByRole('link', { name: 'Cedar Candle' }).waitFor()
  await page.waitForURL(/q=cedr(\+|%20)candle/)
  assert.equal(await page.locator('#q').inputValue(), 'cedr candle')
  assert.equal(await page.evaluate('document.activeElement.id'), 'q')
})
