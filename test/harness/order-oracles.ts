import { AFFILIATE_ORACLES } from './affiliate-oracles.ts'
import { assertNone, type Oracles, type Queried } from './check-oracles.ts'
import { EXCHANGE_ORACLES } from './exchange-oracles.ts'
import { assertOracles } from './oracles.ts'
import { RENEWAL_ORACLES } from './renewal-oracles.ts'
import { RETURN_ORACLES } from './return-oracles.ts'
import { assertStockAddsUp } from './stock-oracles.ts'

/**
 * States that must never occur once no operation is running. Each statement lists the violations in
 * all stores. The tables of the simulated gateway stand for the gateway's own record.
 */
export const ORDER_ORACLES: Oracles = {
  'an order whose lines do not sum to its total': `
    select o.tenant_ref, o.id, o.total_cents, sum(i.line_total_cents - i.discount_cents + i.shipping_cents + case when o.prices_include_tax then 0 else i.tax_cents end)
      from orders o join order_items i on i.tenant_ref = o.tenant_ref and i.order_id = o.id
     where o.cancelled_at is null
     group by 1, 2, 3
    having sum(i.line_total_cents - i.discount_cents + i.shipping_cents + case when o.prices_include_tax then 0 else i.tax_cents end) <> o.total_cents`,

  'a paid order whose tenders do not sum to what was captured': `
    select o.tenant_ref, o.id, o.captured_cents, c.captured, a.adjusted
      from orders o,
           lateral (select coalesce(sum(captured_cents), 0) as captured from charges
                     where tenant_ref = o.tenant_ref and order_id = o.id) c,
           lateral (select coalesce(sum(amount_cents), 0) as adjusted from refunds
                     where tenant_ref = o.tenant_ref and order_id = o.id
                       and kind = 'adjustment' and status = 'succeeded') a
     where c.captured - a.adjusted <> o.captured_cents`,

  'a placed order that was not paid in full': `
    select tenant_ref, id, total_cents, captured_cents from orders
     where status in ('placed', 'processing') and captured_cents <> total_cents`,

  'a placed order whose discount or tax is not in the ledger': `
    select o.tenant_ref, o.id, o.discount_cents, b.discount, o.tax_cents, b.tax
      from orders o,
           lateral (select coalesce(sum(e.amount_cents) filter (where e.account = 'discount'), 0)
                             as discount,
                           -coalesce(sum(e.amount_cents) filter (where e.account = 'tax_payable'), 0)
                             as tax
                      from ledger_journals j
                      join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
                     where j.tenant_ref = o.tenant_ref and j.order_id = o.id
                       and j.kind in ('order.placed', 'order.edited')) b
     where o.placed_at is not null and (o.discount_cents <> b.discount or o.tax_cents <> b.tax)`,

  'an unpaid or failed order with captured money': `
    select tenant_ref, id, status, captured_cents from orders
     where (placed_at is null or status in ('pending_payment', 'payment_failed'))
       and captured_cents <> 0`,

  'a charge that is not authorised and waits to expire, in the due index for ever': `
    select tenant_ref, charge_id, status, authorized_until from charges
     where status <> 'authorized' and authorized_until is not null`,

  'a charge whose refunded amount is not the sum of its refunds': `
    select c.tenant_ref, c.charge_id, c.refunded_cents, coalesce(r.given, 0) as given
      from charges c
      left join (select tenant_ref, charge_id, sum(amount_cents) as given from refund_tenders
                  where status <> 'failed' group by 1, 2) r using (tenant_ref, charge_id)
     where c.refunded_cents <> coalesce(r.given, 0)`,

  'a captured card charge that the gateway has not captured, or with another amount': `
    select c.tenant_ref, c.charge_id, c.captured_cents, c.refunded_cents, s.captured_cents, s.refunded_cents
      from charges c
      left join sim_charges s on s.tenant_ref = c.tenant_ref and s.txn_id::text = c.txn_id
     where c.tender = 'card' and c.gateway = 'simulated' and c.status = 'captured'
       and c.moved_from is null
       and (s.txn_id is null or s.captured_cents <> c.captured_cents)`,

  'money at the gateway that belongs to no order': `
    select s.tenant_ref, s.txn_id, s.ref, s.amount_cents, s.captured_cents
      from sim_charges s
     where s.outcome = 'approved' and s.voided_at is null and s.captured_cents > s.refunded_cents
       and not exists (select from charges c
                        where c.tenant_ref = s.tenant_ref and c.txn_id = s.txn_id::text
                          and c.status = 'captured' and c.captured_cents = s.captured_cents)`,

  'an authorisation without a held order': `
    select s.tenant_ref, s.txn_id, s.ref
      from sim_charges s
     where s.outcome = 'approved' and s.voided_at is null and s.captured_at is null
       and not exists (select from charges c join orders o on o.tenant_ref = c.tenant_ref and o.id = c.order_id
                        where c.tenant_ref = s.tenant_ref and c.txn_id = s.txn_id::text
                          and c.status = 'authorized' and o.status = 'on_hold')`,

  'a hold whose order no longer waits': `
    select h.tenant_ref, h.order_id, o.status
      from ledger_holds h
      left join orders o on o.tenant_ref = h.tenant_ref and o.id = h.order_id
     where h.state = 'pending'
       and (o.status is null or o.status not in ('pending_payment', 'on_hold'))`,

  'reserved stock whose order no longer waits': `
    select r.tenant_ref, r.order_id, o.status
      from inventory_reservations r
      left join orders o on o.tenant_ref = r.tenant_ref and o.id = r.order_id
     where r.reserved > 0
       and (o.status is null or o.status not in ('pending_payment', 'on_hold'))`,

  'stock that is allocated to an order that will not ship': `
    select r.tenant_ref, r.order_id, r.variant_id, r.allocated, o.status
      from inventory_reservations r
      left join orders o on o.tenant_ref = r.tenant_ref and o.id = r.order_id
     where r.allocated > 0
       and (o.status is null or o.placed_at is null or o.cancelled_at is not null)`,

  'an order with more stock of a variant than its quantity': `
    select r.tenant_ref, r.order_id, r.variant_id, sum(r.reserved + r.allocated) as held, i.wanted
      from inventory_reservations r,
           lateral (select coalesce(sum(quantity), 0) as wanted from order_items
                     where tenant_ref = r.tenant_ref and order_id = r.order_id
                       and variant_id = r.variant_id) i
     group by 1, 2, 3, 5
    having sum(r.reserved + r.allocated) > i.wanted`,

  'an order whose packed, shipped or delivered units are not those of its parcels': `
    select i.tenant_ref, i.order_id, i.id, i.packed_quantity, i.shipped_quantity,
           i.delivered_quantity, p.*
      from order_items i,
           lateral (select coalesce(sum(fi.quantity) filter (where f.status = 'pending'), 0) as packed,
                           coalesce(sum(fi.quantity) filter
                             (where f.status in ('shipped', 'delivered')), 0) as shipped,
                           coalesce(sum(fi.quantity) filter (where f.status = 'delivered'), 0)
                             as delivered
                      from fulfillment_items fi
                      join fulfillments f on f.tenant_ref = fi.tenant_ref and f.id = fi.fulfillment_id
                     where fi.tenant_ref = i.tenant_ref and fi.order_item_id = i.id) p
     where (i.packed_quantity, i.shipped_quantity, i.delivered_quantity)
           <> (p.packed, p.shipped, p.delivered)`,

  'packed stock that is not in the pending parcels of its order': `
    select r.tenant_ref, r.order_id, r.variant_id, r.location_id, r.packed, p.packed
      from inventory_reservations r,
           lateral (select coalesce(sum(fi.stock_quantity), 0) as packed
                      from fulfillments f
                      join fulfillment_items fi on fi.tenant_ref = f.tenant_ref
                                               and fi.fulfillment_id = f.id
                     where f.tenant_ref = r.tenant_ref and f.order_id = r.order_id
                       and f.location_id = r.location_id and f.status = 'pending'
                       and fi.variant_id = r.variant_id) p
     where r.packed <> p.packed`,

  'an order that is in the pick queue and should not be, or the reverse': `
    select o.tenant_ref, o.id, o.status, o.has_work
      from orders o,
           lateral (select coalesce(sum(quantity - packed_quantity - shipped_quantity
                                          - restocked_quantity), 0) as open
                      from order_items
                     where tenant_ref = o.tenant_ref and order_id = o.id and not gift_card) i
     where o.has_work <> (i.open > 0 and o.status in
             ('placed', 'processing', 'partially_shipped', 'partially_refunded'))`,

  'an order whose gift cards do not sum to what its lines cost': `
    select o.tenant_ref, o.id, o.gift_card_cents, i.cents
      from orders o,
           lateral (select coalesce(sum(line_total_cents), 0) as cents from order_items
                     where tenant_ref = o.tenant_ref and order_id = o.id and gift_card) i
     where o.gift_card_cents <> i.cents`,

  'a line of gift cards without exactly one card for each unit of a placed order': `
    select i.tenant_ref, i.order_id, i.id, i.quantity, o.placed_at, count(g.id)
      from order_items i
      join orders o on o.tenant_ref = i.tenant_ref and o.id = i.order_id
      left join gift_cards g on g.tenant_ref = i.tenant_ref and g.issued_order_id = i.order_id
                            and g.order_item_id = i.id
                            and g.initial_balance_cents = i.unit_price_cents
     where i.gift_card
     group by 1, 2, 3, 4, 5
    having count(g.id) <> case when o.placed_at is null then 0 else i.quantity end`,

  'a bought card of an order that has no such line': `
    select g.tenant_ref, g.id, g.issued_order_id
      from gift_cards g
      left join order_items i on i.tenant_ref = g.tenant_ref and i.id = g.order_item_id
                             and i.order_id = g.issued_order_id and i.gift_card
     where g.order_item_id is not null and i.id is null`,

  'a card that a refund has reserved and is not pending': `
    select g.tenant_ref, g.id, g.pending_refund_id, r.status
      from gift_cards g
      left join refunds r on r.tenant_ref = g.tenant_ref and r.refund_id = g.pending_refund_id
     where g.pending_refund_id is not null and r.status is distinct from 'pending'`,

  'an order whose gift cards in the ledger are not what it sold less what was taken back': `
    select o.tenant_ref, o.id, o.gift_card_cents, r.refunded, l.owed, l.lost
      from orders o,
           lateral (select coalesce(sum(gift_card_cents), 0) as refunded from refunds r
                     where r.tenant_ref = o.tenant_ref and r.order_id = o.id
                       and r.status = 'succeeded') r,
           lateral (select coalesce(-sum(e.amount_cents) filter (where g.id is not null), 0) as owed,
                           coalesce(sum(e.amount_cents) filter
                             (where e.account = 'dispute_loss' and j.kind = 'order.refunded'), 0)
                             as lost
                      from ledger_journals j
                      join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
                      left join gift_cards g on g.tenant_ref = j.tenant_ref
                            and e.account = 'gift_card' and g.id::text = e.ref
                            and g.issued_order_id = j.order_id
                     where j.tenant_ref = o.tenant_ref and j.order_id = o.id) l
     where o.placed_at is not null and l.owed <> o.gift_card_cents - r.refunded + l.lost`,

  'a coupon redemption whose order does not use the coupon': `
    select c.tenant_ref, c.order_id, c.state, o.status
      from coupon_redemptions c
      left join orders o on o.tenant_ref = c.tenant_ref and o.id = c.order_id
     where (c.state = 'claimed' and (o.status is null or o.status not in ('pending_payment', 'on_hold')))
        or (c.state = 'confirmed' and (o.placed_at is null or o.cancelled_at is not null))`,

  'a coupon whose count is not the number of its redemptions': `
    select k.tenant_ref, k.id, k.used_count, count(r.order_id)
      from coupons k
      left join coupon_redemptions r on r.tenant_ref = k.tenant_ref and r.coupon_id = k.id
                                    and r.state <> 'released'
     group by 1, 2, 3
    having k.used_count <> count(r.order_id)`,

  'a campaign whose budget is not what its coupons took': `
    select c.tenant_ref, c.id, c.budget_limit, c.budget_used, coalesce(sum(r.budget_taken), 0)
      from campaigns c
      left join coupons k on k.tenant_ref = c.tenant_ref and k.campaign_id = c.id
      left join coupon_redemptions r on r.tenant_ref = k.tenant_ref and r.coupon_id = k.id
                                    and r.state <> 'released'
     group by c.tenant_ref, c.id
    having c.budget_used <> coalesce(sum(r.budget_taken), 0)`,

  'a campaign whose count of coupons is wrong': `
    select c.tenant_ref, c.id, c.coupon_count, count(k.id)
      from campaigns c
      left join coupons k on k.tenant_ref = c.tenant_ref and k.campaign_id = c.id
     group by c.tenant_ref, c.id
    having c.coupon_count <> count(k.id)`,

  'a placed order without exactly one event, or an event without an order': `
    select tenant_ref, id, count(e.event_id)
      from orders o
      full join (select tenant_ref, order_id as id, id as event_id from webhook_events
                  where type = 'commerce.order.placed.v1') e using (tenant_ref, id)
     group by 1, 2
    having count(e.event_id) <> count(o.placed_at)`,

  'a placed order without exactly one journal of its sale': `
    select o.tenant_ref, o.id, count(j.id)
      from orders o
      left join ledger_journals j on j.tenant_ref = o.tenant_ref and j.order_id = o.id
                                 and j.kind = 'order.placed'
     where o.total_cents > 0 or o.subtotal_cents > 0
     group by 1, 2, o.placed_at
    having count(j.id) <> case when o.placed_at is null then 0 else 1 end`,

  'a placed order whose tax in the ledger is not its tax without what was refunded': `
    select o.tenant_ref, o.id, o.tax_cents, r.refunded, l.posted
      from orders o,
           lateral (select coalesce(sum(tax_cents), 0) as refunded from refunds r
                     where r.tenant_ref = o.tenant_ref and r.order_id = o.id
                       and r.kind = 'refund' and r.status = 'succeeded') r,
           lateral (select coalesce(-sum(e.amount_cents), 0) as posted
                      from ledger_journals j join ledger_entries e
                        on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
                     where j.tenant_ref = o.tenant_ref and j.order_id = o.id
                       and e.account = 'tax_payable') l
     where o.placed_at is not null and l.posted <> o.tax_cents - r.refunded`,

  'an order that waits for its payment without a running operation': `
    select o.tenant_ref, o.id, o.created_at
      from orders o
     where o.status = 'pending_payment'
       and not exists (select from idempotency_keys k
                        where k.tenant_ref = o.tenant_ref and k.resource_id = o.id
                          and k.state = 'running')`,

  'an order with the plan of an operation that is not running': `
    select o.tenant_ref, o.id, o.operation
      from orders o
     where o.operation_id is not null
       and not exists (select from idempotency_keys k
                        where k.tenant_ref = o.tenant_ref and k.state = 'running'
                          and k.operation in ('cancel', 'cancel_remaining', 'correct', 'edit', 'release',
                                              'refund', 'pay'))`,

  ...RETURN_ORACLES,
  ...RENEWAL_ORACLES,
  ...EXCHANGE_ORACLES,
  ...AFFILIATE_ORACLES,
  'a label that a carrier has sold and no parcel has, or with another price': `
    select s.tenant_ref, s.ref, s.state, s.cost_cents, l.status, l.cost_cents
      from sim_shipments s
      left join carrier_labels l on l.tenant_ref = s.tenant_ref and l.id = s.ref
     where s.state <> 'voided'
       and (l.status is null or l.status <> 'bought' or l.cost_cents <> s.cost_cents)`,

  'a label that a parcel has and no carrier has sold': `
    select l.tenant_ref, l.id, l.status
      from carrier_labels l
      left join sim_shipments s on s.tenant_ref = l.tenant_ref and s.ref = l.id
     where (l.status = 'bought' and (s.ref is null or s.state = 'voided'))
        or (l.status = 'voided' and s.state <> 'voided')`,

  'a label that is being bought or voided without a running operation': `
    select l.tenant_ref, l.id, l.status
      from carrier_labels l
     where l.status in ('buying', 'voiding')
       and not exists (select from idempotency_keys k
                        where k.tenant_ref = l.tenant_ref and k.resource_id = l.id
                          and k.state = 'running')`,

  'an active subscription of a cancelled order': `
    select s.tenant_ref, s.id, s.status, o.id as order_id
      from subscriptions s
      join orders o on o.tenant_ref = s.tenant_ref and o.id = s.origin_order_id
     where o.cancelled_at is not null and s.status in ('active', 'paused', 'past_due')`,

  'an event with two deliveries for one subscription': `
    select e.tenant_ref, e.id
      from webhook_events e
      join webhook_deliveries d on d.tenant_ref = e.tenant_ref and d.event_id = e.id
     group by 1, 2, d.subscription_id
    having count(*) > 1`,
}

/** Fails with the violating rows of any oracle: of orders, the ledger, balances and stock. */
export async function assertOrdersAddUp(superuser: Queried): Promise<void> {
  await assertNone(superuser, ORDER_ORACLES)
  await assertOracles(superuser)
  await assertStockAddsUp(superuser)
}
