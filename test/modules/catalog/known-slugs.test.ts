import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { filterOf, mayHold } from '../../../src/modules/catalog/known-slugs.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { suiteScope } from '../../harness/scope.ts'
import { cacheAnswer, sendRaw } from '../sites/setup.ts'
import {
  createCollection,
  createProduct,
  openCachingApp,
  openLiveStore,
  publicUrl,
} from './setup.ts'

test('a filter holds every slug that it was made of, and hardly any other', () => {
  const names = Array.from({ length: 20_000 }, (_, n) => `product slug-${n}`)
  const filter = filterOf(names)
  assert.ok(filter.length <= 40_000)
  for (const name of names) assert.ok(mayHold(filter, name))
  const others = Array.from({ length: 20_000 }, (_, n) => `product other-${n}`)
  const held = others.filter((name) => mayHold(filter, name)).length
  assert.ok(held < 100, `${held} of 20,000`)
  assert.ok(!mayHold(filterOf([]), 'product x'))
})

describe('a slug that a store does not have', () => {
  let app: TestApp
  let acme: Caller
  const scope = suiteScope()
  before(async () => {
    app = await openCachingApp(scope)
    acme = await openLiveStore(app, 'acme')
  })

  const read = (path: string) => sendRaw(app, publicUrl('acme', path))

  /** Asks for slugs that do not exist until their answers come without a statement. */
  async function fillFilter() {
    let n = 0
    await until('unknown slugs are answered from memory', async () => {
      for (let asked = 0; asked < 60; asked++) await read(`products/none-${n++}`)
      const { misses } = app.runtime.cache.stats()
      await read(`products/other-${n}`)
      return app.runtime.cache.stats().misses === misses
    })
  }

  test('is answered from memory as the database would answer it, once many unknown slugs were asked for', async () => {
    await createProduct(acme, 'kept')
    await createCollection(acme, 'shelf')
    const product = await read('products/none')
    const collection = await read('collections/none')
    assert.deepEqual([product.status, collection.status], [404, 404])
    await fillFilter()
    const { misses } = app.runtime.cache.stats()
    const sameAs = (answer: typeof product, other: typeof product) => {
      assert.deepEqual([other.status, other.body], [answer.status, answer.body])
      assert.deepEqual(
        Object.keys(other.headers).toSorted(),
        Object.keys(answer.headers).toSorted(),
      )
    }
    sameAs(product, await read('products/another'))
    sameAs(collection, await read('collections/another'))
    // The kinds are apart, and a spelling that goes to its route is answered by it.
    sameAs(product, await read('products/shelf'))
    sameAs(collection, await read('collections/kept'))
    sameAs(product, await read('products/%6Eever'))
    assert.equal(app.runtime.cache.stats().misses, misses)
    assert.equal((await read('products/kept')).status, 200)
    assert.equal((await read('collections/shelf')).status, 200)
  })

  test('is found as soon as a product has it', async () => {
    await createProduct(acme, 'first')
    await fillFilter()
    assert.equal((await read('products/soon')).status, 404)
    await createProduct(acme, 'soon')
    assert.equal((await read('products/soon')).status, 200)
    await fillFilter()
    assert.equal((await read('products/soon')).status, 200)
    assert.equal((await read('collections/later')).status, 404)
    await createCollection(acme, 'later')
    assert.equal((await read('collections/later')).status, 200)
  })

  test('an unknown slug of a closed store is answered like one of an unknown store', async () => {
    const other = await openLiveStore(app, 'globex')
    await createProduct(other, 'kept')
    const url = (slug: string) => publicUrl('globex', `products/${slug}`)
    await cacheAnswer(app, url('kept'))
    for (let n = 0; n < 120; n++) await sendRaw(app, url(`none-${n}`))
    const status = { status: 'suspended' }
    assert.equal((await app.operator.put('/v1/stores/globex/status', status)).status, 200)
    const answer = await sendRaw(app, url('never'))
    const unknown = await sendRaw(app, publicUrl('nobody', 'products/never'))
    assert.deepEqual([answer.status, answer.body], [404, unknown.body])
  })
})
