import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import { createProduct, createVariant, openLiveStore, PRODUCTS, publicUrl } from './setup.ts'

let app: TestApp
let store: Caller

const NAMES = {
  teapot: 'Cast iron teapot',
  mug: 'Harbor mug',
  lamp: 'Desk lamp',
  notebook: 'Dotted notebook',
  bracelet: 'Silver bracelet',
  backpack: 'Canvas backpack, two straps',
  espresso: 'Espresso cup',
  creme: 'Crème brûlée dish',
}

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  store = await openLiveStore(app, 'acme')
  for (const [slug, name] of Object.entries(NAMES)) await createProduct(store, slug, { name })
})

async function find(q: string, tenant = 'acme'): Promise<string[]> {
  const url = `${publicUrl(tenant, 'search')}?${new URLSearchParams({ q })}`
  const { status, body, text } = await app.anyone.get(url)
  assert.equal(status, 200, text)
  return body.results.map(({ slug }: { slug: string }) => slug)
}

const cut = (word: string, at: number, put: string, count = 1) =>
  word.slice(0, at) + put + word.slice(at + count)

/** Every word that one typing error makes of this one. */
function typosOf(word: string): string[] {
  const places = Array.from(word, (letter, at) => {
    const [next = ''] = word.slice(at + 1)
    const wrong = letter === 'x' ? 'y' : 'x'
    return [
      cut(word, at, ''),
      cut(word, at, letter + letter),
      cut(word, at, wrong),
      cut(word, at, next + letter, 2),
    ]
  })
  return [...new Set(places.flat())].filter((slip) => slip !== word)
}

test('a word with one typing error finds what the word finds', async (t) => {
  for (const [slug, word] of [
    ['teapot', 'teapot'],
    ['lamp', 'lamp'],
    ['notebook', 'notebook'],
    ['bracelet', 'silver'],
    ['backpack', 'canvas'],
    ['espresso', 'espresso'],
  ] as const) {
    await t.test(word, async () => {
      const lost: string[] = []
      for (const slip of typosOf(word)) if (!(await find(slip)).includes(slug)) lost.push(slip)
      assert.deepEqual(lost, [])
    })
  }
})

test('a typing error finds nothing but the word that was meant', async () => {
  for (const [slip, slug] of [
    ['teepot', 'teapot'],
    ['taepot', 'teapot'],
    ['teapots', 'teapot'],
    ['teepots', 'teapot'],
    ['harbor mgu', 'mug'],
    ['habror mug', 'mug'],
    ['harbour mug', 'mug'],
    ['expresso', 'espresso'],
    ['notbeook', 'notebook'],
    ['braceltes', 'bracelet'],
    ['silvr braclet', 'bracelet'],
    ['canvass bakpack', 'backpack'],
    ['creme brulle', 'creme'],
    ['CRÈME BRULÉ', 'creme'],
    ['desk lapm', 'lamp'],
    ['lmap', 'lamp'],
    // Mistyped and incomplete, or without the space.
    ['notebk', 'notebook'],
    ['harbormug', 'mug'],
  ] as const) {
    assert.deepEqual(await find(slip), [slug], slip)
  }
})

test('words that exist are not corrected', async () => {
  const mug = await createProduct(store, 'mat', { name: 'Harbor mat' })
  assert.deepEqual(await find('harbor mug'), ['mug'])
  assert.deepEqual(await find('mat'), ['mat'])
  // One word exists and the other resembles none: no correction helps.
  assert.deepEqual(await find('harbor zeppelin'), [])
  // A common beginning is no typing error.
  for (const q of ['silicon', 'desktop', 'notary', 'canyon', 'lava', 'tea']) {
    const found = await find(q)
    assert.deepEqual(found, q === 'tea' ? ['teapot'] : [], q)
  }
  // Both exist, but not in one product: neither is corrected.
  assert.deepEqual(await find('desk mug'), [])
  await store.post(`${PRODUCTS}/${mug.id}/archive`)
})

test('a number or a code is never corrected to another', async () => {
  const { id } = await createProduct(store, 'card', { name: 'Card RTX3080' })
  await createVariant(store, id, { sku: 'GPU-77120', price_cents: 1 })
  assert.deepEqual(await find('rtx3080'), ['card'])
  assert.deepEqual(await find('rtx3090'), [])
  assert.deepEqual(await find('77121'), [])
})

test('a typing error in a name is corrected again once the name is fixed', async () => {
  const { id } = await createProduct(store, 'lantern', { name: 'Lantren' })
  assert.deepEqual(await find('lantren'), ['lantern'])
  await store.patch(`${PRODUCTS}/${id}`, { name: 'Lantern' })
  assert.deepEqual(await find('lantren'), ['lantern'])
  await store.post(`${PRODUCTS}/${id}/archive`)
  assert.deepEqual(await find('lantren'), [])
})

test('a word that no product has any more does not stop a correction', async () => {
  const { id } = await createProduct(store, 'barometer', { name: 'Barrometer' })
  await store.patch(`${PRODUCTS}/${id}`, { name: 'Barometer' })
  // One error away from the old name, two from the new one.
  assert.deepEqual(await find('barrometter'), ['barometer'])
  await store.post(`${PRODUCTS}/${id}/archive`)
  assert.deepEqual(await find('barrometter'), [])
})

test('words of another store are never suggested', async () => {
  const other = await openLiveStore(app, 'other')
  await createProduct(other, 'kettle', { name: 'Kettle' })
  assert.deepEqual(await find('kettel', 'other'), ['kettle'])
  assert.deepEqual(await find('kettel'), [])
  assert.deepEqual(await find('teepot', 'other'), [])
})

/** All characters before the Chinese ones and some special ranges, in words of ten. */
function everyCharacter(): string[] {
  const points = [
    ...Array(0x3000).keys(),
    ...Array(0x600)
      .keys()
      .map((n) => 0xfa00 + n),
  ]
  const signs = points.map((n) => String.fromCodePoint(n)).filter((c) => /[^\p{C}\p{Z}]/u.test(c))
  return Array.from({ length: Math.ceil(signs.length / 10) }, (_, n) =>
    signs.slice(n * 10, n * 10 + 10).join(''),
  )
}

test('a name of any characters can be sold and searched for', async () => {
  const names: string[] = []
  for (let rest = everyCharacter(); rest.length > 0; rest = rest.slice(16)) {
    names.push(rest.slice(0, 16).join(' '))
  }
  const other = await openLiveStore(app, 'signs')
  for (const [n, name] of names.entries()) {
    await createProduct(other, `p${n}`, { name })
    await find(name, 'signs')
  }
  await createProduct(other, 'hawaii', { name: 'Hawaiʻi roast' })
  for (const q of ['Hawaiʻi', "hawai'i", 'HAWAIʼI']) {
    assert.deepEqual(await find(q, 'signs'), ['hawaii'], q)
  }
})
