import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { entriesOf } from '@fairdock/messages/faults'
import de from '../../storefront/translations/de.json' with { type: 'json' }
import en from '../../storefront/translations/en.json' with { type: 'json' }
import es from '../../storefront/translations/es.json' with { type: 'json' }
import fr from '../../storefront/translations/fr.json' with { type: 'json' }
import { getLocale } from '../../storefront/translations/locale.ts'
import type { Texts } from '../../storefront/translations/texts.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'])
})

const at = (tenant: string) => openShopper(shop.url, `${tenant}.localhost`)

const textsIn = (language: string) => getLocale(language, 'UTC').texts

/** Texts that are the same in English. */
const SAME_AS_ENGLISH: Record<string, readonly string[]> = {
  de: ['shop', 'standard', 'express', 'email', 'status', 'optional'],
  fr: [
    'menu',
    'collections',
    'collection',
    'contact',
    'pages',
    'pageNumber',
    'standard',
    'express',
    'regionKinds.province',
  ],
  es: [],
}

describe('each language', () => {
  for (const [language, own] of Object.entries({ de, es, fr })) {
    test(`${language} translates every text`, () => {
      const english = entriesOf(en)
      for (const [key, text] of entriesOf(own)) {
        const isSame = text === english.get(key)
        const isName = !/[a-z]{4}/i.test(text.replace(/\{\w+\}/g, ''))
        const mayBeSame = SAME_AS_ENGLISH[language]?.includes(key) || isName
        const isEverywhere = ['total', 'subtotal', 'email', 'postcodeKinds.eircode'].includes(key)
        assert.ok(!isSame || mayBeSame || isEverywhere, `${key}: ${text}`)
      }
    })
  }

  test('has its own format of prices and dates, and English texts if there is no translation', () => {
    const german = getLocale('de-AT', 'Europe/Vienna')
    assert.equal(german.texts.shipping, 'Versand')
    assert.equal(german.formatMoney(123_456, 'EUR').replace(/\s/g, ' '), '€ 1.234,56')
    assert.equal(german.formatAmount(1_540, 'EUR'), '15,40')
    assert.equal(getLocale('en', 'UTC').formatAmount(5, 'USD'), '0.05')
    assert.match(german.formatTime('2026-01-31T23:30:00Z'), /01\.02\.2026/)
    const italian = getLocale('it', 'Nowhere/Land')
    assert.deepEqual([italian.texts.shipping, italian.language], ['Shipping', 'it'])
    for (const odd of ['', 'not a language', '../../etc', 7, null, 'constructor', '__proto__']) {
      assert.equal(getLocale(odd, odd).texts.shipping, 'Shipping')
    }
  })

  test('writes numbers of things as its region does', () => {
    const said = ['de-DE', 'en-US', 'en-IN', 'fr-FR', 'es-ES'].map((tag) =>
      textsIn(tag).products({ count: 123_456 }).replace(/\s/g, ' '),
    )
    assert.deepEqual(said, [
      '123.456 Produkte',
      '123,456 products',
      '1,23,456 products',
      '123 456 produits',
      '123.456 productos',
    ])
    const counted = Object.entries(en).filter(
      ([, text]) => typeof text === 'string' && /, (?:number|plural)/.test(text),
    )
    assert.ok(counted.length > 10)
    for (const [name] of counted) {
      for (const tag of ['de', 'en', 'es', 'fr']) {
        const write = textsIn(tag)[name as keyof Texts] as (values: object) => string
        const text = write({
          count: 20_000,
          page: 20_000,
          pages: 30_000,
          number: 20_000,
          at: 30_000,
        })
        assert.match(text, /20\D000/, `${tag} ${name}`)
        assert.doesNotMatch(text, /[23]0000/, `${tag} ${name}`)
      }
    }
  })
})

describe('a store whose language is German', () => {
  test('has German texts on every page, and says so in the lang attribute', async () => {
    const shopper = at('ember')
    const assertGerman = async (path: string, words: RegExp) => {
      const { text } = await shopper.get(path)
      assert.match(text, /<html lang="de-DE"/, path)
      assert.match(text, words, path)
      assert.doesNotMatch(
        text,
        /\b(?:Your|Search|Add to|All products|from €|Shipping|Home|not found|the)\b/,
        path,
      )
    }
    await assertGerman('/', /Zum Inhalt springen/)
    await assertGerman('/products', /Alle Produkte[\s\S]+8 Produkte[\s\S]+ab 8,90/)
    await assertGerman('/products/midnight-bar', /In den Warenkorb[\s\S]+Versand 6,50/)
    await assertGerman('/products/midnight-bar', /Grundpreis: <\/span>11,13\s€ \/ 100 g/)
    await assertGerman('/search?q=schokolade', /Treffer für „schokolade“/)
    await assertGerman('/cart', /Ihr Warenkorb ist leer/)
    await assertGerman('/orders', /Von diesem Browser aus/)
    await assertGerman('/nowhere', /Seite nicht gefunden/)
    const page = await shopper.get('/products/midnight-bar')
    const variant = /name="variant" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    await shopper.post('/cart/add', { variant })
    await assertGerman('/cart', /Zur Kasse/)
    await assertGerman('/checkout', /Kartennummer[\s\S]+Zwischensumme/)
    const added = await shopper.post('/cart/add', { variant }, { 'x-storefront-script': '1' })
    assert.match(added.text, /aria-label="Warenkorb, 2 Artikel"/)
    assert.match(added.text, /Mitternacht wurde in den Warenkorb gelegt\./)
    assert.match(added.text, /aria-label="Eins mehr: Mitternacht"[\s\S]+Zum Warenkorb/)
  })
})

test('a page that belongs to no store is in a language that the browser accepts', async () => {
  const shown = async (accept: string) =>
    (await at('nobody').get('/', { 'accept-language': accept })).text
  assert.match(await shown('fr-CA,fr;q=0.9,en;q=0.8'), /<html lang="fr"[\s\S]+n’est pas disponible/)
  assert.match(await shown('pl, es;q=0.5'), /<html lang="es"/)
  for (const odd of ['', 'pl', '*', 'constructor', `${'x,'.repeat(5_000)}de`]) {
    assert.match(await shown(odd), /<html lang="en"[\s\S]+This store is not available/)
  }
})
