import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { freshKey } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { allowFeature } from '../entitlements/resources.ts'
import { insertOrder, placeOrder } from '../orders/resources.ts'

const AFFILIATES = '/v1/merchant/affiliates'

async function make(merchant: Caller, app: TestApp, more: object = {}) {
  await allowFeature(app, 'affiliates')
  const code = `c-${randomUUID()}`
  const body = { name: 'a canary', email: `${randomUUID()}@canary.example`, code, ...more }
  const made = await merchant.post(AFFILIATES, body)
  assert.equal(made.status, 201, made.text)
  return { id: made.body.affiliate.id as string, code }
}

const makeAffiliate = async (merchant: Caller, app: TestApp) => {
  const { id } = await make(merchant, app)
  return { id }
}

/** Makes an affiliate that can be approved. */
const inviteAffiliate = async (merchant: Caller, app: TestApp) => {
  const { id } = await make(merchant, app, { status: 'invited' })
  return { id }
}

async function suspendAffiliate(merchant: Caller, app: TestApp) {
  const { id } = await make(merchant, app)
  const done = await merchant.post(`${AFFILIATES}/${id}/suspend`)
  assert.equal(done.status, 200, done.text)
  return { id }
}

const makeReferralCode = (merchant: Caller, app: TestApp) => make(merchant, app)

/** Makes the commission of an order. */
async function earnCommission(merchant: Caller, app: TestApp) {
  const { code } = await make(merchant, app)
  const order = await placeOrder(merchant, app, { referral_code: code })
  const { body } = await merchant.get(`${AFFILIATES}/commissions?order_id=${order.id}`)
  assert.equal(body.commissions.length, 1, JSON.stringify(body))
  return { id: body.commissions[0].id as string }
}

async function makePayout(merchant: Caller, app: TestApp) {
  const { id } = await earnCommission(merchant, app)
  const approved = await merchant.post(`${AFFILIATES}/commissions/${id}/approve`)
  assert.equal(approved.status, 200, approved.text)
  const made = await merchant.post(`${AFFILIATES}/payouts`, {}, freshKey())
  assert.equal(made.status, 201, made.text)
  return { id: made.body.payouts[0].id as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/affiliates/:id': makeAffiliate,
    'PATCH /v1/merchant/affiliates/:id': makeAffiliate,
    'POST /v1/merchant/affiliates/:id/approve': inviteAffiliate,
    'POST /v1/merchant/affiliates/:id/decline': inviteAffiliate,
    'POST /v1/merchant/affiliates/:id/suspend': makeAffiliate,
    'POST /v1/merchant/affiliates/:id/resume': suspendAffiliate,
    'POST /v1/merchant/affiliates/:id/codes': makeAffiliate,
    'PATCH /v1/merchant/affiliates/:id/codes/:code': makeReferralCode,
    'POST /v1/merchant/affiliates/:id/link': makeAffiliate,
    'GET /v1/merchant/affiliates/:id/export': makeAffiliate,
    'POST /v1/merchant/affiliates/:id/erase': makeAffiliate,
    'GET /v1/merchant/affiliates/commissions/:id': earnCommission,
    'POST /v1/merchant/affiliates/commissions/:id/approve': earnCommission,
    'POST /v1/merchant/affiliates/commissions/:id/decline': earnCommission,
    'GET /v1/merchant/affiliates/payouts/:id': makePayout,
    'POST /v1/merchant/affiliates/payouts/:id/mark-paid': makePayout,
    'POST /v1/merchant/affiliates/payouts/:id/cancel': makePayout,
  },
  bodies: {
    'PATCH /v1/merchant/affiliates/:id': { name: 'a canary' },
    'POST /v1/merchant/affiliates/:id/decline': { reason: 'a canary' },
    'POST /v1/merchant/affiliates/:id/codes': { code: 'a-canary' },
    'PATCH /v1/merchant/affiliates/:id/codes/:code': { active: false },
    'POST /v1/merchant/affiliates/commissions/:id/decline': { reason: 'a canary' },
  },
  texts: (canary) => [
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'affiliates' }],
    [
      'POST',
      '/v1/merchant/affiliates',
      { name: canary, email: `${canary}@example.com`, website: canary, code: canary },
    ],
  ],
  rows: {
    affiliate_settings: `insert into affiliate_settings (tenant_ref) values ($1)`,
    affiliate_commissions: `
    with who as (select c.affiliate_id as id, c.code_folded from affiliate_codes c
                  where c.tenant_ref = $1 limit 1),
         placed as (${insertOrder(1000)}),
         click as (insert into affiliate_clicks (tenant_ref, code_folded, shard, clicks)
                   select $1, code_folded, 0, 1 from who),
         device as (insert into affiliate_devices (tenant_ref, affiliate_id, device_hash)
                    select $1, id, sha256('x') from who),
         payout as (insert into affiliate_payouts (tenant_ref, id, affiliate_id, currency, amount_cents,
                           created_by)
                    select $1, gen_random_uuid(), id, 'USD', 1, 'x' from who),
         source as (insert into affiliate_attributions (tenant_ref, order_id, affiliate_id, code, source,
                           touched_at, window_days, model, currency, commission_type, rate_bps,
                           approval_delay_days, base_cents, left_cents, booked_cents)
                    select $1, placed.id, who.id, 'x', 'code', now(), 30, 'x', 'USD', 'percent', 1000,
                           30, 10, 10, 1 from placed, who
                    returning order_id, affiliate_id)
    insert into affiliate_commissions (tenant_ref, id, affiliate_id, order_id, type, currency, base_cents,
                                       amount_cents, status, approves_at)
    select $1, gen_random_uuid(), affiliate_id, order_id, 'sale', 'USD', 10, 1, 'pending', now()
      from source`,
  },
  beyond: {
    affiliates: async (merchant) => {
      await merchant.post('/v1/merchant/entitlements/enable', { feature_key: 'affiliates' })
      return merchant.post(AFFILIATES, { name: 'A', email: `${randomUUID()}@a.example` })
    },
  },
}
