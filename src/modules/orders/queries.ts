import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { jsonTime, sql } from '../../db/sql.ts'
import { Timestamp } from '../../kernel/schema.ts'
import {
  ChargeRow,
  type FactChange,
  type NewCharge,
  type NewEntry,
  OrderItem,
  OrderRow,
  type UnitChange,
  type UnitCounter,
} from './schema.ts'
import type { Derived } from './status-schema.ts'

/** The columns of an order that its merchant sees. Its shopper sees a part of them. */
export const orderColumns = sql`
  o.id, o.tenant_ref, o.order_number, o.customer_ref, o.person_id, o.status, o.payment_status,
  o.fulfillment_status, o.coupon_code, o.subtotal_cents, o.gift_card_cents, o.discount_cents,
  o.shipping_cents, o.tax_cents, o.total_cents, o.prices_include_tax,
  case when o.pricing #>> '{tax,provider}' = 'flat_rate'
       then (o.pricing #>> '{tax,rate_bps}')::int end as tax_rate_bps, o.currency, o.idempotency_key, o.ship_to,
  coalesce((o.pricing ->> 'expedited')::boolean, false) as expedited, o.placed_at, o.cancelled_at,
  o.created_at, o.updated_at, o.is_test, o.email, o.source, o.captured_cents,
  o.refunded_cents,
  case when o.hold_at is null then null
       else jsonb_build_object(
              'reason', o.hold_reason, 'by', o.hold_by, 'placed_at',
              ${jsonTime(sql`o.hold_at`)}) end as hold`

const rowColumns = sql`
  ${orderColumns}, o.ip, o.customer_name, o.referral_code, o.pricing, o.risk, o.subscription_id,
  o.subscription_cycle, o.payment, o.payment_failure, o.processing_at,
  o.disputed_at is not null as disputed, o.operation_id is not null as busy, o.operation,
  q.q_ordered, q.q_gift_cards, q.q_cancelled, q.q_packed, q.q_shipped, q.q_delivered, q.q_returning, q.q_returned,
  q.q_refunded`

const quantities = sql`
  lateral (select coalesce(sum(i.original_quantity) filter (where not i.gift_card), 0)::int
                    as q_ordered,
                  coalesce(sum(i.quantity) filter (where i.gift_card), 0)::int as q_gift_cards,
                  coalesce(sum(i.original_quantity - i.quantity + i.restocked_quantity)
                             filter (where not i.gift_card), 0)::int as q_cancelled,
                  coalesce(sum(i.packed_quantity), 0)::int as q_packed,
                  coalesce(sum(i.shipped_quantity), 0)::int as q_shipped,
                  coalesce(sum(i.delivered_quantity), 0)::int as q_delivered,
                  coalesce(sum(i.returning_quantity), 0)::int as q_returning,
                  coalesce(sum(i.returned_quantity), 0)::int as q_returned,
                  coalesce(sum(i.refunded_quantity), 0)::int as q_refunded
             from order_items i
            where i.tenant_ref = o.tenant_ref and i.order_id = o.id) as q`

export const chargesInserted = (tx: Tx, orderId: string, charges: readonly NewCharge[]) => sql`
    insert into charges (tenant_ref, charge_id, order_id, tender, status, amount_cents, currency,
                         gateway, card_brand, card_last4, card_fingerprint, gift_card_id,
                         gift_card_last4, moved_from)
    select ${tx.tenant}, c.charge_id, ${orderId}, c.tender, 'pending', c.amount_cents, c.currency,
           c.gateway, c.card_brand, c.card_last4, c.card_fingerprint, c.gift_card_id,
           c.gift_card_last4, c.moved_from
      from jsonb_to_recordset(${JSON.stringify(charges)})
           as c (charge_id uuid, tender text, amount_cents bigint, currency text, gateway text,
                 card_brand text, card_last4 text, card_fingerprint text, gift_card_id uuid,
                 gift_card_last4 text, moved_from uuid)`

export const insertCharges = (tx: Tx, orderId: string, charges: readonly NewCharge[]) =>
  tx.run(chargesInserted(tx, orderId, charges))

/** Marks a charge as captured: by the gateway, or from a balance. */
export const captureCharge = (
  tx: Tx,
  chargeId: string,
  captured: { captured_cents: number; txn_id?: string | null; vault_id?: string | null },
) =>
  tx.run(sql`
    update charges
       set status = 'captured', captured_cents = ${captured.captured_cents}, authorized_until = null,
           txn_id = coalesce(${captured.txn_id ?? null}, txn_id),
           vault_id = coalesce(${captured.vault_id ?? null}, vault_id)
     where tenant_ref = ${tx.tenant} and charge_id = ${chargeId}`)

/** Counts the orders that a customer has placed. Cancelled orders do not count. */
export const countPlaced = (db: Db, customerRef: string) =>
  db.one(
    Type.Object({ placed: Type.Integer() }),
    sql`
    select count(*)::int as placed
      from orders
     where tenant_ref = ${db.tenant} and customer_ref = ${customerRef} and placed_at is not null
       and cancelled_at is null`,
  )

export const findOrder = (db: Db, id: string) =>
  db.maybe(
    OrderRow,
    sql`
    select ${rowColumns}
      from orders o, ${quantities}
     where o.tenant_ref = ${db.tenant} and o.id = ${id}`,
  )

export const listByIds = (db: Db, ids: readonly string[]) =>
  db.many(
    OrderRow,
    sql`
    select ${rowColumns}
      from orders o, ${quantities}
     where o.tenant_ref = ${db.tenant} and o.id = any (${ids}::uuid[])`,
  )

/** Locks the order until the transaction ends, so that no other transaction changes it. */
export const lockOrder = (tx: Tx, id: string) =>
  tx.run(sql`select from orders where tenant_ref = ${tx.tenant} and id = ${id} for update`)

/** Locks several orders, always in the same sequence, so that two such transactions do not deadlock. */
export const lockOrders = (tx: Tx, ids: readonly string[]) =>
  tx.run(sql`
    select from orders
     where tenant_ref = ${tx.tenant} and id = any (${ids}::uuid[])
     order by id
       for update`)

/** Lists the lines of these orders, in their places within each order. */
export const listItems = (db: Db, orderIds: readonly string[]) =>
  db.many(
    OrderItem,
    sql`
    select id, order_id, product_id, variant_id, product_name, sku, quantity, unit_price_cents,
           line_total_cents, label, discount_cents, tax_cents, shipping_cents, is_subscription,
           gift_card, refunded_quantity, packed_quantity, shipped_quantity, delivered_quantity,
           returning_quantity, returned_quantity, restocked_quantity
      from order_items
     where tenant_ref = ${db.tenant} and order_id = any (${orderIds}::uuid[])
     order by order_id, position`,
  )

export const listCharges = (db: Db, orderId: string) =>
  db.many(
    ChargeRow,
    sql`
    select charge_id, order_id, tender, amount_cents, captured_cents, refunded_cents, currency,
           status, gift_card_last4, gateway, txn_id, vault_id, gift_card_id, card_fingerprint, moved_from,
           case when tender = 'card'
                then jsonb_build_object('brand', card_brand, 'last4', card_last4) end as card
      from charges
     where tenant_ref = ${db.tenant} and order_id = ${orderId}
     order by created_at, tender = 'card', tender = 'gift_card', charge_id`,
  )

export interface WrittenFacts {
  facts: FactChange
  derived: Derived
  at: string
}

/** The assignments that write facts and the derived status to an order's row. */
export function factColumns({ facts, derived, at }: WrittenFacts) {
  const has = (name: keyof FactChange) => Object.hasOwn(facts, name)
  return sql`
           payment = coalesce(${facts.payment ?? null}, payment),
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
           fulfillment_status = ${derived.fulfillment_status}, has_work = ${derived.has_work},
           updated_at = ${at}`
}

export const writeFacts = (tx: Tx, id: string, written: WrittenFacts) =>
  tx.run(sql`
    update orders
       set ${factColumns(written)}
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** Changes the counters of lines. Their orders must be locked. */
export const changeUnits = (tx: Tx, changes: readonly UnitChange[]) => {
  const column = (name: UnitCounter) => changes.map((change) => change[name] ?? 0)
  return tx.run(sql`
    update order_items i
       set packed_quantity = i.packed_quantity + c.packed,
           shipped_quantity = i.shipped_quantity + c.shipped,
           delivered_quantity = i.delivered_quantity + c.delivered,
           returning_quantity = i.returning_quantity + c.coming,
           returned_quantity = i.returned_quantity + c.came,
           restocked_quantity = i.restocked_quantity + c.restocked
      from unnest(${changes.map(({ order_item_id }) => order_item_id)}::uuid[],
                  ${column('packed')}::int[], ${column('shipped')}::int[],
                  ${column('delivered')}::int[], ${column('returning')}::int[],
                  ${column('returned')}::int[], ${column('restocked')}::int[])
             as c (id, packed, shipped, delivered, coming, came, restocked)
     where i.tenant_ref = ${tx.tenant} and i.id = c.id`)
}

/** Writes the derived status of locked orders. Their other facts do not change. */
export const writeStatuses = (tx: Tx, changed: readonly (Derived & { id: string })[], at: string) =>
  tx.run(sql`
    update orders o
       set status = d.status, payment_status = d.payment_status,
           fulfillment_status = d.fulfillment_status, has_work = d.has_work, updated_at = ${at}
      from jsonb_to_recordset(${JSON.stringify(changed)})
           as d (id uuid, status text, payment_status text, fulfillment_status text,
                 has_work boolean)
     where o.tenant_ref = ${tx.tenant} and o.id = d.id`)

export const insertTimeline = (tx: Tx, entries: readonly (NewEntry & { order_id: string })[]) =>
  tx.run(sql`
    insert into order_timeline (tenant_ref, order_id, type, actor, data)
    select ${tx.tenant}, e.order_id, e.type, e.actor, coalesce(e.data, '{}')
      from jsonb_to_recordset(${JSON.stringify(entries)})
           as e (order_id uuid, type text, actor text, data jsonb)`)

/**
 * Finds the timeline entry of an earlier dispute of this payment, or of one that an
 * operator recorded for the order.
 */
export const findDisputed = (tx: Tx, orderId: string, attemptId: string) =>
  tx.maybe(
    Type.Object({ at: Timestamp }),
    sql`
    select at
      from order_timeline
     where tenant_ref = ${tx.tenant} and order_id = ${orderId} and type = 'disputed'
       and coalesce(data ->> 'attempt_id', ${attemptId}) = ${attemptId}
     limit 1`,
  )

/** Ends the charges of an order that were never captured. */
export const endCharges = (tx: Tx, orderId: string, status: 'failed' | 'voided') =>
  tx.run(sql`
    update charges set status = ${status}, authorized_until = null
     where tenant_ref = ${tx.tenant} and order_id = ${orderId} and status in ('pending', 'authorized')`)

/** Whether the store has an order of any kind. */
export const hasOrders = async (db: Db): Promise<boolean> => {
  const { has_orders } = await db.one(
    Type.Object({ has_orders: Type.Boolean() }),
    sql`select exists (select from orders where tenant_ref = ${db.tenant}) as has_orders`,
  )
  return has_orders
}
