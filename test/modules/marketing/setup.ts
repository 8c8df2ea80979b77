import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../harness/app.ts'

export const URL = '/v1/merchant/marketing/coupons'

/** Creates a coupon of the merchant: ten percent off, unless overridden. */
export async function createCoupon(merchant: Caller, overrides: Record<string, unknown> = {}) {
  const body = { code: `C-${randomUUID()}`, type: 'percent', percent_bps: 1_000, ...overrides }
  const answer = await merchant.post(URL, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.coupon
}
