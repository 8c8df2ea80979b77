import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type TextsOf, translate } from '@fairdock/messages'
import { findFaults } from '@fairdock/messages/faults'
import { writePlaceholders } from '@fairdock/messages/placeholders'

const en = {
  shop: 'Shop',
  greeting: 'Dear {name}, it’s “{name}” #1',
  pages: 'Page {page, number} of {pages, number}',
  products:
    '{count, plural, =0 {No product} one {# product in {place}} other {# products in {place}}}',
  order: { title: 'Order {number}', done: 'Done' },
}

interface Placeholders {
  greeting: { name: string }
  pages: { page: number; pages: number }
  products: { count: number; place: string }
  order: { title: { number: number } }
}

const pl = {
  shop: 'Sklep',
  greeting: '{name}!',
  pages: '{page, number}/{pages, number}',
  products:
    '{ count , plural , one {# produkt w {place}} few {# produkty w {place}} many {# produktów w {place}} other {# produktu w {place}}}',
  order: { title: 'Zamówienie {number}', done: 'Gotowe' },
}

const { languageOf, isTranslated, textsIn } = translate<typeof en, Placeholders>({ en, pl })

describe('translate', () => {
  test('writes values, numbers of a region, and the plural that a number takes', () => {
    const { format } = new Intl.NumberFormat('en-IN')
    const texts: TextsOf<typeof en, Placeholders> = textsIn('en-IN', format)
    assert.equal(texts.shop, 'Shop')
    assert.equal(texts.greeting({ name: '{page} <b>' }), 'Dear {page} <b>, it’s “{page} <b>” #1')
    assert.equal(texts.pages({ page: 1, pages: 123_456 }), 'Page 1 of 1,23,456')
    const written = [0, 1, 2].map((count) => texts.products({ count, place: '#' }))
    assert.deepEqual(written, ['No product', '1 product in #', '2 products in #'])
    assert.equal(texts.order.title({ number: 1_001 }), 'Order 1001')
  })

  test('takes the plural of the language of the texts, not that of the reader', () => {
    const written = [1, 2, 5, 22].map((count) => textsIn('pl').products({ count, place: 'X' }))
    assert.deepEqual(written, [
      '1 produkt w X',
      '2 produkty w X',
      '5 produktów w X',
      '22 produkty w X',
    ])
    const { format } = new Intl.NumberFormat('ar-EG')
    assert.equal(textsIn('ar-EG', format).products({ count: 2, place: 'X' }), '٢ products in X')
  })

  test('has English texts for a language without translation', () => {
    assert.deepEqual(['pl-PL', 'PL', 'it', ''].map(languageOf), ['pl', 'pl', 'en', 'en'])
    for (const odd of ['constructor', '__proto__', 'toString-x']) {
      assert.equal(isTranslated(odd), false)
      assert.equal(textsIn(odd).shop, 'Shop')
    }
  })

  test('shares what says no numbers among the regions of a language', () => {
    assert.equal(textsIn('en-US').order, textsIn('en-GB').order)
    assert.notEqual(textsIn('en-US').pages, textsIn('en-GB').pages)
    const plain = translate<{ hello: string }, { hello: { name: string } }>({
      en: { hello: 'Hello {name}' },
    })
    assert.equal(plain.textsIn('en-US'), plain.textsIn('it'))
  })

  test('compiles no message without its values, nor a translation without a key', () => {
    // @ts-expect-error the greeting has a name
    textsIn('en').greeting({})
    // @ts-expect-error there is no such text
    textsIn('en').nothing
    // @ts-expect-error the translation has no order
    translate<typeof en, Placeholders>({ en, pl: { ...pl, order: undefined } })
  })
})

test('each fault of a message is found, and where it is', () => {
  const faults: Record<string, string> = {
    'a {name': 'has no } where a placeholder or form ends at character 8 of "a {name"',
    'a } b': 'has a } without its { at character 3 of "a } b"',
    '{}': 'has a placeholder without a name at character 2 of "{}"',
    "l'{name}": 'has an apostrophe before a brace (write ’) at character 3 of "l\'{name}"',
    '{name, date}': 'has no } where a placeholder or form ends at character 6 of "{name, date}"',
    '{n, plural, one {x}}':
      'has a plural without the form other at character 20 of "{n, plural, one {x}}"',
    '{n, plural}': 'has a plural without forms at character 11 of "{n, plural}"',
  }
  for (const [text, fault] of Object.entries(faults)) {
    assert.deepEqual(findFaults('en', { text }, { text: '{name}' }), [`text: ${fault}`])
  }
})

test('a translation is compared with English: keys, values, plurals, plain text', () => {
  assert.deepEqual(findFaults('pl', pl, en), [])
  const bad = {
    greeting: 'Drogi {imię}',
    pages: '{page}/{pages, number}',
    products: '{count, plural, one {{place}} two {{place}} other {{place}}}',
    order: { title: '<b>{number}</b>', done: ' ' },
    more: 'x',
  }
  assert.deepEqual(findFaults('pl', bad, en), [
    'shop: is missing',
    'greeting: has no } where a placeholder or form ends at character 11 of "Drogi {imię}"',
    'pages: has the placeholders page, pages (number) instead of page (number), pages (number)',
    'products: has no form many for {count}',
    'products: has no form few for {count}',
    'products: has the form two for {count}, which the language never uses',
    'order.title: has HTML',
    'order.done: is empty',
    'more: is not a key of the English file',
  ])
})

test('the types of values are written from the English file', () => {
  assert.equal(
    writePlaceholders(en, 'npm run texts'),
    `import type { Value } from '@fairdock/messages/message'

/** The values of each message with placeholders. Written by \`npm run texts\` from \`en.json\`. */
export interface Placeholders {
  greeting: { name: Value }
  pages: { page: number; pages: number }
  products: { count: number; place: Value }
  order: {
    title: { number: Value }
  }
}
`,
  )
})
