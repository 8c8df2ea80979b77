import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  COLLECTIONS,
  createCollection,
  createProduct,
  openLiveStore,
  PRODUCTS,
  publicUrl,
  uploadImage,
} from './setup.ts'

let app: TestApp
let ember: Caller
let picture = ''
const ids = new Map<string, string>()

interface Sold {
  name: string
  description: string
  alt: string
}

/** A German store whose names say nothing of what is sold: that stands in the texts and under the pictures. */
const SOLD: Readonly<Record<string, Sold>> = {
  mitternacht: {
    name: 'Mitternacht',
    description: 'Achtundsiebzig Prozent, aus einem einzigen Tal.',
    alt: 'Eine Tafel dunkler Schokolade, halb ausgepackt',
  },
  glut: {
    name: 'Glut',
    description: 'Milchschokolade mit Rauchsalz und einer langsamen Wärme von Chili.',
    alt: 'Eine Tafel in kupfernem Papier',
  },
  waldboden: {
    name: 'Waldboden',
    description: 'Geräucherter Schwarztee, Fichtenspitzen und getrocknete Heidelbeeren.',
    alt: 'Eine dunkelgrüne Dose',
  },
  herdfeuer: {
    name: 'Herdfeuer',
    description: 'Birkenteer, Zeder und altes Papier.',
    alt: 'Eine brennende Kerze in kupfernem Glas',
  },
  heidehonig: { name: 'Heidehonig', description: 'Im August geschleudert.', alt: 'Ein Glas' },
  rinde: { name: 'Rinde', description: 'Dazu passt ein kräftiger Käse.', alt: 'Ein Brett' },
}

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  ember = await openLiveStore(app, 'ember')
  await ember.patch('/v1/my/store', { language: 'de-DE' })
  picture = await uploadImage(ember, 40)
  for (const [slug, { name, description, alt }] of Object.entries(SOLD)) {
    const { id } = await createProduct(ember, slug, { name, description })
    ids.set(slug, id)
    await show(ember, id, [{ asset_ref: picture, alt }])
  }
  const sweets = await createCollection(ember, 'sweets', [ids.get('heidehonig') ?? ''])
  const titled = await ember.patch(`${COLLECTIONS}/${sweets.id}`, { title: 'Süßwaren' })
  assert.equal(titled.status, 200, titled.text)
})

async function search(q: string, tenant = 'ember') {
  const answer = await app.anyone.get(
    `${publicUrl(tenant, 'search')}?${new URLSearchParams({ q })}`,
  )
  assert.equal(answer.status, 200, answer.text)
  const slugs = answer.body.results.map(({ slug }: { slug: string }) => slug).toSorted()
  return { slugs, corrected: answer.body.corrected }
}

/** Replaces the pictures of a product. */
async function show(merchant: Caller, id: string, images: object[]) {
  const changed = await merchant.put(`${PRODUCTS}/${id}/images`, { images })
  assert.equal(changed.status, 200, changed.text)
}

const find = async (q: string, tenant?: string) => (await search(q, tenant)).slugs

describe('a word in German finds what only', () => {
  test('only the alternative text of a picture has', async () => {
    for (const q of ['kerze', 'Kerzen', 'kerz']) assert.deepEqual(await find(q), ['herdfeuer'], q)
  })

  test('is a part of a compound in a description', async () => {
    assert.deepEqual(await find('tee'), ['waldboden'])
    assert.deepEqual(await find('schwarztee'), ['waldboden'])
    assert.deepEqual(await find('schokolade'), ['glut', 'mitternacht'])
  })

  test('has an umlaut that is spelt out or left out in the query', async () => {
    for (const q of ['käse', 'kaese', 'kase', 'KAESE'])
      assert.deepEqual(await find(q), ['rinde'], q)
    assert.deepEqual(await find('waerme'), ['glut'])
  })

  test('has a typing error in the query, and the answer says so', async () => {
    for (const q of ['schokolde', 'Shokolade', 'schokollade']) {
      const { slugs, corrected } = await search(q)
      assert.ok(slugs.includes('mitternacht'), `${q}: ${slugs}`)
      assert.equal(corrected, true, q)
    }
    assert.deepEqual(await find('kezre'), ['herdfeuer'])
    assert.equal((await search('kerze')).corrected, false)
    assert.deepEqual(await search('xylophon'), { slugs: [], corrected: false })
  })

  test('only the title of a collection has, mistyped or spelt out', async () => {
    for (const q of ['süßwaren', 'suesswaren', 'Süßwraen', 'suesswarn'])
      assert.deepEqual(await find(q), ['heidehonig'], q)
  })
})

describe('the texts of pictures', () => {
  test('are searched in every language, in their present form', async () => {
    for (const [tenant, language, name, q] of [
      ['english', 'en-US', 'A burning candle', 'candles'],
      ['french', 'fr-FR', 'Des bougies allumées', 'bougie'],
      ['spanish', 'es-ES', 'Una vela encendida', 'velas'],
      ['german', 'de-DE', 'Brennende Kerzen', 'Kerze'],
    ] as const) {
      const merchant = await openLiveStore(app, tenant)
      await merchant.patch('/v1/my/store', { language })
      const asset_ref = await uploadImage(merchant, 90)
      const { id } = await createProduct(merchant, 'evening', { name: 'X1' })
      assert.deepEqual(await find(q, tenant), [], `${tenant} before`)
      await show(merchant, id, [{ asset_ref, alt: name }])
      assert.deepEqual(await find(q, tenant), ['evening'], `${tenant} with a text`)
      await show(merchant, id, [{ asset_ref, alt: null }])
      assert.deepEqual(await find(q, tenant), [], `${tenant} without a text`)
    }
  })

  test('the texts of pictures of a product that is not for sale do not count', async () => {
    const { id } = await createProduct(ember, 'hidden', { name: 'Geheim', status: 'draft' })
    await show(ember, id, [{ asset_ref: picture, alt: 'Ein goldenes Saxophon' }])
    for (const q of ['saxophon', 'saxofon']) assert.deepEqual(await find(q), [])
  })
})
