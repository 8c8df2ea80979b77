import type { Oracles } from './check-oracles.ts'

/** The card charges of each chain: `first` is the charge that was paid. */
const CARD_CHAINS = `
      select tenant_ref, charge_id, order_id, charge_id as first, captured_cents as paid
        from charges where tender = 'card' and moved_from is null
      union all
      select c.tenant_ref, c.charge_id, c.order_id, h.first, h.paid
        from chain h
        join charges c on c.tenant_ref = h.tenant_ref and c.moved_from = h.charge_id`

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

  'a card payment of which more was returned than it captured, over all orders that have its money': `
    with recursive chain as (${CARD_CHAINS})
    select h.tenant_ref, h.first, h.paid, sum(t.amount_cents) as returned
      from chain h
      join refund_tenders t on t.tenant_ref = h.tenant_ref and t.charge_id = h.charge_id
                           and t.status = 'succeeded'
      join refunds r on r.tenant_ref = t.tenant_ref and r.refund_id = t.refund_id
     where r.method <> 'exchange'
     group by 1, 2, 3
    having sum(t.amount_cents) > h.paid`,

  'money that a bank is said to have taken twice, and that no refund had returned before': `
    with recursive chain as (${CARD_CHAINS}), disputes as (
      -- Of one dispute alone: a second one may take again what the first one took.
      select tenant_ref, order_id from order_timeline
       where type = 'dispute_lost' and not data ? 'disputed_order_id'
    ), lost as (
      select j.tenant_ref, j.order_id, sum(e.amount_cents) as twice
        from ledger_journals j
        join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
       where j.kind = 'dispute.lost' and e.account = 'dispute_loss'
       group by 1, 2
    )
    select l.tenant_ref, l.order_id, l.twice, d.returned
      from lost l,
           lateral (select coalesce(sum(t.amount_cents), 0) as returned
                      from chain h
                      join refund_tenders t on t.tenant_ref = h.tenant_ref
                       and t.charge_id = h.charge_id and t.status = 'succeeded'
                      join refunds r on r.tenant_ref = t.tenant_ref and r.refund_id = t.refund_id
                     where h.tenant_ref = l.tenant_ref and r.method <> 'exchange'
                       -- The refund of a lost dispute asks no gateway, and goes to the card.
                       and (t.attempt_id is not null or t.tender <> 'card')
                       and h.first in (select o.first from chain o
                                        where o.tenant_ref = l.tenant_ref
                                          and o.order_id = l.order_id)) d
     where l.twice > d.returned
       and (select count(*) from disputes s
             where s.tenant_ref = l.tenant_ref
               and s.order_id in (select h.order_id from chain h
                                   where h.tenant_ref = l.tenant_ref
                                     and h.first in (select o.first from chain o
                                                      where o.tenant_ref = l.tenant_ref
                                                        and o.order_id = l.order_id))) = 1`,

  'card money that waits for the shopper of an exchange although its bank has taken all of it': `
    select c.tenant_ref, c.charge_id, c.captured_cents, t.lost
      from charges c,
           lateral (select coalesce(sum(t.amount_cents) filter
                                      (where t.attempt_id is null and t.tender = 'card'
                                         and r.method = 'original'), 0) as lost,
                           count(*) filter (where r.method = 'exchange'
                                              and t.status = 'pending') as waiting
                      from refund_tenders t
                      join refunds r on r.tenant_ref = t.tenant_ref and r.refund_id = t.refund_id
                     where t.tenant_ref = c.tenant_ref and t.charge_id = c.charge_id
                       and t.status <> 'failed') t
     where c.tender = 'card' and t.waiting > 0 and t.lost >= c.captured_cents`,

  'store credit with a date that came back without it, or more of it than was spent': `
    with recursive chain as (
      select tenant_ref, charge_id, order_id as first
        from charges where tender = 'store_credit' and moved_from is null
      union all
      select c.tenant_ref, c.charge_id, h.first
        from chain h
        join charges c on c.tenant_ref = h.tenant_ref and c.moved_from = h.charge_id
    ), spent as (
      select tenant_ref, order_id, sum(amount_cents) as spent, sum(returned_cents) as returned
        from store_credit_spent group by 1, 2
    )
    select s.tenant_ref, s.order_id, s.spent, s.returned, r.refunded
      from spent s,
           lateral (select coalesce(sum(t.amount_cents), 0) as refunded
                      from chain h
                      join refund_tenders t on t.tenant_ref = h.tenant_ref
                       and t.charge_id = h.charge_id and t.status = 'succeeded'
                       and t.tender = 'store_credit'
                      join refunds f on f.tenant_ref = t.tenant_ref and f.refund_id = t.refund_id
                     where h.tenant_ref = s.tenant_ref and h.first = s.order_id
                       and f.method <> 'exchange') r
     where s.returned <> least(s.spent, r.refunded)`,

  'a fixed commission that was earned more than once, over the exchanges of an order': `
    with recursive chain as (
      select a.tenant_ref, a.order_id, a.order_id as first, a.amount_cents as fixed
        from affiliate_attributions a
       where a.commission_type = 'fixed' and a.source <> 'exchange'
      union all
      select h.tenant_ref, x.order_id, h.first, h.fixed
        from chain h
        join returns r on r.tenant_ref = h.tenant_ref and r.order_id = h.order_id
        join return_exchanges x on x.tenant_ref = r.tenant_ref and x.return_id = r.id
    )
    select h.tenant_ref, h.first, h.fixed, sum(a.booked_cents) as booked
      from chain h
      join affiliate_attributions a on a.tenant_ref = h.tenant_ref and a.order_id = h.order_id
     group by 1, 2, 3
    having sum(a.booked_cents) > h.fixed`,

  'a return that has waived less than its exchanges took of it': `
    select r.tenant_ref, r.id, w.waived, x.taken
      from returns r,
           lateral (select coalesce(sum(waived_cents), 0) as waived from return_receipts
                     where tenant_ref = r.tenant_ref and return_id = r.id) w,
           lateral (select coalesce(sum(from_waived_cents), 0) as taken from return_exchanges
                     where tenant_ref = r.tenant_ref and return_id = r.id) x
     where x.taken > w.waived`,
}
