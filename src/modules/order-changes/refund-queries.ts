import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Cents, Id } from '../../kernel/schema.ts'
import type { Parts } from './schema.ts'

/** How a refund is paid. `exchange`: the money moves to the order of an exchange, or back; no gateway is asked. */
export type RefundMethod = 'original' | 'store_credit' | 'exchange'

export interface NewRefund extends Parts {
  refund_id: string
  order_id: string
  kind: 'refund' | 'adjustment'
  method: RefundMethod
  amount_cents: number
  currency: string
  reason: string | null
  actor: string
}

export const insertRefund = (tx: Tx, r: NewRefund) =>
  tx.run(sql`
    insert into refunds (tenant_ref, refund_id, order_id, kind, status, method, amount_cents,
                         product_cents, tax_cents, shipping_cents, gift_card_cents, currency, reason,
                         actor)
    values (${tx.tenant}, ${r.refund_id}, ${r.order_id}, ${r.kind}, 'pending', ${r.method},
            ${r.amount_cents}, ${r.product_cents}, ${r.tax_cents}, ${r.shipping_cents},
            ${r.gift_card_cents}, ${r.currency}, ${r.reason}, ${r.actor})`)

export interface NewTender {
  charge_id: string
  tender: string
  amount_cents: number
  attempt_id: string | null
}

export const insertTenders = (tx: Tx, refundId: string, tenders: readonly NewTender[]) =>
  tx.run(sql`
    insert into refund_tenders (tenant_ref, refund_id, charge_id, tender, amount_cents, status,
                                attempt_id)
    select ${tx.tenant}, ${refundId}, t.charge_id, t.tender, t.amount_cents, 'pending', t.attempt_id
      from jsonb_to_recordset(${JSON.stringify(tenders)})
           as t (charge_id uuid, tender text, amount_cents bigint, attempt_id uuid)`)

export interface NewRefundItem {
  order_item_id: string
  quantity: number
  amount_cents: number
  /** How many of the units have not shipped and go back to stock. */
  restocked_quantity: number
}

export const insertRefundItems = (tx: Tx, refundId: string, items: readonly NewRefundItem[]) =>
  tx.run(sql`
    insert into refund_items (tenant_ref, refund_id, order_item_id, quantity, amount_cents,
                              restocked_quantity)
    select ${tx.tenant}, ${refundId}, i.order_item_id, i.quantity, i.amount_cents,
           i.restocked_quantity
      from jsonb_to_recordset(${JSON.stringify(items)})
           as i (order_item_id uuid, quantity int, amount_cents bigint, restocked_quantity int)`)

/** The refund that an attempt belongs to. */
export const findOfAttempt = (db: Db, order_id: string, attempt_id: string) =>
  db.maybe(
    Type.Object({ refund_id: Id }),
    sql`
    select refund_id
      from refunds r
      join refund_tenders t using (tenant_ref, refund_id)
     where tenant_ref = ${db.tenant} and r.order_id = ${order_id} and t.attempt_id = ${attempt_id}
     limit 1`,
  )

/**
 * Adds up the amounts that tenders have got of these failed refunds: by refunds that succeeded in part, and by late
 * refunds, which have the attempts of the failed ones.
 */
export const sumPaidOfFailed = (db: Db, refund_ids: readonly string[]) =>
  db.one(
    Type.Object({ amount_cents: Type.Integer() }),
    sql`
    select coalesce(sum(t.amount_cents), 0)::bigint as amount_cents
      from refunds f
      join refunds r on r.tenant_ref = f.tenant_ref and r.order_id = f.order_id
      join refund_tenders t on t.tenant_ref = r.tenant_ref and t.refund_id = r.refund_id
     where f.tenant_ref = ${db.tenant} and f.refund_id = any (${refund_ids}::uuid[])
       and t.status = 'succeeded'
       and (r.refund_id = f.refund_id
            or t.attempt_id in (select o.attempt_id
                                  from refund_tenders o
                                 where o.tenant_ref = f.tenant_ref and o.refund_id = f.refund_id))`,
  )

/** Reserves a part of a charge for a refund. Returns 0 if the charge has less left. */
export const reserveFromCharge = (tx: Tx, chargeId: string, cents: number) =>
  tx.run(sql`
    update charges
       set refunded_cents = refunded_cents + ${cents}
     where tenant_ref = ${tx.tenant} and charge_id = ${chargeId}
       and status = 'captured' and refunded_cents + ${cents} <= captured_cents`)

/** The refund in which a gateway returned all of a charge, if there is one. */
export const findWholeRefund = (tx: Tx, chargeId: string) =>
  tx.maybe(
    Type.Object({ refund_id: Id }),
    sql`
    select t.refund_id
      from refund_tenders t
      join charges c using (tenant_ref, charge_id)
     where tenant_ref = ${tx.tenant} and charge_id = ${chargeId} and t.status = 'succeeded'
       and t.attempt_id is not null and t.amount_cents = c.captured_cents
     limit 1`,
  )

/** Releases a part of a charge that a refund had reserved: the refund has failed, or its money has moved back. */
export const releaseToCharge = (tx: Tx, chargeId: string, cents: number) =>
  tx.run(sql`
    update charges
       set refunded_cents = refunded_cents - ${cents}
     where tenant_ref = ${tx.tenant} and charge_id = ${chargeId} and refunded_cents >= ${cents}`)

/**
 * Counts units as refunded, or with -1 no longer as refunded. Returns how many lines it changed: fewer than the
 * items if a line has too few units left.
 */
export const countRefundedUnits = (
  tx: Tx,
  items: readonly Pick<NewRefundItem, 'order_item_id' | 'quantity'>[],
  sign: 1 | -1,
) =>
  tx.run(sql`
    update order_items o
       set refunded_quantity = o.refunded_quantity + ${sign}::int * i.quantity
      from jsonb_to_recordset(${JSON.stringify(items)}) as i (order_item_id uuid, quantity int)
     where o.tenant_ref = ${tx.tenant} and o.id = i.order_item_id
       and o.refunded_quantity + ${sign}::int * i.quantity between 0 and o.quantity`)

const RefundedUnits = Type.Object({
  order_item_id: Id,
  quantity: Type.Integer(),
  amount_cents: Cents,
})
export type RefundedUnits = Static<typeof RefundedUnits>

/** Reduces a refund that has moved money to another order. If all of it moves back, the refund has failed. */
export const lowerRefund = (tx: Tx, refundId: string, by: Parts & { amount_cents: number }) =>
  tx.run(sql`
    update refunds
       set status = case when amount_cents = ${by.amount_cents} then 'failed' else status end,
           amount_cents = ${lowered(sql`amount_cents`, by.amount_cents, by)},
           product_cents = ${lowered(sql`product_cents`, by.product_cents, by)},
           tax_cents = ${lowered(sql`tax_cents`, by.tax_cents, by)},
           shipping_cents = ${lowered(sql`shipping_cents`, by.shipping_cents, by)}
     where tenant_ref = ${tx.tenant} and refund_id = ${refundId} and method = 'exchange'
       and amount_cents >= ${by.amount_cents}`)

/** The reduced amount. A refund that has failed keeps its amount, to show how much it was for. */
const lowered = (column: Sql, cents: number, { amount_cents }: { amount_cents: number }) =>
  sql`case when amount_cents = ${amount_cents} then ${column} else ${column} - ${cents} end`

/** Reduces the share of one tender, like `lowerRefund`. */
export const lowerTender = (tx: Tx, refundId: string, chargeId: string, cents: number) =>
  tx.run(sql`
    update refund_tenders
       set status = case when amount_cents = ${cents} then 'failed' else status end,
           amount_cents = case when amount_cents = ${cents} then amount_cents
                               else amount_cents - ${cents} end
     where tenant_ref = ${tx.tenant} and refund_id = ${refundId} and charge_id = ${chargeId}
       and amount_cents >= ${cents}`)

/** Units of each line that are refunded or reserved for a refund, and their amount. */
export const listRefundedUnits = (db: Db, orderId: string) =>
  db.many(
    RefundedUnits,
    sql`
    select i.order_item_id, sum(i.quantity)::int as quantity,
           sum(i.amount_cents)::bigint as amount_cents
      from refund_items i
      join refunds r using (tenant_ref, refund_id)
     where tenant_ref = ${db.tenant} and r.order_id = ${orderId} and r.status <> 'failed'
     group by i.order_item_id`,
  )

const Reserved = Type.Object({
  product_cents: Type.Integer(),
  tax_cents: Type.Integer(),
  shipping_cents: Type.Integer(),
  gift_card_cents: Type.Integer(),
  /** The amounts that refunds of shipping alone have taken of it, and their tax. */
  shipping_alone_cents: Type.Integer(),
  shipping_alone_tax_cents: Type.Integer(),
  pending: Type.Integer(),
})

/** Refunds of shipping alone, whose tax is the contained one. A refund of one cent may be all tax. */
const shippingAlone = sql`
  kind = 'refund' and method <> 'exchange' and product_cents = 0 and gift_card_cents = 0
  and not exists (select from refund_items i
                   where i.tenant_ref = refunds.tenant_ref and i.refund_id = refunds.refund_id)`

/**
 * Adds up the parts of an order that refunds have taken or reserved, and counts the refunds that wait for a
 * gateway. A refund that waits until the order of an exchange is paid is not counted: that may take days.
 */
export const sumReserved = (db: Db, orderId: string) =>
  db.one(
    Reserved,
    sql`
    select coalesce(sum(product_cents) filter (where kind = 'refund'), 0)::bigint as product_cents,
           coalesce(sum(tax_cents) filter (where kind = 'refund'), 0)::bigint as tax_cents,
           coalesce(sum(shipping_cents) filter (where kind = 'refund'), 0)::bigint
             as shipping_cents,
           coalesce(sum(gift_card_cents) filter (where kind = 'refund'), 0)::bigint
             as gift_card_cents,
           coalesce(sum(shipping_cents) filter (where ${shippingAlone}), 0)::bigint
             as shipping_alone_cents,
           coalesce(sum(tax_cents) filter (where ${shippingAlone}), 0)::bigint
             as shipping_alone_tax_cents,
           count(*) filter (where status = 'pending' and method <> 'exchange')::int as pending
      from refunds
     where tenant_ref = ${db.tenant} and order_id = ${orderId} and status <> 'failed'`,
  )

export interface RefundEnd extends Parts {
  status: 'succeeded' | 'failed'
  kind: 'refund' | 'adjustment'
  amount_cents: number
}

export const endRefund = (tx: Tx, refundId: string, end: RefundEnd) =>
  tx.run(sql`
    update refunds
       set status = ${end.status}, kind = ${end.kind}, amount_cents = ${end.amount_cents},
           product_cents = ${end.product_cents}, tax_cents = ${end.tax_cents},
           shipping_cents = ${end.shipping_cents}, gift_card_cents = ${end.gift_card_cents},
           settled_at = fd_now()
     where tenant_ref = ${tx.tenant} and refund_id = ${refundId} and status = 'pending'`)

export const endTender = (
  tx: Tx,
  refundId: string,
  { charge_id, tender, status }: { charge_id: string; tender: string; status: string },
) =>
  tx.run(sql`
    update refund_tenders
       set status = ${status}, tender = ${tender}
     where tenant_ref = ${tx.tenant} and refund_id = ${refundId} and charge_id = ${charge_id}`)
