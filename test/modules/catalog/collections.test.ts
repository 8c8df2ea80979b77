import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { suiteScope } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { auditOf, COLLECTIONS, createCollection, createProduct } from './setup.ts'

let app: TestApp
let acme: Caller

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  acme = await app.merchant('acme')
})

const codeOf = (answer: { status: number; body: { error?: { code: string } } }) => [
  answer.status,
  answer.body.error?.code,
]

describe('collections', () => {
  test('are created with a slug and a title, each after the one before', async () => {
    const { status, body } = await acme.post(COLLECTIONS, {
      slug: 'new-in',
      title: 'New in',
      description: 'Just\narrived.',
    })
    assert.equal(status, 201)
    const { id, created_at, updated_at, ...rest } = body.collection
    assert.deepEqual(rest, {
      tenant_ref: 'acme',
      slug: 'new-in',
      title: 'New in',
      description: 'Just\narrived.',
      position: 0,
      product_ids: [],
    })
    await createCollection(acme, 'later')
    const list = (await acme.get(COLLECTIONS)).body
    assert.deepEqual(
      list.collections.map((c: { slug: string }) => c.slug),
      ['new-in', 'later'],
    )
    assert.deepEqual([list.total, list.limit, list.offset], [2, 25, 0])
    assert.deepEqual((await acme.get(`${COLLECTIONS}/${id}`)).body, body)
    const entries = await auditOf(app, 'acme', 'collection.created')
    assert.equal(entries.at(-1)?.entity, `collection:${id}`)
  })

  test('have unique slugs, apart from the slugs of products', async () => {
    await createProduct(acme, 'shared')
    await createCollection(acme, 'shared')
    const taken = await acme.post(COLLECTIONS, { slug: 'shared', title: 'x' })
    assert.deepEqual(codeOf(taken), [409, 'slug_exists'])
    const rush = await Promise.all(
      Array.from({ length: 20 }, () => acme.post(COLLECTIONS, { slug: 'rush', title: 'x' })),
    )
    assert.equal(rush.filter(({ status }) => status === 201).length, 1)
    assert.equal(rush.filter(({ status }) => status === 409).length, 19)
  })

  test('are refused with invalid members', async () => {
    for (const wrong of [
      { slug: 'A' },
      { slug: '' },
      { title: '' },
      { title: 'a\nb' },
      { title: null },
      { description: 7 },
      { description: '\u0007' },
      { position: -1 },
    ]) {
      const answer = await acme.post(COLLECTIONS, { slug: 'fine', title: 'Fine', ...wrong })
      assert.deepEqual(codeOf(answer), [400, 'invalid_body'], JSON.stringify(wrong))
    }
  })

  test('change only the members sent, and are deleted without their products', async () => {
    const product = await createProduct(acme, 'survivor')
    const { id } = await createCollection(acme, 'changing', [product.id])
    const url = `${COLLECTIONS}/${id}`
    const { body } = await acme.patch(url, { title: 'Changed', position: 7 })
    assert.deepEqual(
      [body.collection.slug, body.collection.title, body.collection.position],
      ['changing', 'Changed', 7],
    )
    assert.deepEqual(body.collection.product_ids, [product.id])
    await createCollection(acme, 'there')
    assert.deepEqual(codeOf(await acme.patch(url, { slug: 'there' })), [409, 'slug_exists'])
    assert.equal((await acme.send('DELETE', url)).body.collection.id, id)
    for (const answer of [
      await acme.send('DELETE', url),
      await acme.get(url),
      await acme.patch(url, { title: 'x' }),
      await acme.put(`${url}/products`, { product_ids: [] }),
    ]) {
      assert.deepEqual(codeOf(answer), [404, 'collection_not_found'])
    }
    assert.equal((await acme.get(`/v1/merchant/catalog/products/${product.id}`)).status, 200)
    await createCollection(acme, 'changing')
    assert.equal((await auditOf(app, 'acme', 'collection.removed')).length, 1)
  })

  test('show their first 50 products in a list, and all products when read alone', async (t) => {
    const { id } = await createCollection(acme, 'large')
    const superuser = await openSuperuser(t, app.database)
    const { rows } = await superuser.query<{ id: string }>(
      `insert into products (tenant_ref, slug, name)
       select 'acme', 'large-' || n, 'Large' from generate_series(1, 51) n returning id`,
    )
    const ids = rows.map((row) => row.id)
    const listed = async (product_ids: string[]) => {
      const set = await acme.put(`${COLLECTIONS}/${id}/products`, { product_ids })
      assert.deepEqual(set.body.collection.product_ids, product_ids)
      const { collections } = (await acme.get(`${COLLECTIONS}?limit=100`)).body
      return collections.find((each: { id: string }) => each.id === id)
    }
    const most = await listed(ids.slice(0, 50))
    assert.deepEqual([most.product_ids, most.more_products], [ids.slice(0, 50), false])
    const more = await listed(ids.toReversed())
    assert.deepEqual([more.product_ids, more.more_products], [ids.toReversed().slice(0, 50), true])
  })

  test('list products in the order in which the merchant set them', async () => {
    const made = await Promise.all(['m1', 'm2', 'm3'].map((slug) => createProduct(acme, slug)))
    const ids = made.map(({ id }) => id)
    const { id } = await createCollection(acme, 'ordered')
    const put = (product_ids: unknown) => acme.put(`${COLLECTIONS}/${id}/products`, { product_ids })
    const reversed = ids.toReversed()
    assert.deepEqual((await put(reversed)).body.collection.product_ids, reversed)
    assert.deepEqual((await put(ids.slice(1))).body.collection.product_ids, ids.slice(1))
    const twice = [ids[0]?.toUpperCase(), ids[0]]
    assert.deepEqual((await put(twice)).body.collection.product_ids, [ids[0]])
    const foreign = await createProduct(await app.merchant('globex'), 'foreign')
    for (const other of [randomUUID(), 'garbage', foreign.id]) {
      assert.deepEqual(codeOf(await put([...reversed, other])), [404, 'product_not_found'])
    }
    for (const wrong of [null, 'x', [7], [ids[0], ids[0]]]) {
      assert.deepEqual(codeOf(await put(wrong)), [400, 'invalid_body'])
    }
    const kept = (await acme.get(`${COLLECTIONS}/${id}`)).body.collection.product_ids
    assert.deepEqual(kept, [ids[0]])
    assert.deepEqual((await put([])).body.collection.product_ids, [])
  })

  test('keep one of the orders whole when many are set at once', async () => {
    const made = await Promise.all(['r1', 'r2', 'r3'].map((slug) => createProduct(acme, slug)))
    const ids = made.map(({ id }) => id)
    const { id } = await createCollection(acme, 'raced')
    const orders = [ids, ids.toReversed(), ids.slice(0, 2), []]
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        acme.put(`${COLLECTIONS}/${id}/products`, { product_ids: orders[n % 4] }),
      ),
    )
    assert.ok(answers.every(({ status }) => status === 200))
    const kept = (await acme.get(`${COLLECTIONS}/${id}`)).body.collection.product_ids
    assert.ok(orders.some((order) => order.join() === kept.join()))
  })

  test('exchange products at the same time without a deadlock', async () => {
    const made = await Promise.all(['x1', 'x2'].map((slug) => createProduct(acme, slug)))
    const [one = '', other = ''] = made.map(({ id }) => id)
    const left = await createCollection(acme, 'left', [one])
    const right = await createCollection(acme, 'right', [other])
    // Each transaction is paused between removing a product and adding another: whether the new
    // membership exists is known when this transaction ends. Without triggers, which lock more.
    const admin = await app.database.openAdmin()
    await admin.query('set session_replication_role = replica; begin')
    await admin.query(
      `insert into collection_products (tenant_ref, collection_id, product_id, position)
       values ('acme', $1, $2, 1), ('acme', $3, $4, 1)`,
      [left.id, other, right.id, one],
    )
    const put = ({ id }: { id: string }, product: string) =>
      acme.put(`${COLLECTIONS}/${id}/products`, { product_ids: [product] })
    const both = Promise.all([put(left, other), put(right, one)])
    const waiting = `
      select pg_backend_pid() = any (pg_blocking_pids(pid)) as held_up from pg_stat_activity
       where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0
       order by held_up`
    await until('both wait', async () => (await admin.query(waiting)).rows.length === 2)
    const { rows } = await admin.query(waiting)
    await admin.query('rollback')
    assert.deepEqual(
      (await both).map(({ status }) => status),
      [200, 200],
    )
    assert.deepEqual(rows, [{ held_up: false }, { held_up: true }])
  })
})
