import type { Step } from './plan.ts'

/** One of so many placed orders has started a subscription. */
const SUBSCRIBED_OF = 5

/** Of ten subscriptions seven run, and one each is paused, past due and cancelled. */
const STATUS = `(array['active', 'active', 'active', 'active', 'active', 'active', 'active', 'paused',
                       'past_due', 'cancelled'])[1 + o.n / ${SUBSCRIBED_OF} % 10]`

/**
 * Monthly subscriptions to the first line of a fifth of the orders, each with the cycle that was charged last.
 * Their notes wait for the loop that counts them, as a trigger would have written them.
 */
export const SUBSCRIPTION_STEPS: readonly Step[] = [
  [
    'subscriptions',
    `
    insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, email, product_id,
                               variant_id, quantity, interval, interval_count, unit_price_cents,
                               currency, status, pricing, origin_order_id, last_order_id, anchor_on,
                               current_period_start, next_charge_at, due_at, gateway, vault_id,
                               card_brand, card_last4, cancelled_at, created_at, updated_at)
    select o.tenant_ref, scale.id('subscription', o.tenant_ref, o.n), o.number, o.customer_ref, o.email,
           l.product_id, l.variant_id, l.units, 'month', 1, l.cents / l.units, 'USD', s.status, '{}',
           o.id, o.id, a.anchor_on, fd_period_start(a.anchor_on, 'month', 1, 0, t.time_zone),
           n.next_charge_at, n.next_charge_at,
           'simulated', scale.id('card', o.tenant_ref, o.n)::text, 'visa', '1111',
           case when s.status = 'cancelled' then o.at end, o.at, o.at
      from scale.orders o
      join stores t using (tenant_ref)
      join scale.lines l on l.tenant_ref = o.tenant_ref and l.n = o.n and l.position = 0
     cross join lateral (select ${STATUS} as status) s
     -- The day of the last charge: the same day of this month or of the one before.
     cross join lateral (
       select (o.at::date + (extract(year from age(now(), o.at)) * 12 + extract(month from age(now(), o.at)))
                            * interval '1 month')::date as anchor_on) a
     cross join lateral (
       select case when s.status in ('active', 'past_due')
                   then fd_period_start(a.anchor_on, 'month', 1, 1, t.time_zone) end as next_charge_at) n
     where o.placed and o.n % ${SUBSCRIBED_OF} = 2;
    insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, order_id,
                                     created_at, updated_at)
    select tenant_ref, id, 1, 'paid', created_at, origin_order_id, created_at, created_at
      from subscriptions;
    insert into subscription_counters (tenant_ref, last_number)
    select tenant_ref, max(subscription_number) from subscriptions group by tenant_ref;
    insert into subscription_changes (tenant_ref, subscription_id) select tenant_ref, id from subscriptions`,
  ],
]
