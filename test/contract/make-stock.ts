import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../harness/app.ts'
import { makeVariant as plantVariant } from '../harness/variants.ts'
import { putVariant } from '../modules/inventory/setup.ts'
import { freshKey, ITEM, VARIANT } from './ids.ts'

/** Makes stock, its counts, and what is bought for it. */

export async function newVariant(_merchant: Caller, app: TestApp) {
  return { variant_id: await putVariant(await app.database.openAdmin()) }
}

export async function createLocation(merchant: Caller) {
  const body = { id: `l-${randomUUID()}`, name: 'a canary' }
  const made = await merchant.post('/v1/merchant/inventory/locations', body)
  assert.ok(made.body.location, made.text)
  return { id: made.body.location.id as string }
}

/** A count of one variant, at a location of its own: a level is counted once at a time. */
export async function beginCount(merchant: Caller, app: TestApp) {
  await plantVariant(await app.store('acme'), VARIANT)
  const { id: location_id } = await createLocation(merchant)
  const body = { location_id, variant_ids: [VARIANT] }
  const made = await merchant.post('/v1/merchant/inventory/counts', body)
  assert.ok(made.body.count, made.text)
  return { id: made.body.count.id as string }
}

export async function createVendor(merchant: Caller) {
  const made = await merchant.post('/v1/merchant/purchasing/vendors', { name: 'a canary' })
  assert.ok(made.body.vendor, made.text)
  return { id: made.body.vendor.id as string }
}

const PURCHASES = '/v1/merchant/purchasing/orders'

/** A draft of three units. */
export async function draftPurchase(merchant: Caller, app: TestApp) {
  const { id: vendor_id } = await createVendor(merchant)
  const { variant_id } = await newVariant(merchant, app)
  const lines = [{ variant_id, quantity: 3, unit_cost_cents: 100 }]
  const made = await merchant.post(PURCHASES, { vendor_id, lines, notes: 'a canary' })
  assert.equal(made.status, 201, made.text)
  return { id: made.body.purchase_order.id as string }
}

/** An order, on the line that the bodies name. */
export async function orderPurchase(merchant: Caller, app: TestApp) {
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

export async function receivePurchase(merchant: Caller, app: TestApp) {
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
