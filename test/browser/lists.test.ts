import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openTab } from '../harness/browser.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

/** What is seen and done in header, lists, search and cart: one shop and one browser for all of it. */

let shop: TestShop
let browser: Browser

before(async (t) => {
  const context = t as TestContext
  shop = await openTestShop(context, ['demo', 'objects', 'ember'])
  browser = await openBrowser(context)
})

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

const focused = (page: Page) => page.evaluate('document.activeElement.className')

describe('the header of a phone', () => {
  test('is at most 72 px high in every theme, and stays while the page is scrolled', async (t) => {
    for (const tenant of ['demo', 'objects', 'ember']) {
      const { page } = await openTab(t, browser, shop.at(tenant), PHONE)
      await page.goto('/products')
      const header = page.locator('.page-header')
      const { height = 99 } = (await header.boundingBox()) ?? {}
      assert.ok(height <= 72, `${tenant}: ${height} px`)
      await page.evaluate('scrollTo({ top: 900, behavior: "instant" })')
      assert.equal((await header.boundingBox())?.y, 0, tenant)
      for (const each of await header.locator('.tool:visible').all()) {
        const size = await each.boundingBox()
        assert.ok(size !== null && size.width >= 44 && size.height >= 44, tenant)
      }
    }
  })

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? 'with' : 'without'
    test(`opens its menu and its search ${how} the script`, async (t) => {
      const options = { ...PHONE, javaScriptEnabled }
      const { page, checkAccessibility } = await openTab(t, browser, shop.at('demo'), options)
      await page.goto('/')
      assert.equal(await page.locator('.menu').isVisible(), false)
      await page.getByRole('button', { name: 'Menu' }).click()
      await page.locator('.menu').getByRole('link', { name: 'Pantry' }).waitFor()
      if (javaScriptEnabled) {
        await checkAccessibility()
        await page.keyboard.press('Escape')
        await page.locator('.menu').waitFor({ state: 'hidden' })
        assert.match(String(await focused(page)), /menu-button/)
        await page.getByRole('button', { name: 'Menu' }).click()
      }
      await page.locator('.menu').getByRole('link', { name: 'Pantry' }).click()
      await page.getByRole('heading', { level: 1, name: 'Pantry' }).waitFor()
      await page.getByRole('button', { name: 'Search the store' }).click()
      await page.locator('#search-box').fill('teapot')
      await page.locator('#search-box').press('Enter')
      await page.locator('main').getByRole('link', { name: 'Fern Teapot' }).waitFor()
    })
  }
})
