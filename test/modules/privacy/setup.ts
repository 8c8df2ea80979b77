import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../harness/app.ts'

export const ADDRESS = {
  label: 'Home of Ann',
  name: 'Ann Archer',
  line1: '17 Quarrystone Lane',
  city: 'Aberdale',
  state: 'WY',
  postal_code: '82001',
  country: 'US',
}

/** A new idempotency key. */
export const freshKey = () => ({ 'idempotency-key': randomUUID() })

async function enable(merchant: Caller, feature_key: string): Promise<void> {
  const answer = await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
  assert.ok(answer.status === 200 || answer.body.error === 'already_enabled', answer.text)
}

export async function giveCredit(
  merchant: Caller,
  customer_ref: string,
  amount_cents: number,
  reason = 'a present',
): Promise<void> {
  await enable(merchant, 'store_credit')
  const url = `/v1/merchant/store-credit/${encodeURIComponent(customer_ref)}/credit`
  const answer = await merchant.post(url, { amount_cents, currency: 'USD', reason }, freshKey())
  assert.equal(answer.status, 201, answer.text)
}

/** Issues a gift card, and returns its code. */
export async function issueCard(
  merchant: Caller,
  initial_balance_cents: number,
  more: object = {},
): Promise<string> {
  await enable(merchant, 'gift_cards')
  const body = { initial_balance_cents, currency: 'USD', ...more }
  const answer = await merchant.post('/v1/merchant/gift-cards', body, freshKey())
  assert.equal(answer.status, 201, answer.text)
  return answer.body.code
}
