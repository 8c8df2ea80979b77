import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

export const COUPONS = '/v1/merchant/marketing/coupons'

async function makeCoupon(merchant: Caller) {
  const body = { code: randomUUID(), type: 'fixed', amount_cents: 100 }
  const made = await merchant.post(COUPONS, body)
  assert.ok(made.body.coupon, made.text)
  return { id: made.body.coupon.id as string }
}

async function askForNewsletter(merchant: Caller, app: TestApp) {
  const email = `${randomUUID()}@canary.example`
  const asked = await app.storefront.post('/v1/tenants/acme/newsletter', { email })
  assert.equal(asked.status, 202, asked.text)
  const found = await merchant.get(`/v1/merchant/marketing/subscribers?email=${email}`)
  return { id: found.body.subscribers[0].id as string }
}

async function suppressAddress(merchant: Caller) {
  const body = { email: `${randomUUID()}@canary.example`, detail: 'a canary' }
  const made = await merchant.post('/v1/merchant/marketing/suppressions', body)
  assert.ok(made.body.suppression, made.text)
  return { id: made.body.suppression.id as string }
}

export const resources: Resources = {
  fixtures: {
    'POST /v1/merchant/marketing/subscribers/:id/unsubscribe': askForNewsletter,
    'POST /v1/merchant/marketing/suppressions/:id/lift': suppressAddress,
    'GET /v1/merchant/marketing/coupons/:id/report': makeCoupon,
    'GET /v1/merchant/marketing/coupons/:id': makeCoupon,
    'PATCH /v1/merchant/marketing/coupons/:id': makeCoupon,
    'POST /v1/merchant/marketing/coupons/:id/pause': makeCoupon,
    'POST /v1/merchant/marketing/coupons/:id/activate': makeCoupon,
    'GET /v1/merchant/marketing/coupons/:id/redemptions': makeCoupon,
    'POST /v1/merchant/marketing/coupons/:id/codes': makeCoupon,
    'GET /v1/merchant/marketing/coupons/:id/codes': makeCoupon,
  },
  bodies: {
    'PATCH /v1/merchant/marketing/coupons/:id': {},
    'POST /v1/merchant/marketing/coupons/:id/codes': { count: 1 },
  },
  texts: (canary) => [
    ['POST', COUPONS, { code: canary, type: 'free_shipping' }],
    [
      'POST',
      '/v1/merchant/marketing/suppressions',
      { email: `${canary}@canary.example`, detail: canary },
    ],
    [
      'POST',
      '/v1/merchant/marketing/consents/withdraw',
      { email: `${canary}@canary.example`, note: canary },
    ],
  ],
  rows: {
    newsletter_subscribers: `insert into newsletter_subscribers (tenant_ref, email, email_folded)
                           values ($1, 'x@x.example', 'x@x.example')`,
    marketing_consents: `with shown as (
                         insert into consent_texts (tenant_ref, sha256, version, locale, text)
                         values ($1, repeat('a', 64), 'x', 'en', 'x') returning tenant_ref)
                       insert into marketing_consents (tenant_ref, email, email_folded, state, source)
                       select tenant_ref, 'x@x.example', 'x@x.example', 'given', 'form' from shown`,
    mail_suppressions: `insert into mail_suppressions (tenant_ref, email, email_folded, reason, created_by,
                             suppressed_at)
                      values ($1, 'x@x.example', 'x@x.example', 'manual', 'test', now())`,
    coupon_redemptions: `insert into coupon_redemptions (tenant_ref, order_id, coupon_id, customer_ref)
                       select $1, gen_random_uuid(), id, 'a canary'
                         from coupons where tenant_ref = $1 limit 1`,
  },
  beyond: {
    coupon_codes: (merchant) =>
      merchant.post(COUPONS, { code: 'TEN', type: 'percent', percent_bps: 1_000 }),
  },
  scale: {
    targets: { coupon_id: 'select id from coupons where tenant_ref = $1 limit 1' },
    paths: { '/v1/merchant/marketing/coupons/': 'coupon_id' },
  },
}
