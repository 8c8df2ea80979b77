import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../harness/app.ts'
import { freshKey } from './ids.ts'
import { placeOrder } from './make-orders.ts'
import { allowFeature } from './make-store.ts'

/** Makes affiliates, and what they earn and are paid. */

const AFFILIATES = '/v1/merchant/affiliates'

async function make(merchant: Caller, app: TestApp, more: object = {}) {
  await allowFeature(app, 'affiliates')
  const code = `c-${randomUUID()}`
  const body = { name: 'a canary', email: `${randomUUID()}@canary.example`, code, ...more }
  const made = await merchant.post(AFFILIATES, body)
  assert.equal(made.status, 201, made.text)
  return { id: made.body.affiliate.id as string, code }
}

export const makeAffiliate = async (merchant: Caller, app: TestApp) => {
  const { id } = await make(merchant, app)
  return { id }
}

/** Makes an affiliate that can be approved. */
export const inviteAffiliate = async (merchant: Caller, app: TestApp) => {
  const { id } = await make(merchant, app, { status: 'invited' })
  return { id }
}

export async function suspendAffiliate(merchant: Caller, app: TestApp) {
  const { id } = await make(merchant, app)
  const done = await merchant.post(`${AFFILIATES}/${id}/suspend`)
  assert.equal(done.status, 200, done.text)
  return { id }
}

export const makeReferralCode = (merchant: Caller, app: TestApp) => make(merchant, app)

/** Makes the commission of an order. */
export async function earnCommission(merchant: Caller, app: TestApp) {
  const { code } = await make(merchant, app)
  const order = await placeOrder(merchant, app, { referral_code: code })
  const { body } = await merchant.get(`${AFFILIATES}/commissions?order_id=${order.id}`)
  assert.equal(body.commissions.length, 1, JSON.stringify(body))
  return { id: body.commissions[0].id as string }
}

export async function makePayout(merchant: Caller, app: TestApp) {
  const { id } = await earnCommission(merchant, app)
  const approved = await merchant.post(`${AFFILIATES}/commissions/${id}/approve`)
  assert.equal(approved.status, 200, approved.text)
  const made = await merchant.post(`${AFFILIATES}/payouts`, {}, freshKey())
  assert.equal(made.status, 201, made.text)
  return { id: made.body.payouts[0].id as string }
}
