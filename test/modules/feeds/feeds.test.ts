import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import type pg from 'pg'
import { FORMATS } from '../../../src/modules/feeds/formats.ts'
import * as feeds from '../../../src/modules/feeds/service.ts'
import { openShopUrl } from '../../../src/shop-url.ts'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { addSample, type SampleProduct, uploadDrawing } from '../../harness/sample-products.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { stock } from '../checkout/setup.ts'
import {
  depsOf,
  describeProduct,
  google,
  openai,
  openShop,
  parseLines,
  type Row,
  rowsOf,
} from './setup.ts'

let app: TestApp
let superuser: pg.Client

before(async (t) => {
  app = await openTestApp(t as TestContext)
  superuser = await openSuperuser(t as TestContext, app.database)
})

const MANIFEST = {
  store: { country: 'DE' },
  behavior: {
    shipping: {
      flat_rate_cents: 490,
      expedited_rate_cents: 990,
      max_cents: 990,
      free_shipping_threshold_cents: 5_000,
      countries: ['DE', 'AT'],
    },
    returns: { windowDays: 30 },
  },
  pages: [
    { slug: 'privacy', title: 'Privacy' },
    { slug: 'agb', title: 'AGB', kind: 'terms' },
    { slug: 'withdrawal', title: 'Returns' },
  ],
}

const VASE: SampleProduct = {
  slug: 'vase',
  name: 'Moon vase',
  description: 'Thrown by hand.',
  variants: [{ sku: 'VASE', price_cents: 4_800 }],
}

let stores = 0

/** A live store with one product, which has an image. */
async function openOne(sample: SampleProduct = VASE, manifest: object = MANIFEST) {
  stores += 1
  const tenant = `feed-${stores}`
  const merchant = await openShop(app, tenant, manifest)
  const image = await uploadDrawing(merchant, [300, 300], 40)
  const added = await addSample(merchant, { ...sample, images: sample.images ?? [image] })
  return { tenant, merchant, image, ...added }
}

const readGoogle = async (tenant: string) => rowsOf(await app.anyone.get(google(tenant)))
const readOpenai = async (tenant: string) =>
  parseLines((await app.anyone.get(openai(tenant))).bytes)

/** The first item of a feed. */
const one = <T>(items: readonly T[]): T => {
  assert.equal(items.length, 1)
  return items[0] as T
}

/**
 * The fields without which a reader refuses an item. Google: "Product data specification",
 * support.google.com/merchants/answer/7052112. OpenAI: "Products", file uploads,
 * developers.openai.com/commerce/specs/file-upload/products. Both as read on 17 November 2026.
 */
const REQUIRED = {
  google: [
    ...['id', 'title', 'description', 'link', 'image_link', 'availability', 'price'],
    ...['brand', 'condition', 'identifier_exists'],
  ],
  openai: [
    ...['is_eligible_search', 'is_eligible_checkout', 'item_id', 'title', 'description', 'url'],
    ...['brand', 'image_url', 'price', 'availability', 'group_id', 'listing_has_variations'],
    ...['seller_name', 'seller_url', 'return_policy', 'target_countries', 'store_country'],
  ],
}

describe('the feed for Google', () => {
  test('has a line for each variant with every field that Google requires', async () => {
    const { tenant, id, ids } = await openOne()
    const answer = await app.anyone.get(google(tenant))
    assert.equal(answer.headers['content-type'], 'text/tab-separated-values; charset=utf-8')
    assert.equal(answer.headers['cache-control'], 'no-cache')
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    const row = one(rowsOf(answer))
    for (const name of REQUIRED.google) assert.ok(row[name], name)
    const { port } = new URL(app.url)
    const { image_link, ...rest } = row
    assert.match(image_link ?? '', /^http:\/\/.*\/stores\/feed-\d+\/assets\/[0-9a-f]{64}\.jpg$/)
    assert.deepEqual(rest, {
      id: ids.VASE,
      title: 'Moon vase',
      description: 'Thrown by hand.',
      link: `http://${tenant}.localhost:${port}/products/vase`,
      additional_image_link: '',
      availability: 'in_stock',
      price: '48.00 USD',
      sale_price: '',
      brand: `Shop ${tenant}`,
      gtin: '',
      mpn: '',
      identifier_exists: 'no',
      condition: 'new',
      item_group_id: '',
      google_product_category: '',
      color: '',
      size: '',
      material: '',
      shipping: 'DE::Standard:4.90 USD,AT::Standard:4.90 USD',
      shipping_weight: '',
      product_weight: '',
      unit_pricing_measure: '',
    })
    assert.ok(id !== ids.VASE)
  })

  test('groups the variants of a product, with their options, prices and own images', async () => {
    const { tenant, merchant, id } = await openOne()
    const [sand, blue] = [
      await uploadDrawing(merchant, [300, 300], 20),
      await uploadDrawing(merchant, [300, 300], 200),
    ]
    const shirt = await addSample(merchant, {
      slug: 'shirt',
      name: 'Linen shirt',
      images: [sand, blue],
      variants: [
        {
          sku: 'SAND',
          price_cents: 5_900,
          compare_at_price_cents: 7_900,
          label: 'M / Sand',
          options: [
            { name: 'Größe', value: 'M' },
            { name: 'Colour', value: 'Sand' },
          ],
        },
        {
          sku: 'BLUE',
          price_cents: 6_900,
          label: 'M / Blue',
          image_asset_ref: blue,
          content_amount: 500,
          content_unit: 'g',
          options: [
            { name: 'Größe', value: 'M' },
            { name: 'Colour', value: 'Blue' },
          ],
        },
      ],
    })
    const rows = (await readGoogle(tenant)).filter((row) => row.item_group_id !== '')
    const pick = (row: Row) => [
      row.id,
      row.item_group_id,
      row.title,
      row.price,
      row.sale_price,
      row.size,
      row.color,
      row.unit_pricing_measure,
      row.shipping?.split(',')[0],
    ]
    assert.deepEqual(rows.map(pick), [
      [
        ...[shirt.ids.SAND, shirt.id, 'Linen shirt - M / Sand', '79.00 USD', '59.00 USD'],
        ...['M', 'Sand', '', 'DE::Standard:0.00 USD'],
      ],
      [
        ...[shirt.ids.BLUE, shirt.id, 'Linen shirt - M / Blue', '69.00 USD', ''],
        ...['M', 'Blue', '500 g', 'DE::Standard:0.00 USD'],
      ],
    ])
    assert.ok(rows.every(({ id: own, link }) => link?.endsWith(`/products/shirt?variant=${own}`)))
    const fileOf = (ref: string) => ref.split('/')[1] ?? ''
    assert.ok(rows[0]?.image_link?.endsWith(fileOf(sand)))
    assert.ok(rows[1]?.image_link?.endsWith(fileOf(blue)))
    assert.ok(rows[1]?.additional_image_link?.endsWith(fileOf(sand)))
    assert.notEqual(shirt.id, id)
  })

  test('has what the metadata says of brand, identifiers, condition and weight', async () => {
    const { tenant, merchant, id, ids } = await openOne()
    const product = `/v1/merchant/catalog/products/${id}`
    const metadata = {
      brand: 'Aster & Co',
      condition: 'used',
      google_product_category: '602',
      gtin: '4006381333931',
    }
    await merchant.patch(product, { metadata })
    const variant = { metadata: { mpn: 'M-1', weight_grams: 850 } }
    const patched = await merchant.patch(
      `/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`,
      variant,
    )
    assert.equal(patched.status, 200, patched.text)
    const row = one(await readGoogle(tenant))
    const shown = ['brand', 'condition', 'google_product_category', 'gtin', 'mpn']
    assert.deepEqual(
      [...shown, 'identifier_exists', 'product_weight', 'shipping_weight'].map((name) => row[name]),
      ['Aster & Co', 'used', '602', '4006381333931', 'M-1', 'yes', '850 g', '850 g'],
    )
    const item = one(await readOpenai(tenant))
    assert.deepEqual(
      [item.brand, item.gtin, item.mpn, item.condition, item.weight, item.item_weight_unit],
      ['Aster & Co', '4006381333931', 'M-1', 'used', '850', 'g'],
    )
    const wrong = { gtin: '4006381333932', condition: 'mint', weight_grams: -1, brand: {}, mpn: [] }
    await merchant.patch(product, { metadata: wrong })
    await merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
      metadata: {},
    })
    const plain = one(await readGoogle(tenant))
    assert.deepEqual(
      [plain.gtin, plain.condition, plain.product_weight, plain.brand, plain.identifier_exists],
      ['', 'new', '', `Shop ${tenant}`, 'no'],
    )
  })

  test('leaves out what no reader takes: a variant without an image, or without a price', async () => {
    const { tenant, merchant } = await openOne({ ...VASE, images: [] })
    assert.deepEqual(await readGoogle(tenant), [])
    assert.deepEqual(await readOpenai(tenant), [])
    const image = await uploadDrawing(merchant, [200, 200], 10)
    await addSample(merchant, {
      slug: 'free',
      name: 'Sample',
      images: [image],
      variants: [{ sku: 'FREE', price_cents: 0 }],
    })
    assert.deepEqual(await readGoogle(tenant), [])
  })
})

describe('the feed for OpenAI', () => {
  test('has a line of JSON for each variant, with every field that OpenAI requires', async () => {
    const { tenant, ids } = await openOne()
    const answer = await app.anyone.get(openai(tenant))
    assert.equal(answer.headers['content-type'], 'application/gzip')
    assert.equal(answer.headers['content-encoding'], undefined)
    const item = one(parseLines(answer.bytes))
    for (const name of REQUIRED.openai) assert.notEqual(item[name] ?? null, null, name)
    const { port } = new URL(app.url)
    const origin = `http://${tenant}.localhost:${port}`
    const { image_url, ...rest } = item
    assert.match(String(image_url), /\.jpg$/)
    assert.deepEqual(rest, {
      is_eligible_search: true,
      is_eligible_checkout: false,
      item_id: ids.VASE,
      title: 'Moon vase',
      description: 'Thrown by hand.',
      url: `${origin}/products/vase`,
      condition: 'new',
      brand: `Shop ${tenant}`,
      price: '48.00 USD',
      availability: 'in_stock',
      group_id: ids.VASE,
      listing_has_variations: false,
      shipping_price: 'DE::Standard:4.90 USD,AT::Standard:4.90 USD',
      seller_name: `Shop ${tenant}`,
      seller_url: `${origin}/`,
      seller_privacy_policy: `${origin}/pages/privacy`,
      seller_tos: `${origin}/pages/agb`,
      return_policy: `${origin}/pages/withdrawal`,
      accepts_returns: true,
      return_deadline_in_days: 30,
      target_countries: ['DE', 'AT'],
      store_country: 'DE',
    })
  })

  test('says nothing that the store has not said', async () => {
    const { tenant } = await openOne(VASE, {})
    const item = one(await readOpenai(tenant))
    for (const name of ['shipping_price', 'store_country', 'target_countries', 'return_policy']) {
      assert.equal(name in item, false, name)
    }
    assert.equal(one(await readGoogle(tenant)).shipping, '')
  })
})

describe('the products of a feed', () => {
  const titles = async (tenant: string) => (await readGoogle(tenant)).map(({ title }) => title)
  const both = async (tenant: string) => [
    await titles(tenant),
    (await readOpenai(tenant)).map(({ title }) => title),
  ]

  test('are the active ones: never a draft, an archived one, or an archived variant', async () => {
    const { tenant, merchant, id, image } = await openOne()
    const draft = await addSample(merchant, {
      ...VASE,
      slug: 'draft',
      name: 'Draft',
      images: [image],
      variants: [{ sku: 'D', price_cents: 100 }],
    })
    await superuser.query(`update products set status = 'draft' where id = $1`, [draft.id])
    const two = await addSample(merchant, {
      ...VASE,
      slug: 'two',
      name: 'Two',
      images: [image],
      variants: [
        { sku: 'T1', price_cents: 100, label: 'One' },
        { sku: 'T2', price_cents: 100, label: 'Two' },
      ],
    })
    assert.deepEqual(await titles(tenant), ['Two - One', 'Two - Two', 'Moon vase'])
    await merchant.post(`/v1/merchant/catalog/products/${two.id}/variants/${two.ids.T1}/archive`)
    await merchant.post(`/v1/merchant/catalog/products/${id}/archive`)
    assert.deepEqual(await both(tenant), [['Two'], ['Two']])
  })

  test('that are sold out say so, and are in stock again', async () => {
    const { tenant, merchant, ids } = await openOne()
    const availability = async () => [
      one(await readGoogle(tenant)).availability,
      one(await readOpenai(tenant)).availability,
    ]
    await stock(merchant, ids.VASE ?? '', 0)
    assert.deepEqual(await availability(), ['out_of_stock', 'out_of_stock'])
    await stock(merchant, ids.VASE ?? '', 3)
    assert.deepEqual(await availability(), ['in_stock', 'in_stock'])
  })

  test('that the claim scanner refuses are left out, until their text is corrected', async () => {
    const { tenant, merchant, id, image } = await openOne()
    await addSample(merchant, {
      ...VASE,
      slug: 'other',
      name: 'Other',
      images: [image],
      variants: [{ sku: 'O', price_cents: 100 }],
    })
    await describeProduct(merchant, id, 'This tea cures cancer within a week.')
    assert.deepEqual(await both(tenant), [['Other'], ['Other']])
    await describeProduct(
      merchant,
      id,
      'Not intended to diagnose, treat, cure or prevent any disease.',
    )
    assert.deepEqual(await both(tenant), [
      ['Other', 'Moon vase'],
      ['Other', 'Moon vase'],
    ])
    await merchant.patch(`/v1/merchant/catalog/products/${id}`, { name: 'Cures cancer' })
    assert.deepEqual(await titles(tenant), ['Other'])
  })

  test('are refused by a claim in the name of an option, too', async () => {
    const { tenant } = await openOne({
      ...VASE,
      variants: [
        {
          sku: 'X',
          price_cents: 100,
          options: [{ name: 'Use', value: 'Treats diabetes' }],
        },
      ],
    })
    assert.deepEqual(await readGoogle(tenant), [])
  })

  test('are scanned once for each text, whatever else of them changes', async () => {
    const { tenant, merchant, id, ids } = await openOne()
    const scans = async () => {
      const { rows } = await superuser.query(
        'select scanned_at, passed from product_scans where tenant_ref = $1 and product_id = $2',
        [tenant, id],
      )
      return rows
    }
    await readGoogle(tenant)
    const [first] = await scans()
    assert.equal(first.passed, true)
    await merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
      price_cents: 100,
    })
    assert.equal(one(await readGoogle(tenant)).price, '1.00 USD')
    assert.deepEqual(await scans(), [first])
    await describeProduct(merchant, id, 'Another text.')
    await readOpenai(tenant)
    assert.notDeepEqual(await scans(), [first])
    await superuser.query(`update product_scans set rules_version = 'older', passed = false`)
    assert.equal((await readGoogle(tenant)).length, 1, 'a verdict by other rules does not count')
  })
})

describe('a feed', () => {
  const NASTY =
    'A\tB\nC\r\nD "quoted" </script><script>alert(1)</script> \u202Edesrever \u2066x\u2028y\u2029z\u0085 \u0007 עברית = +1 \u{1F3FA}'

  test('keeps one line for each item, whatever its texts contain', async () => {
    const { tenant, merchant, id, ids } = await openOne()
    await superuser.query('update products set name = $2, description = $3 where id = $1', [
      id,
      `"${NASTY}`,
      NASTY.repeat(100),
    ])
    await superuser.query('update variants set label = $2, options = $3 where id = $1', [
      ids.VASE,
      NASTY.slice(0, 60),
      JSON.stringify([{ name: 'Size\t\n', value: NASTY.slice(0, 40) }]),
    ])
    // Through the API, so that the caches hear of it.
    await merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
      price_cents: 4_801,
    })
    const row = one(await readGoogle(tenant))
    const item = one(await readOpenai(tenant))
    for (const text of [row.title, row.description, item.title, item.description, row.size]) {
      assert.doesNotMatch(String(text), /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u)
    }
    assert.ok(row.title?.startsWith('"A B C D "quoted" </script>'), row.title)
    assert.match(row.title ?? '', /desrever x y z עברית = \+1/)
    assert.ok([...(row.title ?? '')].length <= 150)
    assert.ok([...(row.description ?? '')].length <= 5_000)
    assert.ok(String(item.description).isWellFormed())
  })

  test('has an ETag that changes with its products, its stock and its site', async () => {
    const { tenant, merchant, id, ids } = await openOne()
    const tagOf = async (path: string) => (await app.anyone.get(path)).headers.etag ?? ''
    for (const path of [google(tenant), openai(tenant)]) {
      const tag = await tagOf(path)
      assert.match(tag, /^W\/"[\w-]{43}"$/)
      assert.equal(await tagOf(path), tag)
      const same = await app.anyone.send('GET', path, undefined, { 'if-none-match': `"x", ${tag}` })
      assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', tag])
      const changes = [
        () =>
          merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
            price_cents: 777,
          }),
        () => stock(merchant, ids.VASE ?? '', 0),
        () =>
          merchant.put('/v1/my/store/manifest', {
            manifest: { brand: { name: `Renamed ${path}` } },
          }),
      ]
      let before = tag
      for (const change of changes) {
        await change()
        const changed = await app.anyone.send('GET', path, undefined, { 'if-none-match': before })
        assert.equal(changed.status, 200)
        assert.notEqual(changed.headers.etag, before)
        before = changed.headers.etag ?? ''
      }
      await stock(merchant, ids.VASE ?? '', 5)
      await merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
        price_cents: 4_800,
      })
    }
  })

  test('answers HEAD with the headers alone', async () => {
    const { tenant } = await openOne()
    for (const path of [google(tenant), openai(tenant)]) {
      const whole = await app.anyone.get(path)
      const head = await app.anyone.send('HEAD', path)
      assert.deepEqual([head.status, head.bytes.length], [200, 0])
      for (const name of ['etag', 'content-type', 'cache-control']) {
        assert.equal(head.headers[name], whole.headers[name], name)
      }
    }
  })

  test('of a store that is not live is the same 404 as that of none', async () => {
    const { tenant } = await openOne()
    await app.store('feed-draft')
    const unknown = await app.anyone.get(google('no-such-store'))
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'unknown_tenant'])
    await app.operator.put(`/v1/stores/${tenant}/status`, { status: 'suspended', reason: 'x' })
    for (const closed of [tenant, 'feed-draft', 'x', '%00', "a'b"]) {
      for (const path of [google(closed), openai(closed)]) {
        const answer = await app.anyone.get(path)
        if (closed === '%00') assert.equal(answer.status, 400)
        else assert.equal(answer.text, unknown.text, path)
      }
    }
    await app.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
    assert.equal((await readGoogle(tenant)).length, 1)
  })

  test('has no word of another store', async () => {
    const mine = await openOne({ ...VASE, name: 'Mine alone' })
    const other = await openOne({ ...VASE, name: 'Other alone' })
    for (const [shown, hidden] of [
      [mine, other],
      [other, mine],
    ] as const) {
      const text = (await app.anyone.get(google(shown.tenant))).text
      assert.ok(text.includes(shown.ids.VASE ?? '?') && !text.includes(hidden.ids.VASE ?? '?'))
      assert.ok(!text.includes(hidden.tenant))
      const items = JSON.stringify(await readOpenai(shown.tenant))
      assert.ok(!items.includes(hidden.tenant) && !items.includes(hidden.id))
    }
  })

  test('needs no credential, and takes no other method or name', async () => {
    const { tenant, merchant } = await openOne()
    const same = await merchant.get(google(tenant))
    assert.equal(same.text, (await app.anyone.get(google(tenant))).text)
    assert.equal((await app.anyone.post(google(tenant), {})).status, 405)
    assert.equal((await app.anyone.get(`/v1/tenants/${tenant}/feeds/bing.xml`)).status, 404)
  })
})

describe('the address of a store', () => {
  const store = { tenant_ref: 'acme', primary_hostname: null }
  const own = { ...store, primary_hostname: 'shop.example' }

  test('is its own host, else its name in the zone, else none', () => {
    const zone = { storefrontZone: 'localhost', production: false }
    const local = openShopUrl(zone, () => 'http://127.0.0.1:8080')
    assert.deepEqual(
      [local(store), local(own)],
      ['http://acme.localhost:8080', 'http://shop.example'],
    )
    const none = { storefrontZone: null, production: true }
    const alone = openShopUrl(none, () => 'https://platform.example')
    assert.deepEqual([alone(store), alone(own)], [null, 'https://shop.example'])
  })

  test('that has none leaves it without a feed', async () => {
    const { tenant } = await openOne()
    const deps = { ...depsOf(app), shopUrl: () => null }
    const refused = { code: 'feed_not_found', status: 404 }
    await assert.rejects(feeds.open(deps, tenant, FORMATS.google), refused)
  })
})
