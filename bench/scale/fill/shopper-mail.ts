import type { Step } from './plan.ts'

/**
 * A mail for each placed order, and for every other order one about its parcel. Of a hundred mails 97
 * were sent, two are dead, and one is tried again tomorrow. Every fifth customer left a cart; for one in
 * a hundred of these carts a reminder is due tomorrow.
 */
export const SHOPPER_MAIL_STEPS: readonly Step[] = [
  [
    'mails to shoppers',
    `
    insert into shopper_mails (tenant_ref, id, kind, about_id, order_id, customer_ref, recipient, language,
                               state, reason, attempt_count, next_attempt_at, created_at, queued_at, sent_at)
    select e.tenant_ref, scale.id('mail', e.tenant_ref, 2 * e.n + m), kind, o.id, o.id, o.customer_ref,
           o.email, 'en',
           case e.status when 'delivered' then 'sent' when 'pending' then 'queued' else 'dead' end,
           case when e.status = 'dead_lettered' then 'refused' end,
           case e.status when 'delivered' then 1 when 'pending' then 2 else 7 end,
           case when e.status = 'pending' then now() + interval '1 day' end, e.at, e.at,
           case when e.status = 'delivered' then e.at end
      from scale.events e
      join orders o on o.tenant_ref = e.tenant_ref and o.id = e.order_id
     cross join (values (0, 'order_placed'), (1, 'order_shipped')) as k (m, kind)
     where m = 0 or e.n % 2 = 0`,
  ],
  [
    'reminders of checkouts',
    `
    insert into checkout_reminders (tenant_ref, id, email, email_folded, customer_ref, items, state, reason,
                                    sent_count, next_attempt_at, last_sent_at, began_at, seen_at, created_at)
    select c.tenant_ref, scale.id('reminder', c.tenant_ref, c.n), c.email, c.email_folded, c.customer_ref,
           '[]', case when waits then 'waiting' else 'stopped' end, case when not waits then 'done' end,
           case when waits then 0 else 1 end, case when waits then now() + interval '1 day' end,
           case when not waits then c.first_seen_at end, c.first_seen_at, c.first_seen_at, c.first_seen_at
      from (select *, substring(customer_ref from '\\d+$')::int as n from customers) c
     cross join lateral (select c.n % 500 = 0) as w (waits)
     where c.n % 5 = 0`,
  ],
]
