import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { openDestinationTax } from '../../harness/destination-tax.ts'
import { suiteScope } from '../../harness/scope.ts'
import { APPROVED, stock } from '../checkout/setup.ts'
import { type OrderStore, openOrderStore } from '../orders/setup.ts'

const RUNS = process.env.LONG === '1' ? 200 : 12

let store: OrderStore

const scope = suiteScope()
before(async () => {
  const provider = await openDestinationTax(scope)
  store = await openOrderStore(scope as never, { env: provider.env })
})

const SHIPPING = {
  mode: 'flat',
  flat_rate_cents: 490,
  expedited_rate_cents: 990,
  max_cents: 990,
  free_shipping_threshold_cents: 4_000,
}
const VAT = { provider: 'flat_rate', rate_bps: 1_900 }

const edits = (items: { id: string }[], ...quantities: number[]) => ({
  edits: quantities.map((quantity, at) => ({ order_item_id: items[at]?.id, quantity })),
})

describe('the preview of an edit', () => {
  test('says exactly what the edit then does, for any quantities and terms, and on both planes', async () => {
    const { variants } = store.shop
    const drawn = fc.record({
      before: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 3 }),
      after: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 3, maxLength: 3 }),
      tax: fc.constantFrom(VAT, null, { provider: 'acme_tax', rate_bps: 0 }),
      expedited: fc.boolean(),
      by: fc.constantFrom('shopper' as const, 'merchant' as const),
    })
    await fc.assert(
      fc.asyncProperty(drawn, async ({ before, after, tax, expedited, by }) => {
        const lines = [1_000, 2_500, 333].map((price, at) => ({
          variant_id: variants[price],
          quantity: before[at],
        }))
        const { order, items } = await store.place({ items: lines, shipping: SHIPPING, tax })
        const body = { ...edits(items, ...after), expedited }
        const shown = await store[by](order.id, 'edit/preview', body)
        assert.equal(shown.status, 200, shown.text)
        const { settlement, delta_cents, cancels, tenders } = shown.body
        assert.equal(shown.body.total_before_cents, order.total_cents)
        assert.equal(
          cancels,
          after.every((quantity) => quantity === 0),
        )
        const untouched = await store.read(order.id)
        assert.equal(untouched.order.total_cents, order.total_cents, 'nothing was changed')
        if (by === 'merchant' && settlement === 'charge') return
        const card = by === 'shopper' && { card: APPROVED }
        const done = await store[by](order.id, 'edit', { ...body, ...card })
        assert.equal(done.status, 200, done.text)
        assert.equal(done.body.delta_cents, delta_cents)
        if (!cancels) {
          for (const name of ['subtotal', 'discount', 'shipping', 'tax', 'total']) {
            const field = `${name}_cents`
            assert.equal(done.body.order[field], shown.body[field], field)
          }
          const linesOf = (all: Record<string, unknown>[], id: string) =>
            all.map((each) => [
              each[id],
              each.quantity,
              each.line_total_cents,
              each.tax_cents,
              each.shipping_cents,
            ])
          assert.deepEqual(
            linesOf(done.body.items, 'id'),
            linesOf(shown.body.items, 'order_item_id'),
          )
        }
        const paidBack = tenders.reduce(
          (sum: number, each: { amount_cents: number }) => sum + each.amount_cents,
          0,
        )
        assert.equal(paidBack, done.body.refund?.amount_cents ?? 0)
        assert.equal(settlement === 'charge' ? delta_cents : 0, done.body.charge?.amount_cents ?? 0)
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
    await store.check()
  })

  test('says that a card is needed or stock is missing, when the edit is refused for that reason', async () => {
    const { order, items } = await store.place()
    const more = edits(items, 5)
    const shown = await store.merchant(order.id, 'edit/preview', more)
    assert.deepEqual([shown.status, shown.body.settlement], [200, 'charge'])
    assert.equal(shown.body.stored_card, null)
    const stored = "update charges set vault_id = 'stored' where order_id = $1"
    const vaulted = await store.place()
    await store.superuser.query(stored, [vaulted.order.id])
    const chargeable = await store.merchant(
      vaulted.order.id,
      'edit/preview',
      edits(vaulted.items, 5),
    )
    assert.deepEqual(chargeable.body.stored_card, { brand: 'visa', last4: '1111' })
    const refused = await store.merchant(order.id, 'edit', more)
    assert.deepEqual([refused.status, refused.body.amount_due_cents], [402, shown.body.delta_cents])
    const { variants, merchant } = store.shop
    await stock(merchant, String(variants[2_500]), 3)
    const last = await store.place({ items: [{ variant_id: variants[2_500], quantity: 1 }] })
    const scarce = await store.shopper(last.order.id, 'edit/preview', edits(last.items, 9))
    assert.deepEqual([scarce.status, scarce.body.items[0].available], [200, false])
    const enough = await store.shopper(last.order.id, 'edit/preview', edits(last.items, 3))
    assert.equal(enough.body.items[0].available, true)
  })

  test('is refused for the same reasons as the edit', async () => {
    const { order, items } = await store.place()
    const unknown = [{ order_item_id: order.id, quantity: 1 }]
    for (const [body, status, code] of [
      [{ edits: unknown }, 404, 'order_item_not_found'],
      [{ ...edits(items, 1), charge_id: order.id }, 404, 'charge_not_found'],
      [{ edits: [] }, 400, 'invalid_body'],
      [{ edits: [...edits(items, 1).edits, ...edits(items, 2).edits] }, 400, 'invalid_body'],
      [edits(items, -1), 400, 'invalid_body'],
    ] as const) {
      for (const by of ['shopper', 'merchant'] as const) {
        const shown = await store[by](order.id, 'edit/preview', body)
        assert.deepEqual([shown.status, shown.body.error?.code], [status, code], shown.text)
        const done = await store[by](order.id, 'edit', body)
        assert.deepEqual([done.status, done.body.error?.code], [status, code])
      }
    }
    await store.merchant(order.id, 'cancel', { reason: 'staff' })
    const ended = await store.merchant(order.id, 'edit/preview', edits(items, 1))
    assert.deepEqual([ended.status, ended.body.error.code], [409, 'invalid_transition'])
    const nobody = await store.app.anyone.post(`/v1/merchant/orders/${order.id}/edit/preview`, {})
    assert.equal(nobody.status, 401)
  })
})
