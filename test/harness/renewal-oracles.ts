import type { Oracles } from './check-oracles.ts'

/**
 * States of subscriptions that must never occur once no operation is running. Each statement lists the violations
 * in all stores.
 */
export const RENEWAL_ORACLES: Oracles = {
  'a cycle with two orders that took money': `
    select tenant_ref, subscription_id, subscription_cycle, count(*)
      from orders
     where subscription_id is not null and payment <> 'failed'
     group by 1, 2, 3 having count(*) > 1`,

  'a paid cycle without its paid order, or a paid order without its cycle': `
    select coalesce(c.tenant_ref, o.tenant_ref) as tenant_ref, c.subscription_id, c.cycle, c.state, o.id, o.status
      from (select * from subscription_cycles where state = 'paid' and cycle > 1) c
      full join (select * from orders where subscription_id is not null and placed_at is not null) o
        on o.tenant_ref = c.tenant_ref and o.id = c.order_id
       and o.subscription_id = c.subscription_id and o.subscription_cycle = c.cycle
     where c.cycle is null or o.id is null`,

  'a cycle that is charged for ever: its order is neither waiting nor held': `
    select c.tenant_ref, c.subscription_id, c.cycle, o.status
      from subscription_cycles c
      left join orders o on o.tenant_ref = c.tenant_ref and o.id = c.order_id
     where c.state = 'charging' and o.status is distinct from 'pending_payment'
       and o.status is distinct from 'on_hold'`,

  'a subscription that does not know which of its cycles is charged': `
    select s.tenant_ref, s.id, s.charging_cycle, c.cycle
      from subscriptions s
      left join subscription_cycles c
        on c.tenant_ref = s.tenant_ref and c.subscription_id = s.id and c.state = 'charging'
     where s.charging_cycle is distinct from c.cycle`,

  'a running subscription that the scheduler never looks at': `
    select tenant_ref, id, status, next_charge_at
      from subscriptions
     where status in ('active', 'past_due') and due_at is null and charging_cycle is null`,

  'paid cycles that do not add up': `
    select s.tenant_ref, s.id, s.paid_cycles, count(c.cycle)
      from subscriptions s
      left join subscription_cycles c
        on c.tenant_ref = s.tenant_ref and c.subscription_id = s.id and c.state = 'paid'
     group by 1, 2, 3 having s.paid_cycles <> count(c.cycle)`,
}
