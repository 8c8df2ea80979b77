import type { Step } from './plan.ts'

const ORDER = `json_build_object(
  'id', o.id, 'tenant_ref', o.tenant_ref, 'order_number', o.order_number,
  'customer_ref', o.customer_ref, 'person_id', null, 'status', o.status,
  'payment_status', o.payment_status, 'fulfillment_status', o.fulfillment_status, 'hold', null,
  'coupon_code', o.coupon_code, 'subtotal_cents', o.subtotal_cents,
  'discount_cents', o.discount_cents, 'shipping_cents', 0, 'tax_cents', 0,
  'total_cents', o.total_cents, 'currency', o.currency, 'idempotency_key', o.idempotency_key,
  'ship_to', null, 'placed_at', scale.time(o.placed_at), 'cancelled_at', null,
  'created_at', scale.time(o.created_at), 'updated_at', scale.time(o.updated_at),
  'is_test', o.is_test, 'email', o.email, 'source', o.source, 'captured_cents', o.captured_cents,
  'refunded_cents', o.refunded_cents)`

const ITEMS = `(
  select json_agg(json_build_object(
           'id', i.id, 'order_id', i.order_id, 'product_id', i.product_id, 'variant_id', i.variant_id,
           'product_name', i.product_name, 'sku', i.sku, 'quantity', i.quantity,
           'unit_price_cents', i.unit_price_cents, 'line_total_cents', i.line_total_cents,
           'label', i.label, 'discount_cents', i.discount_cents, 'tax_cents', 0, 'shipping_cents', 0,
           'is_subscription', false, 'refunded_quantity', 0, 'shipped_quantity', i.shipped_quantity)
           order by i.position)
    from order_items i where i.tenant_ref = o.tenant_ref and i.order_id = o.id)`

const DATA = `json_build_object(
  'order', ${ORDER}, 'items', ${ITEMS},
  'tenders', json_build_array(json_build_object('tender', 'card', 'amount_cents', o.total_cents)),
  'subscriptions', '[]'::json, 'affiliate', null, 'sequence', e.sequence)`

/**
 * One endpoint for each store, and an event for each placed order. Of a hundred deliveries 97 have arrived,
 * two are dead letters, and one is tried again tomorrow.
 */
export const WEBHOOK_STEPS: readonly Step[] = [
  [
    'events',
    `
    insert into webhook_subscriptions (tenant_ref, id, url, events, secret_sealed)
    select tenant_ref, scale.id('endpoint', tenant_ref, 1), 'https://hooks.example/' || tenant_ref,
           '{commerce.order.placed.v1}', sha256(tenant_ref::bytea)
      from scale.plan;
    create unlogged table scale.events as
    select tenant_ref, n, id as order_id, at, scale.id('event', tenant_ref, n) as id,
           row_number() over (partition by tenant_ref order by n) as sequence,
           scale.id('delivery', tenant_ref, n) as delivery_id,
           case when n % 100 in (20, 60) then 'dead_lettered' when n % 100 = 40 then 'pending'
                else 'delivered' end as status
      from scale.orders where placed;
    analyze scale.events, orders, order_items;
    insert into webhook_events (tenant_ref, id, type, payload, sequence, order_id, customer_ref,
                                emitted_at, created_at)
    select e.tenant_ref, e.id, 'commerce.order.placed.v1',
           convert_to(json_build_object('id', e.id, 'type', 'commerce.order.placed.v1', 'tenant_ref',
                                        e.tenant_ref, 'created_at', scale.time(e.at), 'data',
                                        ${DATA})::text, 'UTF8'),
           e.sequence, o.id, o.customer_ref, e.at, e.at
      from scale.events e
      join orders o on o.tenant_ref = e.tenant_ref and o.id = e.order_id;
    insert into webhook_feeds (tenant_ref, sealed_to)
    select tenant_ref, max(sequence) from scale.events group by tenant_ref`,
  ],
  [
    'deliveries',
    `
    insert into webhook_deliveries (tenant_ref, id, subscription_id, event_id, event_type, endpoint_url,
                                    status, attempt_count, next_retry_at, last_status_code,
                                    last_attempt_error, created_at, delivered_at, dead_lettered_at)
    select tenant_ref, delivery_id, scale.id('endpoint', tenant_ref, 1), id,
           'commerce.order.placed.v1', 'https://hooks.example/' || tenant_ref, status,
           case status when 'delivered' then 1 when 'pending' then 2 else 6 end,
           case when status = 'pending' then now() + interval '1 day' end,
           case when status = 'delivered' then 200 else 500 end,
           case when status <> 'delivered' then 'status 500' end, at,
           case when status = 'delivered' then at end,
           case when status = 'dead_lettered' then at end
      from scale.events;
    insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code, latency_ms, error)
    select tenant_ref, delivery_id, attempt, at, case when status = 'delivered' then 200 else 500 end, 40,
           case when status <> 'delivered' then 'status 500' end
      from scale.events,
           generate_series(1, case status when 'delivered' then 1 when 'pending' then 2 else 6 end)
             as attempt;
    insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at,
                               attempt_count, ladder_from, created_at)
    select tenant_ref, delivery_id, scale.id('endpoint', tenant_ref, 1), id, now() + interval '1 day', 2,
           0, at
      from scale.events where status = 'pending'`,
  ],
]
