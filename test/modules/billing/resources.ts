import assert from 'node:assert/strict'
import { freshKey } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

/** A charge of the store, and with it the draft of its month. */
async function makeInvoice(_merchant: Caller, { operator }: TestApp) {
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

async function makeCreditNote(_merchant: Caller, app: TestApp) {
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

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/billing/invoices/:id': makeInvoice,
    'GET /v1/merchant/billing/invoices/:id.pdf': makeInvoice,
    'GET /v1/merchant/billing/credit-notes/:id.pdf': makeCreditNote,
  },
  rows: {
    api_calls: `insert into api_calls (tenant_ref, credential_id, day, calls)
              values ($1, gen_random_uuid(), '2026-01-01', 1)`,
    billing_store_plans: `insert into billing_store_plans (tenant_ref, plan_key, plan_version, from_day, set_by)
                        values ($1, 'default', 1, '2026-01-01', 'test')`,
    billing_usage: `insert into billing_usage values ($1, '2999-01-01', 'orders', '', '', 1, 1, 1)`,
    billing_invoices: `
    with draft as (insert into billing_invoices (tenant_ref, month, currency)
                   values ($1, '2999-01-01', 'USD') returning id),
         line as (insert into billing_invoice_lines (tenant_ref, invoice_id, kind, description, amount_cents,
                         request_key)
                  select $1, id, 'charge', 'x', 1, 'x' from draft),
         payment as (insert into billing_payments (tenant_ref, invoice_id, kind, amount_cents, paid_on,
                            created_by, request_key)
                     select $1, id, 'payment', 1, '2026-01-01', 'x', 'x' from draft),
         note as (insert into billing_credit_notes (tenant_ref, invoice_id, issuer_id, sequence, number, issuer,
                         recipient, amount_cents, reason, created_by, request_key)
                  select $1, id, $1, 1, 'x', '{}', '{}', 1, 'x', 'x', 'x' from draft)
    insert into billing_reminders (tenant_ref, invoice_id, step) select $1, id, 0 from draft`,
  },
}
