import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { html } from '../../../src/kernel/html.ts'
import { invoiceOf } from '../../../src/modules/documents/invoice.ts'
import { letterheadOf } from '../../../src/modules/documents/letterhead.ts'
import { writePage } from '../../../src/modules/documents/page.ts'
import { toSheet } from '../../../src/modules/documents/sheet.ts'
import { STORE, sampleOrder } from './sample-orders.ts'

const HOSTILE = `</td><script>alert(1)</script>"'\`<!--&amp; onerror=x`

describe('the page of a document', () => {
  /** A page with this text wherever strangers can put one. */
  const pageWith = (text: string, logo: string | null) => {
    const sample = sampleOrder(
      [{ name: text, label: text, sku: text, quantity: 1, unit_price_cents: 1 }],
      { email: text, coupon_code: text, discount_cents: 1 },
    )
    const ship_to = { ...sample.order.ship_to, name: text, line1: text, country: text }
    const letterhead = { ...STORE.letterhead, name: text, seller: [text], note: text }
    const order = { ...sample.order, ship_to } as typeof sample.order
    return writePage(toSheet(invoiceOf({ ...STORE, letterhead }, { ...sample, order })), logo).html
  }

  test('has the same elements and attributes, whatever strangers have written', () => {
    for (const logo of [null, 'https://assets.example/logo.png']) {
      const hostile = pageWith(HOSTILE, logo)
      assert.doesNotMatch(hostile, /<script|<!--/)
      assert.equal(hostile.replaceAll(html`${HOSTILE}`.text, 'plain'), pageWith('plain', logo))
    }
  })

  test('allows its own style and its logo, and nothing else', () => {
    const page = writePage(
      toSheet(invoiceOf(STORE, sampleOrder([]))),
      'https://assets.example/stores/acme/assets/1.png',
    )
    const style = /<style>([\s\S]*)<\/style>/.exec(page.html)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    const policy = page.contentSecurityPolicy
    assert.ok(policy.includes(`style-src 'sha256-${hash}'`))
    assert.ok(policy.includes('img-src https://assets.example;'))
    assert.ok(policy.startsWith("default-src 'none'"))
    assert.ok(policy.includes("frame-ancestors 'none'"))
    assert.doesNotMatch(policy, /unsafe|script-src/)
  })
})

describe('a letterhead', () => {
  test('takes the valid parts of a manifest, and ignores the others', () => {
    const manifest = {
      brand: { name: 'Acme', email: 'hello@acme.example', logoRef: 'https://evil.example/x.png' },
      theme: { color: { primary: 'red;} body{background:url(https://evil.example)' } },
      legal: {
        name: 'Acme Ltd',
        address: '1 High Street\n\nLondon',
        taxId: 'VAT ID GB1',
        registration: 7,
        note: 'Thank you.',
      },
    }
    assert.deepEqual(letterheadOf(manifest, 'acme'), {
      name: 'Acme',
      colour: '#111111',
      logo_ref: null,
      seller: ['Acme Ltd', '1 High Street', 'London', 'hello@acme.example', 'VAT ID GB1'],
      note: 'Thank you.',
    })
  })

  for (const [what, manifest] of [
    ['no manifest', null],
    ['a manifest of nothing', {}],
    ['one that is no object', ['brand']],
    [
      'parts that throw when they are read',
      { brand: { name: { toString: 1 } }, legal: 7, theme: [] },
    ],
  ] as const) {
    test(`has the name of the store for ${what}`, () => {
      const { name, seller, logo_ref } = letterheadOf(manifest, 'Acme Store')
      assert.deepEqual([name, seller, logo_ref], ['Acme Store', ['Acme Store'], null])
    })
  }

  test('has the colour of the store, dark enough for paper', () => {
    const inkOf = (primary: string) => letterheadOf({ theme: { color: { primary } } }, 'x').colour
    assert.equal(inkOf('#0b5bd3'), '#0b5bd3')
    assert.notEqual(inkOf('#ffff00'), '#ffff00')
  })
})
