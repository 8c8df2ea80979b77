import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { POLICY_EXAMPLES } from '../../../manifest/policies.ts'
import { OPERATOR_TOKEN } from '../../harness/app.ts'
import { share } from '../../harness/scope.ts'
import {
  addVariant,
  cart,
  checkout,
  openCheckoutApp,
  openShop,
  preview,
} from '../checkout/setup.ts'

const DRAFT = '/v1/my/site/draft'
const ACTIVE = '/v1/my/store/manifest'
const PUBLISH = '/v1/my/site/publish'

const RATES = { mode: 'flat', flat_rate_cents: 500, expedited_rate_cents: 900, max_cents: 900 }
const FLAT = { provider: 'flat_rate', rate_bps: 1_900 }

const shared = share(openCheckoutApp)
let stores = 0

const open = (manifest?: object) =>
  openShop(shared.current, `policies-${++stores}`, [1_000], manifest)

/** Writes a manifest as the newest version, past the checks, as an older release had stored it. */
async function storeUnchecked(tenant: string, manifest: object, isActive: boolean) {
  const { superuser } = shared.current
  const { rows } = await superuser.query(
    `insert into site_versions
            (tenant_ref, version, manifest, row_hash, brand_name, rules_version, created_by)
     select $1, max(version) + 1, $2, repeat('0', 64), null, '1', 'test'
       from site_versions where tenant_ref = $1
     returning version`,
    [tenant, JSON.stringify(manifest)],
  )
  const { version } = rows[0]
  if (isActive) {
    await superuser.query('update stores set active_version = $2 where tenant_ref = $1', [
      tenant,
      version,
    ])
  }
  return version as number
}

describe('a shipping or tax policy that cannot be read', () => {
  const wrong: [name: string, behavior: object, path: string][] = [
    ['a text', { shipping: 'free' }, 'manifest.behavior.shipping'],
    ['a number', { shipping: 490 }, 'manifest.behavior.shipping'],
    ['a list', { shipping: [RATES] }, 'manifest.behavior.shipping'],
    ['a price as text', { shipping: { ...RATES, flat_rate_cents: '500' } }, 'flat_rate_cents'],
    ['a price in euros', { shipping: { ...RATES, flat_rate_cents: 4.9 } }, 'flat_rate_cents'],
    ['a price below zero', { shipping: { ...RATES, max_cents: -1 } }, 'max_cents'],
    ['no price', { shipping: { mode: 'flat' } }, 'flat_rate_cents'],
    ['a misspelt price', { shipping: { ...RATES, flat_rate_cents: undefined } }, 'flat_rate_cents'],
    [
      'a threshold as text',
      { shipping: { ...RATES, free_shipping_threshold_cents: '50' } },
      'free_shipping_threshold_cents',
    ],
    ['prices of other names', { shipping: { flatRateCents: 500 } }, 'shipping.flatRateCents'],
    [
      'a price beside countries',
      { shipping: { countries: ['DE'], rate: 500 } },
      'manifest.behavior.shipping.rate',
    ],
    ['another mode', { shipping: { ...RATES, mode: 'by_weight' } }, 'mode'],
    ['a tax as a number', { tax: 19 }, 'manifest.behavior.tax'],
    ['a tax without a provider', { tax: { rate_bps: 1_900 } }, 'provider'],
    ['an unknown provider', { tax: { provider: 'flat', rate_bps: 1 } }, 'provider'],
    ['a rate in percent', { tax: { provider: 'flat_rate', rate_bps: 19.5 } }, 'rate_bps'],
    ['a rate as text', { tax: { provider: 'flat_rate', rate_bps: '1900' } }, 'rate_bps'],
    ['a rate above the price', { tax: { provider: 'flat_rate', rate_bps: 10_001 } }, 'rate_bps'],
    ['no rate', { tax: { provider: 'acme_tax' } }, 'rate_bps'],
  ]

  test('is refused when a merchant or an operator saves it, with its path', async () => {
    const { merchant, tenant } = await open()
    const { operator } = shared.current
    const override = { 'x-guardrails-override': 'tested' }
    const forcing = shared.current.as({ 'x-operator-token': OPERATOR_TOKEN, ...override })
    const before = (await merchant.get('/v1/my/site')).body.versions_total
    const writers = [
      (manifest: object) => merchant.put(DRAFT, { manifest }),
      (manifest: object) => merchant.put(ACTIVE, { manifest }),
      (manifest: object) => operator.put(`/v1/stores/${tenant}/manifest`, { manifest }),
      (manifest: object) => forcing.put(`/v1/stores/${tenant}/manifest`, { manifest }),
    ]
    for (const [name, behavior, path] of wrong) {
      for (const write of writers) {
        const { status, body, text } = await write({ behavior })
        assert.deepEqual([status, body.error.code], [422, 'unreadable_policy'], `${name}: ${text}`)
        const paths = body.issues.map((each: { path: string }) => each.path)
        assert.ok(
          paths.some(
            (each: string) => each.startsWith('manifest.behavior.') && each.endsWith(path),
          ),
          `${name}: ${paths}`,
        )
      }
    }
    assert.equal((await merchant.get('/v1/my/site')).body.versions_total, before)
  })

  test('a policy under a name that is almost its own is refused when it is saved and published, where nothing has that name', async () => {
    const { merchant, tenant } = await open()
    const misspelt: [manifest: object, path: string][] = [
      [{ behaviour: { shipping: RATES } }, 'manifest.behaviour.shipping'],
      [{ behavior: { shippng: RATES } }, 'manifest.behavior.shippng'],
      [{ behaviour: { shiping: RATES }, behavior: {} }, 'manifest.behaviour.shiping'],
      [{ Behavior: { tax: FLAT } }, 'manifest.Behavior.tax'],
      [{ behavior: { Tax: FLAT } }, 'manifest.behavior.Tax'],
    ]
    for (const [manifest, path] of misspelt) {
      const version = await storeUnchecked(tenant, manifest, false)
      for (const { status, body, text } of [
        await merchant.put(DRAFT, { manifest }),
        await merchant.put(ACTIVE, { manifest }),
        await merchant.post(PUBLISH, { version }),
      ]) {
        assert.deepEqual([status, body.error.code], [422, 'unreadable_policy'], text)
        assert.deepEqual(
          body.issues.map((each: { path: string }) => each.path),
          [path],
        )
      }
    }
    for (const behavior of [
      { shipping: RATES, shippng: RATES },
      { shipping: null, shippng: RATES },
      { shopping: { enabled: true } },
    ]) {
      const saved = await merchant.put(DRAFT, { manifest: { behavior } })
      assert.equal(saved.status, 200, saved.text)
    }
  })

  test('an unreadable policy of an older release is refused when it is published, and the site stays', async () => {
    const { merchant, tenant } = await open()
    const version = await storeUnchecked(tenant, { behavior: { shipping: 'free' } }, false)
    const active = (await merchant.get('/v1/my/site')).body.active.version
    const { status, body } = await merchant.post(PUBLISH, { version })
    assert.deepEqual([status, body.error.code], [422, 'unreadable_policy'])
    assert.equal((await merchant.get('/v1/my/site')).body.active.version, active)
  })

  test('an unreadable policy that is published already sells nothing, unless the request sends its own policy', async () => {
    const shop = await open()
    const manifest = { behavior: { shipping: { ...RATES, max_cents: null }, tax: 'none' } }
    await storeUnchecked(shop.tenant, manifest, true)
    const app = shared.current
    const order = (more: object) => cart(shop.variants[1_000], more)
    for (const [more, places] of [
      [{}, ['manifest.behavior.shipping.max_cents', 'manifest.behavior.tax']],
      [{ shipping: RATES }, ['manifest.behavior.tax']],
      [{ tax: FLAT, shipping: null }, ['manifest.behavior.shipping.max_cents']],
    ] as const) {
      const { card: _, ...priced } = order(more)
      for (const answer of [
        await preview(app, shop, priced),
        await checkout(app, shop, order(more)),
      ]) {
        assert.deepEqual([answer.status, answer.body.error?.code], [422, 'unreadable_policy'])
        assert.deepEqual(
          answer.body.issues.map(({ path }: { path: string }) => path),
          places,
        )
      }
    }
    const placed = await checkout(app, shop, order({ shipping: RATES, tax: FLAT }))
    assert.equal(placed.status, 201, placed.text)
    assert.equal(placed.body.order.shipping_cents, 500)
  })
})

describe('a policy that can be read', () => {
  test('is accepted as null, with the countries alone, and without tax', async () => {
    const { merchant } = await open()
    for (const behavior of [
      {},
      { shipping: null, tax: null },
      { shipping: RATES, tax: FLAT },
      { shipping: { ...RATES, mode: undefined, free_shipping_threshold_cents: null } },
      { tax: { provider: null } },
      { tax: { provider: 'null', rate_bps: 0 } },
      { tax: { provider: 'acme_tax', rate_bps: 0 } },
    ]) {
      const { status, body, text } = await merchant.put(DRAFT, { manifest: { behavior } })
      assert.equal(status, 200, text)
      assert.deepEqual(body.warnings, [])
    }
    for (const shipping of [{ countries: ['DE'] }, { 'x-own': 1 }, {}]) {
      const { body } = await merchant.put(DRAFT, { manifest: { behavior: { shipping } } })
      assert.deepEqual(
        body.warnings.map(({ path }: { path: string }) => path),
        ['/behavior/shipping'],
        'shipping is free, which a merchant should know',
      )
    }
  })

  for (const { title, manifest, goods_cents, expedited, costs } of POLICY_EXAMPLES) {
    test(`gives the documented price: ${title}`, async () => {
      const shop = await open(manifest)
      const saved = await shop.merchant.put(DRAFT, { manifest })
      assert.deepEqual(saved.body.warnings, [])
      const { shipping, tax } = manifest.behavior
      const variant_id = await addVariant(shop.merchant, goods_cents)
      const items = [{ variant_id, quantity: 1 }]
      const body = { items, shipping, tax, expedited: expedited ?? false }
      const shown = await preview(shared.current, shop, body)
      assert.equal(shown.status, 200, shown.text)
      const { shipping_cents, tax_cents, total_cents } = shown.body
      assert.deepEqual({ shipping_cents, tax_cents, total_cents }, costs)
    })
  }
})

describe('a manifest with members that nothing reads', () => {
  const MANIFEST = {
    brand: { name: 'Acme', logo: 'x', tagline: 7, logoRef: null, 'x-own': 1 },
    theme: { color: { primary: '#fff', primery: '#000' }, colours: {} },
    menus: { header: [], sidebar: [] },
    behavior: {
      giftCards: { enabled: 'yes', on: true },
      search: true,
      storecredit: { enabled: true },
      shipping: {
        ...RATES,
        free_shipping_treshold_cents: 5_000,
        delivery_days: { min: '3', max: 5 },
      },
      tax: { ...FLAT, prices_include_tax: true },
      returns: { windowDays: '30' },
      consent: null,
      shippng: RATES,
    },
    tax: { prices_include_taxes: true },
    behaviour: { shipping: RATES },
    Menus: {},
    campaign: { any: 1 },
  }
  const PLACES = [
    '/Menus',
    '/behavior/giftCards/enabled',
    '/behavior/giftCards/on',
    '/behavior/returns/windowDays',
    '/behavior/search',
    '/behavior/shipping/delivery_days/min',
    '/behavior/shipping/free_shipping_treshold_cents',
    '/behavior/shippng',
    '/behavior/storecredit',
    '/behavior/tax/prices_include_tax',
    '/behaviour',
    '/brand/logo',
    '/brand/tagline',
    '/menus/sidebar',
    '/tax/prices_include_taxes',
    '/theme/color/primery',
    '/theme/colours',
  ]
  const placesOf = ({ warnings }: { warnings: { path: string }[] }) =>
    warnings.map(({ path }) => path).sort()

  test('is stored unchanged, with a warning for each of them, and publishing repeats the warnings', async () => {
    const { merchant } = await open()
    const draft = await merchant.put(DRAFT, { manifest: MANIFEST })
    assert.equal(draft.status, 200, draft.text)
    assert.deepEqual(placesOf(draft.body), PLACES)
    const told = (path: string) =>
      draft.body.warnings.find((each: { path: string }) => each.path === path).message
    assert.match(told('/behavior/shippng'), /\bshipping, tax\b/, 'all that it may be is named')
    assert.match(told('/behaviour'), /did you mean `behavior`/)
    const published = await merchant.post(PUBLISH, { version: draft.body.version })
    assert.equal(published.status, 200, published.text)
    assert.deepEqual(published.body, draft.body)
    const { active } = (await merchant.get('/v1/my/site')).body
    assert.deepEqual(active.manifest, JSON.parse(JSON.stringify(MANIFEST)))
    assert.deepEqual(placesOf((await merchant.put(ACTIVE, { manifest: MANIFEST })).body), PLACES)
  })
})
