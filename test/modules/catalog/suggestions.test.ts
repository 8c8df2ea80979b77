import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import { createCollection, createProduct, openLiveStore, publicUrl, setStatus } from './setup.ts'

const MANY = 600

let app: TestApp

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  const acme = await openLiveStore(app, 'acme')
  const ids: string[] = []
  for (const [slug, name] of [
    ['mug', 'Red coffee mug'],
    ['music', 'Music box'],
    ['lamp', 'Lamp'],
  ] as const) {
    ids.push((await createProduct(acme, slug, { name })).id)
  }
  await createProduct(acme, 'draft', { name: 'Mug of tomorrow', status: 'draft' })
  await createCollection(acme, 'lights', ids.slice(2))
  const big = await openLiveStore(app, 'big')
  await createProduct(big, 'other', { name: 'Mug of another store' })
  const admin = await app.database.openAdmin()
  await admin.query(
    `insert into products (tenant_ref, slug, name, status)
     select 'big', 'p' || n, 'Coffee ' || n, 'active' from generate_series(1, ${MANY}) n`,
  )
})

const ask = async (parameters: Record<string, string>, tenant = 'acme') => {
  const url = `${publicUrl(tenant, 'suggestions')}?${new URLSearchParams(parameters)}`
  const answer = await app.anyone.get(url)
  assert.equal(answer.status, 200, answer.text)
  const slugs = answer.body.results.map(({ slug }: { slug: string }) => slug)
  return { ...answer.body, slugs: slugs.sort() }
}

describe('suggestions while a shopper types', () => {
  test('are active products of the store with words that begin so, complete and with their number', async () => {
    const found = await ask({ q: 'mu' })
    assert.deepEqual(found.slugs, ['mug', 'music'])
    assert.deepEqual(
      [found.query, found.result_count, found.result_count_is_least, found.corrected],
      ['mu', 2, false, false],
    )
    const product = await app.anyone.get(`${publicUrl('acme', 'products')}/mug`)
    const mug = found.results.find(({ slug }: { slug: string }) => slug === 'mug')
    assert.deepEqual(mug, product.body.product)
  })

  test('are found by a typing error, a part of a word, and the title of a collection', async () => {
    const misspelt = await ask({ q: 'cofee' })
    assert.deepEqual([misspelt.slugs, misspelt.corrected], [['mug'], true])
    assert.deepEqual((await ask({ q: 'usic' })).slugs, ['music'])
    assert.deepEqual((await ask({ q: 'lights' })).slugs, ['lamp'])
  })

  test('look at 500 matches at most, and show no more than asked for', async () => {
    const found = await ask({ q: 'cof', limit: '3' }, 'big')
    assert.equal(found.slugs.length, 3)
    assert.deepEqual([found.result_count, found.result_count_is_least], [500, true])
    assert.equal((await ask({ q: 'cof', limit: '999' }, 'big')).slugs.length, 10)
    assert.equal((await ask({ q: 'cof', limit: 'x' }, 'big')).slugs.length, 5)
    assert.equal((await ask({ q: 'coffee 599' }, 'big')).slugs[0], 'p599')
  })

  test('are empty for an empty query, for odd texts, and for words that no product has', async () => {
    for (const q of ['', ' ', '!!!', "';--", '\u0007', 'zzzzzz', '\ud800', '%', '_'.repeat(9)]) {
      const found = await ask({ q })
      assert.deepEqual([found.slugs, found.result_count], [[], 0], q)
    }
    assert.deepEqual((await ask({})).slugs, [])
    assert.equal((await ask({ q: 'mu '.repeat(2_000) })).query.length, 200)
  })

  test('suggestions in a store that is not live are those of an unknown store', async () => {
    await openLiveStore(app, 'closed')
    await setStatus(app, 'closed', 'suspended')
    for (const tenant of ['closed', 'never-was', 'No%20Store']) {
      const { status, body } = await app.anyone.get(`${publicUrl(tenant, 'suggestions')}?q=mu`)
      assert.deepEqual([status, body.error.code], [404, 'unknown_tenant'], tenant)
    }
  })
})
