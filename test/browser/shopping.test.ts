import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openTab, type Tab } from '../harness/browser.ts'
import { showsCard } from '../harness/card-digits.ts'
import { eventually, until } from '../harness/eventually.ts'
import { addProducts } from '../harness/products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { openSuperuser } from '../harness/superuser.ts'
import { allowRefunds } from '../storefront/setup.ts'

let shop: TestShop
let browser: Browser

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  browser = await openBrowser(scope)
  await allowRefunds(scope, shop)
})

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

const DECLINED = '4000 0000 0000 0002'
/** The gateway does not answer. */
const UNANSWERED = '4000 0000 0000 5126'
const APPROVED = '4111 1111 1111 1111'

const DETAILS = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  line1: '12 St James’s Square',
  postal_code: 'SW1Y 4JH',
  city: 'London',
  country: 'GB',
}

const field = (page: Page, name: string) => page.locator(`main [name="${name}"]`)

async function fillDetails(page: Page) {
  const { country, ...typed } = DETAILS
  await field(page, 'country').selectOption(country)
  for (const [name, value] of Object.entries(typed)) await field(page, name).fill(value)
}

async function pay(page: Page, number: string) {
  await field(page, 'card_number').fill(number)
  await field(page, 'card_expiry').fill('10/40')
  await field(page, 'card_cvv').fill('999')
  await page.locator('[data-pay]').click()
}

const heading = (page: Page, text: string) => page.getByRole('heading', { level: 1, name: text })

interface Options {
  /** Whether the browser runs the script. */
  script: boolean
  /** Checks each page. */
  check(): Promise<void>
}

const noCheck = async () => {}

/** Finds the teapot by a misspelt word, and adds two of them to the cart. */
async function findAndAdd({ page }: Tab, { script, check }: Options) {
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

async function applyCoupon({ page }: Tab, { check }: Options) {
  await field(page, 'coupon').fill('WELCOME10')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('The code WELCOME10 has been applied.').waitFor()
  // $96.00 less ten per cent, free shipping, and seven per cent tax.
  assert.equal(await page.locator('[data-total]').innerText(), '$92.45')
  await check()
}

async function buy({ page }: Tab, { check }: Options) {
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

async function editAndCancel({ page }: Tab, { check }: Options) {
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

async function shopFor(tab: Tab, options: Options) {
  await findAndAdd(tab, options)
  await applyCoupon(tab, options)
  await buy(tab, options)
  await editAndCancel(tab, options)
}

describe('a shopper', () => {
  test('finds a product, is declined, buys, edits the order and cancels it', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'))
    await shopFor(tab, { script: true, check: noCheck })
  })

  test('does all of that without the script', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), { javaScriptEnabled: false })
    await shopFor(tab, { script: false, check: noCheck })
  })

  test('does all of that on a phone, where no page is wider than the screen', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), PHONE)
    const check = async () => {
      const wide = Number(await tab.page.evaluate('document.documentElement.scrollWidth'))
      assert.ok(wide <= PHONE.viewport.width, `${tab.page.url()} is ${wide} wide`)
    }
    await shopFor(tab, { script: true, check })
  })

  test('and another buy at the same time, each with their own cart and order', async (t) => {
    const tabs = await Promise.all([1, 2].map(() => openTab(t, browser, shop.at('demo'))))
    const options = { script: true, check: noCheck }
    await Promise.all(
      tabs.map(async (tab) => {
        await findAndAdd(tab, options)
        await buy(tab, options)
      }),
    )
    const [first, second] = tabs.map(({ page }) => new URL(page.url()).pathname)
    assert.notEqual(first, second)
  })

  test('checks out with the quantity and the code that were typed last', async (t) => {
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await openTab(t, browser, shop.at('demo'), { javaScriptEnabled })
      await page.goto('/products/fern-teapot')
      await page.getByRole('button', { name: 'Add to cart' }).click()
      await page.locator('.cart-count[data-count="1"]').waitFor()
      await page.goto('/cart')
      await field(page, 'coupon').fill('WELCOME10')
      await page.getByLabel('Quantity of Fern Teapot').fill('2')
      await page.getByRole('button', { name: 'Check out' }).click()
      await heading(page, 'Checkout').waitFor()
      await page.getByText('The code WELCOME10 has been applied.').waitFor()
      assert.equal(await page.locator('[data-total]').innerText(), '$92.45')
    }
  })

  test('sees at once what a gift card leaves to pay, and refunds a part of the order', async (t) => {
    const { page, checkAccessibility } = await openTab(t, browser, shop.at('demo'))
    const code = await giftCard(100_000)
    await page.goto('/products/house-coffee')
    await page.getByRole('button', { name: 'Add to cart' }).click()
    await page.getByRole('link', { name: 'View cart' }).waitFor()
    await page.goto('/checkout')
    await fillDetails(page)
    await field(page, 'card_number').fill('4111')
    const total = page.locator('[data-total]')
    const once = await total.innerText()
    await field(page, 'subscribe').check()
    await page.getByText('Pay $19.28').waitFor()
    assert.notEqual(await total.innerText(), once)
    await field(page, 'subscribe').uncheck()
    await page.getByText(`Pay ${once}`).waitFor()
    // The card that was typed is still there, because only this page knows it.
    assert.equal(await field(page, 'card_number').inputValue(), '4111')
    await field(page, 'gift').fill(code)
    await page.locator('#tenders button').click()
    await page.getByText('There is nothing left to pay by card.').waitFor()
    await field(page, 'card_number').waitFor({ state: 'hidden' })
    await checkAccessibility()
    await page.getByRole('button', { name: 'Place order' }).click()
    await heading(page, 'Thank you for your order!').waitFor()
    await page.getByText('Request a refund').click()
    assert.equal(await field(page, 'amount').inputValue(), '', 'no amount is offered')
    await field(page, 'amount').fill('5')
    await page.getByRole('button', { name: 'Refund this amount' }).click()
    await page.getByText('Your refund is on its way.').waitFor()
    await page.getByText('$5.00 refunded').waitFor()
  })

  test('who pays in two tabs at once has one order', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'))
    const options = { script: true, check: noCheck }
    await findAndAdd(tab, options)
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

describe('a shopper whose payment is not confirmed', () => {
  test('pays once: another tab and a changed cart lead to the pending order', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'))
    await findAndAdd(tab, { script: true, check: noCheck })
    const { page: other } = await tab.another()
    await other.goto('/checkout')
    await fillDetails(other)
    const before = await countOrders()
    const { page } = tab
    await page.goto('/checkout')
    await fillDetails(page)
    await pay(page, UNANSWERED)
    await page.getByText('Please do not pay again').waitFor()
    const path = new URL(page.url()).pathname
    await other.locator('#summary .coupon button').click()
    await other.waitForURL(`**${path}`)
    await page.goto('/products/cedar-candle')
    await page.getByRole('button', { name: 'Add to cart' }).click()
    await page.getByRole('link', { name: 'View cart' }).click()
    await page.getByText('Please do not pay again').waitFor()
    await tab.checkAccessibility()
    assert.equal(await page.getByRole('button', { name: 'Check out' }).count(), 0)
    await page.getByRole('link', { name: 'View order' }).click()
    await page.waitForURL(`**${path}`)
    assert.equal(await countOrders(), before + 1)
  })
})

describe('a list of many products', () => {
  for (const script of [true, false]) {
    test(`is paged by links, ${script ? 'with' : 'without'} the script`, async (t) => {
      const tenant = script ? 'many' : 'many-plain'
      const merchant = await shop.merchant(tenant)
      await merchant.put('/v1/my/store/manifest', { manifest: { brand: { name: 'Many' } } })
      await shop.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
      await addProducts(await openSuperuser(t, shop.database), tenant, 60)
      const options = { ...PHONE, javaScriptEnabled: script }
      const tab = await openTab(t, browser, shop.at(tenant), options)
      const { page } = tab
      const shows = async (label: string, first: string) => {
        await page.getByText(label, { exact: true }).waitFor()
        const cards = page.locator('main .card-name')
        assert.deepEqual([await cards.first().innerText()], [first])
      }
      await page.goto('/products')
      await page.getByText('60 products', { exact: true }).waitFor()
      await shows('Page 1 of 3', 'Item 60')
      assert.equal(await page.getByRole('link', { name: 'Previous' }).count(), 0)
      await page.getByRole('link', { name: 'Next' }).click()
      await shows('Page 2 of 3', 'Item 36')
      if (script) await tab.checkAccessibility()
      await page.getByRole('link', { name: 'Next' }).click()
      await shows('Page 3 of 3', 'Item 12')
      assert.equal(await page.getByRole('link', { name: 'Next' }).count(), 0)
      await page.getByRole('link', { name: 'Previous' }).click()
      await shows('Page 2 of 3', 'Item 36')
      await page.getByRole('link', { name: 'Previous' }).click()
      await shows('Page 1 of 3', 'Item 60')
      assert.equal(new URL(page.url()).search, '')
    })
  }
})

async function giftCard(cents: number): Promise<string> {
  const merchant = await shop.merchant('demo')
  await merchant.post('/v1/merchant/entitlements/enable', { feature_key: 'gift_cards' })
  const key = { 'idempotency-key': 'a-gift-card' }
  const wanted = { initial_balance_cents: cents }
  return (await merchant.post('/v1/merchant/gift-cards', wanted, key)).body.code
}

async function countOrders(): Promise<number> {
  const merchant = await shop.merchant('demo', 'read:own_orders')
  return (await merchant.get('/v1/merchant/orders?limit=1')).body.total
}

describe('a store', () => {
  const pages = [
    '/',
    '/products',
    '/products/fern-teapot',
    '/collections',
    '/collections/tableware',
    '/search?q=candle',
    '/cart',
    '/checkout',
    '/orders',
    '/orders/00000000-0000-4000-8000-000000000000',
    '/sitemap.xml',
    '/robots.txt',
    '/nowhere',
  ]

  test('that is suspended shows the same page at every address', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), {}, { expected: /status of 404/ })
    const { page } = tab
    await findAndAdd(tab, { script: true, check: noCheck })
    await shop.operator.put('/v1/stores/demo/status', { status: 'suspended' })
    t.after(() => shop.operator.put('/v1/stores/demo/status', { status: 'live' }))
    const shown = async (path: string) => {
      const answer = await page.goto(path)
      return { status: answer?.status(), content: await page.content() }
    }
    // Not by the browser: a page that the closing store cuts off would never be loaded.
    const other = openShopper(shop.url, 'demo.localhost')
    await until('the store is closed', async () => {
      const answer = await other.get('/').catch(() => null)
      return answer?.status === 404
    })
    const closed = await shown('/')
    assert.equal(await page.title(), 'This store is not available')
    assert.ok(!closed.content.includes('Harbour'))
    // A request that was under way may have brought the open store back into memory, for a second.
    for (const path of pages) {
      await eventually(async () => assert.deepEqual(await shown(path), closed, path))
    }
    const posted = await page.evaluate(`fetch('/cart', { method: 'POST' }).then((a) => a.text())`)
    assert.match(String(posted), /This store is not available/)
  })
})
