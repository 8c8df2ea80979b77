import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { SECTION_TYPES } from '../../manifest/section-types.ts'
import { openBrowser, openTab } from '../harness/browser.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

/** What a browser keeps, and whom it asks, before its shopper has agreed. */

let shop: TestShop
let browser: Browser

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  browser = await openBrowser(scope)
})

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

const open = (t: TestContext) => openTab(t, browser, shop.at('demo'), PHONE)

describe('a browser', () => {
  test('remembers viewed products only for shoppers who consent, if the store asks for consent', async (t) => {
    const merchant = await shop.merchant('demo')
    const { manifest } = (await merchant.get('/v1/my/site')).body.active
    const asking = { ...manifest, behavior: { ...manifest.behavior, consent: { enabled: true } } }
    await merchant.put('/v1/my/store/manifest', { manifest: asking })
    t.after(() => merchant.put('/v1/my/store/manifest', { manifest }))
    const { page, checkAccessibility } = await open(t)
    const kept = () => page.evaluate(`localStorage.getItem('seen')`)
    const ask = page.getByText('This browser can remember which products you look at')
    await until('the store asks', async () => {
      await page.goto('/products/cedar-candle')
      return ask.isVisible()
    })
    await checkAccessibility()
    await page.goto('/products/fern-teapot')
    assert.equal(await kept(), null, 'nothing is kept before the answer')
    await page.getByRole('button', { name: 'No, thank you' }).click()
    await page.goto('/products/cedar-candle')
    assert.deepEqual([await ask.isVisible(), await kept()], [false, null])
    const other = await open(t)
    await other.page.goto('/products/cedar-candle')
    await other.page.getByRole('button', { name: 'Remember them' }).click()
    await other.page.goto('/products/fern-teapot')
    await other.page.locator('[data-seen] .card').waitFor()
  })

  test('asks the host of a video for nothing before the click, and plays it afterwards', async (t) => {
    const merchant = await shop.merchant('filmed')
    const manifest = {
      template: { id: 'home', sections: [{ type: 'video', props: SECTION_TYPES.video.example }] },
      pages: [{ slug: 'terms', title: 'Terms', body_markdown: 'You order when you press Pay.' }],
    }
    assert.equal((await merchant.put('/v1/my/store/manifest', { manifest })).status, 200)
    await shop.operator.put('/v1/stores/filmed/status', { status: 'live' })
    const others = ['https://player.vimeo.com']
    const { page } = await openTab(t, browser, shop.at('filmed'), PHONE, { others })
    const asked: string[] = []
    await page.route('https://player.vimeo.com/**', (route) => {
      asked.push(route.request().url())
      return route.fulfill({ contentType: 'text/html', body: '<title>Playing</title>' })
    })
    const answer = await page.goto('/')
    const policy = answer?.headers()['content-security-policy'] ?? ''
    assert.match(policy, /; frame-src https:\/\/player\.vimeo\.com$/)
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    const other = await page.goto('/pages/terms')
    assert.doesNotMatch(other?.headers()['content-security-policy'] ?? '', /frame-src/)
    await page.goto('/')
    assert.deepEqual(asked, [])
    await page.locator('[data-embed]').click()
    await page.frameLocator('.wide iframe').locator('title').waitFor({ state: 'attached' })
    assert.deepEqual(asked, ['https://player.vimeo.com/video/76979871?dnt=1&autoplay=1'])
    assert.equal(await page.locator('.wide iframe').getAttribute('title'), 'How it is made')
  })
})
