import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { MAIL_KINDS } from '../../src/modules/shopper-mail/schema.ts'
import { openBrowser } from '../harness/browser.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { cart, checkout } from '../modules/checkout/setup.ts'

let shop: TestShop
let browser: Browser

/** The widths of a mail in a window and on a small phone. */
const WIDTHS = [600, 360]

/** Where pictures are kept for people to look at; none are where it is not set. */
const PICTURES = process.env.MAIL_PICTURES

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo'])
  browser = await openBrowser(scope)
})

/** The colour of the first pixel of the picture, which is the bar in the store's colour. */
const colourAt = (page: Page, selector: string) =>
  page.evaluate(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`,
  )

describe('mails to shoppers in a browser', () => {
  test('fit 600 and 360 pixels in every kind and language, in the colour of the store', async () => {
    const merchant = await shop.merchant('demo')
    const primary = '#0b5c6b'
    const manifest = {
      brand: { name: 'Harbour & Hearth', email: 'hello@harbour.example' },
      theme: { color: { primary, background: '#fffdf8', surface: '#f4eee2' } },
    }
    assert.equal((await merchant.put('/v1/my/store/manifest', { manifest })).status, 200)
    const page = await browser.newPage()
    for (const kind of MAIL_KINDS) {
      for (const [width, language] of [...WIDTHS.entries()].flatMap(([index, each]) =>
        (index === 0 ? ['en', 'de'] : ['fr', 'es']).map((name) => [each, name] as const),
      )) {
        const url = `/v1/merchant/mails/preview?kind=${kind}&language=${language}`
        const { body } = await merchant.get(url)
        await page.setViewportSize({ width, height: 900 })
        await page.setContent(body.html)
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
        assert.ok(wide <= width, `${kind} is ${wide} wide at ${width}`)
        assert.equal(await colourAt(page, 'td[bgcolor]'), 'rgb(11, 92, 107)')
        const picture = await page.screenshot({ fullPage: true })
        assert.ok(picture.length > 5_000, `${kind} at ${width} is empty`)
        await keep(`${kind}-${width}-${language}`, picture)
      }
    }
    await page.close()
  })

  test('keep a long name within the width', async () => {
    const merchant = await shop.merchant('demo')
    const page = await browser.newPage({ viewport: { width: 360, height: 900 } })
    const name = 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz'.repeat(3)
    await merchant.put('/v1/my/store/manifest', { manifest: { brand: { name } } })
    for (const kind of MAIL_KINDS) {
      const { body } = await merchant.get(`/v1/merchant/mails/preview?kind=${kind}`)
      await page.setContent(body.html)
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
      assert.ok(wide <= 360, `${kind} is ${wide} wide`)
    }
    await page.close()
  })

  test('show the pictures of what was bought', async () => {
    const merchant = await shop.merchant('demo')
    const { products } = (await shop.anyone.get('/v1/tenants/demo/catalog/products?limit=3&after='))
      .body
    const items = products.map(({ variants }: { variants: { id: string }[] }) => ({
      variant_id: variants[0]?.id,
      quantity: 1,
    }))
    const bought = await checkout(shop, { tenant: 'demo' }, cart(undefined, { items }))
    assert.equal(bought.status, 201, bought.text)
    const url = `/v1/merchant/mails/preview?kind=order_placed&order_id=${bought.body.order.id}`
    const { body } = await merchant.get(url)
    const page = await browser.newPage({ viewport: { width: 600, height: 900 } })
    // Mails name the port of the settings; a test listens at another.
    const html = body.html.replaceAll(/http:\/\/demo\.localhost:\d+/g, shop.at('demo'))
    await page.setContent(html, { waitUntil: 'load' })
    const widths = await page.evaluate('[...document.images].map((image) => image.naturalWidth)')
    assert.deepEqual(widths, [320, 320, 320])
    await keep('order_placed-pictures', await page.screenshot({ fullPage: true }))
    await page.close()
  })
})

async function keep(name: string, picture: Buffer): Promise<void> {
  if (PICTURES === undefined) return
  await mkdir(PICTURES, { recursive: true })
  await writeFile(`${PICTURES}/${name}.png`, picture)
}
