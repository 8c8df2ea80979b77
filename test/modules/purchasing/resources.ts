import assert from 'node:assert/strict'
import { freshKey, ITEM } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { newVariant } from '../inventory/resources.ts'

async function createVendor(merchant: Caller) {
  const made = await merchant.post('/v1/merchant/purchasing/vendors', { name: 'a canary' })
  assert.ok(made.body.vendor, made.text)
  return { id: made.body.vendor.id as string }
}

const PURCHASES = '/v1/merchant/purchasing/orders'

/** A draft of three units. */
async function draftPurchase(merchant: Caller, app: TestApp) {
  const { id: vendor_id } = await createVendor(merchant)
  const { variant_id } = await newVariant(merchant, app)
  const lines = [{ variant_id, quantity: 3, unit_cost_cents: 100 }]
  const made = await merchant.post(PURCHASES, { vendor_id, lines, notes: 'a canary' })
  assert.equal(made.status, 201, made.text)
  return { id: made.body.purchase_order.id as string }
}

/** An order, on the line that the bodies name. */
async function orderPurchase(merchant: Caller, app: TestApp) {
  const { id } = await draftPurchase(merchant, app)
  const admin = await app.database.openAdmin()
  await admin.query('update purchase_order_lines set id = fd_uuid() where id = $1', [ITEM])
  await admin.query('update purchase_order_lines set id = $1 where purchase_order_id = $2', [
    ITEM,
    id,
  ])
  const ordered = await merchant.post(`${PURCHASES}/${id}/order`)
  assert.equal(ordered.status, 200, ordered.text)
  return { id }
}

async function receivePurchase(merchant: Caller, app: TestApp) {
  const { id } = await draftPurchase(merchant, app)
  const { body } = await merchant.post(`${PURCHASES}/${id}/order`)
  const lines = body.purchase_order.lines.map((line: { id: string }) => ({
    line_id: line.id,
    quantity: 1,
  }))
  const received = await merchant.post(`${PURCHASES}/${id}/receive`, { lines }, freshKey())
  assert.equal(received.status, 200, received.text)
  return { id }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/purchasing/vendors/:id': createVendor,
    'PATCH /v1/merchant/purchasing/vendors/:id': createVendor,
    'GET /v1/merchant/purchasing/orders/:id': draftPurchase,
    'PATCH /v1/merchant/purchasing/orders/:id': draftPurchase,
    'GET /v1/merchant/purchasing/orders/:id/receipts': draftPurchase,
    'POST /v1/merchant/purchasing/orders/:id/order': draftPurchase,
    'POST /v1/merchant/purchasing/orders/:id/cancel': draftPurchase,
    'POST /v1/merchant/purchasing/orders/:id/close': orderPurchase,
    'POST /v1/merchant/purchasing/orders/:id/receive': orderPurchase,
    'POST /v1/merchant/purchasing/orders/:id/costs': receivePurchase,
  },
  bodies: {
    'PATCH /v1/merchant/purchasing/vendors/:id': { name: 'a canary' },
    'PATCH /v1/merchant/purchasing/orders/:id': { notes: 'a canary' },
    'POST /v1/merchant/purchasing/orders/:id/receive': { lines: [{ line_id: ITEM, quantity: 1 }] },
    'POST /v1/merchant/purchasing/orders/:id/costs': {
      description: 'a canary',
      amount_cents: 1,
      split_by: 'quantity',
    },
  },
  texts: (canary) => [
    ['POST', '/v1/merchant/purchasing/vendors', { name: canary, notes: canary, phone: canary }],
  ],
  rows: {
    vendors: `
    with variant as (select id from variants where tenant_ref = $1 limit 1),
         vendor as (insert into vendors (tenant_ref, name) values ($1, 'x') returning id),
         numbers as (insert into purchase_order_counters (tenant_ref, last_number)
                     values ($1, 2001)),
         bought as (insert into purchase_orders (tenant_ref, po_number, vendor_id, location_id,
                           currency, subtotal_cents, created_by)
                    select $1, 'PO-1', id, 'shelf', 'USD', 100, 'x' from vendor returning id),
         line as (insert into purchase_order_lines (tenant_ref, purchase_order_id, position,
                         variant_id, sku, quantity, unit_cost_cents)
                  select $1, bought.id, 0, variant.id, 'x', 1, 100 from bought, variant returning id),
         receipt as (insert into purchase_receipts (tenant_ref, purchase_order_id, number,
                            created_by)
                     select $1, id, 1, 'x' from bought returning id),
         arrived as (insert into purchase_receipt_lines (tenant_ref, receipt_id, line_id, added,
                            rejected)
                     select $1, receipt.id, line.id, 1, 0 from receipt, line),
         landed as (insert into purchase_costs (tenant_ref, purchase_order_id, number, description,
                           amount_cents, split_by, created_by)
                    select $1, id, 1, 'x', 1, 'value', 'x' from bought returning id)
    insert into purchase_cost_allocations (tenant_ref, cost_id, line_id, amount_cents, on_hand_units,
                                           on_hand_cents, sold_units, sold_cents)
    select $1, landed.id, line.id, 1, 1, 1, 0, 0 from landed, line`,
  },
}
