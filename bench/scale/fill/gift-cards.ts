import type { Step } from './plan.ts'

/**
 * Gift cards: one for every hundred orders, and at least ten. Each has paid 500 cents of the order that it
 * belongs to; a tenth is empty by that, and a tenth is disabled.
 */
export const GIFT_CARD_STEPS: readonly Step[] = [
  [
    'gift cards',
    `
    create unlogged table scale.gifts as
    select p.tenant_ref, k as n, scale.id('gift card', p.tenant_ref, k) as id,
           case when k % 10 = 0 then 500 else 5000 end as cents, coalesce(o.gift_cents, 0) as spent,
           now() - (s.count - k) * (interval '365 days' / s.count) as at, o.id as order_id,
           o.at as spent_at
      from scale.plan p
     cross join lateral (select greatest(10, p.orders / 100) as count) s
     cross join lateral generate_series(0, s.count - 1) as k
      left join scale.orders o on o.tenant_ref = p.tenant_ref and o.n = 100 * k + 7;
    insert into gift_cards (tenant_ref, id, code_hmac, code_last4, initial_balance_cents, balance_cents,
                            currency, disabled_at, created_at, updated_at)
    select tenant_ref, id, sha256((tenant_ref || '/' || n)::bytea), lpad((n % 10000)::text, 4, '0'),
           cents, cents - spent, 'USD', case when n % 10 = 1 then at end, at, at
      from scale.gifts;
    insert into gift_card_transactions (tenant_ref, id, gift_card_id, type, event, amount_cents,
                                        balance_after_cents, order_id, actor, created_at)
    select g.tenant_ref, scale.id('gift ' || t.type, g.tenant_ref, g.n), g.id, t.type, t.event, t.cents,
           t.after, t.order_id, t.actor, t.at
      from scale.gifts g
     cross join lateral (
       values ('credit', 'issue', g.cents, g.cents, null, 'merchant_key:scale', g.at, true),
              ('hold', 'order', g.spent, g.cents, g.order_id, 'order', g.spent_at, g.spent > 0),
              ('capture', 'order', g.spent, g.cents - g.spent, g.order_id, 'order', g.spent_at,
               g.spent > 0)) as t (type, event, cents, after, order_id, actor, at, happened)
     where t.happened;
    insert into ledger_holds (tenant_ref, id, account, ref, currency, amount_cents, order_id, state,
                              created_at, closed_at)
    select tenant_ref, scale.id('hold', tenant_ref, n), 'gift_card', id::text, 'USD', spent, order_id,
           'posted', spent_at, spent_at
      from scale.gifts where spent > 0`,
  ],
]
