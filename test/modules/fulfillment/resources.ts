import assert from 'node:assert/strict'
import { freshKey } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { ExampleOrder, ExampleShop, Resources } from '../../harness/resources.ts'
import { placeOrder } from '../orders/resources.ts'
import { ok } from '../returns/setup.ts'

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

const PARCELS = '/v1/merchant/fulfillments'

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

/** Three orders: one goes out with a label, one in bulk, and of one a part cannot be delivered. */
async function sendParcels({
  merchant,
  orders: { first, second, third },
}: ExampleShop): Promise<void> {
  ok(await merchant.get(`${PARCELS}/queue`))
  ok(await merchant.get(`${PARCELS}/rates?order_id=${first.order.id}&weight_grams=800`))
  const pack = async ({ order }: ExampleOrder, body?: object) =>
    ok(await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`, body), 201).fulfillment
      .id as string
  const id = await pack(first, { weight_grams: 800 })
  const label = { carrier: 'simulated', service: 'standard' }
  ok(await merchant.post(`${PARCELS}/${id}/label`, label, freshKey()), 201)
  ok(await merchant.get(`${PARCELS}/${id}/label`))
  ok(await merchant.send('DELETE', `${PARCELS}/${id}/label`))
  const shipped = { carrier: 'UPS', tracking_number: '1Z999AA10123456784' }
  ok(await merchant.post(`${PARCELS}/${id}/ship`, shipped))
  ok(await merchant.patch(`${PARCELS}/${id}/tracking`, { service: 'Ground' }))
  ok(await merchant.post(`${PARCELS}/${id}/deliver`))
  ok(await merchant.get(`${PARCELS}/${id}`))
  const rows = [{ order_id: second.order.id, ship: true, carrier: 'DPD', tracking_number: '0550' }]
  ok(await merchant.post(`${PARCELS}/bulk`, { orders: rows }))
  ok(await merchant.get(`${PARCELS}?limit=2`))
  const [cups] = third.items
  const one = { items: [{ order_item_id: cups?.id, quantity: 1 }] }
  ok(await merchant.post(`${PARCELS}/${await pack(third, one)}/cancel`))
  ok(await merchant.post(`${PARCELS}/${await pack(third, one)}/ship`))
  const rest = { reason: 'inventory', note: 'The last cup is chipped.' }
  const url = `/v1/merchant/orders/${third.order.id}/cancel-remaining`
  ok(await merchant.post(url, rest, freshKey()))
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
  examples: sendParcels,
  scale: {
    targets: {
      fulfillment_id:
        'select id from fulfillments where tenant_ref = $1 order by created_at limit 1',
    },
    paths: { '/v1/merchant/fulfillments/': 'fulfillment_id' },
  },
}
