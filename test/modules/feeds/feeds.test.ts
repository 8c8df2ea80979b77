import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { addSample, uploadDrawing } from '../../harness/sample-products.ts'
import { suiteScope } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { stock } from '../checkout/setup.ts'
import {
  describeProduct,
  google,
  one,
  openai,
  openOne,
  parseLines,
  type Row,
  readGoogle,
  readOpenai,
  rowsOf,
  VASE,
} from './setup.ts'

let app: TestApp
let superuser: pg.Client

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  superuser = await openSuperuser(scope, app.database)
})

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
    const { tenant, id, ids } = await openOne(app)
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
    const { tenant, merchant, id } = await openOne(app)
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
    const rows = (await readGoogle(app, tenant)).filter((row) => row.item_group_id !== '')
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

  test('has brand, identifiers, condition and weight from the metadata', async () => {
    const { tenant, merchant, id, ids } = await openOne(app)
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
    const row = one(await readGoogle(app, tenant))
    const shown = ['brand', 'condition', 'google_product_category', 'gtin', 'mpn']
    assert.deepEqual(
      [...shown, 'identifier_exists', 'product_weight', 'shipping_weight'].map((name) => row[name]),
      ['Aster & Co', 'used', '602', '4006381333931', 'M-1', 'yes', '850 g', '850 g'],
    )
    const item = one(await readOpenai(app, tenant))
    assert.deepEqual(
      [item.brand, item.gtin, item.mpn, item.condition, item.weight, item.item_weight_unit],
      ['Aster & Co', '4006381333931', 'M-1', 'used', '850', 'g'],
    )
    const wrong = { gtin: '4006381333932', condition: 'mint', weight_grams: -1, brand: {}, mpn: [] }
    await merchant.patch(product, { metadata: wrong })
    await merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
      metadata: {},
    })
    const plain = one(await readGoogle(app, tenant))
    assert.deepEqual(
      [plain.gtin, plain.condition, plain.product_weight, plain.brand, plain.identifier_exists],
      ['', 'new', '', `Shop ${tenant}`, 'no'],
    )
  })

  test('leaves out what Google refuses: a variant without an image or a price', async () => {
    const { tenant, merchant } = await openOne(app, { ...VASE, images: [] })
    assert.deepEqual(await readGoogle(app, tenant), [])
    assert.deepEqual(await readOpenai(app, tenant), [])
    const image = await uploadDrawing(merchant, [200, 200], 10)
    await addSample(merchant, {
      slug: 'free',
      name: 'Sample',
      images: [image],
      variants: [{ sku: 'FREE', price_cents: 0 }],
    })
    assert.deepEqual(await readGoogle(app, tenant), [])
  })
})

describe('the feed for OpenAI', () => {
  test('has a line of JSON for each variant, with every field that OpenAI requires', async () => {
    const { tenant, ids } = await openOne(app)
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

  test('states only what the store has stated', async () => {
    const { tenant } = await openOne(app, VASE, {})
    const item = one(await readOpenai(app, tenant))
    for (const name of ['shipping_price', 'store_country', 'target_countries', 'return_policy']) {
      assert.equal(name in item, false, name)
    }
    assert.equal(one(await readGoogle(app, tenant)).shipping, '')
  })
})

describe('the products of a feed', () => {
  const titles = async (tenant: string) => (await readGoogle(app, tenant)).map(({ title }) => title)
  const both = async (tenant: string) => [
    await titles(tenant),
    (await readOpenai(app, tenant)).map(({ title }) => title),
  ]

  test('are the active ones: no draft, no archived product, no archived variant', async () => {
    const { tenant, merchant, id, image } = await openOne(app)
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

  test('the products of a feed that are sold out say so, and are in stock again', async () => {
    const { tenant, merchant, ids } = await openOne(app)
    const availability = async () => [
      one(await readGoogle(app, tenant)).availability,
      one(await readOpenai(app, tenant)).availability,
    ]
    await stock(merchant, ids.VASE ?? '', 0)
    assert.deepEqual(await availability(), ['out_of_stock', 'out_of_stock'])
    await stock(merchant, ids.VASE ?? '', 3)
    assert.deepEqual(await availability(), ['in_stock', 'in_stock'])
  })

  test('the products of a feed that the claim scanner refuses are left out, until their text is corrected', async () => {
    const { tenant, merchant, id, image } = await openOne(app)
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
    const { tenant } = await openOne(app, {
      ...VASE,
      variants: [
        {
          sku: 'X',
          price_cents: 100,
          options: [{ name: 'Use', value: 'Treats diabetes' }],
        },
      ],
    })
    assert.deepEqual(await readGoogle(app, tenant), [])
  })

  test('are scanned once for each text, whatever else of the product changes', async () => {
    const { tenant, merchant, id, ids } = await openOne(app)
    const scans = async () => {
      const { rows } = await superuser.query(
        'select scanned_at, passed from product_scans where tenant_ref = $1 and product_id = $2',
        [tenant, id],
      )
      return rows
    }
    await readGoogle(app, tenant)
    const [first] = await scans()
    assert.equal(first.passed, true)
    await merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
      price_cents: 100,
    })
    assert.equal(one(await readGoogle(app, tenant)).price, '1.00 USD')
    assert.deepEqual(await scans(), [first])
    await describeProduct(merchant, id, 'Another text.')
    await readOpenai(app, tenant)
    assert.notDeepEqual(await scans(), [first])
    await superuser.query(`update product_scans set rules_version = 'older', passed = false`)
    assert.equal(
      (await readGoogle(app, tenant)).length,
      1,
      'a verdict by other rules does not count',
    )
  })
})
