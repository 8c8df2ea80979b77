import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinNamed } from '../../../src/compose/join.ts'
import { COUNTED } from '../../../src/compose/limits.ts'
import { RESOURCES } from '../../harness/all-resources.ts'
import type { Caller } from '../../harness/app.ts'
import { openTestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

const PRODUCTS = '/v1/merchant/catalog/products'

type Attempt = NonNullable<Resources['beyond']>[string]
const BEYOND = joinNamed<Attempt>(RESOURCES.map(({ beyond }) => beyond))

test('limits of a store', async (t) => {
  const app = await openTestApp(t)
  const limitsOf = async (caller: Caller) => {
    const { status, body } = await caller.get('/v1/my/limits')
    assert.equal(status, 200)
    return body as {
      limits: { limit: string; used: number; max: number; source: string }[]
      bounds: { limit: string; max: number }[]
    }
  }
  const find = async (caller: Caller, name: string) => {
    const found = (await limitsOf(caller)).limits.find(({ limit }) => limit === name)
    return found && { used: found.used, max: found.max, source: found.source }
  }
  const setLimits = async (tenant: string, limits: object) => {
    const answer = await app.operator.put(`/v1/entitlements/tenants/${tenant}/limits`, limits)
    assert.equal(answer.status, 200, answer.text)
  }
  let slug = 0
  const product = () => {
    slug += 1
    return { slug: `p-${slug}`, name: `Product ${slug}` }
  }

  await t.test('each limit that triggers count has its text in the face of a module', async () => {
    const admin = await app.database.openAdmin()
    const { rows } = await admin.query(`select limit_key from usage_limits where tier = '*'`)
    const keys = rows.map(({ limit_key }) => limit_key)
    assert.deepEqual(keys.sort(), Object.keys(COUNTED).sort())
  })

  await t.test('are all listed with what is used', async () => {
    const acme = await app.merchant('listed')
    const { limits, bounds } = await limitsOf(acme)
    const names = limits.map(({ limit }) => limit)
    for (const name of [
      'products',
      'variants',
      'catalog_bytes',
      'collections',
      'collection_bytes',
      'gift_cards',
      'coupon_codes',
      'site_versions',
      'site_bytes',
      'credentials',
      'domains',
      'webhooks',
      'media_bytes',
    ]) {
      assert.ok(names.includes(name), name)
    }
    assert.ok(bounds.some(({ limit, max }) => limit === 'description_characters' && max === 20_000))
    assert.deepEqual(await find(acme, 'products'), { used: 0, max: 1_000_000, source: 'default' })
    assert.equal((await acme.post(PRODUCTS, product())).status, 201)
    assert.equal((await find(acme, 'products'))?.used, 1)
    assert.equal((await find(acme, 'credentials'))?.used, 1)
  })

  await t.test(
    'refuse beyond the limit with the limit and the count, and leave nothing behind',
    async () => {
      const acme = await app.merchant('refused')
      await setLimits('refused', { products: 1 })
      assert.equal((await acme.post(PRODUCTS, product())).status, 201)
      const refused = await acme.post(PRODUCTS, product())
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'limit_reached'])
      const { limit, max, used } = refused.body
      assert.deepEqual({ limit, max, used }, { limit: 'products', max: 1, used: 1 })
      assert.match(refused.body.error.message, /at most 1 of `products` and has 1/)
      assert.equal((await acme.get(PRODUCTS)).body.total, 1)
      assert.deepEqual(await find(acme, 'products'), { used: 1, max: 1, source: 'store' })
      await setLimits('refused', { products: null })
      assert.equal((await acme.post(PRODUCTS, product())).status, 201)
    },
  )

  await t.test('let one of many concurrent requests take the last place', async () => {
    const acme = await app.merchant('raced')
    await setLimits('raced', { products: 3 })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => acme.post(PRODUCTS, product())),
    )
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [201, 201, 201, 409, 409, 409, 409, 409, 409, 409])
    assert.equal((await find(acme, 'products'))?.used, 3)
  })

  await t.test('count the bytes of texts, also of changed ones', async () => {
    const acme = await app.merchant('bytes')
    await setLimits('bytes', { catalog_bytes: 2_000 })
    const made = await acme.post(PRODUCTS, product())
    const { id } = made.body.product
    const before = (await find(acme, 'catalog_bytes'))?.used ?? 0
    const long = await acme.patch(`${PRODUCTS}/${id}`, { description: 'ä'.repeat(500) })
    assert.equal(long.status, 200)
    assert.equal((await find(acme, 'catalog_bytes'))?.used, before + 1_000)
    const longer = await acme.patch(`${PRODUCTS}/${id}`, { description: 'x'.repeat(3_000) })
    assert.deepEqual([longer.status, longer.body.limit], [409, 'catalog_bytes'])
    // A limit that was lowered later still lets the store shrink.
    await setLimits('bytes', { catalog_bytes: 10 })
    assert.equal((await acme.patch(`${PRODUCTS}/${id}`, { description: 'short' })).status, 200)
    assert.equal((await find(acme, 'catalog_bytes'))?.used, before + 5)
  })

  await t.test('hold for a batch as a whole', async () => {
    const acme = await app.merchant('batch')
    await app.operator.put('/v1/entitlements/tenants/batch/features/gift_cards', { state: 'allow' })
    await setLimits('batch', { gift_cards: 5 })
    const issue = (count: number, key: string) =>
      acme.post(
        '/v1/merchant/gift-cards/batch',
        { count, initial_balance_cents: 100 },
        { 'idempotency-key': key },
      )
    assert.equal((await issue(4, 'a')).status, 201)
    const refused = await issue(2, 'b')
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'limit_reached'])
    assert.deepEqual([refused.body.max, refused.body.used], [5, 4])
    assert.equal((await issue(1, 'c')).status, 201)
    assert.equal((await find(acme, 'gift_cards'))?.used, 5)
  })

  await t.test('hold for everything that a store can create', async () => {
    const acme = await app.merchant('kinds')
    for (const [limit, attempt] of Object.entries(BEYOND)) {
      await setLimits('kinds', { [limit]: 0 })
      const refused = await attempt(acme)
      assert.deepEqual([refused.status, refused.body.limit], [409, limit], refused.text)
      await setLimits('kinds', { [limit]: null })
    }
    for (const attempt of Object.values(BEYOND)) assert.ok((await attempt(acme)).status !== 503)
  })

  await t.test('can be set for a tier and for all stores', async () => {
    const acme = await app.merchant('tiered')
    const set = (body: object) => app.operator.put('/v1/entitlements/limits', body)
    assert.equal((await set({ tier: 'growth', limits: { bans: 7 } })).status, 200)
    assert.deepEqual(await find(acme, 'bans'), { used: 0, max: 1_000_000, source: 'default' })
    await app.operator.put('/v1/entitlements/tenants/tiered/tier', { tier: 'growth' })
    assert.deepEqual(await find(acme, 'bans'), { used: 0, max: 7, source: 'tier' })
    assert.equal((await set({ limits: { bans: 9 } })).status, 200)
    assert.equal((await find(acme, 'bans'))?.max, 7)
    assert.equal((await set({ tier: 'growth', limits: { bans: null } })).status, 200)
    assert.deepEqual(await find(acme, 'bans'), { used: 0, max: 9, source: 'default' })
    const missing = await set({ limits: { bans: null } })
    assert.deepEqual([missing.status, missing.body.issues[0].path], [400, 'limits.bans'])
  })

  await t.test('bound the variants of a product', async () => {
    const acme = await app.merchant('many')
    const p = (await acme.post(PRODUCTS, product())).body.product
    const db = await app.store('many')
    const admin = await app.database.openAdmin()
    await admin.query(
      `insert into variants (tenant_ref, product_id, sku, price_cents, currency)
       select $1, $2, 'sku-' || i, 100, 'USD' from generate_series(1, 499) as i`,
      [db.tenant, p.id],
    )
    const add = (sku: string) => acme.post(`${PRODUCTS}/${p.id}/variants`, { sku, price_cents: 1 })
    const answers = await Promise.all([add('a'), add('b')])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409])
    const refused = answers.find(({ status }) => status === 409)
    assert.deepEqual([refused?.body.limit, refused?.body.max], ['variants_per_product', 500])
  })

  await t.test('count exactly the rows of the tables', async () => {
    const admin = await app.database.openAdmin()
    const { rows } = await admin.query(
      `select u.tenant_ref, u.used, (select count(*) from products p where p.tenant_ref = u.tenant_ref) as real
         from store_usage u where limit_key = 'products'`,
    )
    assert.ok(rows.length > 3)
    for (const row of rows) assert.equal(Number(row.used), Number(row.real))
  })
})
