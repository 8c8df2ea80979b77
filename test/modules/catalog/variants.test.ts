import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { variantsForSale } from '../../../src/modules/catalog/service.ts'
import { type Answer, type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  auditOf,
  createCollection,
  createProduct,
  createVariant,
  openLiveStore,
  PRODUCTS,
  publicUrl,
} from './setup.ts'

let app: TestApp
let acme: Caller
let url: string
let productId: string

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  acme = await app.merchant('acme')
  productId = (await createProduct(acme, 'shirt')).id
  url = `${PRODUCTS}/${productId}/variants`
})

const times2 = <T>(value: T) => [value, value]

const codeOf = (answer: { status: number; body: { error?: { code: string } } }) => [
  answer.status,
  answer.body.error?.code,
]

describe('creating a variant', () => {
  test("answers all members, in the store's currency, after the other variants", async () => {
    await acme.patch('/v1/my/store', { currency: 'EUR' })
    const { status, body } = await acme.post(url, { sku: 'S-1', price_cents: 1_999 })
    assert.equal(status, 201)
    const { id, created_at, updated_at, ...rest } = body.variant
    assert.deepEqual(rest, {
      tenant_ref: 'acme',
      product_id: productId,
      sku: 'S-1',
      label: null,
      options: [],
      image_asset_ref: null,
      price_cents: 1_999,
      compare_at_price_cents: null,
      lowest_price_30_days_cents: null,
      currency: 'EUR',
      content_amount: null,
      content_unit: null,
      gift_card: false,
      position: 0,
      metadata: {},
      archived_at: null,
    })
    const second = await createVariant(acme, productId, {
      sku: 'S-2',
      label: 'Blue / L',
      price_cents: 0,
      currency: 'JPY',
    })
    assert.deepEqual([second.position, second.currency, second.price_cents], [1, 'JPY', 0])
    const { product } = (await acme.get(`${PRODUCTS}/${productId}`)).body
    assert.deepEqual(product.variants, [body.variant, second])
    const entries = await auditOf(app, 'acme', 'variant.created')
    assert.deepEqual(
      entries.map(({ entity }) => entity).toSorted(),
      [`variant:${id}`, `variant:${second.id}`].toSorted(),
    )
  })

  test('refuses a SKU that any product of the store has', async () => {
    const other = await createProduct(acme, 'trousers')
    await createVariant(acme, other.id, { sku: 'ONE', price_cents: 1 })
    const taken = await acme.post(url, { sku: 'ONE', price_cents: 1 })
    assert.deepEqual(codeOf(taken), [409, 'sku_exists'])
    const globex = await app.merchant('globex')
    await createVariant(globex, (await createProduct(globex, 'x')).id, {
      sku: 'ONE',
      price_cents: 1,
    })
  })

  test('is refused for an archived product', async () => {
    const { id } = await createProduct(acme, 'old-coat')
    await acme.post(`${PRODUCTS}/${id}/archive`)
    const late = await acme.post(`${PRODUCTS}/${id}/variants`, { sku: 'LATE', price_cents: 1 })
    assert.deepEqual(codeOf(late), [409, 'invalid_transition'])
    assert.equal(late.body.current_status, 'archived')
    await createVariant(acme, productId, { sku: 'LATE', price_cents: 1 })
  })

  test('gives the SKU to one of a hundred requests at once, on two products', async () => {
    const other = await createProduct(acme, 'socks')
    const targets = [url, `${PRODUCTS}/${other.id}/variants`]
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        acme.post(targets[n % 2] ?? '', { sku: 'RUSH', price_cents: n }),
      ),
    )
    const counts = Map.groupBy(answers, ({ status }) => status)
    assert.equal(counts.get(201)?.length, 1)
    assert.equal(counts.get(409)?.length, 99)
  })

  test('accepts SKUs of every script, with spaces within, and the largest price', async () => {
    for (const sku of ['a', 'AB 12/3#', 'Größe-42', '型番７', 'x'.repeat(100)]) {
      assert.equal(
        (await createVariant(acme, productId, { sku, price_cents: 100_000_000_000 })).sku,
        sku,
      )
    }
  })

  test('refuses invalid members with their path, and writes nothing', async () => {
    const count = async () =>
      (await acme.get(`${PRODUCTS}/${productId}`)).body.product.variants.length
    const had = await count()
    const wrong: [string, unknown][] = [
      ...['', ' a', 'a ', '\t', 'a\u0000b', 'a\u200bb', 'a\nb', 'x'.repeat(101), 7, null].map(
        (sku): [string, unknown] => ['sku', sku],
      ),
      ...[-1, 1.5, '100', 100_000_000_001, 1e300, null, {}, true].map(
        (price): [string, unknown] => ['price_cents', price],
      ),
      ...['', 'a\nb', 'x'.repeat(301), 7].map((label): [string, unknown] => ['label', label]),
      ...['usd', 'US', 'XQZ', '', null, 840].map((code): [string, unknown] => ['currency', code]),
      ...[-1, 0.5, 1_000_001].map((at): [string, unknown] => ['position', at]),
      ['metadata', { large: 'x'.repeat(16_384) }],
      // In Unicode form C each of these is two characters.
      ['sku', '\u0958'.repeat(51)],
    ]
    for (const [member, value] of wrong) {
      const body = { sku: `bad-${randomUUID()}`, price_cents: 1, [member]: value }
      const answer = await acme.post(url, body)
      assert.deepEqual(codeOf(answer), [400, 'invalid_body'], `${member} ${JSON.stringify(value)}`)
    }
    assert.deepEqual(codeOf(await acme.post(url, { sku: 'x' })), [400, 'invalid_body'])
    assert.deepEqual(codeOf(await acme.post(url, { price_cents: 1 })), [400, 'invalid_body'])
    assert.equal(await count(), had)
  })

  test('is refused with all members that break a rule at once', async () => {
    const club = await createProduct(acme, randomUUID(), { subscription_interval: 'month' })
    const variants = `${PRODUCTS}/${club.id}/variants`
    const wrong = {
      sku: '\u0958'.repeat(51),
      options: ['Size', 'Colour', 'size', 'COLOUR'].map((name) => ({ name, value: 'x' })),
      image_asset_ref: 'asset:acme/none.png',
      currency: 'XQZ',
      content_amount: 5,
      gift_card: true,
      price_cents: 0,
      metadata: { large: 'x'.repeat(16_384) },
    }
    const paths = [
      'sku',
      'options.2.name',
      'options.3.name',
      'image_asset_ref',
      'currency',
      'content_unit',
      'gift_card',
      'price_cents',
      'metadata',
    ]
    const pathsOf = ({ body }: Answer) => body.issues.map(({ path }: { path: string }) => path)
    assert.deepEqual(pathsOf(await acme.post(variants, wrong)), paths)
    const { id } = await createVariant(acme, club.id, { sku: randomUUID(), price_cents: 1 })
    assert.deepEqual(pathsOf(await acme.patch(`${variants}/${id}`, wrong)), paths)
  })

  test('reads a price as the same number, however the number is written', async () => {
    const send = async (price: string) => {
      const answer = await fetch(app.url + url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await app.key('acme')}`,
          'content-type': 'application/json',
        },
        body: `{"sku": "${randomUUID()}", "price_cents": ${price}}`,
      })
      const { variant } = (await answer.json()) as { variant?: { price_cents: number } }
      return variant?.price_cents ?? answer.status
    }
    assert.equal(await send('1e3'), 1_000)
    assert.equal(await send('10.0'), 10)
    assert.equal(await send('-0'), 0)
    for (const price of ['1e-1', '1e400', '9007199254740993', '0x10', '01', 'NaN', '1_0']) {
      assert.equal(await send(price), 400, price)
    }
  })

  test('is refused without a product of the store', async () => {
    const foreign = await createProduct(await app.merchant('globex'), 'foreign')
    for (const id of [randomUUID(), 'x', foreign.id]) {
      const answer = await acme.post(`${PRODUCTS}/${id}/variants`, { sku: 'n', price_cents: 1 })
      assert.deepEqual(codeOf(answer), [404, 'product_not_found'])
    }
  })
})

describe('changing a variant', () => {
  test('changes only the members that are sent', async () => {
    const made = await createVariant(acme, productId, { sku: 'C-1', label: 'L', price_cents: 5 })
    const { body } = await acme.patch(`${url}/${made.id}`, { price_cents: 7, position: 9 })
    const { updated_at, ...rest } = body.variant
    const { updated_at: _, ...expected } = { ...made, updated_at, price_cents: 7, position: 9 }
    assert.deepEqual(rest, expected)
    const bare = await acme.patch(`${url}/${made.id}`, { label: null, sku: 'C-2' })
    assert.deepEqual([bare.body.variant.label, bare.body.variant.sku], [null, 'C-2'])
    const [entry] = await auditOf(app, 'acme', 'variant.updated')
    assert.deepEqual([entry?.before?.sku, entry?.after?.sku], ['C-1', 'C-2'])
  })

  test('refuses a SKU that exists, and a variant of another product', async () => {
    const made = await createVariant(acme, productId, { sku: 'D-1', price_cents: 5 })
    await createVariant(acme, productId, { sku: 'D-2', price_cents: 5 })
    const taken = await acme.patch(`${url}/${made.id}`, { sku: 'D-2', price_cents: 6 })
    assert.deepEqual(codeOf(taken), [409, 'sku_exists'])
    const grown = await acme.patch(`${url}/${made.id}`, { sku: '\u0958'.repeat(51) })
    assert.deepEqual(codeOf(grown), [400, 'invalid_body'])
    const other = await createProduct(acme, 'hat')
    for (const path of [
      `${other.id}/variants/${made.id}`,
      `${productId}/variants/${randomUUID()}`,
      `x/variants/y`,
    ]) {
      const missing = await acme.patch(`${PRODUCTS}/${path}`, { price_cents: 6 })
      assert.deepEqual(codeOf(missing), [404, 'variant_not_found'])
      assert.deepEqual(codeOf(await acme.post(`${PRODUCTS}/${path}/archive`)), [
        404,
        'variant_not_found',
      ])
    }
    const { product } = (await acme.get(`${PRODUCTS}/${productId}`)).body
    const kept = product.variants.find(({ id }: { id: string }) => id === made.id)
    assert.equal(kept.price_cents, 5)
  })

  test('archives it once and for good, and its SKU stays in use', async () => {
    const made = await createVariant(acme, productId, { sku: 'E-1', price_cents: 5 })
    const first = await acme.post(`${url}/${made.id}/archive`)
    const second = await acme.post(`${url}/${made.id}/archive`)
    assert.ok(first.body.variant.archived_at)
    assert.deepEqual(second.body, first.body)
    const again = await acme.post(url, { sku: 'E-1', price_cents: 1 })
    assert.deepEqual(codeOf(again), [409, 'sku_exists'])
    const entries = await auditOf(app, 'acme', 'variant.archived')
    assert.equal(entries.length, 1)
  })
})

describe('variants for sale', () => {
  test('are the unarchived ones of active products, with the members that a price depends on', async () => {
    const club = await createProduct(acme, 'club', {
      name: 'Coffee Club',
      subscription_interval: 'month',
      subscription_price_cents: 900,
    })
    const draft = await createProduct(acme, 'soon', { status: 'draft' })
    const gone = await createProduct(acme, 'gone')
    const sold = await createVariant(acme, club.id, {
      sku: 'F-1',
      label: 'Whole',
      price_cents: 1_000,
    })
    const archived = await createVariant(acme, club.id, { sku: 'F-2', price_cents: 1 })
    const hidden = await createVariant(acme, draft.id, { sku: 'F-3', price_cents: 1 })
    const past = await createVariant(acme, gone.id, { sku: 'F-4', price_cents: 1 })
    const globex = await app.merchant('globex')
    const foreign = await createVariant(globex, (await createProduct(globex, 'y')).id, {
      sku: 'F-5',
      price_cents: 1,
    })
    await acme.post(`${PRODUCTS}/${club.id}/variants/${archived.id}/archive`)
    await acme.post(`${PRODUCTS}/${gone.id}/archive`)
    await createCollection(acme, 'gifts', [club.id])
    await createCollection(acme, 'beans', [club.id])
    const ids = [sold, archived, hidden, past, foreign].map(({ id }) => id)
    const db = app.runtime.database.tenant('acme')
    assert.deepEqual(await variantsForSale(db, [...ids, ids[0] ?? '', 'garbage']), [
      {
        variant_id: sold.id,
        product_id: club.id,
        product_name: 'Coffee Club',
        sku: 'F-1',
        label: 'Whole',
        price_cents: 1_000,
        currency: 'EUR',
        gift_card: false,
        is_subscription: true,
        subscription_interval: 'month',
        subscription_interval_count: 1,
        subscription_price_cents: 900,
        collection_slugs: ['beans', 'gifts'],
      },
    ])
    assert.deepEqual(await variantsForSale(db, []), [])
  })
})

describe('the options of a variant', () => {
  const RED_L = [
    { name: 'Colour', value: 'Red' },
    { name: 'Size', value: 'L' },
  ]

  test('are shown to merchants and shoppers, and give the product its option names', async () => {
    const merchant = await openLiveStore(app, 'optical')
    const { id } = await createProduct(merchant, 'shirt')
    const made = await createVariant(merchant, id, {
      sku: 'A',
      price_cents: 100,
      options: [{ name: ' Colour', value: 'Réd ' }, RED_L[1]],
    })
    assert.deepEqual(made.options, [{ name: 'Colour', value: 'Réd' }, RED_L[1]])
    const fit = [
      { name: 'size', value: 'M' },
      { name: 'Fit', value: 'Slim' },
    ]
    const last = await createVariant(merchant, id, { sku: 'B', price_cents: 100, options: fit })
    const names = async () => [
      (await merchant.get(`${PRODUCTS}/${id}`)).body.product.option_names,
      (await app.anyone.get(publicUrl('optical', 'products/shirt'))).body.product.option_names,
    ]
    assert.deepEqual(await names(), times2(['Colour', 'Size', 'Fit']))
    const { product } = (await app.anyone.get(publicUrl('optical', 'products/shirt'))).body
    assert.deepEqual(product.variants[1].options, fit)
    await merchant.post(`${PRODUCTS}/${id}/variants/${last.id}/archive`)
    assert.deepEqual(await names(), times2(['Colour', 'Size']))
  })

  test('are unique within the product, in whatever order and case they are sent', async () => {
    const { id } = await createProduct(acme, randomUUID())
    const options = RED_L
    const first = await createVariant(acme, id, { sku: randomUUID(), price_cents: 1, options })
    const same = RED_L.toReversed().map(({ name, value }) => ({
      name: name.toUpperCase(),
      value: value.toLowerCase(),
    }))
    const variants = `${PRODUCTS}/${id}/variants`
    const twin = { sku: randomUUID(), price_cents: 1, options: same }
    assert.deepEqual(codeOf(await acme.post(variants, twin)), [409, 'options_exist'])
    const other = await createVariant(acme, id, { sku: randomUUID(), price_cents: 1 })
    const patched = await acme.patch(`${variants}/${other.id}`, { options })
    assert.deepEqual(codeOf(patched), [409, 'options_exist'])
    assert.equal((await acme.patch(`${variants}/${first.id}`, { options: same })).status, 200)
    await acme.post(`${variants}/${first.id}/archive`)
    assert.equal((await acme.patch(`${variants}/${other.id}`, { options })).status, 200)
    assert.equal((await acme.patch(`${variants}/${other.id}`, { price_cents: 2 })).status, 200)
    const { body } = await acme.get(`${PRODUCTS}/${id}`)
    assert.deepEqual(body.product.variants[1].options, options)
  })

  test('go to one of twenty variants that are created at once', async () => {
    const { id } = await createProduct(acme, randomUUID())
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        acme.post(`${PRODUCTS}/${id}/variants`, {
          sku: randomUUID(),
          price_cents: 1,
          options: RED_L,
        }),
      ),
    )
    const counts = Map.groupBy(answers, ({ status }) => status)
    assert.deepEqual([counts.get(201)?.length, counts.get(409)?.length], [1, 19])
  })

  test('are refused when they are too many, too long, empty or named twice', async () => {
    const { id } = await createProduct(acme, randomUUID())
    const six = Array.from({ length: 6 }, (_, n) => ({ name: `n${n}`, value: 'x' }))
    const wrong = [
      six,
      [{ name: 'Size' }],
      [{ name: '', value: 'x' }],
      [{ name: 'Size', value: ' ' }],
      [{ name: 'x'.repeat(51), value: 'x' }],
      [{ name: 'x', value: 'x'.repeat(101) }],
      [{ name: 'Size', value: 'a\nb' }],
      [
        { name: 'Size', value: 'L' },
        { name: 'size ', value: 'M' },
      ],
      'Size',
      null,
    ]
    for (const options of wrong) {
      const body = { sku: randomUUID(), price_cents: 1, options }
      const answer = await acme.post(`${PRODUCTS}/${id}/variants`, body)
      assert.deepEqual(codeOf(answer), [400, 'invalid_body'], JSON.stringify(options))
      assert.match(answer.body.issues[0].path, /^options/)
    }
  })

  test('count as bytes of the catalog', async () => {
    const { id } = await createProduct(acme, randomUUID())
    const used = async () => {
      const { limits } = (await acme.get('/v1/my/limits')).body
      return limits.find(({ limit }: { limit: string }) => limit === 'catalog_bytes').used
    }
    const variant = await createVariant(acme, id, { sku: randomUUID(), price_cents: 1 })
    const before = await used()
    await acme.patch(`${PRODUCTS}/${id}/variants/${variant.id}`, { options: RED_L })
    assert.ok((await used()) - before >= 50)
  })
})

describe('the price before', () => {
  test('is shown to shoppers only while it is greater than the price', async () => {
    const merchant = await openLiveStore(app, 'sales')
    const { id } = await createProduct(merchant, 'lamp')
    const sale = { sku: 'L', price_cents: 1_000, compare_at_price_cents: 1_001 }
    const variant = await createVariant(merchant, id, sale)
    const url = `${PRODUCTS}/${id}/variants/${variant.id}`
    const shown = async () => {
      const { product } = (await app.anyone.get(publicUrl('sales', 'products/lamp'))).body
      return [product.variants[0].price_cents, product.variants[0].compare_at_price_cents]
    }
    assert.deepEqual(await shown(), [1_000, 1_001])
    const raised = await merchant.patch(url, { price_cents: 1_001 })
    assert.equal(raised.body.variant.compare_at_price_cents, 1_001)
    assert.deepEqual(await shown(), [1_001, null])
    await merchant.patch(url, { price_cents: 999 })
    assert.deepEqual(await shown(), [999, 1_001])
    await merchant.patch(url, { compare_at_price_cents: null })
    assert.deepEqual(await shown(), [999, null])
    for (const compare_at_price_cents of [0, -1, 1.5, '5', 1e12]) {
      const refused = await merchant.patch(url, { compare_at_price_cents })
      assert.deepEqual(codeOf(refused), [400, 'invalid_body'])
    }
  })
})

describe('the content of a variant', () => {
  test('is an amount with its unit, set and cleared together, and public', async () => {
    const merchant = await openLiveStore(app, 'contents')
    const { id } = await createProduct(merchant, 'oil')
    const oil = { sku: 'OIL', price_cents: 1, content_amount: 750, content_unit: 'ml' }
    const variant = await createVariant(merchant, id, oil)
    const path = `${PRODUCTS}/${id}/variants/${variant.id}`
    const contentOf = ({ content_amount, content_unit }: Record<string, unknown>) => [
      content_amount,
      content_unit,
    ]
    assert.deepEqual(contentOf(variant), [750, 'ml'])
    const shown = await app.anyone.get(publicUrl('contents', 'products/oil'))
    assert.deepEqual(contentOf(shown.body.product.variants[0]), [750, 'ml'])
    const changed = await merchant.patch(path, { content_amount: 500 })
    assert.deepEqual(contentOf(changed.body.variant), [500, 'ml'])
    assert.deepEqual(contentOf((await merchant.patch(path, { price_cents: 2 })).body.variant), [
      500,
      'ml',
    ])
    const table = await merchant.get(`${PRODUCTS}/export.csv`)
    assert.match(table.text, /"?500"?,"?ml"?,/)
    const neither = { content_amount: null, content_unit: null }
    assert.deepEqual(contentOf((await merchant.patch(path, neither)).body.variant), [null, null])
  })

  test('is refused with its path when the amount or the unit is wrong or missing', async () => {
    const wrong: [string, object][] = [
      ['content_unit', { content_amount: 1 }],
      ['content_amount', { content_unit: 'g' }],
      ['content_amount', { content_amount: null, content_unit: 'g' }],
      ['content_amount', { content_amount: 0, content_unit: 'g' }],
      ['content_amount', { content_amount: 1_000_001, content_unit: 'g' }],
      ['content_amount', { content_amount: 0.5, content_unit: 'l' }],
      ['content_amount', { content_amount: '1', content_unit: 'l' }],
      ['content_unit', { content_amount: 1, content_unit: 'oz' }],
      ['content_unit', { content_amount: 1, content_unit: '' }],
    ]
    for (const [path, content] of wrong) {
      const answer = await acme.post(url, { sku: 'CONTENT', price_cents: 1, ...content })
      assert.deepEqual(codeOf(answer), [400, 'invalid_body'], JSON.stringify(content))
      assert.equal(answer.body.issues[0].path, path, answer.text)
    }
  })
})
