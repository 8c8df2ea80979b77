import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../harness/app.ts'

export const URL = '/v1/merchant/marketing/coupons'

/** A coupon of the merchant's, ten percent off unless something else is said. */
export async function makeCoupon(merchant: Caller, over: Record<string, unknown> = {}) {
  const body = { code: `C-${randomUUID()}`, type: 'percent', percent_bps: 1_000, ...over }
  const answer = await merchant.post(URL, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.coupon
}
