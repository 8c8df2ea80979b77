import assert from 'node:assert/strict'
import { listVendors } from '../../../src/modules/purchasing/queries.ts'
import { freshKey, ITEM } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import { BIG, MANY } from '../../harness/list-pages.ts'
import type { ExampleShop, Resources } from '../../harness/resources.ts'
import { addVariant } from '../catalog/resources.ts'
import { newVariant } from '../inventory/resources.ts'
import { ok } from '../returns/setup.ts'

const VENDORS = '/v1/merchant/purchasing/vendors'

async function createVendor(merchant: Caller) {
  const made = await merchant.post(VENDORS, { name: 'a canary' })
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

/** A purchase order from its draft to its freight bill, and two that end otherwise. */
async function buyGoods({ merchant, tea }: ExampleShop): Promise<void> {
  const contact = { name: 'Leaf & Co', email: 'sales@leaf.example', lead_time_days: 14 }
  const { vendor } = ok(await merchant.post(VENDORS, contact), 201)
  ok(await merchant.get(VENDORS))
  ok(await merchant.get(`${VENDORS}/${vendor.id}`))
  ok(await merchant.patch(`${VENDORS}/${vendor.id}`, { phone: '+1 307 555 0100' }))
  const draft = async () => {
    const lines = [{ variant_id: tea, quantity: 60, unit_cost_cents: 410 }]
    return ok(await merchant.post(PURCHASES, { vendor_id: vendor.id, lines }), 201).purchase_order
  }
  const { id, lines } = await draft()
  ok(await merchant.patch(`${PURCHASES}/${id}`, { notes: 'Ring the bell twice.' }))
  ok(await merchant.post(`${PURCHASES}/${id}/order`))
  const received = { lines: [{ line_id: lines[0].id, quantity: 25 }] }
  ok(await merchant.post(`${PURCHASES}/${id}/receive`, received, freshKey()))
  const freight = { description: 'Freight', amount_cents: 2_500, split_by: 'quantity' }
  ok(await merchant.post(`${PURCHASES}/${id}/costs`, freight), 201)
  ok(await merchant.get(`${PURCHASES}/${id}/receipts`))
  ok(await merchant.get(`${PURCHASES}/${id}`))
  ok(await merchant.post(`${PURCHASES}/${id}/close`))
  const unwanted = await draft()
  ok(await merchant.post(`${PURCHASES}/${unwanted.id}/cancel`))
  ok(await merchant.get(`${PURCHASES}?limit=5`))
  ok(await merchant.get(`/v1/merchant/inventory/${tea}/costs?limit=5`))
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
  beyond: {
    vendors: (merchant) => merchant.post(VENDORS, { name: 'V' }),
    purchase_orders: async (merchant) => {
      const vendor = await createVendor(merchant)
      const { body } = await addVariant(merchant)
      const lines = [{ variant_id: body.variant.id, quantity: 1, unit_cost_cents: 1 }]
      return merchant.post(PURCHASES, { vendor_id: vendor.id, lines })
    },
  },
  examples: buyGoods,
  pages: {
    seed: `
      insert into vendors (tenant_ref, name, archived_at)
      select '${BIG}', md5(n::text), case when n % 100 = 0 then now() end
        from generate_series(1, ${MANY}) n`,
    read: async ({ reads }) => {
      await reads(listVendors, { archived: false }, { expected: 10 })
      await reads(listVendors, { archived: true }, { expected: 10 })
    },
  },
  scale: {
    // Their number follows that of the orders. Nothing is expected of them: drafts, and one in ten cancelled.
    fill: [
      [
        'purchase orders',
        `
    insert into vendors (tenant_ref, id, name, lead_time_days, archived_at)
    select tenant_ref, scale.id('vendor', tenant_ref, n), 'Vendor ' || n, 7,
           case when n % 10 = 0 then now() end
      from scale.plan p, generate_series(1, 1 + p.orders / 100) as n;
    insert into purchase_order_counters (tenant_ref, last_number)
    select tenant_ref, 1000 + 1 + orders / 10 from scale.plan;
    insert into purchase_orders (tenant_ref, id, po_number, vendor_id, location_id, status, currency,
                                 subtotal_cents, created_by, created_at, cancelled_at)
    select tenant_ref, scale.id('purchase', tenant_ref, n), 'PO-' || (1000 + n),
           scale.id('vendor', tenant_ref, 1 + n % (1 + p.orders / 100)), 'default',
           case when n % 10 = 0 then 'cancelled' else 'draft' end, 'USD', 5000, 'merchant_key:scale',
           now() - n * interval '1 hour', case when n % 10 = 0 then now() end
      from scale.plan p, generate_series(1, 1 + p.orders / 10) as n;
    insert into purchase_order_lines (tenant_ref, purchase_order_id, position, variant_id, sku,
                                      quantity, unit_cost_cents)
    select tenant_ref, scale.id('purchase', tenant_ref, n), 0,
           scale.id('variant', tenant_ref, 1 + n % p.products), 'sku', 10, 500
      from scale.plan p, generate_series(1, 1 + p.orders / 10) as n`,
      ],
    ],
    targets: {
      vendor_id:
        'select vendor_id from purchase_orders where tenant_ref = $1 order by po_number limit 1',
      purchase_order_id:
        'select id from purchase_orders where tenant_ref = $1 order by po_number limit 1',
    },
    paths: {
      '/v1/merchant/purchasing/vendors/': 'vendor_id',
      '/v1/merchant/purchasing/orders/': 'purchase_order_id',
    },
  },
}
