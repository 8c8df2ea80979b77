import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser, openTab } from '../harness/browser.ts'
import { eventually, until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { allowRefunds } from '../storefront/setup.ts'
import {
  APPROVED,
  buy,
  field,
  fillDetails,
  findAndAdd,
  heading,
  noCheck,
  PHONE,
  pay,
  shopFor,
  UNANSWERED,
} from './shop-for.ts'

let shop: TestShop
let browser: Browser

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  browser = await openBrowser(scope)
  await allowRefunds(scope, shop)
})

describe('a shopper', () => {
  test('finds a product, is declined, buys, edits the order and cancels it', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'))
    await shopFor(tab, { script: true, check: noCheck })
  })

  test('finds a product, buys and cancels on a phone, where no page is wider than the screen', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), PHONE)
    const check = async () => {
      const wide = Number(await tab.page.evaluate('document.documentElement.scrollWidth'))
      assert.ok(wide <= PHONE.viewport.width, `${tab.page.url()} is ${wide} wide`)
    }
    await shopFor(tab, { script: true, check })
  })

  test('two shoppers buy at the same time, each with their own cart and order', async (t) => {
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

  test('a shopper who pays in two tabs at once has one order', async (t) => {
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

describe('buying again and again', () => {
  test('is chosen on the product page, kept for another variant, and shown at every step until the order', async (t) => {
    const { page, checkAccessibility } = await openTab(t, browser, shop.at('demo'))
    await page.goto('/products/house-coffee')
    const note = page.locator('.plan-note')
    assert.equal(await note.isVisible(), false)
    await page.getByRole('radio', { name: /^Every month/ }).check()
    await note.getByText('Each delivery: $12.50 plus $5.90 shipping').waitFor()
    await page.locator('[data-plan-price]', { hasText: '$12.50' }).waitFor()
    assert.equal(await page.locator('[data-price]').isVisible(), false)
    await checkAccessibility()
    await page.getByRole('link', { name: /^Filter grind/ }).click()
    await page.locator('.variant-choice[aria-current]', { hasText: 'Filter grind' }).waitFor()
    assert.equal(await page.getByRole('radio', { name: /^Every month/ }).isChecked(), true)
    await page.getByRole('button', { name: 'Add to cart' }).click()
    await page.locator('.drawer .line-plan', { hasText: 'Subscription, every month' }).waitFor()
    await page.goto('/cart')
    await checkAccessibility()
    await page.getByRole('button', { name: 'Buy it once instead' }).click()
    await page.getByRole('button', { name: 'Send it every month instead' }).click()
    await page.locator('.line-plan').waitFor()
    await page.goto('/checkout')
    await page
      .locator('#agreed', { hasText: 'You subscribe to House Coffee (every month).' })
      .waitFor()
    await checkAccessibility()
    const fields = {
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      line1: '12 Main Street',
      city: 'Portland',
      postal_code: '04101',
      card_number: '4111 1111 1111 1111',
      card_expiry: '10/40',
      card_cvv: '999',
    }
    for (const [name, value] of Object.entries(fields)) {
      await page.locator(`main [name="${name}"]`).fill(value)
    }
    await page.locator('main [name="state"]').selectOption('ME')
    await page.locator('[data-pay]').click()
    await page.waitForURL(/\/orders\//)
    await page.getByText('Mails about this order go to ada@example.com.').waitFor()
    await page.getByText('You have subscribed to House Coffee (every month).').waitFor()
    await checkAccessibility()
  })
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

  test('a store that is suspended shows the same page at every address', async (t) => {
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
