import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Caller } from '../harness/app.ts'
import { eventually } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { variantOf } from './setup.ts'

let shop: TestShop
let owner: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo'])
  owner = await shop.merchant('demo')
})

const demo = () => openShopper(shop.url, 'demo.localhost')

async function publish(merchant: Caller, manifest: object) {
  const { status, body, text } = await merchant.put('/v1/my/store/manifest', { manifest })
  assert.equal(status, 200, text)
  return body.warnings.map(({ path, message }: Record<string, string>) => [path, message])
}

/** A site is kept for a second; each test has a store or a manifest of its own. */
async function shown(tenant: string, path: string, pattern: RegExp) {
  const shopper = openShopper(shop.url, `${tenant}.localhost`)
  return eventually(async () => {
    const page = await shopper.get(path)
    assert.match(page.text, pattern)
    return page
  })
}

const pages = [
  { slug: 'about', title: 'Who we are', body_markdown: '## Two people\n\nIn **Lisbon**.' },
  { slug: 'agb', kind: 'terms', title: 'AGB', body_markdown: 'Text <b>x</b>' },
  { slug: 'privacy', body_markdown: 'We keep little.' },
  {
    slug: 'studio',
    title: 'Studio',
    sections: [
      { type: 'hero', props: { heading: 'The studio' } },
      { type: 'rich-text', props: { body: 'Open *daily*.' } },
    ],
  },
]

describe('a content page', () => {
  test('shows its text or its sections, and is in the sitemap, the footer and the checkout', async () => {
    const warnings = await publish(owner, { brand: { name: 'Pages' }, pages })
    assert.deepEqual(warnings, [['/pages/2/title', 'is missing']])
    const about = await shown('demo', '/pages/about', /<h1>Who we are<\/h1>/)
    assert.equal(about.status, 200)
    assert.match(about.text, /<h2>Two people<\/h2>\s*<p>In <strong>Lisbon<\/strong>/)
    assert.match(about.text, /rel="canonical" href="[^"]*\/pages\/about"/)
    assert.match(about.text, /<footer(.|\n)*<a href="\/pages\/agb">AGB<\/a>/)
    // A page of a known kind has a title in the store's language.
    assert.match(about.text, /<a href="\/pages\/privacy">Privacy policy<\/a>/)
    assert.match((await demo().get('/pages/agb')).text, /Text &lt;b&gt;x/)
    const studio = await demo().get('/pages/studio')
    assert.match(studio.text, /<h1>The studio<\/h1>(.|\n)*<em>daily<\/em>/)
    assert.equal(studio.text.match(/<h1/g)?.length, 1)
    assert.match((await demo().get('/sitemap.xml')).text, /\/pages\/studio<\/loc>/)
    assert.equal((await demo().get('/pages/none')).status, 404)
    const shopper = demo()
    const { id } = await variantOf(shop, 'fern-teapot')
    await shopper.post('/cart/add', { variant: id, quantity: '1' })
    const checkout = await shopper.get('/checkout')
    assert.match(checkout.text, /class="legal"(.|\n)*\/pages\/agb(.|\n)*\/pages\/privacy/)
    assert.doesNotMatch(checkout.text, /class="legal"(.|\n)*\/pages\/about"(.|\n)*<\/form>/)
  })

  test('a content page with a fault is stored, with a warning that names its path', async () => {
    const manifest = {
      pages: [
        { slug: 'a b', title: 'A', body_markdown: 'x' },
        { slug: 'ok', title: 'A' },
        { slug: 'ok', title: 'B', kind: 'law', body_markdown: 1 },
        { slug: 's', title: 'S', sections: [{ type: 'hero' }, { type: 'none', props: {} }] },
        7,
      ],
      menus: {
        header: [{ label: 'A', page: 'missing' }, { label: 'B' }, { page: 'ok', url: '/x' }],
        side: [],
      },
    }
    const paths = (await publish(owner, manifest)).map(([path]: string[]) => path)
    assert.deepEqual(paths, [
      '/pages/0/slug',
      '/pages/1',
      '/pages/2/slug',
      '/pages/2/kind',
      '/pages/2/body_markdown',
      '/pages/4',
      '/menus/header/2/label',
      '/menus/side',
      '/menus/header/0',
      '/menus/header/1',
      '/menus/header/2',
      '/pages/3/sections/0',
      '/pages/3/sections/1/type',
    ])
    for (const value of ['x', {}, null, 7]) {
      assert.equal((await publish(owner, { pages: value, menus: value })).length > 0, true)
      assert.equal((await demo().get('/')).status, 200)
    }
  })

  test('a content page with too many cells is shown unformatted, and sections beyond the limit of a page are left out', async () => {
    const table = `${'|a'.repeat(160)}\n${'|-'.repeat(160)}\n${'a\n'.repeat(400)}\n`
    const answer = '*a*\n'.repeat(1_500)
    const items = [1, 2, 3, 4, 5].map((n) => ({ question: `Question ${n}?`, answer }))
    const manifest = {
      brand: { name: 'Heavy' },
      pages: [
        { slug: 'heavy', title: 'Heavy', body_markdown: table.repeat(20) },
        {
          slug: 'faq',
          title: 'FAQ',
          sections: [
            { type: 'rich-text', props: { body: 'It is *shown*.' } },
            { type: 'faq', props: { items } },
            { type: 'rich-text', props: { body: 'It is *left out*.' } },
            { type: 'faq', props: { items: [{ question: 'A?', answer: answer.repeat(3) }] } },
          ],
        },
      ],
    }
    const warnings = await publish(owner, manifest)
    assert.deepEqual(
      warnings.map(([path, message]: string[]) => [
        path,
        /Markdown|not shown/.exec(message ?? '')?.[0],
      ]),
      [
        ['/pages/0/body_markdown', 'Markdown'],
        ['/pages/1/sections/1', 'not shown'],
        ['/pages/1/sections/3/props/items/0/answer', 'Markdown'],
      ],
    )
    const heavy = await shown('demo', '/pages/heavy', /<p class="plain">\|a\|a/)
    assert.doesNotMatch(heavy.text, /<table/)
    const faq = await demo().get('/pages/faq')
    assert.match(faq.text, /It is <em>shown<\/em>/)
    assert.doesNotMatch(faq.text, /Question 1|left out/)
  })

  test('a content page and any other page can be linked from the menus', async () => {
    const menus = {
      header: [
        { label: 'Us', page: 'about' },
        { label: 'Tea', product: 'fern-teapot' },
        { label: 'Gone', page: 'gone' },
        { label: 'Bad', url: 'javascript:alert(1)' },
      ],
      footer: [
        { label: 'Light', collection: 'light' },
        { label: 'Blog', url: 'https://b.example' },
      ],
    }
    await publish(owner, { brand: { name: 'Menus' }, pages, menus })
    const { text } = await shown('demo', '/', /<title>Menus/)
    const nav = /<nav class="nav"(.|\n)*?<\/nav>/.exec(text)?.[0] ?? ''
    assert.deepEqual(
      [...nav.matchAll(/href="([^"]*)"/g)].map(([, href]) => href),
      ['/pages/about', '/products/fern-teapot'],
    )
    const footer = /<footer(.|\n)*<\/footer>/.exec(text)?.[0] ?? ''
    assert.match(footer, /href="\/collections\/light"(.|\n)*href="https:\/\/b.example"/)
    assert.doesNotMatch(footer, /\/pages\//)
  })
})

describe('a home page that the manifest says nothing about', () => {
  test('is a small shop with products and collections', async () => {
    await publish(owner, { brand: { name: 'Bare Shop', tagline: 'Plain and good' } })
    const { text } = await shown('demo', '/', /<h1>Bare Shop<\/h1>/)
    assert.match(text, /<link rel="icon" href="\/_fd\/icon\./)
    assert.match(text, /Plain and good/)
    assert.ok((text.match(/class="card"/g) ?? []).length >= 8)
    assert.match(text, /class="tiles"/)
    const unknown = { template: { id: 'x', sections: [{ type: 'carousel', props: {} }] } }
    const file = `${'0'.repeat(64)}.png`
    const brand = { name: 'Odd Shop', faviconRef: `asset:demo/${file}` }
    await publish(owner, { brand, ...unknown })
    const odd = (await shown('demo', '/', /<h1>Odd Shop<\/h1>/)).text
    assert.match(odd, /class="card"/)
    assert.ok(odd.includes(`<link rel="icon" href="/stores/demo/assets/${file}?w=160">`))
  })

  test('the home page of a store without products is friendly to the public, and tells its owner what to do next', async () => {
    const plain = await shop.merchant('plain')
    await publish(plain, { brand: { name: 'Plain Store', email: 'hi@plain.example' } })
    const { version } = (await plain.get('/v1/my/site')).body.active
    const { token } = (await plain.post('/v1/my/site/preview-token', { version })).body
    const preview = () => openShopper(shop.url, 'plain.localhost').get(`/?preview=${token}`)
    assert.match((await preview()).text, /What comes next(.|\n)*Ask the operator/)
    await shop.operator.put('/v1/stores/plain/status', { status: 'live' })
    const { text } = await shown('plain', '/', /Opening soon/)
    assert.match(text, /<h1>Plain Store<\/h1>(.|\n)*href="mailto:hi@plain.example"/)
    assert.doesNotMatch(text, /What comes next|POST/)
    const live = (await preview()).text
    assert.match(live, /What comes next(.|\n)*POST \/v1\/merchant\/catalog\/products/)
    assert.doesNotMatch(live, /Ask the operator/)
  })
})
