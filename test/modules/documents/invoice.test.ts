import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sum } from '../../../src/kernel/money.ts'
import { invoiceOf } from '../../../src/modules/documents/invoice.ts'
import type { InvoiceSum } from '../../../src/modules/documents/schema.ts'
import { toSheet } from '../../../src/modules/documents/sheet.ts'
import { chargeOf, itemOf, refundOf, STORE, sampleOrder } from './sample-orders.ts'

const centsOf = (sums: readonly InvoiceSum[], kind: InvoiceSum['kind']) =>
  sums.find((each) => each.kind === kind)?.cents ?? 0

const money = fc.integer({ min: 0, max: 100_000_000 })
const lines = fc.array(
  fc.record({ quantity: fc.integer({ min: 1, max: 999 }), unit_price_cents: money }),
  { minLength: 1, maxLength: 20 },
)

describe('an invoice', () => {
  test('adds up to the order, whatever its prices, discounts, tax, tenders and refunds are', () => {
    fc.assert(
      fc.property(
        lines,
        fc.record({ shipping: money, tax: money, inside: fc.boolean(), share: fc.nat(100) }),
        fc.array(fc.nat(1_000), { maxLength: 3 }),
        (goods, { shipping, tax, inside, share }, returned) => {
          const subtotal = sum(goods.map((each) => each.quantity * each.unit_price_cents))
          const sample = sampleOrder(goods, {
            discount_cents: Math.floor((subtotal * share) / 100),
            shipping_cents: shipping,
            tax_cents: inside ? Math.min(tax, shipping) : tax,
            prices_include_tax: inside,
          })
          const { order } = sample
          const card = Math.floor(order.total_cents / 3)
          const charges = [
            chargeOf(card),
            chargeOf(order.total_cents - card, { tender: 'store_credit', card: null }),
          ]
          const refunds = returned.map((cents) => refundOf(cents))
          const invoice = invoiceOf(STORE, { ...sample, charges, refunds })
          const cents = (kind: InvoiceSum['kind']) => centsOf(invoice.sums, kind)
          assert.equal(sum(invoice.lines.map((line) => line.total_cents)), cents('subtotal'))
          assert.equal(
            cents('subtotal') + cents('discount') + cents('shipping') + cents('tax'),
            cents('total'),
          )
          assert.equal(cents('total'), order.total_cents)
          if (order.tax_cents > 0) {
            assert.equal(cents('net') + cents('tax') + cents('tax_inside'), cents('total'))
          }
          assert.equal(sum(invoice.payments.map((each) => each.cents)), invoice.paid_cents)
          assert.equal(invoice.paid_cents, order.captured_cents - sum(returned))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('shows a tax that is added above the total, and a contained tax below it', () => {
    const goods = [{ quantity: 2, unit_price_cents: 1_000 }]
    const kinds = (prices_include_tax: boolean) =>
      invoiceOf(STORE, sampleOrder(goods, { tax_cents: 319, prices_include_tax })).sums.map(
        ({ kind }) => kind,
      )
    assert.deepEqual(kinds(false), ['subtotal', 'shipping', 'net', 'tax', 'total'])
    assert.deepEqual(kinds(true), ['subtotal', 'shipping', 'total', 'net', 'tax_inside'])
  })

  test('shows gift cards apart from taxed lines', () => {
    const goods = [
      { quantity: 2, unit_price_cents: 1_000 },
      { quantity: 1, unit_price_cents: 5_000, gift_card: true },
    ]
    const sums = (prices_include_tax: boolean) =>
      invoiceOf(STORE, sampleOrder(goods, { tax_cents: 200, prices_include_tax })).sums.map(
        ({ kind, cents }) => [kind, cents],
      )
    assert.deepEqual(sums(false), [
      ['subtotal', 7_000],
      ['shipping', 0],
      ['gift_cards', 5_000],
      ['net', 2_000],
      ['tax', 200],
      ['total', 7_200],
    ])
    assert.deepEqual(sums(true), [
      ['subtotal', 7_000],
      ['shipping', 0],
      ['total', 7_000],
      ['gift_cards', 5_000],
      ['net', 1_800],
      ['tax_inside', 200],
    ])
  })

  test('leaves out lines that an edit has emptied, failed charges and failed refunds', () => {
    const sample = sampleOrder([{ quantity: 1, unit_price_cents: 1_000 }])
    const emptied = itemOf({ quantity: 0, unit_price_cents: 500 })
    const failed = refundOf(300)
    const [tender] = failed.tenders
    assert.ok(tender)
    const invoice = invoiceOf(STORE, {
      ...sample,
      items: [...sample.items, emptied],
      charges: [...sample.charges, chargeOf(0, { status: 'failed' })],
      refunds: [{ ...failed, tenders: [{ ...tender, status: 'failed' }] }],
    })
    assert.equal(invoice.lines.length, 1)
    assert.equal(invoice.payments.length, 1)
    assert.equal(invoice.paid_cents, 1_000)
  })

  const written: [language: string, title: string, total: string, date: string][] = [
    ['en', 'Invoice 1001', '€1,234.50', 'November 17, 2026'],
    ['de', 'Rechnung 1001', '1.234,50 €', '17. November 2026'],
    ['fr-FR', 'Facture 1001', '1 234,50 €', '17 novembre 2026'],
    ['es', 'Factura 1001', '1234,50 €', '17 de noviembre de 2026'],
    ['de-CH', 'Rechnung 1001', "EUR 1'234.50", '17. November 2026'],
    ['pl', 'Invoice 1001', '1234,50 €', '17 listopada 2026'],
    // No font of a PDF has these letters beside ours.
    ['ja', 'Invoice 1001', '€1,234.50', 'November 17, 2026'],
    ['no such language!', 'Invoice 1001', '€1,234.50', 'November 17, 2026'],
  ]
  for (const [language, title, total, date] of written) {
    test(`is written in the form of ${language}`, () => {
      const sample = sampleOrder([{ quantity: 1, unit_price_cents: 123_450 }])
      const sheet = toSheet(invoiceOf({ ...STORE, language }, sample))
      assert.equal(sheet.title, title)
      // Languages use several kinds of spaces and apostrophes.
      const plain = (text: string | undefined) => text?.replace(/\s/gu, ' ').replace('’', "'")
      assert.equal(plain(sheet.rows[0]?.cells[3]), total)
      assert.equal(plain(sheet.facts[1]?.value), date)
    })
  }

  test('shows a currency without cents as it is', () => {
    const sample = sampleOrder([{ quantity: 3, unit_price_cents: 500 }], { currency: 'JPY' })
    assert.equal(toSheet(invoiceOf(STORE, sample)).rows[0]?.cells[3], '¥1,500')
  })

  test('names its tenders and refunds, and says when it is no ordinary sale', () => {
    const sample = sampleOrder([{ quantity: 1, unit_price_cents: 1_000 }], { is_test: true })
    const sheet = toSheet(
      invoiceOf(STORE, {
        ...sample,
        refunds: [refundOf(200), refundOf(100, { kind: 'adjustment' })],
      }),
    )
    assert.equal(sheet.notice, 'Test order: not a sale')
    const labels = sheet.sums.map(({ label, value }) => `${label} ${value}`)
    assert.deepEqual(labels.slice(-4), [
      'Paid: Visa ending in 1111 €10.00',
      'Refunded on November 17, 2026 -€2.00',
      'Returned for a change on November 17, 2026 -€1.00',
      'Amount paid €7.00',
    ])
    const cancelled = sampleOrder([], { cancelled_at: '2026-11-18T23:30:00.000Z' })
    const late = { ...STORE, time_zone: 'Asia/Tokyo' }
    assert.equal(toSheet(invoiceOf(late, cancelled)).notice, 'Cancelled on November 19, 2026')
  })

  test('writes an address as its country does', () => {
    const linesFor = (ship_to: object, more: object = {}) => {
      const sample = sampleOrder([])
      const order = { ...sample.order, ...more, ship_to: { ...sample.order.ship_to, ...ship_to } }
      return toSheet(invoiceOf(STORE, { ...sample, order: order as typeof sample.order })).address
        ?.lines
    }
    const german = ['Hauptstraße 1', '10115 Berlin', 'Germany']
    assert.deepEqual(linesFor({}), ['Ann Example', ...german])
    const american = { city: 'Austin', state: 'TX', postal_code: '78701', country: 'US' }
    assert.deepEqual(linesFor(american)?.slice(-2), ['Austin, TX 78701', 'United States'])
    // The label of an address, such as "Home", is no name: the shopper's own stands in for a missing one.
    const buyer = { customer_name: 'Cy Buyer' }
    assert.deepEqual(linesFor({ name: null }, buyer), ['Cy Buyer', ...german])
    assert.deepEqual(linesFor({ name: ' ' }, { customer_name: null }), german)
  })
})
