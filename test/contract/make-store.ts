import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as customers from '../../src/modules/customers/service.ts'
import type { Caller, TestApp } from '../harness/app.ts'
import { freshKey } from './ids.ts'

/** Makes what belongs to the store and its customers: add-ons, hostnames, bans, webhooks, balances. */

/** Both stores have the add-on, so that only the row is missing in the other. */
export async function allowFeature(app: TestApp, feature_key: string) {
  for (const tenant of ['acme', 'globex']) {
    const url = `/v1/entitlements/tenants/${tenant}/features/${feature_key}`
    await app.operator.put(url, { state: 'allow' })
  }
}

export async function recordCustomer(_merchant: Caller, app: TestApp) {
  const customer_ref = `Zoë/${randomUUID()}`
  const key = app.runtime.key('customers')
  const acme = await app.store('acme')
  await acme.transaction('see', (tx) =>
    customers.recordSeen(tx, key, { customer_ref, name: 'a canary' }),
  )
  return { customer_ref }
}

export async function requestExport(merchant: Caller) {
  const made = await merchant.post('/v1/my/privacy/export', { customer_ref: 'a canary' })
  assert.ok(made.body.job, made.text)
  return { id: made.body.job.id as string }
}

export async function registerWebhook(merchant: Caller) {
  const body = { url: 'https://hook.example/a-canary', events: ['commerce.order.placed.v1'] }
  const made = await merchant.post('/v1/merchant/webhooks', body)
  assert.ok(made.body.subscription, made.text)
  return { id: made.body.subscription.id as string }
}

export async function askForNewsletter(merchant: Caller, app: TestApp) {
  const email = `${randomUUID()}@canary.example`
  const asked = await app.storefront.post('/v1/tenants/acme/newsletter', { email })
  assert.equal(asked.status, 202, asked.text)
  const found = await merchant.get(`/v1/merchant/marketing/subscribers?email=${email}`)
  return { id: found.body.subscribers[0].id as string }
}

export async function makeSegment(merchant: Caller) {
  const conditions = [{ field: 'orders_count', op: 'gte', value: 1 }]
  const body = { name: `a canary ${randomUUID()}`, match: 'all', conditions }
  const made = await merchant.post('/v1/merchant/marketing/segments', body)
  assert.ok(made.body.segment, made.text)
  return { id: made.body.segment.id as string }
}

export async function suppressAddress(merchant: Caller) {
  const body = { email: `${randomUUID()}@canary.example`, detail: 'a canary' }
  const made = await merchant.post('/v1/merchant/marketing/suppressions', body)
  assert.ok(made.body.suppression, made.text)
  return { id: made.body.suppression.id as string }
}

export async function issueGiftCard(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'gift_cards')
  const body = { initial_balance_cents: 500, note: 'a canary' }
  const made = await merchant.post('/v1/merchant/gift-cards', body, freshKey())
  assert.ok(made.body.gift_card, made.text)
  return { id: made.body.gift_card.id as string }
}

export async function creditCustomer(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'store_credit')
  const customer_ref = `Zoë/${randomUUID()}`
  const url = `/v1/merchant/store-credit/${encodeURIComponent(customer_ref)}/credit`
  const body = { amount_cents: 500, currency: 'USD', reason: 'a canary' }
  const made = await merchant.post(url, body, freshKey())
  assert.ok(made.body.account, made.text)
  return { customer_ref }
}

export async function requestFeature(merchant: Caller) {
  const body = { feature_key: 'advanced_fraud', note: 'a canary' }
  const made = await merchant.post('/v1/merchant/entitlements/requests', body)
  assert.ok(made.body.request, made.text)
  return { id: made.body.request.id }
}

export async function claimDomain(merchant: Caller) {
  const body = { hostname: `${randomUUID()}.example` }
  const made = await merchant.post('/v1/merchant/domains', body)
  assert.ok(made.body.domain, made.text)
  return { id: made.body.domain.id as string }
}

export async function ban(merchant: Caller) {
  const body = { kind: 'customer_ref', value: randomUUID(), reason: 'a canary' }
  const made = await merchant.post('/v1/merchant/fraud/bans', body)
  assert.ok(made.body.ban, made.text)
  return { id: made.body.ban.id as string }
}
