import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openTab, type Tab } from '../harness/browser.ts'
import { until } from '../harness/eventually.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop
let browser: Browser

before(async (t) => {
  const context = t as TestContext
  shop = await openTestShop(context, ['demo', 'objects', 'ember'])
  browser = await openBrowser(context)
})

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

const DECLINED = '4000 0000 0000 0002'
const APPROVED = '4111 1111 1111 1111'

const DETAILS = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  line1: '12 St James’s Square',
  postal_code: 'SW1Y 4JH',
  city: 'London',
  state: 'London',
  country: 'United Kingdom',
}

const field = (page: Page, name: string) => page.locator(`main [name="${name}"]`)

async function fillDetails(page: Page) {
  for (const [name, value] of Object.entries(DETAILS)) await field(page, name).fill(value)
}

async function pay(page: Page, number: string) {
  await field(page, 'card_number').fill(number)
  await field(page, 'card_expiry').fill('10/40')
  await field(page, 'card_cvv').fill('999')
  await page.locator('[data-pay]').click()
}

const heading = (page: Page, text: string) => page.getByRole('heading', { level: 1, name: text })

interface Way {
  /** Whether the script runs. */
  script: boolean
  /** After each page. */
  look(): Promise<void>
}

/** Finds the teapot although it is misspelt, and takes two of them to the cart. */
async function findAndAdd({ page }: Tab, { script, look }: Way) {
  await page.goto('/')
  await heading(page, 'Made for slow mornings').waitFor()
  await look()
  await page.getByRole('search').getByRole('searchbox').fill('teapto')
  await page.getByRole('search').getByRole('searchbox').press('Enter')
  await page.getByRole('link', { name: 'Fern Teapot' }).waitFor()
  await page.getByLabel('Tableware').check()
  if (!script) await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(/collection=tableware/)
  await look()
  await page.locator('main').getByRole('link', { name: 'Fern Teapot' }).click()
  await heading(page, 'Fern Teapot').waitFor()
  await look()
  await field(page, 'quantity').fill('2')
  await page.getByRole('button', { name: 'Add to cart' }).click()
  if (script) {
    await page.getByText('Fern Teapot is in your cart.').waitFor()
    await page.getByRole('link', { name: 'See the cart' }).click()
  }
  await heading(page, 'Your cart').waitFor()
}

async function applyCoupon({ page }: Tab, { look }: Way) {
  await field(page, 'coupon').fill('WELCOME10')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Code WELCOME10 is applied.').waitFor()
  // 96.00 less a tenth, free delivery, and seven per cent of tax.
  assert.equal(await page.locator('[data-total]').innerText(), '$92.45')
  await look()
}

async function buy({ page }: Tab, { look }: Way) {
  await page.getByRole('link', { name: 'Check out' }).click()
  await heading(page, 'Checkout').waitFor()
  await look()
  await fillDetails(page)
  await pay(page, DECLINED)
  await page.getByText('Your bank declined the card.').waitFor()
  await look()
  for (const [name, value] of Object.entries(DETAILS)) {
    assert.equal(await field(page, name).inputValue(), value, name)
  }
  assert.equal(await field(page, 'card_number').inputValue(), '')
  assert.ok(!(await page.content()).includes('0002'))
  await pay(page, APPROVED)
  await heading(page, 'Thank you!').waitFor()
  await page.getByText('Visa ending in 1111').waitFor()
  await look()
}

async function editAndCancel({ page }: Tab, { look }: Way) {
  await page.getByLabel('Quantity of Fern Teapot').fill('1')
  await page.getByRole('button', { name: 'Save quantities' }).click()
  await page.getByText('Your order is changed.').waitFor()
  await page.getByRole('heading', { name: 'Money back' }).waitFor()
  await look()
  await page.getByText('Cancel this order').click()
  await page.getByRole('button', { name: 'Yes, cancel it' }).click()
  await page.getByText('Your order is cancelled.').waitFor()
  assert.equal(await page.locator('[data-status]').getAttribute('data-status'), 'cancelled')
  await look()
}

async function shopFor(tab: Tab, way: Way) {
  await findAndAdd(tab, way)
  await applyCoupon(tab, way)
  await buy(tab, way)
  await editAndCancel(tab, way)
}

describe('a shopper', () => {
  test('finds, filters, is declined, buys, edits and cancels', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'))
    await shopFor(tab, { script: true, look: tab.isOpenToAll })
  })

  test('does all of it without a script', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), { javaScriptEnabled: false })
    await shopFor(tab, { script: false, look: async () => {} })
  })

  test('does all of it on a telephone, where nothing is wider than the screen', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), PHONE)
    const look = async () => {
      const wide = await tab.page.evaluate('document.documentElement.scrollWidth - innerWidth')
      assert.ok(Number(wide) <= 0, `${tab.page.url()} is ${wide} too wide`)
    }
    await shopFor(tab, { script: true, look })
  })

  test('who pays in two tabs at once has one order', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'))
    const way = { script: true, look: async () => {} }
    await findAndAdd(tab, way)
    const other = await tab.another()
    const pages = [tab.page, other.page]
    for (const page of pages) {
      await page.goto('/checkout')
      await fillDetails(page)
    }
    const before = await countOrders()
    await Promise.all(pages.map((page) => pay(page, APPROVED)))
    await Promise.all(pages.map((page) => page.waitForURL(/\/orders\/[0-9a-f-]{36}/)))
    const [first, second] = pages.map((page) => new URL(page.url()).pathname)
    assert.equal(first, second)
    assert.equal(await countOrders(), before + 1)
  })
})

async function countOrders(): Promise<number> {
  const merchant = await shop.merchant('demo', 'read:own_orders')
  return (await merchant.get('/v1/merchant/orders?limit=1')).body.total
}

describe('every store', () => {
  const pages = [
    '/',
    '/products',
    '/collections',
    '/search?q=candle',
    '/cart',
    '/orders',
    '/nowhere',
  ]
  for (const tenant of ['objects', 'ember']) {
    test(`${tenant} is open to all on every page`, async (t) => {
      const tab = await openTab(t, browser, shop.at(tenant))
      for (const path of pages.filter((each) => each !== '/nowhere')) {
        await tab.page.goto(path)
        await tab.isOpenToAll()
      }
    })
  }

  test('that is suspended is one page, whatever was asked for', async () => {
    const page = await browser.newPage({ baseURL: shop.at('ember') })
    await shop.operator.put('/v1/stores/ember/status', { status: 'suspended' })
    const shown = async (path: string) => {
      const answer = await page.goto(path)
      return { status: answer?.status(), title: await page.title() }
    }
    const closed = { status: 404, title: 'This store is not available' }
    await until('the store is closed', async () => (await shown('/')).status === 404)
    for (const path of pages) assert.deepEqual(await shown(path), closed, path)
    await page.close()
  })
})
