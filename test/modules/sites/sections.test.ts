import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SECTION_TYPES } from '../../../manifest/section-types.ts'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { DRAFT, MANIFEST, OVERVIEW, scannerOf, sendRaw } from './setup.ts'

const link = { label: 'More', href: '/more' }
const imageRef = `asset:acme/${'0'.repeat(64)}.png`

/** Each type with all its props. */
const EXAMPLES: Record<string, object> = {
  announcement: { text: 'Open on Sunday', href: '/sunday' },
  hero: { heading: 'Hello', subheading: 'there', imageRef, cta: link },
  'product-grid': { heading: 'New', collection: 'new', limit: 12, columns: 3 },
  'featured-product': { slug: 'lamp', heading: 'The lamp' },
  'collection-list': { heading: 'All', collections: ['new', 'old'] },
  'rich-text': { heading: 'About', body: '<p>Us</p>' },
  image: { imageRef, alt: 'A lamp', href: '/lamp' },
  gallery: { images: [{ imageRef, alt: 'A lamp' }, { imageRef }] },
  video: { url: 'https://video.example/1', caption: 'How it is made' },
  faq: { heading: 'Questions', items: [{ question: 'When?', answer: 'Soon.' }] },
  newsletter: { heading: 'News', body: 'Monthly', button: 'Join' },
  testimonials: { heading: 'They say', items: [{ quote: 'Nice lamp', author: 'A' }] },
  contact: { heading: 'Write', email: 'a@b.example' },
  'featured-collection': { collection: 'new', heading: 'New', limit: 3 },
  'image-with-text': { imageRef, heading: 'By hand', body: '**Us**', cta: link, side: 'right' },
  'logo-list': { heading: 'Press', logos: [{ imageRef, alt: 'Weekly', href: '/press' }] },
  countdown: { heading: 'Sale', until: '2030-01-01T00:00:00Z', body: 'Soon', cta: link },
  spacer: { size: 'small' },
  footer: { text: 'The end', links: [link] },
}

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** The next store, and its merchant. */
async function openStore() {
  const app = shared.current
  const tenant = `acme-${++stores}`
  return { app, tenant, acme: await app.merchant(tenant) }
}

const withSections = (sections: unknown) => ({
  manifest: { template: { id: 'default', sections } },
})

test('a statement version that no checkout can accept is stored, with a warning', async () => {
  const { acme } = await openStore()
  const warnings = async (funnelGate: unknown) => {
    const { status, body, text } = await acme.put(DRAFT, { manifest: { behavior: { funnelGate } } })
    assert.equal(status, 200, text)
    return body.warnings.map(({ path, code }: { path: string; code: string }) => [path, code])
  }
  const warned = [['/behavior/funnelGate/statementVersion', 'unusable_statement']]
  for (const statementVersion of [undefined, null, '', 'v'.repeat(101), {}, ['v1']]) {
    assert.deepEqual(await warnings({ enabled: true, statementVersion }), warned)
  }
  for (const statementVersion of ['v1', 'v'.repeat(100), 7]) {
    assert.deepEqual(await warnings({ enabled: true, statementVersion }), [])
  }
  for (const off of [{ enabled: false }, {}, null]) assert.deepEqual(await warnings(off), [])
})

test('a country that is no code is stored, with a warning', async () => {
  const { acme } = await openStore()
  const warnings = async (countries: unknown, country?: unknown) => {
    const shipping = { flat_rate_cents: 1, expedited_rate_cents: 1, max_cents: 1, countries }
    const manifest = { store: { country }, behavior: { shipping } }
    const { status, body, text } = await acme.put(DRAFT, { manifest })
    assert.equal(status, 200, text)
    return body.warnings.map(({ path, code }: { path: string; code: string }) => [path, code])
  }
  const at = (path: string) => [path, 'unexpected_value']
  const list = '/behavior/shipping/countries'
  for (const fine of [undefined, null, ['DE'], ['US', 'CA']]) {
    assert.deepEqual(await warnings(fine, 'DE'), [])
  }
  assert.deepEqual(
    await warnings(['DE', 'de', 'Germany', 7, 'AT']),
    [1, 2, 3].map((n) => at(`${list}/${n}`)),
  )
  assert.deepEqual(await warnings('DE'), [at(list)])
  assert.deepEqual(await warnings([]), [at(list)])
  assert.deepEqual(await warnings(['UK'], 'UK'), [at('/store/country'), at(list), at(`${list}/0`)])
  assert.equal((await warnings(new Array(200).fill('X'))).length, 11)
})

test('legal details that an invoice cannot print are stored, with a warning', async () => {
  const { acme } = await openStore()
  const warnings = async (legal: unknown) => {
    const { status, body, text } = await acme.put(DRAFT, { manifest: { legal } })
    assert.equal(status, 200, text)
    return body.warnings.map(({ path }: { path: string }) => path)
  }
  const fine = { name: 'Acme Ltd', address: '1 High Street\nLondon', email: 'a@acme.example' }
  for (const legal of [undefined, {}, fine]) assert.deepEqual(await warnings(legal), [])
  assert.deepEqual(await warnings('Acme Ltd'), ['/legal'])
  assert.deepEqual(await warnings({ ...fine, email: 'nobody', adress: 'x' }), [
    '/legal/email',
    '/legal/adress',
  ])
})

describe('a section', () => {
  test('a section of a registered type passes without a warning', async () => {
    // The store of the images in the examples.
    const acme = await shared.current.merchant('acme')
    assert.deepEqual(Object.keys(EXAMPLES).sort(), Object.keys(SECTION_TYPES).sort())
    for (const [type, props] of Object.entries(EXAMPLES)) {
      const more = { ...props, 'x-mine': { kept: true } }
      const { status, body, text } = await acme.put(
        DRAFT,
        withSections([
          { type, props },
          { type, props: more, id: 1 },
        ]),
      )
      assert.equal(status, 200, text)
      assert.deepEqual(body.warnings, [], type)
    }
  })

  test('a section that a storefront may not show as intended is stored, with a warning', async () => {
    const { acme } = await openStore()
    const sections = [
      { type: 'hero', props: { heading: 1, cta: { label: 'x' } } },
      { type: 'carousel', props: { any: [1] }, note: 'mine' },
      { type: 'toString', props: {} },
      { type: 'product-grid', props: { limit: 101, columns: 1.5 } },
      { type: 'hero', props: { heading: 'good' } },
    ]
    for (const path of [DRAFT, MANIFEST]) {
      const { status, body, text } = await acme.put(path, withSections(sections))
      assert.equal(status, 200, text)
      const shown = body.warnings.map(({ path, code }: { path: string; code: string }) => [
        path.split('/').slice(0, 5).join('/'),
        code,
      ])
      assert.deepEqual(shown, [
        ['/template/sections/0/props', 'unexpected_props'],
        ['/template/sections/0/props', 'unexpected_props'],
        ['/template/sections/1/type', 'unregistered_section'],
        ['/template/sections/2/type', 'unregistered_section'],
        ['/template/sections/3/props', 'unexpected_props'],
        ['/template/sections/3/props', 'unexpected_props'],
      ])
      const messages = body.warnings.map(({ message }: { message: string }) => message)
      assert.match(messages[2], /Registered are announcement, hero, product-grid, .*, footer\.$/)
      assert.equal(messages[4], 'must be a whole number from 1 to 100; without it, it is 8')
    }
    const { active } = (await acme.get(OVERVIEW)).body
    assert.deepEqual(active.manifest.template.sections, sections)
  })

  test('has at most 200 warnings, together with the other parts of the manifest', async () => {
    const { acme } = await openStore()
    const many = Array.from({ length: 500 }, () => ({ type: 'hero', props: { heading: 1 } }))
    const { status, body } = await acme.put(DRAFT, withSections(many))
    assert.deepEqual([status, body.warnings.length], [200, 200])

    const several = { type: 'faq', props: { items: [1, 1, 1, 1, 1, 1] } }
    const uneven = [{ type: 'unheard-of', props: {} }, ...Array.from({ length: 99 }, () => several)]
    assert.equal((await acme.put(DRAFT, withSections(uneven))).body.warnings.length, 200)
  })
})

test('a wrong colour, choice or prop is stored, with a warning that has its path', async () => {
  const { acme } = await openStore()
  const manifest = {
    theme: {
      color: { primary: 'teal', accent: '#abc', 'x-mine': 'any' },
      layout: { hero: 'sideways', radius: '4px; }', imageRatio: 3 },
      type: 'serif',
      mine: { kept: true },
    },
    template: {
      id: 'home',
      sections: [
        { type: 'spacer', props: { size: 'huge' } },
        { type: 'hero', props: { heading: ' ', headng: 'Hi', cta: { href: 'javascript:1' } } },
        { type: 'gallery', props: { images: [{ imageRef: 'a.png' }, 7] } },
        { type: 'contact', props: { email: 'nobody', 'a/b~c': 1 } },
      ],
    },
  }
  const { status, body, text } = await acme.put(DRAFT, { manifest })
  assert.equal(status, 200, text)
  const told = body.warnings.map(({ path, code, message }: Record<string, string>) => [
    path,
    code,
    message,
  ])
  const props = '/template/sections'
  assert.deepEqual(
    told.map(([path]: string[]) => path),
    [
      '/theme/color/primary',
      '/theme/type',
      '/theme/layout/radius',
      '/theme/layout/imageRatio',
      '/theme/layout/hero',
      '/theme/mine',
      `${props}/0/props/size`,
      `${props}/1/props/heading`,
      `${props}/1/props/cta/href`,
      `${props}/1/props/headng`,
      `${props}/2/props/images/0/imageRef`,
      `${props}/2/props/images/1`,
      `${props}/3/props/email`,
      `${props}/3/props/a~1b~0c`,
    ],
  )
  assert.deepEqual(told[0].slice(1), [
    'unexpected_value',
    'must be a colour as #rgb, #rrggbb or rgb(r, g, b)',
  ])
  assert.deepEqual(told[6].slice(1), [
    'unexpected_props',
    'must be one of medium, small, large; shown as medium',
  ])
  assert.match(told[9][2], /^is not known here: it may be one of heading, eyebrow, /)
})

describe('a manifest', () => {
  test('is refused with the path if it is invalid', async (t) => {
    const { app, tenant, acme } = await openStore()
    const section = (value: unknown) => withSections([{ type: 'hero', props: {} }, value])
    const at = 'manifest.template.sections'
    const bad = [
      ['nothing', undefined, 'invalid_body', ''],
      ['no manifest', {}, 'invalid_body', 'manifest'],
      ['null', { manifest: null }, 'invalid_body', 'manifest'],
      ['a list', { manifest: [] }, 'invalid_body', 'manifest'],
      ['a text', { manifest: '{}' }, 'invalid_body', 'manifest'],
      ['a number', { manifest: 1 }, 'invalid_body', 'manifest'],
      ['a brand that is none', { manifest: { brand: 'x' } }, 'invalid_body', 'manifest.brand'],
      ['a list as behavior', { manifest: { behavior: [] } }, 'invalid_body', 'manifest.behavior'],
      [
        'no object as template',
        { manifest: { template: 'x' } },
        'invalid_body',
        'manifest.template',
      ],
      [
        'no id',
        { manifest: { template: { sections: [] } } },
        'invalid_body',
        'manifest.template.id',
      ],
      ['no sections', { manifest: { template: { id: 'x' } } }, 'invalid_body', at],
      ['sections by name', withSections({ hero: {} }), 'invalid_body', at],
      ['a section that is a text', section('hero'), 'invalid_body', `${at}.1`],
      ['a section without type', section({ props: {} }), 'invalid_body', `${at}.1.type`],
      [
        'a section with a blank type',
        section({ type: '', props: {} }),
        'invalid_body',
        `${at}.1.type`,
      ],
      [
        'a section with a number as type',
        section({ type: 1, props: {} }),
        'invalid_body',
        `${at}.1.type`,
      ],
      ['a section without props', section({ type: 'hero' }), 'invalid_body', `${at}.1.props`],
      ['props that are null', section({ type: 'x', props: null }), 'invalid_body', `${at}.1.props`],
      ['props that are a list', section({ type: 'x', props: [] }), 'invalid_body', `${at}.1.props`],
    ] as const
    for (const path of [DRAFT, MANIFEST]) await assertRefused(bad, (body) => acme.put(path, body))
    const operator = `/v1/stores/${tenant}/manifest`
    await assertRefused(bad, (body) => app.operator.put(operator, body))
    await assertRefused(bad, (body) => app.operator.post(`${operator}/scan`, body))
    const superuser = await openSuperuser(t, app.database)
    const saved = 'select from site_versions where tenant_ref = $1'
    assert.equal((await superuser.query(saved, [tenant])).rowCount, 0)
  })

  test('may have two mebibytes with its body, and no byte more', async (t) => {
    const app = await openTestApp(t, { scanner: scannerOf(() => []) })
    const headers = {
      authorization: `Bearer ${await app.key('acme')}`,
      'x-operator-token': 'the operator token of every test app',
      'content-type': 'application/json',
    }
    const limit = 2 * 1_024 * 1_024
    const bodyOf = (bytes: number) => {
      const [head, tail] = ['{"manifest":{"seo":{"t":"', '"}}}']
      return head + 'x'.repeat(bytes - head.length - tail.length) + tail
    }
    const routes = [
      ['PUT', DRAFT],
      ['PUT', MANIFEST],
      ['PUT', '/v1/stores/acme/manifest'],
      ['POST', '/v1/stores/acme/manifest/scan'],
    ] as const
    for (const [method, path] of routes) {
      const fits = await sendRaw(app, path, { method, headers, body: bodyOf(limit) })
      assert.equal(fits.status, 200, `${path}: ${fits.body}`)
      const over = await sendRaw(app, path, { method, headers, body: bodyOf(limit + 1) })
      assert.equal(over.status, 413)
      assert.equal(JSON.parse(over.body.toString()).error.code, 'body_too_large')
    }
    const { versions } = (await app.as(headers).get(OVERVIEW)).body
    assert.equal(versions.length, 3)
  })
})
