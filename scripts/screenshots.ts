import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../test/harness/chromium.ts'

/**
 * Takes pictures of the demo stores of a running process, for people to look at: every kind of page, on
 * a desktop and on a phone. `npm run screenshots -- 8080` writes them into `screenshots/`, with `--store
 * ember` or `--only checkout` only some of them, with `--key fdk_…` a preview of the demo store as well.
 */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { store: { type: 'string' }, only: { type: 'string' }, key: { type: 'string' } },
})
const [port = '8080'] = positionals

const FOLDER = fileURLToPath(new URL('../screenshots', import.meta.url))
const STORES: Record<string, { slug: string; word: string; collection: string }> = {
  demo: { slug: 'fern-teapot', word: 'cand', collection: 'tableware' },
  objects: { slug: 'cup-01', word: 'cup', collection: 'table' },
  ember: { slug: 'midnight-bar', word: 'honig', collection: 'evening' },
}
const SCREENS = { desktop: { width: 1_360, height: 900 }, phone: { width: 390, height: 844 } }

const urlOf = (store: string) => `http://${store}.localhost:${port}`

/** Scrolls past every image, since a browser loads images only when they are near the screen. */
const PASS_BY = `(async () => {
  for (let y = 0; y < document.body.scrollHeight; y += 500) {
    scrollTo(0, y)
    await new Promise((done) => setTimeout(done, 60))
  }
  scrollTo({ top: 0, behavior: 'instant' })
})()`

interface Camera {
  page: Page
  /** The page as it is now: all of it, or what the screen shows. */
  shoot(name: string, fullPage?: boolean): Promise<void>
  visit(path: string, name: string): Promise<void>
}

function openCamera(page: Page, prefix: string): Camera {
  const shoot: Camera['shoot'] = async (name, fullPage = true) => {
    if (values.only !== undefined && !name.startsWith(values.only)) return
    if (fullPage) await page.evaluate(PASS_BY)
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: `${FOLDER}/${prefix}-${name}.png`, fullPage })
  }
  const visit = async (path: string, name: string) => {
    await page.goto(path)
    await shoot(name)
  }
  return { page, shoot, visit }
}

async function browse({ page, shoot, visit }: Camera, store: string) {
  const { slug, word, collection } = STORES[store] ?? { slug: '', word: '', collection: '' }
  await visit('/', 'home')
  await visit('/products', 'list')
  await visit('/collections', 'collections')
  await visit(`/collections/${collection}`, 'collection')
  await visit('/nowhere', 'missing')
  await visit('/orders', 'orders-none')
  await visit('/cart', 'cart-empty')
  await visit('/search?q=zzzz', 'search-none')
  await page.goto('/search')
  await page.locator('#q').pressSequentially(word, { delay: 20 })
  await page.locator('#results .card').first().waitFor()
  await shoot('search-typing')
  await visit(`/products/${slug}`, 'product')
  await page.locator('.zoomable').first().click()
  await page.locator('dialog.zoom img').waitFor()
  await shoot('zoom', false)
  await page.keyboard.press('Escape')
}

/** Takes pictures of the focus: it must be visible on every element that can have it. */
async function focus({ page, shoot }: Camera) {
  await page.goto('/')
  await page.keyboard.press('Tab')
  await shoot('focus-skip', false)
  for (const [name, selector] of Object.entries({
    nav: '.nav a',
    find: '.find input',
    card: '.card a',
    button: '.hero .button',
  })) {
    await page.locator(selector).first().focus()
    // A browser draws the ring only when the focus comes by keyboard.
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Tab')
    await shoot(`focus-${name}`, false)
  }
}

const fill = async (page: Page, fields: Record<string, string>) => {
  for (const [name, value] of Object.entries(fields)) {
    const field = page.locator(`main [name="${name}"]`)
    await (name === 'country' ? field.selectOption(value) : field.fill(value))
  }
}

const DETAILS = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  line1: '12 St James’s Square',
  postal_code: 'SW1Y 4JH',
  city: 'London',
  country: 'GB',
}

const card = (number: string) => ({
  card_number: number,
  card_expiry: '10/40',
  card_cvv: '999',
})

async function buy({ page, shoot, visit }: Camera, store: string) {
  await page.goto(`/products/${STORES[store]?.slug}`)
  await page.locator('[data-add] button').first().click()
  await page.locator('.drawer[open]').waitFor()
  await shoot('added', false)
  await visit('/cart', 'cart')
  await fill(page, { coupon: 'NOPE' })
  await page.locator('.coupon button').click()
  await page.locator('.summary .error').waitFor()
  await shoot('cart-coupon')
  await visit('/checkout', 'checkout')
  await page.locator('[data-checkout]').evaluate((form) => form.setAttribute('novalidate', ''))
  await fill(page, { coupon: '', email: 'nonsense' })
  await page.locator('[data-pay]').click()
  await page.locator('.error-box').waitFor()
  await shoot('checkout-coupon')
  await page.locator('[data-checkout]').evaluate((form) => form.setAttribute('novalidate', ''))
  await page.locator('[data-pay]').click()
  await page.locator('#city-error, [aria-describedby="city-error"]').first().waitFor()
  await shoot('checkout-faults')
  await fill(page, { ...DETAILS, ...card('4000000000000002') })
  await page.locator('[data-pay]').click()
  await page.locator('.error-box').waitFor()
  await shoot('checkout-declined')
  await fill(page, card('4111111111111111'))
  await page.locator('[data-pay]').click()
  await page.waitForURL(/\/orders\//)
  await shoot('order')
  for (const summary of await page.locator('details.order-action summary').all())
    await summary.click()
  await shoot('order-forms')
  await visit('/orders', 'orders')
}

async function preview({ visit }: Camera, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const base = `http://127.0.0.1:${port}/v1/my/site`
  const site = (await (await fetch(base, { headers })).json()) as { active: { version: number } }
  const body = JSON.stringify({ version: site.active.version })
  const made = await fetch(`${base}/preview-token`, { method: 'POST', headers, body })
  const { token } = (await made.json()) as { token: string }
  await visit(`/?preview=${token}`, 'preview')
  await visit('/products/fern-teapot', 'preview-product')
  await visit('/?preview=fdpv_nothing', 'preview-over')
}

async function shootStore(browser: Browser, store: string) {
  for (const [screen, viewport] of Object.entries(SCREENS)) {
    const context = await browser.newContext({ viewport, baseURL: urlOf(store) })
    const camera = openCamera(await context.newPage(), `${store}-${screen}`)
    await browse(camera, store)
    await focus(camera)
    await buy(camera, store)
    if (store === 'demo') {
      await camera.visit(urlOf('nobody'), 'not-available')
      if (values.key !== undefined) await preview(camera, values.key)
    }
    await context.close()
  }
}

await mkdir(FOLDER, { recursive: true })
const browser = await launchChromium()
for (const store of Object.keys(STORES)) {
  if (values.store === undefined || values.store === store) await shootStore(browser, store)
}
await browser.close()
process.stdout.write(`screenshots: ${FOLDER}\n`)
