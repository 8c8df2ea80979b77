import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openTab } from '../harness/browser.ts'
import { type DestinationTax, openDestinationTax } from '../harness/destination-tax.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Seen } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { countOrders, DETAILS, GOOD_CARD, variantOf, withCart } from './setup.ts'

let shop: TestShop
let provider: DestinationTax
let browser: Browser

const SHIPPING = {
  mode: 'flat',
  flat_rate_cents: 500,
  expedited_rate_cents: 1_500,
  max_cents: 1_500,
}

const scope = suiteScope()
before(async () => {
  provider = await openDestinationTax(scope)
  // As most providers: without an address they know no tax.
  provider.needsAddress = true
  shop = await openTestShop(scope, ['demo'], { env: provider.env })
  browser = await openBrowser(scope as TestContext)
  const merchant = await shop.merchant('demo')
  const { manifest } = (await merchant.get('/v1/my/site')).body.active
  const changed = {
    ...manifest,
    seo: { title: 'Taxed' },
    behavior: {
      ...manifest.behavior,
      shipping: SHIPPING,
      tax: { provider: 'acme_tax', rate_bps: 0 },
    },
  }
  const { status, text } = await merchant.put('/v1/my/store/manifest', { manifest: changed })
  assert.equal(status, 200, text)
  const shopper = openShopper(shop.url, 'demo.localhost')
  const isShown = async () => (await shopper.get('/')).text.includes('<title>Taxed</title>')
  await until('the change is shown', isShown)
})

const inState = (state: string) => ({ ...DETAILS, country: 'US', state, postal_code: '94103' })

const amountsOf = ({ text }: Seen) => {
  const [, tax = ''] = /<dt>Tax<\/dt><dd>([^<]*)</.exec(text) ?? []
  const [, total = ''] = /data-total>([^<]*)</.exec(text) ?? []
  const [, button = ''] = /<button[^>]* data-pay[^>]*>([^<]*)</.exec(text) ?? []
  return { tax, total, button }
}

/** The orders of a store, newest first. */
async function newestOrder() {
  const merchant = await shop.merchant('demo')
  return (await merchant.get('/v1/merchant/orders?limit=1')).body.orders[0]
}

describe('a store whose tax depends on the address', () => {
  test('shows no tax and no final total in the cart and at the checkout before the address is known', async () => {
    const shopper = await withCart(shop, 'cedar-candle')
    for (const path of ['/cart', '/checkout']) {
      const seen = await shopper.get(path)
      assert.equal(seen.status, 200, path)
      assert.equal(amountsOf(seen).tax, 'by your address', path)
    }
    const seen = await shopper.get('/checkout')
    assert.equal(amountsOf(seen).button, 'See the total with tax')
  })

  test('sells without JavaScript: the shopper sees the final total, and then pays exactly that', async () => {
    const merchant = await shop.merchant('demo')
    const before = await countOrders(merchant)
    const shopper = await withCart(shop, 'cedar-candle')
    const form = await shopper.get('/checkout')
    const first = { ...inState('ME'), key: form.field('key'), due: form.field('due') }
    const seen = await shopper.follow('/checkout', first)
    assert.match(seen.text, /Your total now has the tax for your address/)
    assert.equal(await countOrders(merchant), before)
    const { tax, total, button } = amountsOf(seen)
    assert.match(tax, /^\$\d+\.\d\d$/)
    assert.equal(button, `Pay ${total}`)
    const again = { ...inState('ME'), ...GOOD_CARD, key: seen.field('key'), due: seen.field('due') }
    const order = await shopper.follow('/checkout', again)
    assert.match(order.text, /Thank you/)
    assert.equal(amountsOf(order).total, total)
    assert.equal(amountsOf(order).tax, tax)
    assert.equal(await countOrders(merchant), before + 1)
  })

  test('asks again when the address in the form differs from the one of the total', async () => {
    const merchant = await shop.merchant('demo')
    const shopper = await withCart(shop, 'cedar-candle')
    const form = await shopper.get('/checkout')
    const shown = await shopper.follow('/checkout', { ...inState('ME'), key: form.field('key') })
    const before = await countOrders(merchant)
    const key = shown.field('key')
    const other = await shopper.follow('/checkout', { ...inState('TX'), ...GOOD_CARD, key })
    assert.match(other.text, /Your total now has the tax for your address/)
    assert.notEqual(amountsOf(other).total, amountsOf(shown).total)
    assert.equal(await countOrders(merchant), before)
    // Another name pays the same, and the form is not shown once more.
    const named = { ...inState('TX'), ...GOOD_CARD, name: 'Bob', key: other.field('key') }
    const order = await shopper.follow('/checkout', named)
    assert.equal(amountsOf(order).total, amountsOf(other).total)
  })

  test('names the next charges of a subscription, whose tax is worked out anew for each', async () => {
    const shopper = openShopper(shop.url, 'demo.localhost')
    const { id } = await variantOf(shop, 'house-coffee')
    await shopper.post('/cart/add', { variant: id, quantity: '1', plan: 'subscribe' })
    const form = await shopper.get('/checkout')
    const renewalOf = ({ text }: Seen) =>
      /id="renewals">.*<strong>([^<]*)<.*class="note">([^<]*)</.exec(text)?.slice(1)
    assert.equal(renewalOf(form), undefined, 'the tax is not known yet')
    const shown = await shopper.follow('/checkout', { ...inState('ME'), key: form.field('key') })
    // 5.5 per cent of goods and shipping, as a share of the goods.
    const [about = '', note] = renewalOf(shown) ?? []
    assert.match(about, /^about \$18\.\d\d$/)
    const told = 'Each with shipping and tax as they are today, until you cancel.'
    assert.equal(note, `${told} The tax is worked out anew for each charge.`)
  })

  test('names what is wrong with the address, and asks for no card before its total is known', async () => {
    const shopper = await withCart(shop, 'cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const seen = await shopper.follow('/checkout', { ...inState('ME'), postal_code: '', key })
    assert.match(seen.text, /id="postal_code-error"/)
    assert.doesNotMatch(seen.text, /id="number-error"/)
    assert.equal(amountsOf(seen).button, 'See the total with tax')
  })

  test('knows the total at once for an address that the browser remembers', async () => {
    const shopper = await withCart(shop, 'cedar-candle')
    const form = await shopper.get('/checkout')
    const address = { ...inState('ME'), remember: '1' }
    const shown = await shopper.follow('/checkout', { ...address, key: form.field('key') })
    const key = shown.field('key')
    assert.match(
      (await shopper.follow('/checkout', { ...address, ...GOOD_CARD, key })).text,
      /Thank/,
    )
    const add = /name="variant" value="([^"]+)"/
    const [, variant = ''] = add.exec((await shopper.get('/products/cedar-candle')).text) ?? []
    await shopper.post('/cart/add', { variant, quantity: '1' })
    const next = amountsOf(await shopper.get('/checkout'))
    assert.equal(next.button, `Pay ${next.total}`)
    assert.equal(next.total, amountsOf(shown).total)
  })

  test('shows the cart without a total by address if the platform does not accept the address', async () => {
    const shopper = await withCart(shop, 'cedar-candle')
    const form = await shopper.get('/checkout')
    // A card number in the wrong field is refused everywhere.
    const wrong = { ...inState('ME'), line1: '4111 1111 1111 1111', key: form.field('key') }
    const seen = await shopper.post('/checkout/update', wrong)
    assert.equal(seen.status, 200)
    assert.equal(amountsOf(seen).button, 'See the total with tax')
  })
})

const field = (page: Page, name: string) => page.locator(`main [name="${name}"]`)

async function openCheckout(t: TestContext) {
  const tab = await openTab(t, browser, shop.at('demo'))
  await tab.page.goto('/products/fern-teapot')
  await tab.page.locator('.buy-now').click()
  await tab.page.locator('[data-checkout]').waitFor()
  return tab
}

async function fillAddress(page: Page, state: string) {
  const { email, name, line1, city, country, postal_code } = inState(state)
  await field(page, 'country').selectOption(country)
  await field(page, 'state').selectOption(state)
  const texts = { email, name, line1, city, postal_code }
  for (const [each, value] of Object.entries(texts)) await field(page, each).fill(value)
}

async function typeCard(page: Page) {
  for (const [name, value] of Object.entries(GOOD_CARD)) await field(page, name).fill(value)
}

describe('a browser at such a store', () => {
  test('shows the final total as soon as the address is complete, and again when it changes', async (t) => {
    const { page, checkAccessibility } = await openCheckout(t)
    const pay = page.locator('[data-pay]')
    assert.equal(await pay.textContent(), 'See the total with tax')
    await typeCard(page)
    await fillAddress(page, 'ME')
    await field(page, 'postal_code').blur()
    await page.locator('[data-pay]', { hasText: 'Pay $' }).waitFor()
    const inMaine = await pay.textContent()
    await field(page, 'state').selectOption('TX')
    await page
      .locator('[data-pay]')
      .filter({ hasNotText: String(inMaine) })
      .waitFor()
    const total = await page.locator('[data-total]').textContent()
    assert.equal(await pay.textContent(), `Pay ${total}`)
    assert.equal(await field(page, 'card_cvv').inputValue(), '999', 'the card is kept')
    await checkAccessibility()
    await pay.click()
    await page.waitForURL(/\/orders\//)
    assert.equal(await page.locator('[data-total]').first().textContent(), total)
    assert.equal((await newestOrder()).payment_status, 'paid')
  })

  test('a browser that pays at the moment when the address is complete shows the total before it pays', async (t) => {
    const merchant = await shop.merchant('demo')
    const { page } = await openCheckout(t)
    const before = await countOrders(merchant)
    await typeCard(page)
    await fillAddress(page, 'ME')
    // The last field has the focus: its change and the click come together.
    await page.locator('[data-pay]').click()
    await page.locator('#notices', { hasText: 'tax for your address' }).waitFor()
    assert.equal(await countOrders(merchant), before)
    const total = await page.locator('[data-total]').textContent()
    assert.equal(await page.locator('[data-pay]').textContent(), `Pay ${total}`)
    assert.equal(await field(page, 'card_cvv').inputValue(), '999', 'the card is kept')
    await page.locator('[data-pay]').click()
    await page.waitForURL(/\/orders\//)
    assert.equal(await page.locator('[data-total]').first().textContent(), total)
  })

  test('without our script hides the card until the total is known', async (t) => {
    const tab = await openTab(t, browser, shop.at('demo'), { javaScriptEnabled: false })
    const { page } = tab
    await page.goto('/products/fern-teapot')
    await page.locator('.buy-now').click()
    await page.locator('[data-checkout]').waitFor()
    assert.ok(await page.locator('#card').isHidden())
    await fillAddressWithoutScript(page)
    await page.locator('[data-pay]').click()
    await page.locator('#notices', { hasText: 'tax for your address' }).waitFor()
    assert.ok(await page.locator('#card').isVisible())
    await typeCard(page)
    const total = await page.locator('[data-total]').textContent()
    await page.locator('[data-pay]').click()
    await page.waitForURL(/\/orders\//)
    assert.equal(await page.locator('[data-total]').first().textContent(), total)
  })
})

/** The store's own country is chosen already, and its states are listed. */
async function fillAddressWithoutScript(page: Page) {
  const { email, name, line1, city, postal_code, state } = inState('ME')
  await field(page, 'state').selectOption(state)
  const texts = { email, name, line1, city, postal_code }
  for (const [each, value] of Object.entries(texts)) await field(page, each).fill(value)
}
