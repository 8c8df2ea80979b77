import type { Step } from './plan.ts'

/** The block of HMAC-SHA-256, in bytes. */
const BLOCK = 64

/** The padded key as a literal of PostgreSQL, which has SHA-256 and no HMAC. */
const pad = (key: Buffer, mask: number) => {
  const block = Buffer.alloc(BLOCK)
  key.copy(block)
  return `'\\x${Buffer.from(block.map((byte) => byte ^ mask)).toString('hex')}'::bytea`
}

/** Customers, found by the hash that the platform's own key makes; a tenth of them has store credit. */
export const customerSteps = (key: Buffer): Step[] => [
  [
    'customers',
    `
    insert into customers (tenant_ref, ref_hash, customer_ref, email, email_folded, name,
                           first_seen_at, updated_at)
    select tenant_ref,
           sha256(${pad(key, 0x5c)} || sha256(${pad(key, 0x36)} || convert_to(tenant_ref, 'UTF8')
                                              || '\\x00'::bytea || convert_to(s.ref, 'UTF8'))),
           s.ref, s.ref || '@example.com', s.ref || '@example.com', initcap(scale.word(n::text)),
           s.at, s.at
      from scale.plan p
     cross join lateral generate_series(1, p.customers) as n
     cross join lateral (
       select 'customer-' || n as ref,
              now() - (p.customers - n + 1) * (interval '365 days' / p.customers) as at) s`,
  ],
  [
    'store credit',
    `
    create unlogged table scale.credits as
    select tenant_ref, n, scale.id('credit', tenant_ref, n) as id, 'customer-' || n as customer_ref,
           now() - (p.customers - n + 1) * (interval '365 days' / p.customers) as at
      from scale.plan p, generate_series(1, p.customers, 10) as n;
    insert into store_credit_accounts (tenant_ref, id, customer_ref, currency, balance_cents, created_at,
                                       updated_at)
    select tenant_ref, id, customer_ref, 'USD', 700, at, at from scale.credits;
    insert into store_credit_lots (tenant_ref, id, account_id, amount_cents, remaining_cents, created_at)
    select tenant_ref, scale.id('lot', tenant_ref, n), id, 700, 700, at from scale.credits;
    insert into store_credit_transactions (tenant_ref, id, account_id, type, event, amount_cents,
                                           balance_after_cents, reason, actor, created_at)
    select tenant_ref, scale.id('credit movement', tenant_ref, n), id, 'credit', 'adjustment', 700, 700,
           'A gift', 'merchant_key:scale', at
      from scale.credits`,
  ],
]
