import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { ChargeRow, OrderItem, OrderRow, type ShipTo, type Tender } from './schema.ts'
import type { Derived } from './status.ts'

/** What the merchant sees of an order. The shopper sees less of the same. */
export const orderColumns = sql`
  o.id, o.tenant_ref, o.order_number, o.customer_ref, o.person_id, o.status, o.payment_status,
  o.fulfillment_status, o.coupon_code, o.subtotal_cents, o.discount_cents, o.shipping_cents,
  o.tax_cents, o.total_cents, o.currency, o.idempotency_key, o.ship_to, o.placed_at,
  o.cancelled_at, o.created_at, o.updated_at, o.is_test, o.email, o.source, o.captured_cents,
  o.refunded_cents,
  case when o.hold_at is null then null
       else jsonb_build_object('reason', o.hold_reason, 'placed_at', to_jsonb(o.hold_at),
                               'by', o.hold_by) end as hold`

const rowColumns = sql`
  ${orderColumns}, o.ip, o.referral_code, o.pricing, o.risk, o.payment, o.payment_failure, o.processing_at,
  o.disputed_at is not null as disputed, o.operation_lease_until > now() as busy, o.operation,
  q.q_ordered, q.q_cancelled, q.q_shipped, q.q_delivered`

const quantities = sql`
  lateral (select coalesce(sum(i.original_quantity), 0)::int as q_ordered,
                  coalesce(sum(i.original_quantity - i.quantity), 0)::int as q_cancelled,
                  coalesce(sum(i.shipped_quantity), 0)::int as q_shipped,
                  coalesce(sum(i.delivered_quantity), 0)::int as q_delivered
             from order_items i
            where i.tenant_ref = o.tenant_ref and i.order_id = o.id) as q`

export interface NewOrder {
  id: string
  order_number: number
  customer_ref: string
  person_id: string | null
  coupon_code: string | null
  subtotal_cents: number
  discount_cents: number
  shipping_cents: number
  tax_cents: number
  total_cents: number
  currency: string
  idempotency_key: string
  ship_to: ShipTo | null
  email: string | null
  ip: string | null
  referral_code: string | null
  source: 'checkout' | 'subscription_renewal' | 'operator'
  /** What an edit needs to price it again. */
  pricing: Record<string, unknown>
  /** What was known against it before it was paid for. */
  risk?: Record<string, unknown>
}

/** Gives the store's next order number, in a commit of its own: nobody waits for an order's end. */
export const takeNumber = (db: Db) =>
  db.one(
    Type.Object({ last_number: Type.Integer() }),
    sql`
    insert into order_counters as c (tenant_ref, last_number)
    values (${db.tenant}, 1001)
        on conflict (tenant_ref) do update set last_number = c.last_number + 1
    returning last_number`,
  )

/** A new order waits for its payment. */
export const insertOrder = (tx: Tx, order: NewOrder) =>
  tx.run(sql`
    insert into orders (tenant_ref, id, order_number, customer_ref, person_id, status,
                        payment_status, fulfillment_status, coupon_code, subtotal_cents,
                        discount_cents, shipping_cents, tax_cents, total_cents, currency,
                        idempotency_key, ship_to, email, ip, referral_code, source, pricing, risk)
    values (${tx.tenant}, ${order.id}, ${order.order_number}, ${order.customer_ref},
            ${order.person_id}, 'pending_payment', 'pending', 'unfulfilled', ${order.coupon_code},
            ${order.subtotal_cents}, ${order.discount_cents}, ${order.shipping_cents},
            ${order.tax_cents}, ${order.total_cents}, ${order.currency}, ${order.idempotency_key},
            ${order.ship_to === null ? null : JSON.stringify({ line2: null, ...order.ship_to })},
            ${order.email}, ${order.ip}, ${order.referral_code}, ${order.source},
            ${JSON.stringify(order.pricing)}, ${JSON.stringify(order.risk ?? {})})`)

export interface NewItem {
  id: string
  product_id: string
  variant_id: string
  product_name: string
  sku: string
  label: string | null
  quantity: number
  unit_price_cents: number
  list_price_cents: number
  line_total_cents: number
  discount_cents: number
  tax_cents: number
  shipping_cents: number
  is_subscription: boolean
}

export const insertItems = (tx: Tx, orderId: string, items: readonly NewItem[]) =>
  tx.run(sql`
    insert into order_items (tenant_ref, id, order_id, product_id, variant_id, product_name, sku,
                             label, quantity, original_quantity, unit_price_cents,
                             list_price_cents, line_total_cents, discount_cents, tax_cents,
                             shipping_cents, is_subscription, position)
    select ${tx.tenant}, i.id, ${orderId}, i.product_id, i.variant_id, i.product_name, i.sku,
           i.label, i.quantity, i.quantity, i.unit_price_cents, i.list_price_cents,
           i.line_total_cents, i.discount_cents, i.tax_cents, i.shipping_cents,
           i.is_subscription, i.position
      from jsonb_to_recordset(${JSON.stringify(items.map((item, position) => ({ ...item, position })))})
           as i (id uuid, product_id uuid, variant_id uuid, product_name text, sku text, label text,
                 quantity int, unit_price_cents bigint, list_price_cents bigint,
                 line_total_cents bigint, discount_cents bigint, tax_cents bigint,
                 shipping_cents bigint, is_subscription boolean, position int)`)

export interface NewCharge {
  charge_id: string
  tender: Tender
  amount_cents: number
  currency: string
  gateway?: string | null
  card_brand?: string | null
  card_last4?: string | null
  card_fingerprint?: string | null
  gift_card_id?: string | null
  gift_card_last4?: string | null
}

export const insertCharges = (tx: Tx, orderId: string, charges: readonly NewCharge[]) =>
  tx.run(sql`
    insert into charges (tenant_ref, charge_id, order_id, tender, status, amount_cents, currency,
                         gateway, card_brand, card_last4, card_fingerprint, gift_card_id,
                         gift_card_last4)
    select ${tx.tenant}, c.charge_id, ${orderId}, c.tender, 'pending', c.amount_cents, c.currency,
           c.gateway, c.card_brand, c.card_last4, c.card_fingerprint, c.gift_card_id,
           c.gift_card_last4
      from jsonb_to_recordset(${JSON.stringify(charges)})
           as c (charge_id uuid, tender text, amount_cents bigint, currency text, gateway text,
                 card_brand text, card_last4 text, card_fingerprint text, gift_card_id uuid,
                 gift_card_last4 text)`)

/** The gateway has taken it, or the balance was drawn on. */
export const captureCharge = (
  tx: Tx,
  chargeId: string,
  given: { captured_cents: number; txn_id?: string | null; vault_id?: string | null },
) =>
  tx.run(sql`
    update charges
       set status = 'captured', captured_cents = ${given.captured_cents}, authorized_until = null,
           txn_id = coalesce(${given.txn_id ?? null}, txn_id),
           vault_id = coalesce(${given.vault_id ?? null}, vault_id)
     where tenant_ref = ${tx.tenant} and charge_id = ${chargeId}`)

export const setChargeStatus = (
  tx: Tx,
  chargeId: string,
  status: 'pending' | 'authorized' | 'voided' | 'failed',
) =>
  tx.run(sql`
    update charges set status = ${status}
     where tenant_ref = ${tx.tenant} and charge_id = ${chargeId}`)

/** How often a customer has bought here. */
export const countPlaced = (db: Db, customerRef: string) =>
  db.one(
    Type.Object({ total: Type.Integer() }),
    sql`
    select count(*)::int as total
      from orders
     where tenant_ref = ${db.tenant} and customer_ref = ${customerRef} and placed_at is not null`,
  )

export const findOrder = (db: Db, id: string) =>
  db.maybe(
    OrderRow,
    sql`
    select ${rowColumns}
      from orders o, ${quantities}
     where o.tenant_ref = ${db.tenant} and o.id = ${id}`,
  )

/** Keeps the order from being changed by anyone else until the transaction ends. */
export const lockOrder = (tx: Tx, id: string) =>
  tx.maybe(
    OrderRow,
    sql`
    select ${rowColumns}
      from orders o, ${quantities}
     where o.tenant_ref = ${tx.tenant} and o.id = ${id}
       for update of o`,
  )

export const listItems = (db: Db, orderId: string) =>
  db.many(
    OrderItem,
    sql`
    select id, order_id, product_id, variant_id, product_name, sku, quantity, unit_price_cents,
           line_total_cents, label, discount_cents, tax_cents, shipping_cents, is_subscription,
           refunded_quantity, shipped_quantity
      from order_items
     where tenant_ref = ${db.tenant} and order_id = ${orderId}
     order by position`,
  )

export const listCharges = (db: Db, orderId: string) =>
  db.many(
    ChargeRow,
    sql`
    select charge_id, order_id, tender, amount_cents, captured_cents, refunded_cents, currency,
           status, gift_card_last4, gateway, txn_id, vault_id, gift_card_id, card_fingerprint,
           case when tender = 'card'
                then jsonb_build_object('brand', card_brand, 'last4', card_last4) end as card
      from charges
     where tenant_ref = ${db.tenant} and order_id = ${orderId}
     order by created_at, tender = 'card', tender = 'gift_card', charge_id`,
  )

/** The facts that a step may change. What is left out stays. */
export interface FactChange {
  payment?: string
  payment_failure?: string | null
  captured_cents?: number
  refunded_cents?: number
  placed_at?: string | null
  processing_at?: string | null
  cancelled_at?: string | null
  cancel_reason?: string | null
  disputed_at?: string | null
  hold?: { reason: string; by: string; at: string } | null
}

export const writeFacts = (tx: Tx, id: string, facts: FactChange, derived: Derived, at: string) => {
  const has = (name: keyof FactChange) => Object.hasOwn(facts, name)
  return tx.run(sql`
    update orders
       set payment = coalesce(${facts.payment ?? null}, payment),
           payment_failure = case when ${has('payment_failure')}::boolean
                                  then ${facts.payment_failure ?? null}
                                  else payment_failure end,
           captured_cents = coalesce(${facts.captured_cents ?? null}, captured_cents),
           refunded_cents = coalesce(${facts.refunded_cents ?? null}, refunded_cents),
           placed_at = coalesce(${facts.placed_at ?? null}, placed_at),
           processing_at = case when ${has('processing_at')}::boolean
                                then ${facts.processing_at ?? null} else processing_at end,
           cancelled_at = coalesce(${facts.cancelled_at ?? null}, cancelled_at),
           cancel_reason = coalesce(${facts.cancel_reason ?? null}, cancel_reason),
           disputed_at = case when ${has('disputed_at')}::boolean
                              then ${facts.disputed_at ?? null} else disputed_at end,
           hold_reason = case when ${has('hold')}::boolean
                              then ${facts.hold?.reason ?? null} else hold_reason end,
           hold_at = case when ${has('hold')}::boolean
                          then ${facts.hold?.at ?? null} else hold_at end,
           hold_by = case when ${has('hold')}::boolean
                          then ${facts.hold?.by ?? null} else hold_by end,
           status = ${derived.status}, payment_status = ${derived.payment_status},
           fulfillment_status = ${derived.fulfillment_status}, updated_at = ${at}
     where tenant_ref = ${tx.tenant} and id = ${id}`)
}

export const insertTimeline = (
  tx: Tx,
  orderId: string,
  entry: { type: string; actor: string; data?: Record<string, unknown> },
) =>
  tx.run(sql`
    insert into order_timeline (tenant_ref, order_id, type, actor, data)
    values (${tx.tenant}, ${orderId}, ${entry.type}, ${entry.actor},
            ${JSON.stringify(entry.data ?? {})})`)

/** What the gateway and the tenders made of the charges of an order that was waiting. */
export const settleCharges = (
  tx: Tx,
  orderId: string,
  card: {
    status: 'captured' | 'authorized'
    txn_id: string | null
    vault_id: string | null
    card: { brand: string; last4: string } | null
  },
) =>
  tx.run(sql`
    update charges
       set status = case when tender = 'card' then ${card.status}
                         when ${card.status} = 'captured' then 'captured' else status end,
           captured_cents = case when ${card.status} = 'captured' then amount_cents else 0 end,
           txn_id = case when tender = 'card' then coalesce(${card.txn_id}, txn_id) end,
           vault_id = case when tender = 'card' then coalesce(${card.vault_id}, vault_id) end,
           card_brand = case when tender = 'card'
                             then coalesce(card_brand, ${card.card?.brand ?? null}) end,
           card_last4 = case when tender = 'card'
                             then coalesce(card_last4, ${card.card?.last4 ?? null}) end,
           authorized_until = case when tender = 'card' and ${card.status} = 'authorized'
                                   then now() + interval '7 days' end
     where tenant_ref = ${tx.tenant} and order_id = ${orderId} and status in ('pending', 'authorized')`)

/** Nothing was taken: the charges of an order that was waiting come to nothing. */
export const endCharges = (tx: Tx, orderId: string, status: 'failed' | 'voided') =>
  tx.run(sql`
    update charges set status = ${status}
     where tenant_ref = ${tx.tenant} and order_id = ${orderId} and status in ('pending', 'authorized')`)
