import type { Step } from './plan.ts'

/** A decision for each order, and one ban for every hundred. */
export const FRAUD_STEPS: readonly Step[] = [
  [
    'fraud decisions',
    `
    insert into fraud_decisions (tenant_ref, id, order_id, decision, score, signals, created_at)
    select tenant_ref, scale.id('decision', tenant_ref, n),
           case when story <> 'failed' then id end,
           case story when 'held' then 'review' when 'failed' then 'rejected' else 'accepted' end,
           case story when 'held' then 60 when 'failed' then 100 else 0 end, '[]', at
      from scale.orders;
    insert into fraud_bans (tenant_ref, id, kind, value, action, created_by, created_at, lifted_at,
                            lifted_by)
    select tenant_ref, scale.id('ban', tenant_ref, n),
           (array['email', 'email_domain', 'ip', 'customer_ref'])[1 + n / 100 % 4], 'ban-' || n, 'block',
           'merchant_key:scale', at, case when n % 300 = 0 then at end,
           case when n % 300 = 0 then 'merchant_key:scale' end
      from scale.orders where n % 100 = 0 or n = 1`,
  ],
]
