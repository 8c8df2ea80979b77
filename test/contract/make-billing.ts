import assert from 'node:assert/strict'
import type { Caller, TestApp } from '../harness/app.ts'
import { freshKey } from './ids.ts'

/** Makes what the operator bills. */

/** A charge of the store, and with it the draft of its month. */
export async function makeInvoice(_merchant: Caller, { operator }: TestApp) {
  await operator.put('/v1/billing/issuer', { name: 'a canary', lines: ['a canary'] })
  const body = { description: 'a canary', amount_cents: 500 }
  const made = await operator.post('/v1/stores/acme/billing/charges', body, freshKey())
  assert.equal(made.status, 201, made.text)
  return { id: made.body.charge.invoice_id as string }
}

/** Issued invoices of three months that are long over. */
const ISSUED = `
  insert into billing_invoices (tenant_ref, month, status, currency, total_cents, issuer_id, sequence, number,
                                issuer, recipient, issued_at, due_at)
  select 'acme', make_date(2001, n, 1), 'open', 'USD', 500, 'test', n, 'TEST-' || n,
         '{"name": "a canary", "lines": [], "note": null}', '{"name": "a canary", "lines": []}', now(), now()
    from generate_series(1, 3) n
      on conflict do nothing`

export async function makeInvoices({ database }: TestApp): Promise<void> {
  await (await database.openAdmin()).query(ISSUED)
}

export async function makeCreditNote(_merchant: Caller, app: TestApp) {
  await makeInvoices(app)
  const admin = await app.database.openAdmin()
  const { rows } = await admin.query(`
    insert into billing_credit_notes (tenant_ref, invoice_id, issuer_id, sequence, number, issuer, recipient,
                                      amount_cents, reason, created_by, request_key)
    select tenant_ref, id, issuer_id, 1, 'CREDIT-1', issuer, recipient, 1, 'a canary', 'operator', 'a canary'
      from billing_invoices where tenant_ref = 'acme' and number = 'TEST-1'
    returning id`)
  return { id: rows[0].id as string }
}

/** Three versions of a plan. */
export async function makePlans({ operator }: TestApp): Promise<void> {
  const plan = { plan_key: 'canary', name: 'a canary', tier: 'standard', currency: 'USD' }
  for (const base_cents of [1, 2, 3]) {
    const made = await operator.post('/v1/billing/plans', { ...plan, base_cents, meters: {} })
    assert.equal(made.status, 201, made.text)
  }
}
