import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openTab } from '../harness/browser.ts'
import { showsCard } from '../harness/card-digits.ts'
import { startCollect, type TestCollect } from '../harness/collect.ts'
import { startNmi, type TestNmi } from '../harness/nmi.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { APPROVED, buyNow, field, fillAddress, focused, shoot } from './checkout-page.ts'

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
  shop = await openTestShop(scope, ['objects', 'ember'], { env })
  browser = await openBrowser(scope)
  const change = {
    gateway: 'nmi',
    credentials: { security_key: SECURITY_KEY },
    tokenization_key: PUBLIC_KEY,
  }
  assert.equal((await shop.operator.put('/v1/stores/objects/payments', change)).status, 200)
})

test('a checkout is in the language of the store', async (t) => {
  const { page } = await buyNow(await openTab(t, browser, shop.at('ember')), 'midnight-bar')
  await shoot(page, 'german')
  await page.locator('[data-pay]').click()
  await page.locator('#city-error').waitFor()
  await shoot(page, 'german-errors')
  assert.equal(await field(page, 'country').inputValue(), 'DE')
  await page.getByRole('link', { name: /^Postleitzahl: Bitte/ }).waitFor()
})

describe('the card fields of the gateway', () => {
  const CUP = { tenant: 'objects', slug: 'cup-01' }
  const typeInto = async (page: Page, place: string, value: string) =>
    page.frameLocator(`#field-${place} iframe`).locator('input').fill(value)

  test('are shown in the page, and only their token leaves the browser', async (t) => {
    const others = [collect.origin]
    const tab = await openTab(t, browser, shop.at(CUP.tenant), {}, { others })
    const { page, checkAccessibility } = await buyNow(tab, CUP.slug)
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

  test('a shopper is told that the card fields cannot be loaded, and nothing is sent', async (t) => {
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
