import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openTab } from '../harness/browser.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

/** What is seen and done in header, lists and search: one shop and one browser for all of it. */

let shop: TestShop
let browser: Browser

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'])
  browser = await openBrowser(scope)
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

describe('filters', () => {
  test('are in a sheet on a phone, which shows each choice at once and closes with its button', async (t) => {
    const { page, checkAccessibility } = await openTab(t, browser, shop.at('demo'), PHONE)
    await page.goto('/collections/tableware')
    const sheet = page.locator('#filters')
    assert.equal(await sheet.isVisible(), false)
    await page.getByRole('button', { name: 'Filter and sort' }).click()
    await sheet.waitFor()
    await checkAccessibility()
    await sheet.getByLabel('$10.00 – $24.99').check()
    await page.getByRole('button', { name: 'Show 2 products' }).waitFor()
    assert.match(page.url(), /\/collections\/tableware\?price=1000-2499$/)
    assert.equal(await page.evaluate('document.activeElement.value'), '1000-2499')
    await page.getByRole('button', { name: 'Show 2 products' }).click()
    await sheet.waitFor({ state: 'hidden' })
    assert.equal(await page.locator('#found .card').count(), 2)
    assert.equal(await page.locator('#count').innerText(), '2 products')
    assert.equal(await page.locator('#filter-count').innerText(), '1')
    await page.getByRole('link', { name: 'Remove filter: $10.00 – $24.99' }).click()
    await page.waitForURL(/tableware$/)
    await page.getByText('5 products', { exact: true }).waitFor()
  })

  test('are a plain form without the script, on a phone and on a desktop', async (t) => {
    for (const device of [PHONE, {}]) {
      const options = { ...device, javaScriptEnabled: false }
      const { page } = await openTab(t, browser, shop.at('demo'), options)
      await page.goto('/collections/tableware')
      const opener = page.getByRole('button', { name: 'Filter and sort' })
      if (await opener.isVisible()) await opener.click()
      await page.getByLabel('Sort by').selectOption('price_asc')
      await page.getByRole('button', { name: 'Show 5 products' }).click()
      await page.waitForURL(/\/collections\/tableware\?sort=price_asc$/)
      assert.equal(await page.locator('.card-name').first().innerText(), 'Tide Bowl')
    }
  })
})

describe('the search box of the header', () => {
  test('suggests while a shopper types, and is used by its keys', async (t) => {
    const { page, checkAccessibility } = await openTab(t, browser, shop.at('demo'))
    await page.goto('/')
    const field = page.getByRole('combobox', { name: 'Search the store' })
    const list = page.getByRole('listbox', { name: 'Suggestions' })
    await field.pressSequentially('tabl')
    await list.waitFor()
    assert.equal(await field.getAttribute('aria-expanded'), 'true')
    await page.getByText(/^\d suggestions$/).waitFor({ state: 'attached' })
    const chosen = () =>
      page.evaluate(`document.getElementById(
        document.activeElement.getAttribute('aria-activedescendant'))?.getAttribute('href')`)
    await field.press('ArrowDown')
    assert.equal(await chosen(), '/collections/tableware')
    await checkAccessibility()
    await field.press('ArrowUp')
    assert.equal(await chosen(), undefined)
    await field.press('ArrowUp')
    assert.equal(await chosen(), '/search?q=tabl')
    await field.press('Escape')
    await list.waitFor({ state: 'hidden' })
    assert.equal(await field.inputValue(), 'tabl')
    await field.fill('teapto')
    await list.getByRole('option', { name: /Fern Teapot/ }).waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
    await page.waitForURL(/\/products\/fern-teapot$/)
  })

  test('asks once for what is typed at last, and a click on a suggestion opens it', async (t) => {
    const { page } = await openTab(t, browser, shop.at('demo'), PHONE)
    const asked: string[] = []
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.pathname === '/search/suggest') asked.push(url.searchParams.get('q') ?? '')
    })
    await page.goto('/')
    await page.getByRole('button', { name: 'Search the store' }).click()
    await page.locator('#search-box:focus').waitFor()
    // All letters within one moment, as a fast typist's.
    await page.evaluate(`for (const word of ['te', 'tea', 'teap', 'teapot']) {
      document.activeElement.value = word
      document.activeElement.dispatchEvent(new Event('input'))
    }`)
    await page.getByRole('option', { name: /Fern Teapot/ }).click()
    await page.waitForURL(/\/products\/fern-teapot$/)
    assert.deepEqual(asked, ['teapot'])
  })
})
