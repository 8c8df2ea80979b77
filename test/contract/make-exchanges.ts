import assert from 'node:assert/strict'
import type { Caller, TestApp } from '../harness/app.ts'
import { makeVariant as plantVariant } from '../harness/variants.ts'
import { freshKey, VARIANT } from './ids.ts'
import { makeReturn } from './make-orders.ts'

/** An exchange for more than the returned goods, so that the shopper is asked to pay. */
export const EXCHANGE = { items: [{ variant_id: VARIANT, quantity: 3 }], advance: true }

/** A return, and something to exchange it for. */
export async function makeExchangeable(merchant: Caller, app: TestApp) {
  await plantVariant(await app.store('acme'), VARIANT)
  return makeReturn(merchant, app)
}

/** An order that its shopper is asked to pay for. */
export async function askToPay(merchant: Caller, app: TestApp) {
  const { id } = await makeExchangeable(merchant, app)
  const url = `/v1/merchant/returns/${id}/exchange`
  const made = await merchant.post(url, EXCHANGE, freshKey())
  assert.equal(made.status, 201, made.text)
  return { id: made.body.order.id as string }
}
