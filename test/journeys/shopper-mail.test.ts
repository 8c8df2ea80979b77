import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { MAIL_KINDS } from '../../src/modules/shopper-mail/schema.ts'
import { openBrowser } from '../harness/browser.ts'
import { addSample } from '../harness/sample-products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { cart, checkout } from '../modules/checkout/setup.ts'

let shop: TestShop
let browser: Browser

/** The widths of a mail in a window and on a small phone. */
const WIDTHS = [600, 320]

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

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RUN_AXE = `axe.run({ runOnly: ['wcag2a', 'wcag2aa'], resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html + failureSummary).join()))`

/** The words of up to 16 letters, and the amounts, that stand on two lines. A space that must not break is a part. */
const LIST_BROKEN_WORDS = `(() => {
  const broken = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (const { 0: word, index } of text.data.matchAll(/(?<![^ \\n])[^ \\n-]{2,16}(?![^ \\n])/g)) {
      const range = document.createRange()
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word)
    }
  }
  return broken
})()`

/** Shows a mail on a small phone, light and dark: it fits, can be read, and shows its store. */
async function checkMail(page: Page, name: string, html: string) {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      await page.setContent(html)
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
      assert.ok(wide <= width, `${name} is ${wide} wide at ${width}`)
      await keep(`${name}-${width}-${colorScheme}`, await page.screenshot({ fullPage: true }))
    }
    await page.evaluate(AXE)
    assert.deepEqual(await page.evaluate(RUN_AXE), [], `${name}, ${colorScheme}`)
    const text = String(await page.evaluate('document.body.innerText'))
    const logos = Number(
      await page.evaluate(`document.querySelectorAll('img[alt="Harbour & Hearth"]').length`),
    )
    assert.ok(text.includes('Harbour & Hearth') || logos === 1, `${name} names its store`)
    const paper = await colourAt(page, '.card')
    assert.equal(paper, colorScheme === 'light' ? 'rgb(255, 253, 248)' : 'rgb(23, 25, 29)', name)
  }
  await page.emulateMedia({ colorScheme: null })
}

const BRANDED = {
  brand: { name: 'Harbour & Hearth', email: 'hello@harbour.example' },
  theme: { color: { primary: '#0b5c6b', background: '#fffdf8', surface: '#f4eee2' } },
}

describe('mails to shoppers in a browser', () => {
  test("mails of every kind can be read at 320 and 600 pixels, light and dark, and show the store's name", async () => {
    const merchant = await shop.merchant('demo')
    const { body: site } = await merchant.get('/v1/my/site')
    const { logoRef } = site.active.manifest.brand
    const manifest = { ...BRANDED, brand: { ...BRANDED.brand, ...(logoRef && { logoRef }) } }
    assert.equal((await merchant.put('/v1/my/store/manifest', { manifest })).status, 200)
    const page = await browser.newPage()
    for (const kind of MAIL_KINDS) {
      const { body } = await merchant.get(`/v1/merchant/mails/preview?kind=${kind}&language=de`)
      await checkMail(page, kind, body.html)
    }
    const asked = { email: 'reader@example.com', source: 'footer' }
    assert.equal((await shop.storefront.post('/v1/tenants/demo/newsletter', asked)).status, 202)
    const { products } = (await shop.anyone.get('/v1/tenants/demo/catalog/products?limit=1')).body
    const buyer = { email: 'buyer@example.com' }
    const { order } = (
      await checkout(shop, { tenant: 'demo' }, cart(products[0].variants[0].id, buyer))
    ).body
    const link = { ...buyer, order_number: order.order_number, return_url: `${shop.at('demo')}/x` }
    assert.equal((await shop.storefront.post('/v1/tenants/demo/orders/links', link)).status, 202)
    const admin = await shop.database.openAdmin()
    for (const [name, { email }] of Object.entries({ newsletter: asked, order_link: buyer })) {
      const { rows } = await admin.query('select html from mails where recipient = $1', [email])
      await checkMail(page, name, rows[0].html)
    }
    await page.close()
  })

  test('fit 600 and 320 pixels in every kind and language, in the colour of the store', async () => {
    const merchant = await shop.merchant('demo')
    const put = await merchant.put('/v1/my/store/manifest', { manifest: BRANDED })
    assert.equal(put.status, 200)
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

  test('keep a long name within the width of the mail', async () => {
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

  test('show the pictures of the products that were bought', async () => {
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

  test('break no amount and no word of usual length on the smallest phone', async () => {
    const merchant = await shop.merchant('demo')
    const { ids } = await addSample(merchant, {
      slug: 'sauerteig',
      name: 'Roggenröstung, Sauerteigstarter',
      variants: [{ sku: 'SAUERTEIG', price_cents: 123_450 }],
    })
    const bought = await checkout(shop, { tenant: 'demo' }, cart(ids.SAUERTEIG))
    assert.equal(bought.status, 201, bought.text)
    const page = await browser.newPage({ viewport: { width: 320, height: 900 } })
    for (const kind of MAIL_KINDS) {
      const url = `/v1/merchant/mails/preview?kind=${kind}&language=de&order_id=${bought.body.order.id}`
      await page.setContent((await merchant.get(url)).body.html)
      assert.deepEqual(await page.evaluate(LIST_BROKEN_WORDS), [], kind)
      await keep(`${kind}-words`, await page.screenshot({ fullPage: true }))
    }
    await page.close()
  })
})

async function keep(name: string, picture: Buffer): Promise<void> {
  if (PICTURES === undefined) return
  await mkdir(PICTURES, { recursive: true })
  await writeFile(`${PICTURES}/${name}.png`, picture)
}
