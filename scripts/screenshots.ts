import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../test/harness/chromium.ts'

/**
 * Pictures of the demo stores of a process that runs, for somebody to look at: the main pages, on a
 * desk and on a telephone. `npm run screenshots -- 8080` writes them into `screenshots/`.
 */

const FOLDER = fileURLToPath(new URL('../screenshots', import.meta.url))
const STORES = { demo: 'fern-teapot', objects: 'cup-01', ember: 'midnight-bar' }
const SCREENS = { desktop: { width: 1_360, height: 900 }, phone: { width: 390, height: 844 } }

async function shoot(page: Page, path: string, name: string): Promise<void> {
  await page.goto(path)
  // Pictures are fetched when they are near, so each is gone by.
  await page.evaluate(`(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += 500) {
      scrollTo(0, y)
      await new Promise((done) => setTimeout(done, 80))
    }
    scrollTo(0, 0)
  })()`)
  await page.waitForLoadState('networkidle')
  await page.screenshot({ path: `${FOLDER}/${name}.png`, fullPage: true })
}

async function shootStore(browser: Browser, store: keyof typeof STORES, port: string) {
  for (const [screen, viewport] of Object.entries(SCREENS)) {
    const baseURL = `http://${store}.localhost:${port}`
    const context = await browser.newContext({ viewport, baseURL })
    const page = await context.newPage()
    const name = (what: string) => `${store}-${screen}-${what}`
    await shoot(page, '/', name('home'))
    await shoot(page, '/products', name('list'))
    await shoot(page, '/search?q=candle', name('search'))
    await shoot(page, '/cart', name('empty-cart'))
    await shoot(page, `/products/${STORES[store]}`, name('product'))
    await page.locator('[data-add] button').click()
    await page.locator('#said a').waitFor()
    await shoot(page, '/cart', name('cart'))
    await shoot(page, '/checkout', name('checkout'))
    await buy(page)
    await shoot(page, page.url(), name('order'))
    await context.close()
  }
}

async function buy(page: Page): Promise<void> {
  const form = {
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    line1: '12 Square',
    city: 'London',
  }
  const rest = { postal_code: 'SW1Y', state: 'London', country: 'United Kingdom' }
  const card = { card_number: '4111111111111111', card_expiry: '10/40', card_cvv: '999' }
  for (const [name, value] of Object.entries({ ...form, ...rest, ...card })) {
    await page.locator(`main [name="${name}"]`).fill(value)
  }
  await page.locator('[data-pay]').click()
  await page.waitForURL(/\/orders\//)
}

const [port = '8080', ...wanted] = process.argv.slice(2)
await mkdir(FOLDER, { recursive: true })
const browser = await launchChromium()
for (const store of Object.keys(STORES) as (keyof typeof STORES)[]) {
  if (wanted.length === 0 || wanted.includes(store)) await shootStore(browser, store, port)
}
await browser.close()
process.stdout.write(`screenshots: ${FOLDER}\n`)
