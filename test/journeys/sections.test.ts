import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { SECTION_TYPES, type SectionType } from '../../manifest/section-types.ts'
import { DAY_MS } from '../../src/kernel/time.ts'
import type { Caller } from '../harness/app.ts'
import { listCutImages, openBrowser, openTab } from '../harness/browser.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { toWoff2 } from '../harness/woff2.ts'

let shop: TestShop
let browser: Browser

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const DESKTOP = { viewport: { width: 1280, height: 900 } }

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'])
  browser = await openBrowser(scope)
  const demo = await shop.merchant('demo')
  await publish(demo, await everySection())
  const plain = { brand: { name: 'Plain Objects', tagline: 'Nine things. Made well.' } }
  await shop.operator.put('/v1/stores/objects/manifest', { manifest: plain })
  await publish(await shop.merchant('empty'), {
    brand: { name: 'Empty Shelf', tagline: 'Books for a rainy day', email: 'hi@empty.example' },
    template: { id: 'home', sections: [{ type: 'announcement', props: { text: 'Open in May' } }] },
  })
  await shop.operator.put('/v1/stores/empty/status', { status: 'live' })
})

async function publish(merchant: Caller, manifest: object) {
  const { status, body, text } = await merchant.put('/v1/my/store/manifest', { manifest })
  assert.deepEqual([status, body.warnings], [200, []], text)
}

const TERMS = `Last changed in March.

## Your order

You order when you press **Pay**. We confirm by mail.

### Prices

| Country | Delivery | Days |
|---|--:|--:|
| Portugal | $5.90 | 2 |
| Elsewhere | $9.90 | 5 |

> Nothing here takes away the rights that the law gives you.

1. Write to [us](mailto:hello@harbour.example).
2. Send it back.

---

More about [our workshop](/pages/about).`

/** A site with every section type, whose images are those of the store's products. */
async function everySection() {
  const { products } = (await shop.anyone.get('/v1/tenants/demo/catalog/products?limit=12&after='))
    .body
  const refs: string[] = products.map((each: { image_asset_ref: string }) => each.image_asset_ref)
  const { body } = await shop.anyone.get('/v1/tenants/demo/catalog/collections')
  const collection = body.collections[0].slug
  const withImages = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (name, each) =>
      name === 'imageRef' || name === 'posterRef' ? (refs.shift() ?? refs[0]) : each,
    )
  const more: Record<string, object> = {
    hero: { imageRef: 'x' },
    video: { posterRef: 'x' },
    'product-grid': { collection },
    'featured-product': { slug: products[0].slug },
    'featured-collection': { collection },
    'collection-list': { collections: undefined },
    countdown: { until: new Date(Date.now() + 90 * DAY_MS).toISOString() },
    'logo-list': {
      logos: ['Craft Weekly', 'Fair Kiln', 'Slow Home'].map((alt) => ({ imageRef: 'x', alt })),
    },
  }
  const sections = Object.entries<SectionType>(SECTION_TYPES).map(([type, { example }]) => ({
    type,
    props: withImages({ ...example, ...more[type] }),
  }))
  return {
    brand: { name: 'Harbour & Hearth', tagline: 'Good things for slow mornings' },
    theme: { color: { primary: '#0b5c6b', background: '#fffdf8', surface: '#f4eee2' } },
    template: { id: 'home', sections },
    pages: [
      { slug: 'about', title: 'About us', sections: sections.slice(1, 2) },
      { slug: 'terms', title: 'Terms and conditions', body_markdown: TERMS },
      { slug: 'privacy', title: 'Privacy policy', body_markdown: 'We keep little.' },
    ],
    menus: {
      header: [
        { label: 'Shop', url: '/products' },
        { label: 'Workshop', page: 'about' },
        { label: 'Terms', page: 'terms' },
      ],
    },
  }
}

describe('every section type, content page and empty store', () => {
  for (const [device, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    test(`is accessible on a ${device}, fits its screen, and cuts no image`, async (t) => {
      for (const [tenant, path] of [
        ['demo', '/'],
        ['demo', '/pages/about'],
        ['demo', '/pages/terms'],
        ['objects', '/'],
        ['empty', '/'],
      ] as const) {
        const { page, checkAccessibility } = await openTab(t, browser, shop.at(tenant), options)
        const answer = await page.goto(path)
        assert.equal(answer?.status(), 200)
        await checkAccessibility()
        assert.deepEqual(await listCutImages(page), [], `${tenant}${path}`)
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
        assert.ok(wide <= options.viewport.width, `${tenant}${path} is ${wide} wide`)
      }
    })
  }

  test('count down in the page, by the minute for readers who want little motion', async (t) => {
    const { page } = await openPage(t, DESKTOP)
    await page.goto('/')
    await page.locator('.clock').waitFor()
    assert.match(await page.locator('.clock').innerText(), /\d+\s+days\s+\d\d\s+hours/)
    assert.equal(await page.locator('.clock span').count(), 4)
    const { page: calm } = await openPage(t, { ...DESKTOP, reducedMotion: 'reduce' })
    await calm.goto('/')
    await calm.locator('.clock').waitFor()
    assert.equal(await calm.locator('.clock span').count(), 3)
  })
})

describe('what a store has of its own', () => {
  /** A live store with this manifest and nothing else. */
  async function openStore(tenant: string, manifest: object): Promise<void> {
    await publish(await shop.merchant(tenant), { brand: { name: 'Own Things' }, ...manifest })
    await shop.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
  }

  test('is shown in its web font, which comes from its own host', async (t) => {
    const merchant = await shop.merchant('typed')
    const ttf = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf')
    const data_base64 = toWoff2(readFileSync(ttf)).toString('base64')
    const { status, body } = await merchant.post('/v1/merchant/media', {
      content_type: 'font/woff2',
      data_base64,
    })
    assert.equal(status, 201)
    await openStore('typed', { theme: { type: { bodyFont: body.asset.asset_ref } } })
    const { page } = await openTab(t, browser, shop.at('typed'), DESKTOP)
    const loaded: string[] = []
    page.on('response', (response) => {
      if (response.url().endsWith('.woff2')) loaded.push(new URL(response.url()).pathname)
    })
    await page.goto('/')
    const faces = await page.evaluate(
      'document.fonts.ready.then(() => [...document.fonts].map(({ family, status }) => [family, status]))',
    )
    assert.deepEqual(faces, [['fd-body', 'loaded']])
    assert.deepEqual([...new Set(loaded)], [`/stores/typed/assets/${body.asset.sha256}.woff2`])
    // The letters of this font are all as wide as each other, and those of no default are.
    const widths = await page.evaluate(`['iiii', 'MMMM'].map((text) => {
      const span = document.body.appendChild(document.createElement('span'))
      span.textContent = text
      return span.getBoundingClientRect().width
    })`)
    const [narrow, wide] = widths as number[]
    assert.ok(narrow !== undefined && narrow > 0 && narrow === wide, `${widths}`)
  })

  test('plays its video in the page, and loads nothing of it before the click', async (t) => {
    const props = { url: '/films/kiln.webm', caption: 'How it is fired' }
    await openStore('filmed', { template: { id: 'home', sections: [{ type: 'video', props }] } })
    const { page, checkAccessibility } = await openTab(t, browser, shop.at('filmed'), PHONE)
    const film = await recordFilm(page)
    const asked: string[] = []
    await page.route('**/films/kiln.webm', (route) => {
      asked.push(route.request().url())
      return route.fulfill({ contentType: 'video/webm', body: film })
    })
    const answer = await page.goto('/')
    assert.match(answer?.headers()['content-security-policy'] ?? '', /media-src 'self'/)
    await page.locator('figure video[controls]').waitFor()
    await page.getByText('How it is fired').waitFor()
    await checkAccessibility()
    assert.deepEqual(asked, [])
    await page.evaluate(`(async () => {
      const video = document.querySelector('video')
      video.muted = true
      const played = new Promise((done) => {
        video.addEventListener('timeupdate', () => video.currentTime > 0 && done())
      })
      await video.play()
      await played
    })()`)
    assert.ok(asked.length > 0)
  })
})

/** A film of half a second, made by the browser: an empty page paints, and records it. */
async function recordFilm(page: Page): Promise<Buffer> {
  const base64 = await page.evaluate(`new Promise((done) => {
    const canvas = document.createElement('canvas')
    const brush = canvas.getContext('2d')
    let at = 0
    const paint = setInterval(() => brush.fillRect((at += 5), 0, 5, 50), 20)
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: 'video/webm;codecs=vp8' })
    recorder.ondataavailable = ({ data }) => {
      const reader = new FileReader()
      reader.onload = () => done(reader.result.split(',')[1])
      reader.readAsDataURL(data)
    }
    recorder.start()
    setTimeout(() => (clearInterval(paint), recorder.stop()), 500)
  })`)
  return Buffer.from(String(base64), 'base64')
}

async function openPage(t: TestContext, options: BrowserContextOptions) {
  const context = await browser.newContext({ ...options, baseURL: shop.at('demo') })
  t.after(() => context.close())
  return { context, page: await context.newPage() }
}
