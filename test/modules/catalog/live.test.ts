import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Caller, TestApp } from '../../harness/app.ts'
import { openTestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { suiteScope } from '../../harness/scope.ts'
import { cacheAnswer, sendRaw } from '../sites/setup.ts'
import {
  COLLECTIONS,
  createCollection,
  createProduct,
  createVariant,
  openCachingApp,
  openLiveStore,
  PRODUCTS,
  publicUrl,
  setStatus,
} from './setup.ts'

let app: TestApp
let acme: Caller

const scope = suiteScope()
before(async () => {
  app = await openCachingApp(scope)
  acme = await openLiveStore(app, 'acme')
})

const countsOf = ({ runtime }: TestApp) => {
  const { hits, misses, bypassed } = runtime.cache.stats()
  return { hits, misses, bypassed }
}

describe('public reads of the catalog', () => {
  test('come from memory, before the router, in the requested encoding', async () => {
    await createProduct(acme, 'kept', { description: 'The same words. '.repeat(200) })
    await createCollection(acme, 'kept')
    for (const path of ['products', 'products/kept', 'collections', 'collections/kept']) {
      const url = publicUrl('acme', path)
      await cacheAnswer(app, url)
      const plain = await sendRaw(app, url)
      const packed = { gzip: gunzipSync, br: brotliDecompressSync }
      if (plain.body.length <= 1_024) continue
      for (const [encoding, unpack] of Object.entries(packed)) {
        for (let n = 0; n < 2; n++) {
          const headers = { 'accept-encoding': encoding }
          const answer = await sendRaw(app, url, { headers })
          assert.equal(answer.headers['content-encoding'], encoding)
          assert.equal(answer.headers.vary, 'accept-encoding')
          assert.equal(answer.headers.etag, undefined)
          assert.equal(answer.headers['cache-control'], undefined)
          assert.deepEqual(unpack(answer.body), plain.body)
        }
      }
      const asked = { 'if-none-match': '*' }
      assert.equal((await sendRaw(app, url, { headers: asked })).status, 200)
    }
  })

  test('show every change by the time the change is answered', async () => {
    const shop = await openLiveStore(app, 'writer')
    const { id } = await createProduct(shop, 'seen')
    const variant = await createVariant(shop, id, { sku: 'S', price_cents: 1 })
    const collection = await createCollection(shop, 'all', [id])
    const own = `${PRODUCTS}/${id}`
    const writes: [string, string, unknown, (text: string) => boolean][] = [
      ['PATCH', own, { name: 'Renamed' }, (text) => text.includes('Renamed')],
      [
        'PATCH',
        `${own}/variants/${variant.id}`,
        { price_cents: 77 },
        (text) => text.includes('"price_cents":77'),
      ],
      [
        'POST',
        `${own}/variants`,
        { sku: 'NEW-SKU', price_cents: 1 },
        (text) => text.includes('NEW-SKU'),
      ],
      ['POST', `${own}/variants/${variant.id}/archive`, undefined, (text) => !text.includes('"S"')],
      ['PATCH', `${COLLECTIONS}/${collection.id}`, { title: 'Titled' }, () => true],
      ['PUT', `${COLLECTIONS}/${collection.id}/products`, { product_ids: [] }, () => true],
    ]
    const reads = ['products', 'products/seen'].map((path) => publicUrl('writer', path))
    const listing = publicUrl('writer', 'collections/all')
    for (const [method, url, body, shows] of writes) {
      for (const read of [...reads, listing]) await app.anyone.get(read)
      const written = await shop.send(method, url, body)
      assert.ok(written.status < 300, written.text)
      for (const read of reads) assert.ok(shows((await app.anyone.get(read)).text), url)
    }
    const { body } = await app.anyone.get(listing)
    assert.deepEqual([body.collection.title, body.products], ['Titled', []])
    await shop.post(`${own}/archive`)
    assert.equal((await app.anyone.get(reads[1] ?? '')).status, 404)
    assert.deepEqual((await app.anyone.get(reads[0] ?? '')).body, { products: [] })
    await setStatus(app, 'writer', 'suspended')
    assert.equal((await app.anyone.get(listing)).body.error.code, 'unknown_tenant')
  })

  test('are seen by another process within moments', async (t) => {
    const there = await openTestApp(t, { database: app.database, live: true })
    await until('kept', () => there.runtime.cache.trusted)
    const { id } = await createProduct(acme, 'travels')
    const url = publicUrl('acme', 'products/travels')
    await cacheAnswer(there, url)
    await acme.patch(`${PRODUCTS}/${id}`, { name: 'Arrived' })
    await until('seen', async () => (await there.anyone.get(url)).body.product.name === 'Arrived')
  })

  test('are read again after a change of the store, and only those of that store', async () => {
    const stores = ['first', 'second', 'third']
    const callers = new Map<string, Caller>()
    for (const tenant of stores) {
      const shop = await openLiveStore(app, tenant)
      callers.set(tenant, shop)
      await createProduct(shop, 'thing')
    }
    for (const tenant of stores) await cacheAnswer(app, publicUrl(tenant))
    for (const tenant of stores) await cacheAnswer(app, publicUrl(tenant, 'products/thing'))
    await callers.get('second')?.post(PRODUCTS, { slug: 'more', name: 'More' })
    const before = countsOf(app)
    for (const tenant of ['first', 'third']) {
      await sendRaw(app, publicUrl(tenant))
      await sendRaw(app, publicUrl(tenant, 'products/thing'))
    }
    assert.deepEqual(countsOf(app), { ...before, hits: before.hits + 4 })
    await sendRaw(app, publicUrl('second'))
    assert.equal(countsOf(app).misses, before.misses + 1)
  })

  test('are not evicted by unknown names, and all invalid names share one entry', async (t) => {
    const small = await openCachingApp(t, { env: { LIVE_CACHE_MB: '1' } })
    const shop = await openLiveStore(small, 'acme')
    await createProduct(shop, 'real')
    const url = publicUrl('acme', 'products/real')
    await cacheAnswer(small, url)
    const asked = Array.from({ length: 200 }, (_, n) => `products/made-up-${n}`)
    for (let at = 0; at < asked.length; at += 40) {
      await Promise.all(
        asked
          .slice(at, at + 40)
          .map((path, n) => small.anyone.get(publicUrl(n % 2 ? 'acme' : `no-${at}-${n}`, path))),
      )
    }
    const { entries, negativeBytes } = small.runtime.cache.stats()
    assert.ok(negativeBytes <= 1_048_576 / 8)
    const before = countsOf(small)
    await sendRaw(small, url)
    assert.deepEqual(countsOf(small), { ...before, hits: before.hits + 1 })
    for (const odd of ['A', 'B%20C', '%F0%9F%98%80', 'x'.repeat(201)]) {
      assert.equal((await small.anyone.get(publicUrl('acme', `products/${odd}`))).status, 404)
    }
    assert.ok(small.runtime.cache.stats().entries <= entries + 1)
  })
})
