import { assertNone, type Oracles, type Queried } from './check-oracles.ts'

/** Compares the stored state of people with the rows that it follows from: each statement must return no row. */
const CONSENT_ORACLES: Oracles = {
  'a reader whose state is not their last decision': `
    select s.tenant_ref, s.email_folded, s.status, last.state
      from newsletter_subscribers s
      left join lateral (select c.state
                           from marketing_consents c
                          where c.tenant_ref = s.tenant_ref and c.email_folded = s.email_folded
                          order by c.created_at desc, c.id desc
                          limit 1) last on true
     where s.status <> case last.state when 'given' then 'subscribed'
                                       when 'withdrawn' then 'unsubscribed' else 'pending' end`,

  'a decision that repeats the one before it': `
    select tenant_ref, email_folded, created_at
      from (select *, lag(state) over (partition by tenant_ref, email_folded
                                       order by created_at, id) as before
              from marketing_consents) c
     where state = before`,

  'a decision of a person who is not on the list': `
    select c.tenant_ref, c.email_folded
      from marketing_consents c
     where not exists (select from newsletter_subscribers s
                        where s.tenant_ref = c.tenant_ref and s.email_folded = c.email_folded)`,

  'a person whose consent is not that of the list': `
    select coalesce(p.tenant_ref, s.tenant_ref), coalesce(p.email_folded, s.email_folded), p.consent
      from segment_people p
      full join (select * from newsletter_subscribers where status <> 'pending') s
        on s.tenant_ref = p.tenant_ref and s.email_folded = p.email_folded
     where coalesce(p.consent, 'no row')
           <> case s.status when 'subscribed' then 'given' when 'unsubscribed' then 'withdrawn'
                            else 'none' end`,
}

/** The orders that count, with their lines. */
const COUNTED = `(select * from orders
                   where placed_at is not null and not is_test and email_folded is not null)`

const ORDER_ORACLES: Oracles = {
  'a person whose figures are not those of their orders': `
    select coalesce(p.tenant_ref, o.tenant_ref), coalesce(p.email_folded, o.email_folded),
           p.orders_count, o.orders_count, p.total_spent_cents, o.spent
      from segment_people p
      full join (select tenant_ref, email_folded, count(*) as orders_count,
                        sum(captured_cents) as spent, sum(refunded_cents) as refunded,
                        min(placed_at) as first_at, max(placed_at) as last_at
                   from ${COUNTED} counted
                  group by tenant_ref, email_folded) o
        on o.tenant_ref = p.tenant_ref and o.email_folded = p.email_folded
     where (coalesce(p.orders_count, 0), coalesce(p.total_spent_cents, 0),
            coalesce(p.refunded_cents, 0), p.first_order_at, p.last_order_at)
           is distinct from (coalesce(o.orders_count, 0), coalesce(o.spent, 0),
                             coalesce(o.refunded, 0), o.first_at, o.last_at)`,

  'a purchase that no order has, or the reverse': `
    select coalesce(b.tenant_ref, o.tenant_ref), coalesce(b.email_folded, o.email_folded),
           coalesce(b.product_id, o.product_id)
      from segment_purchases b
      full join (select distinct c.tenant_ref, c.email_folded, i.product_id
                   from ${COUNTED} c
                   join order_items i on i.tenant_ref = c.tenant_ref and i.order_id = c.id
                  where i.quantity > 0) o
        on o.tenant_ref = b.tenant_ref and o.email_folded = b.email_folded
           and o.product_id = b.product_id
     where b.product_id is null or o.product_id is null`,
}

/** Fails unless the list, its record and the people of segments say the same. */
export const assertConsentsAgree = (superuser: Queried) => assertNone(superuser, CONSENT_ORACLES)

/** Fails unless people have what a count of all orders gives. For stores whose journals are all counted. */
export const assertPeopleAddUp = (superuser: Queried) =>
  assertNone(superuser, { ...CONSENT_ORACLES, ...ORDER_ORACLES })
