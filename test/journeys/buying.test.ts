import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { openBrowser, openTab } from '../harness/browser.ts'
import { until } from '../harness/eventually.ts'
import { addSamples } from '../harness/sample-products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop
let browser: Browser
let samples: Awaited<ReturnType<typeof addSamples>>

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'ember'])
  samples = await addSamples(await shop.merchant('demo'))
  browser = await openBrowser(scope)
})

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const DESKTOP = { viewport: { width: 1280, height: 900 } }

const open = (t: TestContext, options: BrowserContextOptions, tenant = 'demo') =>
  openTab(t, browser, shop.at(tenant), options)

const scrolled = async (page: Page) => Number(await page.evaluate('scrollY'))

describe('buying on a phone', () => {
  test('has the button on the first screen, and keeps it in view while the shopper reads', async (t) => {
    const { page, checkAccessibility } = await open(t, PHONE)
    const button = page.locator('#buy .buy-row button')
    const isSeen = async (what: string) => {
      const box = await button.boundingBox()
      assert.ok(
        box && box.y > 0 && box.y + box.height <= PHONE.viewport.height,
        `${what}: ${box?.y}`,
      )
    }
    for (const slug of [
      ...Object.keys(samples.added),
      'harbour-mug',
      'house-coffee',
      'gift-card',
    ]) {
      await page.goto(`/products/${slug}`)
      await isSeen(slug)
    }
    await page.goto('/products/harbour-mug')
    await page.evaluate('scrollTo(0, 300)')
    await isSeen('scrolled')
    await checkAccessibility()
    // It covers nothing of what comes after the product.
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    const box = await button.boundingBox()
    assert.ok((box?.y ?? 0) < 0, `${box?.y}`)
  })

  test('has the whole bar with the button on the first screen, however tall the picture is', async (t) => {
    const { page } = await open(t, PHONE, 'ember')
    for (const slug of ['midnight-bar', 'rye-roast', 'reading-hour']) {
      await page.goto(`/products/${slug}`)
      const box = await page.locator('#buy .buy-row').boundingBox()
      assert.ok(box && box.y + box.height <= PHONE.viewport.height, `${slug}: ${box?.y}`)
    }
  })

  test('works without the script, too', async (t) => {
    const { page } = await open(t, { ...PHONE, javaScriptEnabled: false })
    await page.goto('/products/harbour-mug')
    await page.getByRole('link', { name: 'Sea', exact: true }).click()
    await page.getByText('Colour: Sea').waitFor()
    await page.locator('#buy .buy-row button').click()
    const shown = page.locator('.lines .line-image img')
    assert.equal(await shown.getAttribute('alt'), 'The same mug in sea green')
  })
})

describe('choosing to buy again and again', () => {
  test('changes the price above the choice, with the script and without', async (t) => {
    for (const options of [PHONE, { ...DESKTOP, javaScriptEnabled: false }]) {
      const { page } = await open(t, options)
      await page.goto('/products/house-coffee')
      const [once, again] = [page.locator('[data-price]'), page.locator('[data-plan-price]')]
      assert.deepEqual([await once.isVisible(), await again.isVisible()], [true, false])
      await page.getByRole('radio', { name: /^Every month/ }).check()
      assert.deepEqual([await once.isVisible(), await again.isVisible()], [false, true])
      await page.locator('.price-plan').getByText('save 10%').waitFor()
      await page.getByRole('radio', { name: /^Once/ }).check()
      assert.deepEqual([await once.isVisible(), await again.isVisible()], [true, false])
    }
  })
})

describe('choosing a colour', () => {
  test('shows its picture in view of the shopper, and does not move the page', async (t) => {
    const { page, checkAccessibility } = await open(t, PHONE)
    await page.goto('/products/harbour-mug')
    await checkAccessibility()
    await page.evaluate('scrollTo(0, 420)')
    const before = await scrolled(page)
    await page.getByRole('link', { name: 'Sea', exact: true }).tap()
    await page.getByText('Colour: Sea').waitFor()
    const sea = page.locator('.slides img[alt="The same mug in sea green"]')
    await until('its picture is in the row', async () => {
      const [box, row] = [await sea.boundingBox(), await page.locator('.slides').boundingBox()]
      return Math.abs((box?.x ?? -1) - (row?.x ?? 0)) < 2
    })
    assert.equal(await scrolled(page), before)
    await page.locator('#buy .buy-row button').tap()
    await page.locator('.drawer[open] .drawer-line').waitFor()
    const file = /assets\/\w+/.exec((await sea.getAttribute('src')) ?? '')?.[0] ?? '-'
    const inDrawer = await page.locator('.drawer-line img').getAttribute('src')
    assert.ok(inDrawer?.includes(file), inDrawer ?? '')
  })

  test('marks the chosen colour with a line in forced-colours mode', async (t) => {
    const { page } = await open(t, { ...DESKTOP, forcedColors: 'active' })
    const outlineOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).outlineStyle`)
    await page.goto('/products/harbour-mug')
    assert.equal(await outlineOf('.variant-choice[aria-current]'), 'solid')
    assert.equal(await outlineOf('.variant-choice:not([aria-current])'), 'none')
    assert.equal(await outlineOf('.thumbs [aria-current]'), 'solid')
    assert.equal(await outlineOf('.thumbs a:not([aria-current])'), 'none')
    await page.goto('/products/house-coffee')
    assert.equal(await outlineOf('.choice input:checked + .choice-box'), 'solid')
    assert.equal(await outlineOf('.choice input:not(:checked) + .choice-box'), 'none')
  })
})

describe('the pictures of a list', () => {
  test('fill their frames without empty bars', async (t) => {
    const { page } = await open(t, PHONE)
    await page.goto('/collections/tableware')
    const fits = await page.evaluate(
      `[...new Set([...document.querySelectorAll('.card-image img')].map((each) => getComputedStyle(each).objectFit))]`,
    )
    assert.deepEqual(fits, ['cover'])
  })

  test('fill their frames in the suggestions, too, in a store with tall pictures', async (t) => {
    const { page } = await open(t, DESKTOP, 'ember')
    await page.goto('/')
    await page.locator('.find input').pressSequentially('scho')
    await page.locator('.suggestion-image img').first().waitFor()
    const fit = await page.evaluate(
      `getComputedStyle(document.querySelector('.suggestion-image img')).objectFit`,
    )
    assert.equal(fit, 'cover')
  })
})

test('a gift card message is typed in the font of the store, as all other fields are', async (t) => {
  const { page } = await open(t, DESKTOP)
  await page.goto('/products/gift-card')
  const fonts = await page.evaluate(
    `['textarea', 'input'].map((each) => getComputedStyle(document.querySelector('.gift-grid ' + each)).font)`,
  )
  assert.equal(new Set(fonts as string[]).size, 1, String(fonts))
})

describe('a field with a fault', () => {
  test('disappears from the list above the form when the country replaces the field', async (t) => {
    const { page } = await open(t, PHONE)
    await page.goto('/products/harbour-mug')
    await page.locator('.buy-now').click()
    await page.locator('[data-pay]').click()
    const link = page.locator('#notices a[href="#field-postal_code"]')
    await link.waitFor()
    await page.locator('main [name="country"]').selectOption('DE')
    assert.equal(await page.locator('#postal_code-error').count(), 0)
    assert.equal(await link.count(), 0)
    await page.locator('#notices a[href="#field-email"]').waitFor()
  })

  test('loses its red border when it is corrected, and its line above the form', async (t) => {
    const { page, checkAccessibility } = await open(t, PHONE)
    await page.goto('/products/harbour-mug')
    await page.locator('.buy-now').click()
    await page.locator('[data-pay]').click()
    await page.locator('#notices .error-box').waitFor()
    const email = page.locator('#field-email')
    assert.equal(await email.getAttribute('aria-invalid'), 'true')
    await email.fill('ada')
    assert.equal(await email.getAttribute('aria-invalid'), 'true', 'it is not mended yet')
    await email.fill('ada@example.com')
    assert.equal(await email.getAttribute('aria-invalid'), null)
    assert.equal(await page.locator('#email-error').count(), 0)
    assert.equal(await page.locator('#notices a[href="#field-email"]').count(), 0)
    await page.locator('#field-state').selectOption('ME')
    assert.equal(await page.locator('#state-error').count(), 0)
    await checkAccessibility()
    for (const name of ['name', 'line1', 'city', 'postal_code', 'number', 'expiry', 'cvv']) {
      await page.locator(`#field-${name}`).fill('04101')
    }
    assert.equal(await page.locator('#notices .error-box').count(), 0)
  })
})
