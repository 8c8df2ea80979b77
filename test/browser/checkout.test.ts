import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { openBrowser, openTab, type Tab } from '../harness/browser.ts'
import { showsCard } from '../harness/card-digits.ts'
import { startCollect, type TestCollect } from '../harness/collect.ts'
import { startNmi, type TestNmi } from '../harness/nmi.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

const SECURITY_KEY = 'a-security-key-of-32-characters!'
const PUBLIC_KEY = 'abcdef-123456-public'

let shop: TestShop
let browser: Browser
let nmi: TestNmi
let collect: TestCollect

const scope = suiteScope()
before(async () => {
  nmi = await startNmi(SECURITY_KEY)
  collect = await startCollect()
  scope.after(() => Promise.all([nmi.close(), collect.close()]))
  const env = { NMI_URL: nmi.url, NMI_COLLECT_URL: collect.url }
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'], { env })
  browser = await openBrowser(scope)
  const change = {
    gateway: 'nmi',
    credentials: { security_key: SECURITY_KEY },
    tokenization_key: PUBLIC_KEY,
  }
  assert.equal((await shop.operator.put('/v1/stores/objects/payments', change)).status, 200)
})

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const APPROVED = '4111 1111 1111 1111'
const DECLINED = '4000 0000 0000 0002'

/** Takes a picture, where a folder for them is named: for a person to look at. */
async function shoot(page: Page, name: string) {
  const folder = process.env.PICTURES
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

const field = (page: Page, name: string) => page.locator(`main [name="${name}"]`)

/** The checkout of one product, by "Buy now". */
async function openCheckout(
  t: TestContext,
  store: { tenant: string; slug: string },
  options: BrowserContextOptions = {},
  others: readonly string[] = [],
): Promise<Tab> {
  const tab = await openTab(t, browser, shop.at(store.tenant), options, { others })
  await tab.page.goto(`/products/${store.slug}`)
  await tab.page.locator('.buy-now').click()
  await tab.page.locator('[data-checkout]').waitFor()
  return tab
}

const TEAPOT = { tenant: 'demo', slug: 'fern-teapot' }

const ADDRESS = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  line1: '12 St James’s Square',
  city: 'London',
  postal_code: 'SW1Y 4JH',
}

async function fillAddress(page: Page) {
  await field(page, 'country').selectOption('GB')
  for (const [name, value] of Object.entries(ADDRESS)) await field(page, name).fill(value)
}

async function typeCard(page: Page, number: string) {
  await field(page, 'card_number').fill(number)
  await field(page, 'card_expiry').fill('10/40')
  await field(page, 'card_cvv').fill('999')
}

const focused = (page: Page) => page.evaluate('document.activeElement.textContent')

/** The visible parts below the street, in the order of the tab key. */
const parts = (page: Page) =>
  page.evaluate(
    `[...document.querySelectorAll('[data-part]:not([hidden])')].map((part) => [part.dataset.part, part.querySelector('span').textContent, part.querySelector('input, select').tagName])`,
  )

describe('the form of an address', () => {
  test('changes with the country: names, order, regions, and what is there at all', async (t) => {
    const { page, checkAccessibility } = await openCheckout(t, TEAPOT)
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

  test('works without the script, also for a country that the page was not made for', async (t) => {
    const { page } = await openCheckout(t, TEAPOT, { javaScriptEnabled: false })
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
      const { page, checkAccessibility } = await openCheckout(t, TEAPOT, options)
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
      await page.goto(`/products/${TEAPOT.slug}`)
      await page.locator('.buy-now').click()
      assert.equal(await field(page, 'line1').inputValue(), ADDRESS.line1)
      await shoot(page, `remembered-${name}`)
      await page.getByRole('button', { name: 'Forget it' }).click()
      await page.getByRole('button', { name: 'Forget it' }).waitFor({ state: 'detached' })
      assert.equal(await field(page, 'line1').inputValue(), '')
    })
  }

  test('is in the language of the store', async (t) => {
    const ember = { tenant: 'ember', slug: 'midnight-bar' }
    const { page } = await openCheckout(t, ember)
    await shoot(page, 'german')
    await page.locator('[data-pay]').click()
    await page.locator('#city-error').waitFor()
    await shoot(page, 'german-errors')
    assert.equal(await field(page, 'country').inputValue(), 'DE')
    await page.getByRole('link', { name: /^Postleitzahl: Bitte/ }).waitFor()
  })
})

describe('the summary of an order', () => {
  test('is one line with the total on a phone, and opens', async (t) => {
    const { page } = await openCheckout(t, TEAPOT, PHONE)
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
      const { page } = await openCheckout(t, TEAPOT, { javaScriptEnabled })
      assert.equal(await page.locator('.fold > summary').isVisible(), false)
      assert.equal(await page.locator('.fold-body .line-name').isVisible(), true)
      await field(page, 'coupon').fill('WELCOME10')
      await page.locator('#summary .coupon button').click()
      await page.getByText('The code WELCOME10 has been applied.').waitFor()
    }
  })
})

describe('the card fields of the gateway', () => {
  const CUP = { tenant: 'objects', slug: 'cup-01' }
  const typeInto = async (page: Page, place: string, value: string) =>
    page.frameLocator(`#field-${place} iframe`).locator('input').fill(value)

  test('are in the page, and only their token leaves it', async (t) => {
    const { page, checkAccessibility } = await openCheckout(t, CUP, {}, [collect.origin])
    const sent: string[] = []
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== collect.origin) sent.push(request.postData() ?? '')
    })
    assert.equal(await page.locator('[name="card_number"]').count(), 0)
    await fillAddress(page)
    await typeInto(page, 'number', APPROVED)
    assert.deepEqual([...new Set(collect.keys)], [PUBLIC_KEY])
    await page.locator('[data-pay]').click()
    await page.locator('#card-error').waitFor()
    assert.match(String(await focused(page)), /^Please check your card details/)
    await shoot(page, 'hosted')
    await checkAccessibility()
    await typeInto(page, 'expiry', '10/40')
    await typeInto(page, 'cvv', '999')
    // A mistake elsewhere: the text in the gateway's fields stays.
    await field(page, 'city').fill('')
    await page.locator('[data-pay]').click()
    await page.locator('#city-error').waitFor()
    await field(page, 'city').fill('London')
    await page.locator('[data-pay]').click()
    await page.locator('[data-status]').waitFor()
    const paid = nmi.calls.find(({ fields }) => fields.payment_token)
    const token = paid?.fields.payment_token ?? ''
    assert.equal(collect.cards.get(token)?.ccnumber, APPROVED)
    assert.ok(!showsCard(sent.join(' '), APPROVED, '999'), 'the store has seen no card')
    assert.ok(!nmi.calls.some(({ fields }) => fields.ccnumber))
  })

  test('that cannot be loaded are told, and nothing is sent', async (t) => {
    const options = { others: [collect.origin], expected: /Failed to load resource/ }
    const { page } = await openTab(t, browser, shop.at(CUP.tenant), {}, options)
    await page.route(collect.url, (route) => route.abort())
    await page.goto(`/products/${CUP.slug}`)
    await page.locator('.buy-now').click()
    await page.getByText('card fields could not be loaded').waitFor()
    await page.locator('[data-pay]').click()
    await page.locator('[data-pay]:not([disabled])').waitFor()
    assert.equal(new URL(page.url()).pathname, '/checkout/now')
  })
})
