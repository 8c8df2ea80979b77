import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contrast, parseColour } from '../../../manifest/colour.ts'
import type { MailFacts } from '../../../src/modules/shopper-mail/facts.ts'
import { formatsOf } from '../../../src/modules/shopper-mail/formats.ts'
import {
  MAIL_KINDS,
  MAIL_LANGUAGES,
  type MailKind,
} from '../../../src/modules/shopper-mail/schema.ts'
import { writeMail } from '../../../src/modules/shopper-mail/service.ts'
import { wordsIn } from '../../../src/modules/shopper-mail/words.ts'
import { readBrand } from '../../../src/modules/sites/brand.ts'

test('an amount and a date of a mail keep the order of their parts from right to left', () => {
  const { money, date } = formatsOf('ar', 'UTC')
  assert.match(money(1_800, 'GBP'), /^\u2068.*\u2068UK£\u2069.*\u2069$/)
  assert.match(date('2026-12-19T10:00:00Z'), /^\u2068[^\u2068]+\u2069$/)
  assert.equal(formatsOf('en', 'UTC').money(1_800, 'GBP'), '£18.00')
})

const HOSTILE = `"><img src=x onerror=alert(1)>\r\nBcc: eve@example.com\u2028</title><script>`

/** Facts with every part, whatever the kind needs. */
function factsOf(kind: MailKind, text = 'Mug', more: Partial<MailFacts> = {}): MailFacts {
  const unit = { order_item_id: 'i', quantity: 1 }
  return {
    kind,
    language: 'en',
    words: wordsIn('en'),
    formats: formatsOf('en', 'UTC'),
    store: {
      name: text,
      email: 'hello@shop.example',
      url: 'https://shop.example',
      logoUrl: null,
      colours: readBrand(null).colours,
      darkColours: readBrand(null).darkColours,
      sandbox: false,
      owner_email: null,
    },
    subscription: {
      item: text,
      quantity: 2,
      currency: 'EUR',
      amount_cents: 1_190,
      at: '2027-01-31T06:00:00Z',
      card: { tender: 'card', brand: 'visa', last4: '1111' },
      link: { url: 'https://shop.example/account/subscription/t', days: 30 },
    },
    order: {
      number: 7,
      currency: 'EUR',
      items: [
        {
          ...unit,
          name: text,
          label: text,
          quantity: 2,
          total_cents: 2_380,
          imageUrl: null,
          gift_card: false,
        },
        {
          order_item_id: 'gone',
          name: 'Gone',
          label: null,
          quantity: 0,
          total_cents: 0,
          imageUrl: null,
          gift_card: false,
        },
      ],
      subtotal_cents: 2_380,
      discount_cents: 100,
      coupon_code: text,
      shipping_cents: 0,
      tax_cents: 364,
      total_cents: 2_280,
      prices_include_tax: true,
      tax_rate_bps: 1_900,
      ship_to: {
        name: text,
        line1: text,
        line2: null,
        city: text,
        state: '',
        postal_code: '1',
        country: 'DE',
      },
      paid_with: [{ tender: 'gift_card', brand: null, last4: '7K2M' }],
      link: { url: 'https://shop.example/orders/link/abc', days: 30 },
      hasMoreToShip: true,
    },
    parcel: {
      carrier: text,
      tracking_number: text,
      tracking_url: 'https://track.example/?a=1&b=2',
      units: [unit],
    },
    refund: { amount_cents: 500, to: [{ tender: 'card', brand: 'visa', last4: '1111' }] },
    giftCard:
      kind === 'gift_card'
        ? {
            code: 'AAAA-BBBB',
            balance_cents: 5_000,
            currency: 'EUR',
            expires_at: null,
            recipient_name: text,
            message: text,
          }
        : null,
    edit: { total_before_cents: 1_000, delta_cents: 1_280 },
    cancellation: { refunded_cents: 2_280 },
    request: {
      amount_cents: 500,
      credit_cents: 1_780,
      expires_at: '2030-01-31T12:00:00.000Z',
      correction: null,
    },
    returned: { instructions: text, label_url: null, refunded_cents: 0, units: [unit] },
    ...more,
  }
}

describe('a mail to a shopper', () => {
  test('cannot contain markup, a script or an extra header, whatever names contain', () => {
    for (const kind of MAIL_KINDS) {
      const { subject, html, text } = writeMail(factsOf(kind, HOSTILE))
      assert.ok(!/[\p{Cc}\p{Zl}\p{Zp}]/u.test(subject), `${kind}: ${subject}`)
      assert.ok([...subject].length <= 200)
      assert.doesNotMatch(html, /<script|<img src=x|onerror=alert\(1\)>/, kind)
      // How to send something back, and the words to a recipient, may have lines of their own.
      if (!['return_approved', 'gift_card'].includes(kind))
        assert.doesNotMatch(text, /^Bcc:/m, kind)
    }
  })

  test('says the same as HTML and as plain text', () => {
    for (const kind of MAIL_KINDS) {
      const { html, text } = writeMail(factsOf(kind, 'Sea green mug'))
      const plain = html.replaceAll(/<style>.*<\/style>/g, '').replaceAll(/<[^>]+>/g, ' ')
      const words = (said: string) => new Set(said.match(/[\p{L}\p{N}#€](?:[.,]?[\p{L}\p{N}])+/gu))
      const inHtml = words(plain.replaceAll('&amp;', '&'))
      const missing = [...words(text.replaceAll(/https?:\S+/g, ''))].filter(
        (word) => !inHtml.has(word) && !/^-+$/.test(word),
      )
      assert.deepEqual(missing, [], kind)
    }
  })

  test('shows only addresses of the web, escaped', () => {
    const { html } = writeMail(factsOf('order_shipped'))
    assert.ok(html.includes('href="https://track.example/?a=1&amp;b=2"'))
    for (const [, url = ''] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
      assert.match(url, /^https?:\/\//)
    }
  })

  test('leaves out lines that an edit removed, and shows a contained tax apart', () => {
    const { text } = writeMail(factsOf('order_placed'))
    assert.ok(!text.includes('Gone'))
    assert.match(text, /Total: €22\.80\nTax included \(19%\): €3\.64/)
    assert.match(text, /Discount \(Mug\): −€1\.00/)
  })

  test('writes amounts of currencies without cents, and a country by its name', () => {
    const facts = factsOf('order_placed')
    const order = facts.order && { ...facts.order, currency: 'JPY' }
    const { text } = writeMail({ ...facts, order })
    assert.match(text, /Total: ¥2,280/)
    assert.match(text, /\nGermany\n/)
  })

  test('has every text in every language, and no two languages alike', () => {
    const flat = (value: unknown): string[] => {
      if (typeof value === 'function') return [value({ store: 'a', name: 'b' }) as string]
      if (typeof value !== 'object' || value === null) return [String(value)]
      return Object.values(value).flatMap(flat)
    }
    const all = MAIL_LANGUAGES.map((language) => flat(wordsIn(language)))
    assert.equal(new Set(all.map((words) => words.length)).size, 1)
    for (const words of all) assert.ok(words.every((word) => word.trim() !== ''))
    const names = { store: 's', order: '#1', amount: '€1', item: 'tea' }
    const subjects = MAIL_LANGUAGES.flatMap((language) =>
      MAIL_KINDS.map((kind) => wordsIn(language).kinds[kind].subject(names)),
    )
    assert.equal(new Set(subjects).size, subjects.length)
  })

  test('has no link, and does not promise one, if the shop is served elsewhere', () => {
    const facts = factsOf('order_placed')
    const order = facts.order && { ...facts.order, link: null }
    const { html, text } = writeMail({ ...facts, order, store: { ...facts.store, url: null } })
    assert.ok(!/https?:/.test(text) && !html.includes('href='))
    assert.ok(!text.includes('30 days'))
  })
})

describe('the brand of a store', () => {
  test('is readable in any colours, and plain without any', () => {
    for (const color of [
      undefined,
      { primary: '#ffff00', background: '#fffff0', text: '#ffffee' },
      { primary: '#000', background: '#0a0a0a', surface: '#101010' },
      { primary: 'url(x)', background: { toString: 1 }, text: 'red;}' },
    ]) {
      const { colours } = readBrand({ theme: { color } })
      for (const value of Object.values(colours)) assert.match(value, /^#[0-9a-f]{6}$/)
      for (const [front, back] of [
        ['text', 'background'],
        ['muted', 'background'],
        ['link', 'background'],
        ['onPrimary', 'primary'],
        ['surfaceText', 'surface'],
        ['surfaceMuted', 'surface'],
      ] as const) {
        const [a, b] = [parseColour(colours[front]), parseColour(colours[back])]
        assert.ok(a && b && contrast(a, b) >= 4.4, `${front} on ${back}`)
      }
    }
  })

  test('ignores names of several lines, invalid addresses, and all of a malformed manifest', () => {
    const brand = readBrand({
      brand: { name: ' A\r\nBcc: x\u0000 ', email: 'x\r\ny@z', logoRef: 7 },
    })
    assert.deepEqual([brand.name, brand.email, brand.logoRef], ['A Bcc: x', null, null])
    for (const manifest of [null, 7, [], 'x', { brand: [], theme: 'x' }]) {
      assert.equal(readBrand(manifest).name, null)
    }
  })
})
