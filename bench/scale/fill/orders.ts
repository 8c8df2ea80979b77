import type { Step } from './plan.ts'

/** Days that answers stay under their idempotency key. */
const KEY_DAYS = 2

const PRICING = `jsonb_build_object(
  'tax', null, 'shipping', null, 'expedited', false, 'subscribe', false, 'attestation', null,
  'subscriptions', '[]'::jsonb,
  'coupon', case when has_coupon then '{"type": "percent", "applies_to": null, "percent_bps": 1000,
             "amount_cents": null, "max_discount_cents": null, "min_subtotal_cents": null}'::jsonb end)`

/** Orders with their lines, history, notes, coupons and stored answers. */
export const ORDER_STEPS: readonly Step[] = [
  [
    'orders',
    `
    insert into orders (tenant_ref, id, order_number, customer_ref, status, payment_status,
                        fulfillment_status, coupon_code, subtotal_cents, discount_cents, shipping_cents,
                        tax_cents, total_cents, currency, idempotency_key, email, ip, pricing, risk,
                        is_test, captured_cents, refunded_cents, payment, payment_failure, placed_at,
                        processing_at, cancelled_at, cancel_reason, hold_reason, hold_at, hold_by,
                        created_at, updated_at, customer_name, has_work)
    select tenant_ref, id, number, customer_ref,
           case story when 'refunded in part' then 'partially_refunded' when 'failed' then 'payment_failed'
                      when 'held' then 'on_hold' else story end,
           case story when 'refunded in part' then 'partially_refunded' when 'refunded' then 'refunded'
                      when 'failed' then 'failed' when 'held' then 'authorized'
                      when 'cancelled' then 'voided' else 'paid' end,
           case when story in ('delivered', 'shipped', 'processing', 'cancelled') then story
                else 'unfulfilled' end,
           case when has_coupon then 'WELCOME10' end, subtotal_cents, off_cents, 0, 0, total_cents,
           'USD', scale.id('key', tenant_ref, n)::text, email, '203.0.113.' || n % 250, ${PRICING},
           '{"ban": "allow", "ban_ids": [], "velocity": 0}', n % 1000 = 1,
           case when placed then total_cents else 0 end, refunded_cents,
           case when placed then 'captured' when story = 'failed' then 'failed' else 'authorized' end,
           case when story = 'failed' then 'card_declined' end, case when placed then at end,
           case when shipped or story = 'processing' then at end,
           case when story = 'cancelled' then at end,
           case when story = 'cancelled' then 'merchant' end,
           case when story = 'held' then 'fraud_review' end, case when story = 'held' then at end,
           case when story = 'held' then 'system' end, at, at, initcap(scale.word(customer_ref)),
           story in ('placed', 'processing', 'refunded in part')
      from scale.orders`,
  ],
  [
    'order lines',
    `
    insert into order_items (tenant_ref, id, order_id, product_id, variant_id, product_name, sku,
                             quantity, original_quantity, unit_price_cents, list_price_cents,
                             line_total_cents, discount_cents, shipped_quantity, delivered_quantity,
                             position, ordered_at)
    select l.tenant_ref, l.id, l.order_id, l.product_id, l.variant_id, p.name, 'SKU-' || l.product,
           l.units, l.units, l.cents / l.units, l.cents / l.units, l.cents, l.off,
           case when l.shipped then l.units else 0 end,
           case when l.story = 'delivered' then l.units else 0 end, l.position, l.at
      from scale.lines l
      join products p on p.tenant_ref = l.tenant_ref and p.id = l.product_id;
    insert into order_counters (tenant_ref, last_number)
    select tenant_ref, 1000 + orders from scale.plan`,
  ],
  [
    'timeline and notes',
    `
    insert into order_timeline (tenant_ref, id, order_id, type, actor, at, data)
    select tenant_ref, row_number() over (order by at, tenant_ref, n, step), id, type, actor, at, data
      from (select tenant_ref, n, 1 as step, id, 'created' as type, 'shopper' as actor, at,
                   jsonb_build_object('currency', 'USD', 'total_cents', total_cents) as data
              from scale.orders
             union all
            select tenant_ref, n, 2, id,
                   case story when 'failed' then 'payment_failed' when 'held' then 'held'
                              when 'cancelled' then 'cancelled' else 'placed' end,
                   'system', at,
                   case when placed then jsonb_build_object('captured_cents', total_cents)
                        else '{}' end
              from scale.orders
             union all
            select tenant_ref, n, 3, id, case when shipped then story else 'refunded' end,
                   'merchant_key:scale', at, '{}'
              from scale.orders where shipped or refunded_cents > 0) as history;
    select setval('order_timeline_id_seq', coalesce(max(id), 1)) from order_timeline;
    insert into order_notes (tenant_ref, id, order_id, note, actor, created_at)
    select tenant_ref, scale.id('note', tenant_ref, n), id, 'Leave it at the door.',
           'merchant_key:scale', at
      from scale.orders where n % 10 = 0`,
  ],
  [
    'coupons',
    `
    insert into coupons (tenant_ref, id, code, type, percent_bps, used_count)
    select tenant_ref, scale.id('coupon', tenant_ref, 1), 'WELCOME10', 'percent', 1000,
           (select count(*) from scale.orders o where o.tenant_ref = p.tenant_ref and has_coupon)
      from scale.plan p;
    insert into coupon_codes (tenant_ref, id, coupon_id, code, folded, single_use)
    select tenant_ref, scale.id('code', tenant_ref, 0), scale.id('coupon', tenant_ref, 1), 'WELCOME10',
           'welcome10', false
      from scale.plan
     union all
    select tenant_ref, scale.id('code', tenant_ref, n), scale.id('coupon', tenant_ref, 1), 'ONCE-' || n,
           'once-' || n, true
      from scale.plan p, generate_series(1, 10 + p.orders / 10) as n;
    insert into coupon_redemptions (tenant_ref, order_id, coupon_id, code_id, customer_ref, state,
                                    created_at, updated_at)
    select tenant_ref, id, scale.id('coupon', tenant_ref, 1), null, customer_ref, 'confirmed', at, at
      from scale.orders where has_coupon`,
  ],
  [
    'stored answers',
    `
    insert into idempotency_keys (tenant_ref, operation, key, fingerprint, state, recovery_point,
                                  resource_id, response_status, response_body, created_at, answered_at)
    select tenant_ref, 'checkout', scale.id('key', tenant_ref, n)::text, sha256(id::text::bytea),
           'answered', 'reserved', id, 201, '{}', at, at
      from scale.orders where at > now() - interval '${KEY_DAYS} days' or n = 1`,
  ],
]
