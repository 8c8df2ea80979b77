import type { Oracles } from './check-oracles.ts'

/** States of exchanges and payment requests that must never occur once no operation is running. */
export const EXCHANGE_ORACLES: Oracles = {
  'an exchange that is in another state than its order': `
    select x.tenant_ref, x.id, x.status, o.status as order_status
      from return_exchanges x
      join orders o on o.tenant_ref = x.tenant_ref and o.id = x.order_id
     where o.source <> 'exchange'
        or x.status <> case when o.cancelled_at is not null then 'released'
                            when o.placed_at is not null then 'placed'
                            else 'waiting' end`,

  'an order of an exchange without its exchange': `
    select o.tenant_ref, o.id
      from orders o
     where o.source = 'exchange'
       and not exists (select from return_exchanges x
                        where x.tenant_ref = o.tenant_ref and x.order_id = o.id)`,

  'an exchange that takes another amount than its refund moves': `
    select x.tenant_ref, x.id, x.status, x.amount_cents, f.status as refund, f.amount_cents
      from return_exchanges x
      left join refunds f on f.tenant_ref = x.tenant_ref and f.refund_id = x.refund_id
     where case when f.refund_id is null then x.amount_cents <> 0
                when f.status = 'failed' then x.amount_cents <> 0 or x.status <> 'released'
                else x.amount_cents <> f.amount_cents
                     or (f.status = 'pending') <> (x.status = 'waiting') end`,

  'an exchange that takes another amount than its order has got and kept': `
    select x.tenant_ref, x.id, x.amount_cents, m.got, b.back
      from return_exchanges x,
           lateral (select coalesce(sum(captured_cents), 0) as got from charges
                     where tenant_ref = x.tenant_ref and order_id = x.order_id
                       and moved_from is not null) m,
           lateral (select coalesce(sum(amount_cents), 0) as back from refunds
                     where tenant_ref = x.tenant_ref and order_id = x.order_id
                       and method = 'exchange' and status = 'succeeded'
                       -- An exchange of this order moves its money on.
                       and not exists (select from return_exchanges n
                                        where n.tenant_ref = refunds.tenant_ref
                                          and n.refund_id = refunds.refund_id)) b
     where x.status <> 'waiting' and x.amount_cents <> m.got - b.back`,

  'a moved charge that is not what was moved from its source': `
    select c.tenant_ref, c.charge_id, c.captured_cents, t.amount_cents
      from charges c
      join return_exchanges x on x.tenant_ref = c.tenant_ref and x.order_id = c.order_id
      join refund_tenders t on t.tenant_ref = c.tenant_ref and t.refund_id = x.refund_id
                           and t.charge_id = c.moved_from
     where c.moved_from is not null and x.status = 'placed'
       and (t.status <> 'succeeded' or t.amount_cents <> c.captured_cents)`,

  'a payment request that is in another state than its order': `
    select o.tenant_ref, o.id, o.status, o.payment, p.status as request
      from orders o
      left join payment_requests p on p.tenant_ref = o.tenant_ref and p.order_id = o.id
     where (coalesce(p.status, '') = 'open')
             <> (o.payment = 'requested' and o.cancelled_at is null)
        or (p.status = 'paid' and o.placed_at is null)
        or (p.status in ('withdrawn', 'expired') and p.purpose = 'order' and o.cancelled_at is null)`,

  'an order that was placed for another amount than was asked for': `
    select p.tenant_ref, p.order_id, p.amount_cents, o.total_cents, m.got
      from payment_requests p
      join orders o on o.tenant_ref = p.tenant_ref and o.id = p.order_id,
           lateral (select coalesce(sum(captured_cents), 0) as got from charges
                     where tenant_ref = o.tenant_ref and order_id = o.id
                       and moved_from is null and charge_id in
                           (select id from payment_attempts a
                             where a.tenant_ref = o.tenant_ref and a.order_id = o.id
                               and a.kind = 'pay')) m
     -- An order can be corrected again and again: its request is the last one.
     where p.status = 'paid'
       and (m.got < p.amount_cents or (p.purpose = 'order' and m.got <> p.amount_cents))`,

  'a return that has waived less than its exchanges took of it': `
    select r.tenant_ref, r.id, w.waived, x.taken
      from returns r,
           lateral (select coalesce(sum(waived_cents), 0) as waived from return_receipts
                     where tenant_ref = r.tenant_ref and return_id = r.id) w,
           lateral (select coalesce(sum(from_waived_cents), 0) as taken from return_exchanges
                     where tenant_ref = r.tenant_ref and return_id = r.id) x
     where x.taken > w.waived`,
}
