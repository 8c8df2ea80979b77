import assert from 'node:assert/strict'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { APPROVED, checkout, openShop, type Shop } from '../checkout/setup.ts'

/** The live store of each app. A hundred fixtures order in it, and to open it takes as long as an order. */
const shops = new WeakMap<TestApp, Promise<Shop>>()

/** A paid order of two units. */
export async function placeOrder(_merchant: Caller, app: TestApp, more: object = {}) {
  const opening = shops.get(app) ?? openShop(app)
  shops.set(app, opening)
  const shop = await opening
  const items = [{ variant_id: shop.variants[1_000], quantity: 2 }]
  const body = { customer_ref: 'a canary', items, card: APPROVED, ...more }
  const placed = await checkout(app, shop, body)
  assert.equal(placed.status, 201, placed.text)
  return { id: placed.body.order.id as string }
}

export async function holdOrder(merchant: Caller, app: TestApp) {
  const { id } = await placeOrder(merchant, app)
  const held = await merchant.post(`/v1/merchant/orders/${id}/hold`, {})
  assert.equal(held.status, 200, held.text)
  return { id }
}

/** An order of the store `$1`; the statement returns its id. */
export const insertOrder = (number: number) => `
  insert into orders (tenant_ref, id, order_number, customer_ref, status, payment_status, fulfillment_status,
                      subtotal_cents, discount_cents, shipping_cents, tax_cents, total_cents, currency,
                      idempotency_key, pricing)
  values ($1, gen_random_uuid(), ${number}, 'x', 'placed', 'paid', 'unfulfilled', 100, 0, 0, 0, 100, 'USD',
          '${number}', '{}')
  returning id`

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/orders/:id': placeOrder,
    'GET /v1/merchant/orders/:id/timeline': placeOrder,
    'GET /v1/merchant/orders/:id/explain': placeOrder,
    'POST /v1/merchant/orders/:id/notes': placeOrder,
    'POST /v1/merchant/orders/:id/hold': placeOrder,
    'POST /v1/merchant/orders/:id/process': placeOrder,
    'DELETE /v1/merchant/orders/:id/notes/:noteId': async (merchant, app) => {
      const { id } = await placeOrder(merchant, app)
      const made = await merchant.post(`/v1/merchant/orders/${id}/notes`, { note: 'a canary' })
      return { id, noteId: made.body.note.id }
    },
  },
  bodies: {
    'POST /v1/merchant/orders/:id/notes': { note: 'a canary' },
    'POST /v1/merchant/orders/:id/hold': { reason: 'a canary' },
  },
  rows: {
    orders: `
    with counter as (insert into order_counters (tenant_ref) values ($1)),
         placed as (${insertOrder(1001)}),
         item as (insert into order_items (tenant_ref, id, order_id, product_id, variant_id,
                         product_name, sku, quantity, original_quantity, unit_price_cents,
                         list_price_cents, line_total_cents, position)
                  select $1, gen_random_uuid(), id, id, id, 'x', 'x', 1, 1, 100, 100, 100, 0
                    from placed),
         asked as (insert into payment_requests (tenant_ref, order_id, amount_cents, currency,
                          status, expires_at, due_at, created_by)
                   select $1, id, 1, 'USD', 'open', now(), now(), 'x' from placed),
         paid as (insert into charges (tenant_ref, charge_id, order_id, tender, status,
                         amount_cents, captured_cents, refunded_cents, currency)
                  select $1, gen_random_uuid(), id, 'card', 'captured', 100, 100, 1, 'USD'
                    from placed),
         line as (insert into order_timeline (tenant_ref, order_id, type, actor)
                  select $1, id, 'x', 'x' from placed)
    insert into order_notes (tenant_ref, order_id, note, actor)
    select $1, id, 'x', 'x' from placed`,
  },
}
