import assert from 'node:assert/strict'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { placeOrder } from '../orders/resources.ts'

export async function packOrder(merchant: Caller, app: TestApp, more: object = {}) {
  const { id } = await placeOrder(merchant, app, more)
  const packed = await merchant.post(`/v1/merchant/orders/${id}/fulfillments`)
  assert.equal(packed.status, 201, packed.text)
  return { id: packed.body.fulfillment.id as string }
}

/** A shipped order, of which one unit comes back. */
export async function shipOrder(merchant: Caller, app: TestApp, quantity = 2) {
  const { id } = await placeOrder(merchant, app)
  const { body } = await merchant.get(`/v1/merchant/orders/${id}`)
  const packed = await merchant.post(`/v1/merchant/orders/${id}/fulfillments`, {
    items: [{ order_item_id: body.items[0].id, quantity }],
  })
  await merchant.post(`/v1/merchant/fulfillments/${packed.body.fulfillment.id}/ship`)
  const units = { order_item_id: body.items[0].id as string, quantity: 1, reason: 'a canary' }
  return { order_id: id, lines: [units] }
}

const SHIP_TO = {
  label: 'a canary',
  line1: '1 High Street',
  city: 'London',
  state: '',
  postal_code: 'SW1A 1AA',
  country: 'GB',
}

export function packAddressed(merchant: Caller, app: TestApp) {
  return packOrder(merchant, app, { shipping_address: SHIP_TO })
}

export const resources: Resources = {
  fixtures: {
    'POST /v1/merchant/orders/:id/fulfillments': placeOrder,
    'GET /v1/merchant/fulfillments/:id': packOrder,
    'POST /v1/merchant/fulfillments/:id/ship': packOrder,
    'POST /v1/merchant/fulfillments/:id/cancel': packOrder,
    'PATCH /v1/merchant/fulfillments/:id/tracking': packOrder,
    'POST /v1/merchant/fulfillments/:id/deliver': async (merchant, app) => {
      const { id } = await packOrder(merchant, app)
      await merchant.post(`/v1/merchant/fulfillments/${id}/ship`)
      return { id }
    },
  },
  bodies: {
    'POST /v1/merchant/fulfillments/:id/ship': { carrier: 'a canary' },
    'PATCH /v1/merchant/fulfillments/:id/tracking': { carrier: 'a canary' },
  },
  rows: {
    fulfillments: `
    with item as (select order_id, id from order_items where tenant_ref = $1 limit 1),
         parcel as (insert into fulfillments (tenant_ref, order_id, number, fulfillment_number,
                           location_id, created_by)
                    select $1, order_id, 1, '1001-F1', 'default', 'x' from item returning id)
    insert into fulfillment_items (tenant_ref, fulfillment_id, order_item_id, position, variant_id, sku,
                                   product_name, quantity, stock_quantity)
    select $1, parcel.id, item.id, 0, item.id, 'x', 'x', 1, 0 from parcel, item`,
  },
}
