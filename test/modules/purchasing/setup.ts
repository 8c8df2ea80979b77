import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer, Caller } from '../../harness/app.ts'
import { addVariant } from '../checkout/setup.ts'

/** Vendors and purchase orders of a store, by HTTP. */

export const VENDORS = '/v1/merchant/purchasing/vendors'
export const ORDERS = '/v1/merchant/purchasing/orders'

export const ok = (answer: Answer, status = 200) => {
  assert.equal(answer.status, status, answer.text)
  return answer.body
}

export const codeOf = ({ status, body }: Answer): string =>
  status < 300 ? 'done' : body.error.code

export const newVendor = async (merchant: Caller, more: object = {}) =>
  ok(await merchant.post(VENDORS, { name: 'Acme Supplies', ...more }), 201).vendor

/** A variant whose stock is tracked and of which there is none. */
export async function tracked(merchant: Caller, settings: object = {}): Promise<string> {
  const variant = await addVariant(merchant, 1_000)
  const body = { track_inventory: true, ...settings }
  ok(await merchant.put(`/v1/merchant/inventory/${variant}`, body))
  return variant
}

export interface Line {
  variant_id: string
  quantity: number
  unit_cost_cents: number
  unit_weight_grams?: number
}

/** A purchase order as a draft. */
export async function draft(merchant: Caller, lines: Line[], more: object = {}) {
  const { id: vendor_id } = await newVendor(merchant)
  return ok(await merchant.post(ORDERS, { vendor_id, lines, ...more }), 201).purchase_order
}

/** A purchase order whose units are expected. */
export async function ordered(merchant: Caller, lines: Line[], more: object = {}) {
  const { id } = await draft(merchant, lines, more)
  return ok(await merchant.post(`${ORDERS}/${id}/order`)).purchase_order
}

export interface Total {
  line_id: string
  quantity: number
  rejected_quantity?: number
  reason?: string
}

export const receive = (
  merchant: Caller,
  id: string,
  lines: Total[],
  key: string = randomUUID(),
): Promise<Answer> =>
  merchant.post(`${ORDERS}/${id}/receive`, { lines }, { 'idempotency-key': key })

/** Receives everything that a purchase order names. */
export const receiveAll = async (
  merchant: Caller,
  { id, lines }: { id: string; lines: { id: string; quantity: number }[] },
) =>
  ok(
    await receive(
      merchant,
      id,
      lines.map((line) => ({ line_id: line.id, quantity: line.quantity })),
    ),
  )

export const stockOf = async (merchant: Caller, variant: string) =>
  ok(await merchant.get(`/v1/merchant/inventory/${variant}`)).item
