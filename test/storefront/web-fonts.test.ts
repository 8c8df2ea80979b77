import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { readTheme } from '../../storefront/site/theme.ts'
import { eventually } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { sampleFont } from '../harness/woff2.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

const HASH = '0'.repeat(64)
const own = `asset:demo/${HASH}.woff2`

describe('a font of the store', () => {
  test('is preloaded, named in the style sheet and sent from the store’s own host', async () => {
    const merchant = await shop.merchant('demo')
    const upload = { content_type: 'font/woff2', data_base64: sampleFont().toString('base64') }
    const { asset } = (await merchant.post('/v1/merchant/media', upload)).body
    const theme = { type: { bodyFont: asset.asset_ref, heading: 'Georgia' } }
    const manifest = { brand: { name: 'Typed' }, theme }
    await merchant.put('/v1/my/store/manifest', { manifest })
    const shopper = openShopper(shop.url, 'demo.localhost')
    const path = `/stores/demo/assets/${asset.sha256}.woff2`
    const preload = `<link rel="preload" href="${path}" as="font" type="font/woff2" crossorigin>`
    const page = await eventually(async () => {
      const shown = await shopper.get('/')
      assert.ok(shown.text.includes(preload), shown.text.slice(0, 2_000))
      return shown
    })
    assert.match(String(page.headers['content-security-policy']), /font-src 'self'/)
    const [, sheet = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(page.text) ?? []
    const css = (await shopper.get(sheet)).text
    assert.ok(
      css.includes(
        `@font-face{font-family:fd-body;src:url("${path}") format("woff2");font-display:swap;font-weight:400}`,
      ),
    )
    assert.match(css, /--font-body:fd-body,system-ui/)
    assert.match(css, /--font-head:Georgia;/)
    assert.doesNotMatch(css, /font-family:fd-head/)
    const font = await shopper.get(path)
    assert.equal(font.headers['content-type'], 'font/woff2')
    assert.equal(font.headers['x-content-type-options'], 'nosniff')
  })

  test('covers all weights as a heading, and as a variable font of the text', () => {
    const { css, bodyFont } = readTheme(
      { type: { headingFont: own, bodyFont: own, bodyWeights: 'all' } },
      'demo',
    )
    assert.equal(css.match(/font-weight:1 1000\}/g)?.length, 2)
    assert.equal(bodyFont, `/stores/demo/assets/${HASH}.woff2`)
  })

  test('a font of another store, of no store or of another form is not used', () => {
    const plain = readTheme({}, 'demo').css
    for (const ref of [
      `asset:other/${HASH}.woff2`,
      `asset:demo/${HASH}.png`,
      `asset:demo/${HASH}.woff2")}body{display:none}`,
      `asset:demo/../${HASH}.woff2`,
      'https://evil.example/font.woff2',
      { toString: 1 },
      7,
      null,
    ]) {
      const { css, bodyFont } = readTheme({ type: { bodyFont: ref, headingFont: ref } }, 'demo')
      assert.deepEqual([css, bodyFont], [plain, null], JSON.stringify(ref))
    }
    assert.equal(readTheme({ type: { bodyFont: own } }).css, plain, 'a page of no store')
  })

  test('is named by the platform: the name of a family cannot break out of the style sheet', () => {
    for (const body of ['x;}body{display:none}', "a','b", 'url(x)', 'a\\', '</style>']) {
      const { css } = readTheme({ type: { bodyFont: own, body } }, 'demo')
      assert.ok(!css.includes(body), body)
      assert.match(css, /--font-body:fd-body,system-ui/)
    }
  })
})
