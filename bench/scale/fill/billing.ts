import type { Step } from './plan.ts'

/** Ten years of invoices for each store, the last of them open, a plan since then, and calls of some keys. */
export const BILLING_STEPS: readonly Step[] = [
  [
    'billing',
    `
    insert into billing_issuers (id, name, lines, invoice_prefix, credit_prefix, payment_days, reminders)
    values ('platform', 'Scale', '{}', 'INV-', 'CN-', 14, '[]');
    insert into billing_accounts (tenant_ref, id, open_month, currency)
    select tenant_ref, scale.id('billing', tenant_ref, 1), fd_this_month(), 'USD' from scale.plan
        on conflict do nothing;
    insert into billing_invoices (tenant_ref, id, month, status, currency, total_cents, issuer_id, sequence,
                                  number, issuer, recipient, issued_at, due_at, paid_cents, created_at)
    select tenant_ref, scale.id('invoice', tenant_ref, n), month,
           case when n = 1 then 'open' else 'paid' end, 'USD', 3000, 'platform', number, 'INV-' || number,
           '{"name": "Scale", "lines": [], "note": null}', '{"name": "Store", "lines": []}',
           month + interval '1 month 2 days', month + interval '1 month 16 days',
           case when n = 1 then 0 else 3000 end, month + interval '1 month'
      from (select tenant_ref, n, (fd_this_month() - make_interval(months => n))::date as month,
                   row_number() over (order by n desc, tenant_ref) as number
              from scale.plan cross join generate_series(1, 120) n) as issued;
    insert into billing_invoice_lines (tenant_ref, id, invoice_id, kind, description, amount_cents, plan_key,
                                       plan_version, from_day, to_day)
    select tenant_ref, scale.id('invoice line', tenant_ref, sequence), id, 'plan', 'Scale', 3000, 'scale', 1,
           month, (month + interval '1 month - 1 day')::date
      from billing_invoices;
    insert into billing_store_plans (tenant_ref, id, plan_key, plan_version, from_day, set_by)
    select tenant_ref, scale.id('plan', tenant_ref, 1), 'default', 1,
           (fd_this_month() - interval '10 years')::date, 'operator'
      from scale.plan;
    insert into billing_usage (tenant_ref, month, meter, currency, key, quantity, from_position, to_position)
    select tenant_ref, fd_this_month(), 'api_calls', '', scale.id('key', tenant_ref, n)::text, 100 * n,
           to_char(fd_this_month(), 'YYYYMMDD')::bigint, to_char(fd_this_month(), 'YYYYMMDD')::bigint
      from scale.plan cross join generate_series(1, 5) n;
    update billing_issuers set next_invoice = (select count(*) + 1 from billing_invoices)`,
  ],
]
