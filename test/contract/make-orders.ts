import assert from 'node:assert/strict'
import type { Caller, TestApp } from '../harness/app.ts'
import { APPROVED, checkout, openShop, type Shop } from '../modules/checkout/setup.ts'
import { freshKey, LINE } from './ids.ts'

/** Makes orders, and what comes after them: parcels, labels, returns and mails. */

export const LABEL = { carrier: 'simulated', service: 'standard' }

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

/** Gives the line of a return the id that the bodies name, in place of an earlier return's. */
export async function nameLine(app: TestApp, id: string) {
  const admin = await app.database.openAdmin()
  await admin.query(`set session_replication_role = replica`)
  for (const [table, column] of [
    ['return_receipt_lines', 'return_line_id'],
    ['return_resolutions', 'return_line_id'],
    ['return_lines', 'id'],
  ]) {
    await admin.query(`update ${table} set ${column} = gen_random_uuid() where ${column} = $1`, [
      LINE,
    ])
  }
  await admin.query('update return_lines set id = $1 where return_id = $2', [LINE, id])
  await admin.query(`set session_replication_role = default`)
  return { id }
}

export async function makeReturn(merchant: Caller, app: TestApp) {
  const body = { ...(await shipOrder(merchant, app)), note: 'a canary' }
  const made = await merchant.post('/v1/merchant/returns', body)
  assert.equal(made.status, 201, made.text)
  return nameLine(app, made.body.return.id as string)
}

export async function requestReturn(merchant: Caller, app: TestApp) {
  const { order_id, lines } = await shipOrder(merchant, app)
  const url = `/v1/tenants/acme/orders/${order_id}/returns`
  const made = await app.storefront.post(url, { customer_ref: 'a canary', lines }, freshKey())
  assert.equal(made.status, 201, made.text)
  return { id: made.body.return.id as string }
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

export async function buyLabel(merchant: Caller, app: TestApp) {
  const { id } = await packAddressed(merchant, app)
  const bought = await merchant.post(`/v1/merchant/fulfillments/${id}/label`, LABEL, freshKey())
  assert.equal(bought.status, 201, bought.text)
  return { id }
}

/** A mail that was sent. */
export async function sendMail(merchant: Caller, app: TestApp) {
  const { id: order_id } = await placeOrder(merchant, app)
  const admin = await app.database.openAdmin()
  const { rows } = await admin.query(
    `insert into shopper_mails (tenant_ref, kind, about_id, order_id, recipient, state,
                                next_attempt_at, sent_at)
     select tenant_ref, 'order_placed', id, id, 'a canary', 'sent', null, now()
       from orders where id = $1
     returning id`,
    [order_id],
  )
  return { id: rows[0].id as string }
}

export async function holdOrder(merchant: Caller, app: TestApp) {
  const { id } = await placeOrder(merchant, app)
  const held = await merchant.post(`/v1/merchant/orders/${id}/hold`, {})
  assert.equal(held.status, 200, held.text)
  return { id }
}
