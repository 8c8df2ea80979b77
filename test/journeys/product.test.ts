import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { listCutImages, openBrowser, openTab } from '../harness/browser.ts'
import { until } from '../harness/eventually.ts'
import { addSamples } from '../harness/sample-products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop
let browser: Browser
let samples: Awaited<ReturnType<typeof addSamples>>

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  samples = await addSamples(await shop.merchant('demo'))
  browser = await openBrowser(scope)
})

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const DESKTOP = { viewport: { width: 1280, height: 900 } }

const open = (t: TestContext, options: BrowserContextOptions) =>
  openTab(t, browser, shop.at('demo'), options)

/** Waits until the image with this number is the one that the gallery shows. */
const shows = (page: Page, number: number) =>
  until(`image ${number} is shown`, async () => {
    const slide = await page.locator(`#image-${number}`).boundingBox()
    const slides = await page.locator('.slides').boundingBox()
    return Math.abs((slide?.x ?? -1) - (slides?.x ?? 0)) < 2
  })

const current = (page: Page) => page.locator('.thumbs [aria-current]').getAttribute('href')
const scrolled = async (page: Page) => Number(await page.evaluate('scrollY'))

describe('the images of a product', () => {
  test('are swiped on a phone, with dots, above the name, the price and the button', async (t) => {
    const { page, checkAccessibility } = await open(t, PHONE)
    for (const slug of Object.keys(samples.added)) {
      await page.goto(`/products/${slug}`)
      const button = await page.locator('#buy button').first().boundingBox()
      const bottom = (button?.y ?? 0) + (button?.height ?? 0)
      assert.ok(bottom <= 1.5 * PHONE.viewport.height, `${slug}: the button ends at ${bottom}`)
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
      assert.equal(wide, PHONE.viewport.width, slug)
    }
    await page.goto('/products/five')
    await page.locator('.thumbs [aria-current][href="#image-1"]').waitFor()
    await page.evaluate(`document.querySelector('.slides').scrollBy({ left: 300 })`)
    await shows(page, 2)
    await page.locator('.thumbs [aria-current][href="#image-2"]').waitFor()
    const dot = await page.getByRole('link', { name: 'Image 4 of 5' }).boundingBox()
    assert.ok((dot?.width ?? 0) >= 40 && (dot?.height ?? 0) >= 44, JSON.stringify(dot))
    await page.getByRole('link', { name: 'Image 4 of 5' }).tap()
    await shows(page, 4)
    await checkAccessibility()
  })

  test('are whole, whatever their shape, and are chosen by thumbnails on a desktop', async (t) => {
    const { page } = await open(t, DESKTOP)
    await page.goto('/products/portrait')
    assert.deepEqual(await listCutImages(page), [])
    await page.getByRole('link', { name: 'Image 2 of 2' }).click()
    await shows(page, 2)
    await page.locator('.thumbs [aria-current][href="#image-2"]').waitFor()
    assert.deepEqual([await scrolled(page), await current(page)], [0, '#image-2'])
    assert.equal(new URL(page.url()).hash, '')
  })

  test('are whole in the drawer, the cart and the checkout', async (t) => {
    const { page } = await open(t, DESKTOP)
    await page.goto('/products/portrait')
    await page.getByRole('button', { name: 'Add to cart' }).click()
    await page.locator('.drawer-line img').waitFor()
    assert.deepEqual(await listCutImages(page), [])
    for (const path of ['/cart', '/checkout']) {
      await page.goto(path)
      await page.locator('main img').first().waitFor()
      assert.deepEqual(await listCutImages(page), [], path)
    }
  })

  test('open in full size, are turned over by the arrow keys, and the last one stays shown', async (t) => {
    const { page, checkAccessibility } = await open(t, DESKTOP)
    await page.goto('/products/five')
    const opener = page.getByRole('button', { name: 'Enlarge: Tall harbour vase' }).first()
    await opener.click()
    const large = page.locator('dialog.zoom img')
    await large.waitFor()
    const source = () => large.getAttribute('src')
    const nth = (at: number) => new RegExp(`${samples.five[at]?.split('/')[1]}\\?w=1920$`)
    assert.match(String(await source()), nth(0))
    await page.keyboard.press('ArrowRight')
    assert.match(String(await source()), nth(1))
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    assert.match(String(await source()), nth(4))
    await page.getByRole('button', { name: 'Next image' }).click()
    await page.getByRole('button', { name: 'Next image' }).click()
    assert.match(String(await source()), nth(1))
    await checkAccessibility()
    await page.keyboard.press('Escape')
    await large.waitFor({ state: 'detached' })
    await shows(page, 2)
    assert.equal(await page.evaluate('document.activeElement.className'), 'zoomable')
  })

  test('are opened by their links without the script', async (t) => {
    const { page } = await open(t, { ...DESKTOP, javaScriptEnabled: false })
    await page.goto('/products/five')
    await page.getByRole('link', { name: 'Image 3 of 5' }).click()
    await shows(page, 3)
  })
})

describe('choosing a variant', () => {
  test('shows its price and image, names it in the address, and keeps quantity and focus', async (t) => {
    const { page, checkAccessibility } = await open(t, DESKTOP)
    await page.goto('/products/shirt')
    await page.getByLabel('Quantity').fill('3')
    await page.getByRole('link', { name: 'M', exact: true }).click()
    await page.getByRole('group', { name: 'Size' }).getByText('Size: M').waitFor()
    await page.getByRole('link', { name: 'Blue' }).click()
    await page.locator('.price .price-before').getByText('$89.00').waitFor()
    await shows(page, 2)
    const id = samples.added.shirt?.ids['SHIRT-M-BLUE']
    assert.equal(new URL(page.url()).search, `?variant=${id}`)
    assert.equal(await page.getByLabel('Quantity').inputValue(), '3')
    assert.match(String(await page.evaluate('document.activeElement.textContent')), /^Blue/)
    await checkAccessibility()
    await page.getByRole('link', { name: 'L Not with Blue' }).click()
    await page.getByText('$74.00').first().waitFor()
    await page.getByRole('button', { name: 'Add to cart' }).click()
    await page.locator('.drawer-said', { hasText: 'Linen shirt was added to your cart.' }).waitFor()
    await page.reload()
    assert.equal(await page.locator('[data-price]').innerText(), '$74.00')
  })

  test('works by links without the script', async (t) => {
    const { page } = await open(t, { ...PHONE, javaScriptEnabled: false })
    await page.goto('/products/shirt')
    await page.getByRole('link', { name: /^Blue/ }).click()
    await page.getByText('This choice is sold out.').waitFor()
    await page.getByRole('link', { name: 'M', exact: true }).click()
    await page.getByRole('button', { name: 'Add to cart' }).click()
    await page.getByText('M / Blue').waitFor()
  })
})

describe('products that the browser has seen', () => {
  test('are shown on the next product pages, newest first, and set no cookie', async (t) => {
    const { page, checkAccessibility } = await open(t, PHONE)
    const section = page.locator('[data-seen]')
    await page.goto('/products/one')
    for (const slug of ['five', 'shirt', 'one']) {
      await page.goto(`/products/${slug}`)
      await section.locator('.card').first().waitFor()
    }
    assert.deepEqual(await section.locator('.card-name').allInnerTexts(), [
      'Linen shirt',
      'Tall harbour vase',
    ])
    await checkAccessibility()
    assert.deepEqual(await page.context().cookies(), [])
    await page.evaluate(`localStorage.setItem('seen', '{"no":"list"}')`)
    await page.reload()
    await page.getByRole('button', { name: 'Add to cart' }).waitFor()
    assert.equal(await section.isVisible(), false)
  })

  test('are not shown without the script', async (t) => {
    const { page } = await open(t, { ...DESKTOP, javaScriptEnabled: false })
    await page.goto('/products/one')
    assert.equal(await page.getByText('Recently seen').isVisible(), false)
  })
})

describe('a store whose script is written from right to left', () => {
  /** The middle of an element, from the left. */
  const middleOf = async (page: Page, selector: string) => {
    const box = await page.locator(selector).first().boundingBox()
    assert.ok(box !== null, selector)
    return box.x + box.width / 2
  }
  const widthOf = async (page: Page) =>
    Number(await page.evaluate('document.documentElement.scrollWidth'))

  test('has gallery, cart, filters and sheets on the other side, on both devices', async (t) => {
    const merchant = await shop.merchant('demo')
    const { manifest } = (await merchant.get('/v1/my/site')).body.active
    // A store that writes all of its own texts from right to left says so: ours are not translated.
    const store = { ...manifest.store, language: 'ar', direction: 'rtl' }
    const arabic = { ...manifest, store }
    await merchant.put('/v1/my/store/manifest', { manifest: arabic })
    t.after(() => merchant.put('/v1/my/store/manifest', { manifest }))
    const { page, checkAccessibility } = await open(t, DESKTOP)
    await until('the page is turned round', async () => {
      await page.goto('/products/five')
      return (await page.locator('html').getAttribute('dir')) === 'rtl'
    })
    const half = DESKTOP.viewport.width / 2
    assert.ok((await middleOf(page, '.slides')) > half, 'the images begin at the right')
    assert.ok((await middleOf(page, '#buy')) < half, 'the form is at their left')
    await shows(page, 1)
    assert.ok((await middleOf(page, '#image-2')) < (await middleOf(page, '#image-1')))
    const thumb = (at: number) => middleOf(page, `.thumbs [href="#image-${at}"]`)
    assert.ok((await thumb(2)) < (await thumb(1)), 'the small ones go to the left, too')
    await page
      .getByRole('link', { name: /Image .+ of/ })
      .nth(2)
      .click()
    await shows(page, 3)
    await page.locator('.thumbs [aria-current][href="#image-3"]').waitFor()
    await page
      .getByRole('button', { name: /^Enlarge/ })
      .nth(2)
      .click()
    const large = page.locator('dialog.zoom img')
    await large.waitFor()
    await page.keyboard.press('ArrowLeft')
    assert.ok(
      String(await large.getAttribute('src')).includes(samples.five[3]?.split('/')[1] ?? '-'),
    )
    await page.keyboard.press('Escape')
    await large.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add to cart' }).click()
    const drawer = page.locator('.drawer[open]')
    await drawer.waitFor()
    await until('the drawer has slid in from the left', async () => {
      return (await drawer.boundingBox())?.x === 0
    })
    assert.ok(
      (await middleOf(page, '.drawer-line .line-image')) >
        (await middleOf(page, '.drawer-line .line-text')),
    )
    assert.equal(await widthOf(page), DESKTOP.viewport.width)
    await checkAccessibility()
    await page.goto('/collections/tableware')
    assert.ok((await middleOf(page, '#filters')) > (await middleOf(page, '#found')))

    const { page: phone } = await open(t, PHONE)
    await phone.goto('/products/five')
    await phone.evaluate(`document.querySelector('.slides').scrollBy({ left: -300 })`)
    await shows(phone, 2)
    await phone.locator('.thumbs [aria-current][href="#image-2"]').waitFor()
    assert.equal(await widthOf(phone), PHONE.viewport.width)
    await phone.goto('/collections/tableware')
    await phone.getByRole('button', { name: 'Filter and sort' }).click()
    const sheet = await phone.locator('#filters').boundingBox()
    assert.deepEqual([sheet?.x, sheet?.width], [0, PHONE.viewport.width])
    const title = await middleOf(phone, '.sheet-head h2')
    assert.ok(title > (await middleOf(phone, '.sheet-head .tool')), 'it is closed at its left')
  })
})
