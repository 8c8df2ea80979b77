import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  createCollection,
  createProduct,
  createVariant,
  openLiveStore,
  PRODUCTS,
  publicUrl,
} from './setup.ts'

/** A lower-case letter of each script; the last ones are beyond the Basic Multilingual Plane. */
const LETTERS = [
  ...'aßжλააԱ'.toLowerCase(),
  ...'اאܐހࠀ',
  ...'अকਕકକகకಕകකกກཀကក',
  ...'አꭰᐁᚁᚠᜀᠠᏸ',
  ...'あアㄅ한字ꀀ',
  ...'𐌰𐐨𐤀𞤢𞄀𠀀',
]

/** One after the other: all change the same product, and a store waits for itself. */
async function forEach(work: (letter: string) => Promise<void>): Promise<void> {
  for (const letter of new Set(LETTERS)) await work(letter)
}

let app: TestApp
let store: Caller
let id: string

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  store = await openLiveStore(app, 'acme')
  id = (await createProduct(store, 'holder')).id
})

test('a slug of any script and length is stored, and found by the public', async () => {
  await forEach(async (letter) => {
    for (const length of [1, 200]) {
      const slug = letter.repeat(length)
      const made = await createProduct(store, slug)
      assert.equal(made.slug, slug)
      const path = `products/${encodeURIComponent(slug)}`
      const { status, body } = await app.anyone.get(publicUrl('acme', path))
      assert.deepEqual([status, body.product?.id], [200, made.id], `${length} x ${letter}`)
    }
    const { status, body } = await store.post(PRODUCTS, { slug: letter.repeat(201), name: 'x' })
    assert.deepEqual([status, body.issues?.[0]?.path], [400, 'slug'], letter)
  })
})

test('a search can be limited to a collection by the longest slug, in either Unicode form', async () => {
  for (const slug of ['\u{10428}'.repeat(200), '한'.repeat(200)]) {
    await createCollection(store, slug, [id])
    for (const form of ['NFC', 'NFD']) {
      const query = new URLSearchParams({ q: 'holder', collection: slug.normalize(form) })
      const { body } = await app.anyone.get(`${publicUrl('acme', 'search')}?${query}`)
      assert.deepEqual([body.result_count, body.filters.collectionSlug], [1, slug])
    }
  }
})

test('a SKU of any script and length is stored, and found by a search', async () => {
  await forEach(async (letter) => {
    for (const sku of [letter, `${letter} 7/${letter}`, letter.repeat(100)]) {
      assert.equal((await createVariant(store, id, { sku, price_cents: 1 })).sku, sku)
    }
    const wrong = { sku: letter.repeat(101), price_cents: 1 }
    const { status, body } = await store.post(`${PRODUCTS}/${id}/variants`, wrong)
    assert.deepEqual([status, body.issues?.[0]?.path], [400, 'sku'], letter)
    const url = `${publicUrl('acme', 'search')}?q=${encodeURIComponent(`${letter} 7/${letter}`)}`
    const found = (await app.anyone.get(url)).body.results
    assert.deepEqual(
      found.map((each: { id: string }) => each.id),
      [id],
      letter,
    )
  })
})

test('a SKU of characters that expand to many bytes leaves search words that can be read back', async () => {
  const { id: product } = await createProduct(store, 'phrases')
  // Each of these characters expands to 30 bytes; the last letter makes the sum odd.
  await createVariant(store, product, { sku: `${'\ufdfa'.repeat(70)}a`, price_cents: 1 })
  const admin = await app.database.openAdmin()
  const { rows } = await admin.query(
    `select convert_to(w.lexeme, 'UTF8') from product_search s, unnest(s.head || s.words) w
      where s.product_id = $1`,
    [product],
  )
  // Five words of the SKU, and the product's name with its stem.
  assert.equal(rows.length, 7)
})
