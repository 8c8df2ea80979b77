import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import { de } from '../../storefront/words/de.ts'
import { en } from '../../storefront/words/en.ts'
import { es } from '../../storefront/words/es.ts'
import { fr } from '../../storefront/words/fr.ts'
import { wordsOf } from '../../storefront/words.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop

before(async (t) => {
  shop = await openTestShop(t as TestContext, ['ember'])
})

const at = (tenant: string) => openShopper(shop.url, `${tenant}.localhost`)

/** Every text of a table by its place in it. Functions are called with something of each kind. */
function textsOf(table: object, place = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of Object.entries(table)) {
    const key = `${place}${name}`
    if (typeof value === 'string') found.set(key, value)
    else if (typeof value === 'function') found.set(key, String(value(2, 'week')))
    else for (const [more, text] of textsOf(value, `${key}.`)) found.set(more, text)
  }
  return found
}

/** The same word in both languages. */
const ALIKE: Record<string, readonly string[]> = {
  de: ['standard', 'express', 'email'],
  fr: ['collections', 'collection', 'questions', 'contact', 'pages', 'standard', 'express'],
  es: [],
}

describe('each language', () => {
  for (const [language, table] of Object.entries({ de, fr, es })) {
    test(`${language} has its own word for everything`, () => {
      const [english, own] = [textsOf(en), textsOf(table)]
      assert.deepEqual([...own.keys()], [...english.keys()])
      for (const [key, text] of own) {
        assert.notEqual(text.trim(), '', key)
        const isAlike = text === english.get(key)
        const mayBe = ALIKE[language]?.includes(key) || !/[a-z]{4}/i.test(text)
        const isSame = ['total', 'subtotal', 'email'].includes(key)
        assert.ok(!isAlike || mayBe || isSame, `${key}: ${text}`)
      }
    })
  }

  test('writes prices and dates its own way, and is English where nobody speaks it', () => {
    const german = wordsOf('de-AT', 'Europe/Vienna')
    assert.equal(german.say, de)
    assert.equal(german.money(123_456, 'EUR').replace(/\s/g, ' '), '€ 1.234,56')
    assert.equal(german.amount(1_540, 'EUR'), '15,40')
    assert.equal(wordsOf('en', 'UTC').amount(5, 'USD'), '0.05')
    assert.match(german.moment('2026-01-31T23:30:00Z'), /01\.02\.2026/)
    const italian = wordsOf('it', 'Nowhere/Land')
    assert.deepEqual([italian.say, italian.language], [en, 'it'])
    for (const odd of ['', 'not a language', '../../etc', 7, null, 'constructor', '__proto__']) {
      assert.equal(wordsOf(odd, odd).say, en)
    }
  })
})

describe('a store that speaks German', () => {
  test('does so on every page, and says so', async () => {
    const visitor = at('ember')
    const says = async (path: string, words: RegExp) => {
      const { text } = await visitor.get(path)
      assert.match(text, /<html lang="de-DE"/, path)
      assert.match(text, words, path)
      assert.doesNotMatch(
        text,
        /\b(?:Your|Search|Add to|All products|from €|Delivery|Home|Not found|the)\b/,
        path,
      )
    }
    await says('/', /Zum Inhalt springen/)
    await says('/products', /Alle Produkte[\s\S]+8 Produkte[\s\S]+ab 8,90/)
    await says('/products/midnight-bar', /In den Warenkorb[\s\S]+Versand 6,50/)
    await says('/search?q=schokolade', /Treffer für „schokolade“/)
    await says('/cart', /Noch ist er leer/)
    await says('/orders', /Von diesem Browser aus/)
    await says('/nowhere', /Nicht gefunden/)
    const page = await visitor.get('/products/midnight-bar')
    const variant = /name="variant" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    await visitor.post('/cart/add', { variant })
    await says('/cart', /Zur Kasse/)
    await says('/checkout', /Kartennummer[\s\S]+Zwischensumme/)
    const quiet = await visitor.post('/cart/add', { variant }, { 'x-shop': '1' })
    assert.deepEqual(JSON.parse(quiet.text), {
      count: 2,
      said: 'Mitternacht liegt im Warenkorb.',
      label: 'Warenkorb, 2 Artikel',
      link: 'Zum Warenkorb',
    })
  })
})

test('where there is no store to speak, a visitor is spoken to as the browser asks', async () => {
  const shown = async (accept: string) =>
    (await at('nobody').get('/', { 'accept-language': accept })).text
  assert.match(await shown('fr-CA,fr;q=0.9,en;q=0.8'), /<html lang="fr"[\s\S]+n’est pas disponible/)
  assert.match(await shown('pl, es;q=0.5'), /<html lang="es"/)
  for (const odd of ['', 'pl', '*', 'constructor', `${'x,'.repeat(5_000)}de`]) {
    assert.match(await shown(odd), /<html lang="en"[\s\S]+This store is not available/)
  }
})
