import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { findHealthClaims } from '../../../src/modules/catalog/service.ts'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  auditOf,
  createProduct,
  createVariant,
  openLiveStore,
  PRODUCTS,
  publicUrl,
} from './setup.ts'

let app: TestApp
let acme: Caller

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  acme = await app.merchant('acme')
})

const issuePaths = (body: { issues?: { path: string }[] }) => body.issues?.map(({ path }) => path)

describe('creating a product', () => {
  test('answers all members, active unless another status is sent', async () => {
    const { status, body } = await acme.post(PRODUCTS, { slug: 'lamp', name: 'Lamp' })
    assert.equal(status, 201)
    const { id, created_at, updated_at, ...rest } = body.product
    assert.deepEqual(rest, {
      tenant_ref: 'acme',
      slug: 'lamp',
      name: 'Lamp',
      description: null,
      status: 'active',
      image_asset_ref: null,
      image_url: null,
      is_subscription: false,
      subscription_interval: null,
      subscription_interval_count: null,
      subscription_price_cents: null,
      images: [],
      option_names: [],
      variants: [],
      metadata: {},
      activation_request: null,
    })
    assert.ok(created_at && updated_at)
    assert.deepEqual(body.warnings, [])
    assert.deepEqual(
      body.activation_warnings.map(({ code }: { code: string }) => code),
      ['no_price', 'no_image'],
    )
    const [entry] = await auditOf(app, 'acme', 'product.created')
    assert.equal(entry?.entity, `product:${id}`)
    assert.match(entry?.actor ?? '', /^merchant_key:/)
  })

  test('accepts a draft, a description, metadata and a subscription', async () => {
    const product = await createProduct(acme, 'coffee-club', {
      status: 'draft',
      description: 'Beans,\neach month.',
      subscription_interval: 'month',
      subscription_price_cents: 1_200,
      metadata: { origin: { country: 'ET' }, scores: [86.5, null] },
    })
    assert.equal(product.status, 'draft')
    assert.equal(product.description, 'Beans,\neach month.')
    assert.equal(product.is_subscription, true)
    assert.equal(product.subscription_interval_count, 1)
    assert.equal(product.subscription_price_cents, 1_200)
    assert.deepEqual(product.metadata, { origin: { country: 'ET' }, scores: [86.5, null] })
  })

  test('refuses a slug that a living product of the store has, and allows it in another store', async () => {
    await createProduct(acme, 'taken')
    const again = await acme.post(PRODUCTS, { slug: 'taken', name: 'Again' })
    assert.equal(again.status, 409)
    assert.equal(again.body.error.code, 'slug_exists')
    await createProduct(await app.merchant('globex'), 'taken')
  })

  test('gives the slug to one of a hundred concurrent requests, and 409 to the others', async () => {
    const wanted = { slug: 'rush', name: 'Rush' }
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => acme.post(PRODUCTS, wanted)),
    )
    const counts = Map.groupBy(answers, ({ status }) => status)
    assert.equal(counts.get(201)?.length, 1)
    assert.equal(counts.get(409)?.length, 99)
    const entries = await auditOf(app, 'acme', 'product.created')
    assert.equal(entries.filter(({ after }) => after?.slug === 'rush').length, 1)
  })

  test('accepts slugs of every script, and finds one however its accents are typed', async () => {
    for (const slug of [
      'a',
      '7',
      'snow_boots-2',
      'ürün',
      '山茶花',
      'शर्ट',
      'рубашка',
      'x'.repeat(200),
    ]) {
      assert.equal((await createProduct(acme, slug)).slug, slug.normalize('NFC'))
    }
    const twin = await acme.post(PRODUCTS, { slug: 'u\u0308ru\u0308n', name: 'The same word' })
    assert.equal(twin.body.error.code, 'slug_exists')
  })

  const WRONG: Record<string, unknown>[] = [
    ...[
      '',
      ' ',
      '-a',
      'a-',
      'A',
      'a b',
      'a/b',
      'a.b',
      '..',
      'a?b',
      'Ürün',
      'a\u200bb',
      'a\nb',
      'a%20b',
      '\u0301a',
      'x'.repeat(201),
      '\u0958'.repeat(150),
      7,
      null,
      ['a'],
    ].map((slug) => ({ slug })),
    ...['', ' ', 'a\nb', 'a\u0007b', 'a\u2028b', 'x'.repeat(301), 7, null].map((name) => ({
      name,
    })),
    ...['\u0007', 'x'.repeat(20_001), 7].map((description) => ({ description })),
    ...['archived', 'Active', '', null].map((status) => ({ status })),
    ...[[], 'x', null, { large: 'x'.repeat(16_384) }].map((metadata) => ({ metadata })),
    ...[-1, 1.5, '100', 1e12, null].flatMap((price) =>
      price === null ? [] : [{ subscription_interval: 'day', subscription_price_cents: price }],
    ),
    ...[0, -1, 1.5, 1_001, '1'].map((count) => ({
      subscription_interval: 'day',
      subscription_interval_count: count,
    })),
    { is_subscription: true },
    { is_subscription: 'true' },
    { is_subscription: false, subscription_interval: 'day' },
    { subscription_interval: 'hour' },
    { subscription_price_cents: 100 },
  ]

  test('refuses invalid members with their path, and writes nothing', async () => {
    const { body } = await acme.get(PRODUCTS)
    for (const wrong of WRONG) {
      const answer = await acme.post(PRODUCTS, { slug: `bad-${randomUUID()}`, name: 'x', ...wrong })
      assert.equal(answer.status, 400, `${JSON.stringify(wrong)}: ${answer.text}`)
      assert.equal(answer.body.error.code, 'invalid_body')
      const [path = ''] = issuePaths(answer.body) ?? []
      assert.match(path, /^(slug|name|description|status|metadata|is_subscription|subscription_)/)
    }
    assert.equal((await acme.get(PRODUCTS)).body.total, body.total)
  })

  test('names all members that break a rule at once', async () => {
    const large = { large: 'x'.repeat(16_384) }
    const wrong = {
      slug: '\u0958'.repeat(150),
      subscription_interval_count: 2,
      subscription_price_cents: 1,
      metadata: large,
    }
    const paths = ['slug', 'subscription_interval_count', 'subscription_price_cents', 'metadata']
    assert.deepEqual(issuePaths((await acme.post(PRODUCTS, { ...wrong, name: 'x' })).body), paths)
    const { id } = await createProduct(acme, randomUUID())
    const url = `${PRODUCTS}/${id}`
    const patched = await acme.patch(url, { ...wrong, status: 'draft' })
    assert.deepEqual(issuePaths(patched.body), ['status', ...paths])
    await createVariant(acme, id, { sku: randomUUID(), price_cents: 1, gift_card: true })
    const subscribed = { subscription_interval: 'day', metadata: large }
    assert.deepEqual(issuePaths((await acme.patch(url, subscribed)).body), [
      'is_subscription',
      'metadata',
    ])
  })

  test('needs a slug and a name', async () => {
    assert.deepEqual(issuePaths((await acme.post(PRODUCTS, { name: 'x' })).body), ['slug'])
    assert.deepEqual(issuePaths((await acme.post(PRODUCTS, { slug: 'x1' })).body), ['name'])
    assert.equal((await acme.post(PRODUCTS)).status, 400)
  })
})

describe('health claims in a product', () => {
  test('are warnings, and the product is stored', async () => {
    const claim = { name: 'Balm', description: 'Our balm cures cancer.' }
    const { status, body } = await acme.post(PRODUCTS, { slug: 'balm', ...claim })
    assert.equal(status, 201)
    assert.deepEqual(
      body.warnings.map(({ path, rule }: Record<string, string>) => [path, rule]),
      [['/description', 'disease_claim']],
    )
    const url = `${PRODUCTS}/${body.product.id}`
    const mended = await acme.patch(url, { description: 'A balm.' })
    assert.deepEqual(mended.body.warnings, [])
  })

  test('are null if the scan cannot run, and the product is stored all the same', async () => {
    const broken = () => Promise.reject(new Error('no scan today'))
    assert.equal(await findHealthClaims({ name: 'Balm', description: null }, broken), null)
  })
})

describe('reading products', () => {
  test('lists all of them, newest first, unless a page is requested', async () => {
    const shop = await app.merchant('lister')
    for (let n = 0; n < 30; n++) await createProduct(shop, `p-${n}`)
    const all = (await shop.get(PRODUCTS)).body
    assert.equal(all.products.length, 30)
    assert.deepEqual([all.total, all.limit, all.offset], [30, 30, 0])
    assert.equal(all.products[0].slug, 'p-29')
    const page = (await shop.get(`${PRODUCTS}?limit=2&offset=3`)).body
    assert.deepEqual(
      page.products.map(({ slug }: { slug: string }) => slug),
      ['p-26', 'p-25'],
    )
    assert.deepEqual([page.total, page.limit, page.offset], [30, 2, 3])
    const offset = (await shop.get(`${PRODUCTS}?offset=10`)).body
    assert.deepEqual([offset.products.length, offset.limit, offset.offset], [20, 25, 10])
    for (const [query, limit] of [
      ['limit=-5', 1],
      ['limit=1e9', 100],
      ['limit=x', 25],
    ] as const) {
      assert.equal((await shop.get(`${PRODUCTS}?${query}`)).body.limit, limit)
    }
  })

  test('filters by status and by a part of name, slug or SKU', async () => {
    const shop = await app.merchant('filters')
    await createProduct(shop, 'one', { name: 'Blue Ünicorn' })
    await createProduct(shop, 'two', { status: 'draft' })
    const { id } = await createProduct(shop, 'three')
    await createVariant(shop, id, { sku: 'SKU-%_9', price_cents: 1 })
    const slugs = async (query: string) =>
      (await shop.get(`${PRODUCTS}?${query}`)).body.products.map((p: { slug: string }) => p.slug)
    assert.deepEqual(await slugs('status=draft'), ['two'])
    const refused = await shop.get(`${PRODUCTS}?status=nonsense`)
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'validation_error'])
    assert.deepEqual(await slugs('q=%C3%BCnicorn'), ['one'])
    assert.deepEqual(await slugs('q=sku-%25_'), ['three'])
    assert.deepEqual(await slugs('q=TW'), ['two'])
    // Names stay as they were typed; slugs and SKUs are in Unicode form C.
    const apart = await createProduct(shop, 'cafe\u0301', { name: 'Cre\u0300me' })
    await createVariant(shop, apart.id, { sku: 'Gro\u0308\u00dfe-42', price_cents: 1 })
    for (const q of ['caf\u00e9', 'cafe\u0301', 'cr\u00e8', 'cre\u0300', 'gr\u00f6', 'gro\u0308']) {
      assert.deepEqual(await slugs(`q=${encodeURIComponent(q)}`), ['caf\u00e9'], q)
    }
  })

  test('accepts a read-only key, which is refused all changes', async () => {
    const { id } = await createProduct(acme, 'readable')
    const reader = await app.merchant('acme', 'read:own_catalog')
    assert.equal((await reader.get(`${PRODUCTS}/${id}`)).body.product.slug, 'readable')
    assert.equal((await reader.get(PRODUCTS)).status, 200)
    assert.equal((await reader.patch(`${PRODUCTS}/${id}`, { name: 'x' })).status, 403)
  })
})

describe('changing a product', () => {
  test('changes only the members that are sent', async () => {
    const made = await createProduct(acme, 'patchy', { description: 'Before', metadata: { a: 1 } })
    const url = `${PRODUCTS}/${made.id}`
    const { status, body } = await acme.patch(url, { name: 'Patched', slug: 'patched' })
    assert.equal(status, 200)
    const { updated_at, ...rest } = body.product
    const { updated_at: _, ...expected } = { ...made, updated_at, name: 'Patched', slug: 'patched' }
    assert.deepEqual(rest, expected)
    assert.ok(updated_at > (made.updated_at as string))
    assert.equal((await acme.patch(url, { description: null })).body.product.description, null)
    const [entry] = await auditOf(app, 'acme', 'product.updated')
    assert.equal(entry?.before?.description, 'Before')
    assert.equal(entry?.after?.description, null)
  })

  test('keeps the members of a subscription consistent', async () => {
    const { id } = await createProduct(acme, 'subscribed', { subscription_interval: 'week' })
    const patch = async (body: object) => {
      const answer = await acme.patch(`${PRODUCTS}/${id}`, body)
      const { product: p } = answer.body
      return p
        ? [
            p.is_subscription,
            p.subscription_interval,
            p.subscription_interval_count,
            p.subscription_price_cents,
          ]
        : answer.status
    }
    assert.deepEqual(await patch({ subscription_interval_count: 2 }), [true, 'week', 2, null])
    assert.deepEqual(await patch({ subscription_price_cents: 5 }), [true, 'week', 2, 5])
    assert.deepEqual(await patch({ is_subscription: true }), [true, 'week', 2, 5])
    assert.equal(await patch({ is_subscription: true, subscription_interval: null }), 400)
    assert.deepEqual(await patch({ is_subscription: false }), [false, null, null, null])
    assert.equal(await patch({ subscription_price_cents: 5 }), 400)
    assert.deepEqual(await patch({ subscription_interval: 'year' }), [true, 'year', 1, null])
    assert.deepEqual(await patch({ subscription_interval: null }), [false, null, null, null])
  })

  test('never changes the status, and refuses a slug that exists', async () => {
    const { id } = await createProduct(acme, 'steady', { status: 'draft' })
    await createProduct(acme, 'occupied')
    const url = `${PRODUCTS}/${id}`
    for (const status of ['active', 'draft', 'archived', null]) {
      const answer = await acme.patch(url, { status, name: 'not taken over' })
      assert.equal(answer.status, 400)
      assert.deepEqual(issuePaths(answer.body), ['status'])
    }
    const taken = await acme.patch(url, { slug: 'occupied', name: 'not taken over' })
    assert.equal(taken.body.error.code, 'slug_exists')
    assert.equal((await acme.get(url)).body.product.name, 'steady')
    assert.equal((await acme.patch(url, { slug: 'steady' })).status, 200)
  })
})

describe('the status of a product', () => {
  test('is archived once, and archiving again changes nothing', async () => {
    const { id } = await createProduct(acme, 'old')
    for (let n = 0; n < 2; n++) {
      const { status, body } = await acme.post(`${PRODUCTS}/${id}/archive`)
      assert.deepEqual([status, body.product.status], [200, 'archived'])
    }
    const entries = await auditOf(app, 'acme', 'product.archived')
    assert.equal(entries.filter(({ entity }) => entity === `product:${id}`).length, 1)
  })

  test('goes from draft to active only by the operator, with an audit entry', async () => {
    const { id } = await createProduct(acme, 'wip', { status: 'draft' })
    const url = `/v1/stores/acme/products/${id}/activate`
    assert.equal((await acme.post(url)).status, 401)
    for (let n = 0; n < 2; n++) {
      const { status, body } = await app.operator.post(url)
      assert.deepEqual([status, body.product.status], [200, 'active'])
    }
    const entries = await auditOf(app, 'acme', 'product.activated')
    assert.deepEqual(
      entries.map(({ actor }) => actor),
      ['operator'],
    )
    await acme.post(`${PRODUCTS}/${id}/archive`)
    const late = await app.operator.post(url)
    assert.equal(late.status, 409)
    assert.equal(late.body.error.code, 'invalid_transition')
    assert.deepEqual([late.body.current_status, late.body.allowed], ['archived', []])
    for (const [store, other] of [
      ['globex', id],
      ['acme', randomUUID()],
      ['acme', 'x'],
    ]) {
      const missing = await app.operator.post(`/v1/stores/${store}/products/${other}/activate`)
      assert.equal(missing.body.error.code, 'product_not_found')
    }
  })
})

describe('an archived product', () => {
  const unarchive = (id: string, store = 'acme') =>
    app.operator.post(`/v1/stores/${store}/products/${id}/unarchive`)

  test('frees its slug for a new product, which public reads find, and keeps its SKUs', async () => {
    const initech = await openLiveStore(app, 'initech')
    const old = await createProduct(initech, 'shared')
    await createVariant(initech, old.id, { sku: 'KEPT', price_cents: 1 })
    await initech.post(`${PRODUCTS}/${old.id}/archive`)
    const living = await createProduct(initech, 'shared')
    const read = await app.anyone.get(publicUrl('initech', 'products/shared'))
    assert.equal(read.body.product.id, living.id)
    const variant = { sku: 'KEPT', price_cents: 1 }
    const taken = await initech.post(`${PRODUCTS}/${living.id}/variants`, variant)
    assert.equal(taken.body.error.code, 'sku_exists')
    const again = await initech.post(PRODUCTS, { slug: 'shared', name: 'A third' })
    assert.equal(again.body.error.code, 'slug_exists')
    await initech.post(`${PRODUCTS}/${living.id}/archive`)
    const gone = await app.anyone.get(publicUrl('initech', 'products/shared'))
    assert.equal(gone.body.error.code, 'product_not_found')
  })

  test('is made a draft again by the operator alone, unless its slug is taken', async () => {
    const { id } = await createProduct(acme, 'back')
    await acme.post(`${PRODUCTS}/${id}/archive`)
    const { id: heir } = await createProduct(acme, 'back')
    const taken = await unarchive(id)
    assert.deepEqual([taken.status, taken.body.error.code], [409, 'slug_exists'])
    await acme.patch(`${PRODUCTS}/${heir}`, { slug: 'heir' })
    assert.equal((await acme.post(`/v1/stores/acme/products/${id}/unarchive`)).status, 401)
    for (let n = 0; n < 2; n++) {
      const { status, body } = await unarchive(id)
      assert.deepEqual([status, body.product.status, body.product.slug], [200, 'draft', 'back'])
    }
    const entries = await auditOf(app, 'acme', 'product.unarchived')
    assert.deepEqual(
      entries.map(({ actor, entity }) => [actor, entity]),
      [['operator', `product:${id}`]],
    )
    assert.equal((await unarchive(heir)).body.product.status, 'active')
    for (const [other, store] of [
      [id, 'globex'],
      [randomUUID(), 'acme'],
      ['x', 'acme'],
    ] as const) {
      assert.equal((await unarchive(other, store)).body.error.code, 'product_not_found')
    }
  })

  test('gives its slug to one of twenty products that ask for it at once', async () => {
    const { id } = await createProduct(acme, 'wanted')
    await acme.post(`${PRODUCTS}/${id}/archive`)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 5 === 0 ? unarchive(id) : acme.post(PRODUCTS, { slug: 'wanted', name: 'New' }),
      ),
    )
    const living = (await acme.get(`${PRODUCTS}?q=wanted`)).body.products.filter(
      (each: { status: string }) => each.status !== 'archived',
    )
    assert.equal(living.length, 1)
    for (const { status, text } of answers) assert.ok([200, 201, 409].includes(status), text)
  })
})
