import type { Oracles } from './check-oracles.ts'

/**
 * States of the feed that must never occur once no operation is running and every event has its number.
 * They go by what the witness has seen (`witness.ts`), so that they also hold after an erasure.
 */
export const EVENT_ORACLES: Oracles = {
  'an order whose events are not those of its timeline': `
    select tenant_ref, order_id, type, t.count as timeline, e.count as events
      from (select tenant_ref, order_id, type, count(*)
              from (select tenant_ref, order_id,
                           case type when 'remaining_cancelled' then 'edited' else type end as type
                      from order_timeline) named
             where type in ('placed', 'refunded', 'cancelled', 'edited', 'corrected', 'held', 'released',
                            'shipped', 'delivered', 'payment_requested')
             group by 1, 2, 3) t
      full join (select w.tenant_ref, w.order_id,
                        substring(w.type from 'commerce\\.order\\.(.*)\\.v1') as type, count(*)
                   from witness.events w
                   join webhook_events e on e.tenant_ref = w.tenant_ref and e.id = w.id
                  where w.type like 'commerce.order.%' and e.sequence is not null
                  group by 1, 2, 3) e
        using (tenant_ref, order_id, type)
     where t.count is distinct from e.count`,

  'an order whose placing, refunds, cancellation and parcels are not its events': `
    select o.tenant_ref, o.id, e.types
      from orders o,
           lateral (select coalesce(array_agg(split_part(type, '.', 3)), '{}') as types
                      from witness.events w
                     where w.tenant_ref = o.tenant_ref and w.order_id = o.id
                       and w.type like 'commerce.order.%') e,
           lateral (select count(*) as refunds from refunds r
                     where r.tenant_ref = o.tenant_ref and r.order_id = o.id
                       and r.kind = 'refund'
                       and (r.status = 'succeeded'
                            -- All of it has moved back since, because the order of the exchange was cancelled.
                            or exists (select from return_exchanges x
                                        where x.tenant_ref = r.tenant_ref
                                          and x.refund_id = r.refund_id
                                          and x.placed_at is not null))) r,
           lateral (select count(shipped_at) as shipped, count(delivered_at) as delivered
                      from fulfillments f
                     where f.tenant_ref = o.tenant_ref and f.order_id = o.id) f
     where cardinality(array_positions(e.types, 'placed')) <> (o.placed_at is not null)::int
        or cardinality(array_positions(e.types, 'cancelled')) <> (o.cancelled_at is not null)::int
        or cardinality(array_positions(e.types, 'refunded')) <> r.refunds
        or cardinality(array_positions(e.types, 'shipped')) <> f.shipped
        or cardinality(array_positions(e.types, 'delivered')) <> f.delivered`,

  'an order whose returns are not its events': `
    select o.tenant_ref, o.id, e.types, r.*, p.receipts
      from orders o,
           lateral (select coalesce(array_agg(split_part(type, '.', 3)), '{}') as types
                      from witness.events w
                     where w.tenant_ref = o.tenant_ref and w.order_id = o.id
                       and w.type like 'commerce.return.%') e,
           lateral (select count(*) as made, count(approved_at) as approved from returns
                     where tenant_ref = o.tenant_ref and order_id = o.id) r,
           lateral (select count(*) as receipts
                      from return_receipts p
                      join returns x on x.tenant_ref = p.tenant_ref and x.id = p.return_id
                     where x.tenant_ref = o.tenant_ref and x.order_id = o.id
                       and p.status <> 'pending') p
     where cardinality(array_positions(e.types, 'requested')) <> r.made
        or cardinality(array_positions(e.types, 'approved')) <> r.approved
        or cardinality(array_positions(e.types, 'received')) <> p.receipts`,

  'an order that changed in the feed before it was placed, or arrived before it was shipped': `
    with numbered as (
      select w.tenant_ref, w.order_id, w.type, e.sequence
        from witness.events w
        join webhook_events e on e.tenant_ref = w.tenant_ref and e.id = w.id
       where w.order_id is not null)
    select a.tenant_ref, a.order_id, a.type, a.sequence, b.type as before, b.sequence as at
      from numbered a
      join numbered b on b.tenant_ref = a.tenant_ref and b.order_id = a.order_id
       and b.sequence < a.sequence
     where (a.type = 'commerce.order.placed.v1'
            -- An order in review is held, and released when it is paid.
            and b.type not in ('commerce.order.held.v1', 'commerce.order.released.v1',
                               'commerce.order.payment_requested.v1'))
        or (a.type = 'commerce.order.shipped.v1' and b.type = 'commerce.order.delivered.v1'
            and not exists (select from numbered c
                             where c.tenant_ref = b.tenant_ref and c.order_id = b.order_id
                               and c.type = a.type and c.sequence < b.sequence))
        or (a.type = 'commerce.return.requested.v1' and b.type = 'commerce.return.received.v1'
            and not exists (select from numbered c
                             where c.tenant_ref = b.tenant_ref and c.order_id = b.order_id
                               and c.type = a.type and c.sequence < b.sequence))`,

  'an event that has come or gone without its transaction': `
    select tenant_ref, id, w.type, e.type
      from witness.events w full join webhook_events e using (tenant_ref, id)
     where w.type is distinct from e.type`,

  'a feed with a gap': `
    select tenant_ref, count(*), min(sequence), max(sequence) from webhook_events
     group by 1 having min(sequence) <> 1 or max(sequence) <> count(*)`,
}
