import type { Oracles } from './check-oracles.ts'

/** Units of a line of a return that have come. */
const RECEIVED = 'l.restocked_quantity + l.damaged_quantity + l.quarantined_quantity'

/** States of returns that must never occur once no operation is running. */
export const RETURN_ORACLES: Oracles = {
  'a line with more units in returns than have shipped': `
    select tenant_ref, order_id, id, shipped_quantity, returning_quantity, returned_quantity
      from order_items
     where returning_quantity + returned_quantity > shipped_quantity`,

  'a line whose returning and returned units are not those of its returns': `
    select i.tenant_ref, i.order_id, i.id, i.returning_quantity, i.returned_quantity, r.*
      from order_items i,
           lateral (select coalesce(sum(l.quantity - (${RECEIVED}) - l.missing_quantity)
                             filter (where r.status in ('requested', 'approved',
                                                        'partially_received')), 0) as coming,
                           coalesce(sum(${RECEIVED}), 0) as came
                      from return_lines l
                      join returns r on r.tenant_ref = l.tenant_ref and r.id = l.return_id
                     where l.tenant_ref = i.tenant_ref and l.order_item_id = i.id) r
     where (i.returning_quantity, i.returned_quantity) <> (r.coming, r.came)`,

  'a line of a return whose units are not those of its receipts and resolutions': `
    select l.tenant_ref, l.return_id, l.id, a.*, r.*
      from return_lines l,
           lateral (select coalesce(sum(quantity) filter (where disposition = 'restock'), 0) as restock,
                           coalesce(sum(quantity) filter (where disposition = 'damaged'), 0) as damaged,
                           coalesce(sum(quantity) filter (where disposition = 'quarantine'), 0) as aside,
                           coalesce(sum(quantity) filter (where disposition = 'missing'), 0) as missing
                      from return_receipt_lines
                     where tenant_ref = l.tenant_ref and return_line_id = l.id) a,
           lateral (select coalesce(sum(quantity) filter (where disposition = 'restock'), 0) as to_shelf,
                           coalesce(sum(quantity) filter (where disposition = 'damaged'), 0) as to_bin
                      from return_resolutions
                     where tenant_ref = l.tenant_ref and return_line_id = l.id) r
     where (l.restocked_quantity, l.damaged_quantity, l.quarantined_quantity, l.missing_quantity)
           <> (a.restock + r.to_shelf, a.damaged + r.to_bin, a.aside - r.to_shelf - r.to_bin,
               a.missing)`,

  'a return whose units on hand are not its stock movements': `
    select r.tenant_ref, r.id, s.units, m.moved
      from returns r,
           lateral (select coalesce(sum(units), 0) as units
                      from return_lines l,
                           lateral (select sum(stock_quantity) as units from return_receipt_lines
                                     where tenant_ref = l.tenant_ref and return_line_id = l.id
                                    union all
                                    select sum(stock_quantity) from return_resolutions
                                     where tenant_ref = l.tenant_ref and return_line_id = l.id) u
                     where l.tenant_ref = r.tenant_ref and l.return_id = r.id) s,
           lateral (select coalesce(sum(quantity), 0) as moved from inventory_movements
                     where tenant_ref = r.tenant_ref and return_id = r.id and kind = 'received') m
     where s.units <> m.moved`,

  'a return whose money is not that of its refunds': `
    select r.tenant_ref, r.id, l.cents, p.shipping, p.refunded, p.deducted
      from returns r,
           lateral (select coalesce(sum(refund_cents), 0) as cents from return_lines
                     where tenant_ref = r.tenant_ref and return_id = r.id) l,
           lateral (select coalesce(sum(p.refund_shipping_cents), 0) as shipping,
                           coalesce(sum(f.amount_cents), 0) as refunded,
                           coalesce(sum(p.deducted_cents), 0) as deducted
                      from return_receipts p
                      left join refunds f on f.tenant_ref = p.tenant_ref
                                         and f.refund_id = p.refund_id
                     where p.tenant_ref = r.tenant_ref and p.return_id = r.id
                       and p.status <> 'failed') p
     where l.cents + p.shipping <> p.refunded + p.deducted`,

  'a receipt that ended otherwise than its refund': `
    select p.tenant_ref, p.id, p.status, f.status as refund, f.amount_cents, t.failed
      from return_receipts p
      join refunds f on f.tenant_ref = p.tenant_ref and f.refund_id = p.refund_id,
           lateral (select coalesce(bool_or(status = 'failed'), false) as failed
                      from refund_tenders
                     where tenant_ref = p.tenant_ref and refund_id = p.refund_id) t
     where p.status <> case when f.status = 'pending' then 'pending'
                            when f.status = 'succeeded' and not t.failed then 'settled'
                            else 'failed' end`,

  'a line of which returns refunded more units than were refunded': `
    select i.tenant_ref, i.order_id, i.id, i.refunded_quantity, i.restocked_quantity, l.units
      from order_items i,
           lateral (select coalesce(sum(refunded_quantity), 0) as units from return_lines
                     where tenant_ref = i.tenant_ref and order_item_id = i.id) l
     where l.units > i.refunded_quantity - i.restocked_quantity`,

  'a line whose restocked units are not those of its refunds': `
    select i.tenant_ref, i.order_id, i.id, i.restocked_quantity, r.units
      from order_items i,
           lateral (select coalesce(sum(u.restocked_quantity), 0) as units
                      from refund_items u
                      join refunds f on f.tenant_ref = u.tenant_ref and f.refund_id = u.refund_id
                     where u.tenant_ref = i.tenant_ref and u.order_item_id = i.id
                       and f.status <> 'failed'
                       and not exists (select from refund_tenders t
                                        where t.tenant_ref = f.tenant_ref
                                          and t.refund_id = f.refund_id and t.status = 'failed')) r
     where i.restocked_quantity < r.units
        or (i.restocked_quantity > r.units
            -- Units that were refunded before the rest of their order was cancelled are withdrawn, too.
            and not exists (select from order_timeline t
                             where t.tenant_ref = i.tenant_ref and t.order_id = i.order_id
                               and t.type = 'remaining_cancelled'))`,

  'a return in the wrong state for its units': `
    select r.tenant_ref, r.id, r.status, l.expected, l.done
      from returns r,
           lateral (select sum(l.quantity - (${RECEIVED}) - l.missing_quantity) as expected,
                           sum((${RECEIVED}) + l.missing_quantity) as done
                      from return_lines l
                     where l.tenant_ref = r.tenant_ref and l.return_id = r.id) l
     where (r.status in ('requested', 'approved', 'declined', 'cancelled') and l.done > 0)
        or (r.status = 'partially_received' and (l.done = 0 or l.expected = 0))
        or (r.status = 'received' and l.expected > 0)`,
}
