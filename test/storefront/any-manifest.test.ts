import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { SECTION_TYPES } from '../../manifest/section-types.ts'
import type { Caller } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { google, rowsOf } from '../modules/feeds/setup.ts'

const RUNS = process.env.LONG ? 500 : 8

let shop: TestShop
let owner: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo'])
  owner = await shop.merchant('demo')
})

/** Every member of a manifest that a storefront reads, by block. */
const MEMBERS: Record<string, readonly string[]> = {
  store: ['language', 'timeZone', 'currency', 'country'],
  brand: ['name', 'tagline', 'logoRef', 'faviconRef', 'ogImageRef', 'email'],
  seo: ['title', 'description'],
  menus: ['header', 'footer'],
  behavior: [
    'search.enabled',
    'accounts.enabled',
    'consent.enabled',
    'accounts',
    'consent',
    'shipping.flat_rate_cents',
    'shipping.expedited_rate_cents',
    'shipping.max_cents',
    'shipping.free_shipping_threshold_cents',
    'shipping.countries',
    'tax.provider',
    'tax.rate_bps',
    'giftCards.enabled',
    'storeCredit.enabled',
    'subscriptions.enabled',
    'refunds.selfServe',
    'funnelGate.statementVersion',
    'funnelGate.statement',
    'search',
    'shipping',
    'funnelGate',
  ],
  theme: [
    'color.background',
    'color.text',
    'color.primary',
    'color.surface',
    'color.accent',
    'type.body',
    'type.heading',
    'type.weight',
    'type.case',
    'type.spacing',
    'type.style',
    'type.scale',
    'layout.header',
    'layout.hero',
    'layout.card',
    'layout.density',
    'layout.button',
    'layout.width',
    'layout.radius',
    'layout.imageRatio',
    'color',
    'type',
    'layout',
  ],
}

/** All props that any section reads. Each section gets all of them. */
const PROPS = [
  ...['heading', 'subheading', 'eyebrow', 'text', 'body', 'href', 'imageRef', 'imageAlt', 'alt'],
  ...['cta', 'collection', 'limit', 'columns', 'slug', 'collections', 'images', 'url', 'caption'],
  ...['items', 'button', 'email', 'size', 'logos', 'until', 'side', 'posterRef', 'links'],
]

const nest = (depth: number): unknown => (depth === 0 ? 'x' : { a: nest(depth - 1) })

/** Values that break code which turns any value into text or a number. */
const HOSTILE = [
  { toString: 1 },
  { valueOf: 1, toString: null },
  { toString: { call: 1 }, valueOf: { apply: 1 } },
  { toJSON: 1, length: 1e9 },
  { length: -1, slice: 1, trim: 1, map: 1 },
  { hasOwnProperty: 1, text: '<script>1</script>' },
  [{ toString: 1 }],
  [[[[]]]],
  nest(40),
  'x'.repeat(30_000),
  '/'.repeat(9_000),
  '..',
  '%',
  '\u202e\ufdfa',
  `en-x-${'aaaaaaaa-'.repeat(1_000)}a`,
  '</script><script>alert(1)</script>',
  -0.5,
  9_007_199_254_740_991,
  true,
  null,
]

const SAFE_KEY = fc
  .string({ unit: 'grapheme-ascii', maxLength: 20 })
  .filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key))

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc.constantFrom(...HOSTILE),
    fc.string({ unit: 'grapheme', maxLength: 50 }),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(SAFE_KEY, tie('value'), { maxKeys: 4 }),
  ),
})).value

function setAt(target: Record<string, unknown>, path: string, value: unknown) {
  const [first = '', second] = path.split('.')
  if (second === undefined) {
    target[first] = value
    return
  }
  const inner = target[first]
  // A whole block may be hostile, too; then it has no members of ours.
  if (inner === undefined) target[first] = { enabled: true, [second]: value }
  else if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    target[first] = { ...inner, [second]: value }
  }
}

/** A manifest with any value in some of its members, and every kind of section. */
const manifests = fc
  .record({
    values: fc.array(json, { minLength: 60, maxLength: 60 }),
    skipped: fc.array(fc.nat(59), { maxLength: 60 }),
  })
  .map(({ values, skipped }) => {
    let next = 0
    const take = () => {
      next += 1
      return values[next % values.length]
    }
    const manifest: Record<string, unknown> = {}
    for (const [block, members] of Object.entries(MEMBERS)) {
      const filled: Record<string, unknown> = {}
      for (const [index, member] of members.entries()) {
        if (!skipped.includes(index)) setAt(filled, member, take())
      }
      manifest[block] = filled
    }
    const sections = [...Object.keys(SECTION_TYPES), 'unknown'].map((type) => ({
      type,
      props: Object.fromEntries(PROPS.map((name) => [name, take()])),
    }))
    manifest.template = { id: 'any', sections }
    return manifest
  })

/** Saves a manifest; without its policies where they cannot be read, which is refused. */
async function save(manifest: Record<string, unknown>) {
  const saved = await owner.put('/v1/my/site/draft', { manifest })
  if (saved.body?.error?.code !== 'unreadable_policy') return saved
  const {
    shipping: _shipping,
    tax: _tax,
    ...behavior
  } = manifest.behavior as object & {
    shipping?: unknown
    tax?: unknown
  }
  return owner.put('/v1/my/site/draft', { manifest: { ...manifest, behavior } })
}

async function showAll(shopper: Shopper, query: string) {
  const slug = 'fern-teapot'
  for (const path of [
    '/',
    '/products',
    `/products/${slug}`,
    '/collections/kitchen',
    '/search?q=tea',
    '/cart',
    '/checkout',
    '/gift-cards',
    '/orders',
    '/sitemap.xml',
    '/robots.txt',
    '/llms.txt',
    '/no-such-page',
  ]) {
    const { status, text } = await shopper.get(`${path}${path.includes('?') ? '&' : '?'}${query}`)
    assert.ok(status < 500, `${path} answered ${status}`)
    assert.doesNotMatch(text, /<script>alert/, path)
    assert.ok(text.length < 8_000_000, `${path} has ${text.length} characters`)
  }
}

test('any manifest that can be saved renders on every page', async () => {
  let shown = 0
  await fc.assert(
    fc.asyncProperty(manifests, async (manifest) => {
      const saved = await save(manifest)
      // Values beyond the profile of JSON, and health claims, are refused as such.
      if (saved.status !== 200) return assert.ok([400, 413, 422].includes(saved.status), saved.text)
      const { version } = saved.body
      const { token } = (await owner.post('/v1/my/site/preview-token', { version })).body
      await showAll(openShopper(shop.url, 'demo.localhost'), `preview=${token}`)
      shown += 1
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  assert.ok(shown > RUNS / 4, `${shown} of ${RUNS} manifests were saved`)
})

test('any hostile value in any member renders on every page, and lets a shopper check out', async () => {
  for (const value of HOSTILE) {
    const manifest: Record<string, unknown> = {}
    for (const [block, members] of Object.entries(MEMBERS)) {
      const filled: Record<string, unknown> = {}
      for (const member of members.filter((each) => each.includes('.') || block !== 'behavior')) {
        if (!['color', 'type', 'layout'].includes(member)) setAt(filled, member, value)
      }
      manifest[block] = filled
    }
    const isLong = typeof value === 'string' && value.length > 5_000
    const types = Object.entries(SECTION_TYPES).slice(0, isLong ? 3 : undefined)
    const sections = types.map(([type, { props }]) => ({
      type,
      props: Object.fromEntries(Object.keys(props).map((name) => [name, value])),
    }))
    manifest.template = { id: 'x', sections }
    const saved = await save(manifest)
    assert.ok([200, 413].includes(saved.status), saved.text)
    if (saved.status !== 200) continue
    const { token } = (
      await owner.post('/v1/my/site/preview-token', { version: saved.body.version })
    ).body
    await showAll(openShopper(shop.url, 'demo.localhost'), `preview=${token}`)
    assert.equal(
      (await owner.post('/v1/my/site/publish', { version: saved.body.version })).status,
      200,
    )
    await showAll(openShopper(shop.url, 'demo.localhost'), '')
    const feed = await shop.anyone.get(google('demo'))
    assert.ok(rowsOf(feed).length > 0)
    const preview = await shop.storefront.post('/v1/tenants/demo/checkout/preview', { items: [] })
    assert.ok(preview.status < 500, preview.text)
  }
})
