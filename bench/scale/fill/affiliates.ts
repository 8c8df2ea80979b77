import type { Step } from './plan.ts'

/**
 * Affiliates with a code each, whose number follows that of the customers. Every tenth placed order came
 * by one of them and was declined, and every hundredth made a payout that was cancelled: rows for the
 * lists, without an entry in the ledger.
 */
export const AFFILIATE_STEPS: readonly Step[] = [
  [
    'affiliates',
    `
    insert into affiliates (tenant_ref, id, name, email, email_folded, status, commission_type, rate_bps,
                            cookie_days, approval_delay_days, payout_minimum_cents, created_at)
    select tenant_ref, scale.id('affiliate', tenant_ref, n), 'Affiliate ' || n,
           'affiliate-' || n || '@example.com', 'affiliate-' || n || '@example.com',
           case when n % 10 = 0 then 'applied' else 'active' end, 'percent', 1000, 30, 30, 0,
           now() - n * interval '1 hour'
      from scale.plan p, generate_series(1, 1 + p.customers / 10) as n;
    insert into affiliate_codes (tenant_ref, code_folded, code, affiliate_id)
    select tenant_ref, 'code-' || n, 'CODE-' || n, scale.id('affiliate', tenant_ref, n)
      from scale.plan p, generate_series(1, 1 + p.customers / 10) as n`,
  ],
  [
    'commissions',
    `
    insert into affiliate_attributions (tenant_ref, order_id, affiliate_id, code, source, touched_at,
                                        window_days, model, refusal, currency, commission_type, rate_bps,
                                        approval_delay_days, base_cents, left_cents, booked_cents,
                                        created_at)
    select o.tenant_ref, o.id, scale.id('affiliate', o.tenant_ref, 1 + o.n % (1 + p.customers / 10)),
           'CODE-' || (1 + o.n % (1 + p.customers / 10)), 'link', o.at, 30, 'last_touch.v1',
           'window_expired', 'USD', 'percent', 1000, 30, o.total_cents, o.total_cents, 0, o.at
      from scale.orders o
      join scale.plan p using (tenant_ref)
     where o.placed and o.n % 10 = 1;
    insert into affiliate_commissions (tenant_ref, id, affiliate_id, order_id, type, currency, base_cents,
                                       amount_cents, status, reason, approves_at, created_at)
    select o.tenant_ref, scale.id('commission', o.tenant_ref, o.n),
           scale.id('affiliate', o.tenant_ref, 1 + o.n % (1 + p.customers / 10)), o.id, 'sale', 'USD',
           o.total_cents, o.total_cents / 10, 'declined', 'window_expired', o.at, o.at
      from scale.orders o
      join scale.plan p using (tenant_ref)
     where o.placed and o.n % 10 = 1`,
  ],
  [
    'payouts of affiliates',
    `
    insert into affiliate_payouts (tenant_ref, id, affiliate_id, currency, amount_cents, status, created_by,
                                   created_at, cancelled_at)
    select tenant_ref, scale.id('payout', tenant_ref, n),
           scale.id('affiliate', tenant_ref, 1 + n % (1 + p.customers / 10)), 'USD', 100, 'cancelled',
           'merchant_key:scale', now() - n * interval '1 hour', now()
      from scale.plan p, generate_series(1, 1 + p.orders / 100) as n`,
  ],
]
