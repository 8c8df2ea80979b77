import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { refreshSearchIndex } from '../../../src/modules/catalog/search.ts'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { deliverDue } from '../../harness/outbox.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  COLLECTIONS,
  createCollection,
  createProduct,
  openLiveStore,
  PRODUCTS,
  publicUrl,
} from './setup.ts'

let app: TestApp
let laden: Caller
const ids = new Map<string, string>()

/** Names of a German store, by their slugs. */
const NAMES = {
  kerze: 'Weiße Kerze',
  duftkerzen: 'Duftkerzen Lavendel',
  kerzenstaender: 'Kerzenständer aus Holz',
  zartbitter: 'Zartbitterschokolade',
  tafel: 'Schokoladentafel Vollmilch',
  kraeutertee: 'Kräutertee',
  stempel: 'Stempelkissen',
  reis: 'Reis',
  schild: 'Preisschild',
  hobel: 'Käsehobel',
  buch: 'Ein Buch',
}

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  laden = await openLiveStore(app, 'laden')
  await laden.patch('/v1/my/store', { language: 'de' })
  for (const [slug, name] of Object.entries(NAMES)) {
    const description = slug === 'buch' ? 'Über die Kerze und die Schokolade.' : null
    ids.set(slug, (await createProduct(laden, slug, { name, description })).id)
  }
})

async function find(q: string, tenant = 'laden'): Promise<string[]> {
  const answer = await app.anyone.get(
    `${publicUrl(tenant, 'search')}?${new URLSearchParams({ q })}`,
  )
  assert.equal(answer.status, 200, answer.text)
  return answer.body.results.map(({ slug }: { slug: string }) => slug)
}

const findSorted = async (q: string) => (await find(q)).toSorted()

describe('a word in German finds', () => {
  test('products named so first, then compounds of the word, then descriptions', async () => {
    const found = await find('kerze')
    assert.equal(found[0], 'kerze')
    assert.deepEqual(found.slice(1, 3).toSorted(), ['duftkerzen', 'kerzenstaender'])
    assert.deepEqual(found.slice(3), ['buch'])
  })

  test('compounds of the word in any form, at either end', async () => {
    for (const q of ['kerzen', 'Kerze', 'KERZEN'])
      assert.deepEqual(await findSorted(q), ['buch', 'duftkerzen', 'kerze', 'kerzenstaender'], q)
    for (const q of ['schokolade', 'Schokoladen'])
      assert.deepEqual(await findSorted(q), ['buch', 'tafel', 'zartbitter'], q)
  })

  test('compounds of the word beside other words', async () => {
    assert.deepEqual(await find('kerze lavendel'), ['duftkerzen'])
    assert.deepEqual(await find('schokolade vollmilch'), ['tafel'])
  })

  test('a short word only at the end of a compound, after at least three letters', async () => {
    assert.deepEqual(await find('tee'), ['kraeutertee'])
    assert.deepEqual(await find('reis'), ['reis'])
  })

  test('words with umlauts, also if they are spelt out or left out', async () => {
    for (const q of ['Käsehobel', 'kaesehobel', 'kasehobel', 'KAESEHOBEL', 'kaese'])
      assert.deepEqual(await find(q), ['hobel'], q)
    assert.deepEqual(await find('kraeutertee'), ['kraeutertee'])
    assert.deepEqual(await find('weisse kerze'), ['kerze'])
  })

  test('the word that was meant, though it has a typing error', async () => {
    for (const q of ['kezre', 'Kerzze']) assert.ok((await find(q)).includes('kerze'), q)
    for (const q of ['shokolade', 'schokolaed', 'Schoklade'])
      assert.ok((await find(q)).includes('zartbitter'), q)
    assert.deepEqual(await find('Duftkezren'), ['duftkerzen'])
  })
})

describe('the title of a collection', () => {
  test('finds its products after those that have the words themselves, each once', async () => {
    const chosen = ['hobel', 'kerze', 'buch'].map((slug) => ids.get(slug) ?? '')
    const { id } = await createCollection(laden, 'geschenke', chosen)
    const renamed = await laden.patch(`${COLLECTIONS}/${id}`, { title: 'Schöne Geschenke' })
    assert.equal(renamed.status, 200, renamed.text)
    assert.deepEqual(await findSorted('geschenk'), ['buch', 'hobel', 'kerze'])
    assert.deepEqual(await findSorted('schöne geschenke'), ['buch', 'hobel', 'kerze'])
    const kerzen = await createCollection(laden, 'kerzen', chosen)
    await laden.patch(`${COLLECTIONS}/${kerzen.id}`, { title: 'Kerzen' })
    const found = await find('Kerzen')
    assert.equal(found[0], 'kerze')
    assert.deepEqual(found.toSorted(), ['buch', 'duftkerzen', 'hobel', 'kerze', 'kerzenstaender'])
  })

  test('is read in the language of the store, once the worker has processed a change', async () => {
    const shop = await openLiveStore(app, 'shop')
    const { id } = await createProduct(shop, 'model', { name: 'Model' })
    const made = await createCollection(shop, 'haus', [id])
    await shop.patch(`${COLLECTIONS}/${made.id}`, { title: 'Häuser' })
    const ask = async () => (await app.anyone.get(publicUrl('shop', 'search?q=H%C3%A4usern'))).body
    // In English it is no form of the word, but near to it.
    assert.equal((await ask()).corrected, true)
    await shop.patch('/v1/my/store', { language: 'de-AT' })
    const handlers = {
      'store.language_changed.v1': (_: unknown, db: Parameters<typeof refreshSearchIndex>[0]) =>
        refreshSearchIndex(db, new AbortController().signal),
    }
    await deliverDue(app.runtime.workerDatabase, handlers, { slots: 20 })
    assert.deepEqual(await find('Häusern', 'shop'), ['model'])
    assert.equal((await ask()).corrected, false)
  })

  test('never finds products of another store, or products that are not for sale', async () => {
    const other = await openLiveStore(app, 'other')
    const { id } = await createProduct(other, 'old', { name: 'Old' })
    const made = await createCollection(other, 'geschenke', [id])
    await other.patch(`${COLLECTIONS}/${made.id}`, { title: 'Geschenke' })
    assert.deepEqual(await find('Geschenke', 'other'), ['old'])
    await other.post(`${PRODUCTS}/${id}/archive`)
    assert.deepEqual(await find('Geschenke', 'other'), [])
  })
})
