import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Cents, Id } from '../../kernel/schema.ts'
import type { Parts } from './refund-plan.ts'
import { RefundRow } from './schema.ts'

export interface NewRefund extends Parts {
  refund_id: string
  order_id: string
  kind: 'refund' | 'adjustment'
  method: 'original' | 'store_credit'
  amount_cents: number
  currency: string
  reason: string | null
  actor: string
}

export const insertRefund = (tx: Tx, r: NewRefund) =>
  tx.run(sql`
    insert into refunds (tenant_ref, refund_id, order_id, kind, status, method, amount_cents,
                         product_cents, tax_cents, shipping_cents, currency, reason, actor)
    values (${tx.tenant}, ${r.refund_id}, ${r.order_id}, ${r.kind}, 'pending', ${r.method},
            ${r.amount_cents}, ${r.product_cents}, ${r.tax_cents}, ${r.shipping_cents},
            ${r.currency}, ${r.reason}, ${r.actor})`)

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
}

export const insertRefundItems = (tx: Tx, refundId: string, items: readonly NewRefundItem[]) =>
  tx.run(sql`
    insert into refund_items (tenant_ref, refund_id, order_item_id, quantity, amount_cents)
    select ${tx.tenant}, ${refundId}, i.order_item_id, i.quantity, i.amount_cents
      from jsonb_to_recordset(${JSON.stringify(items)})
           as i (order_item_id uuid, quantity int, amount_cents bigint)`)

/** Which refund a gateway was asked for by an attempt. */
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

/** Promises a part of a charge. No row: there is not so much left of it. */
export const takeFromCharge = (tx: Tx, chargeId: string, cents: number) =>
  tx.run(sql`
    update charges
       set refunded_cents = refunded_cents + ${cents}
     where tenant_ref = ${tx.tenant} and charge_id = ${chargeId}
       and status = 'captured' and refunded_cents + ${cents} <= captured_cents`)

/** The refund by which a gateway has given back all of a charge, if there is one. */
export const findWhole = (tx: Tx, chargeId: string) =>
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

/** The promise could not be kept. */
export const returnToCharge = (tx: Tx, chargeId: string, cents: number) =>
  tx.run(sql`
    update charges
       set refunded_cents = refunded_cents - ${cents}
     where tenant_ref = ${tx.tenant} and charge_id = ${chargeId} and refunded_cents >= ${cents}`)

/** Counts units as given back, or with -1 as not. As many rows as items, or there are not so many. */
export const countUnits = (
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

const GivenUnits = Type.Object({ order_item_id: Id, quantity: Type.Integer(), amount_cents: Cents })
export type GivenUnits = Static<typeof GivenUnits>

/** How many units of each line were given back or are about to be, and for how much. */
export const listGivenUnits = (db: Db, orderId: string) =>
  db.many(
    GivenUnits,
    sql`
    select i.order_item_id, sum(i.quantity)::int as quantity,
           sum(i.amount_cents)::bigint as amount_cents
      from refund_items i
      join refunds r using (tenant_ref, refund_id)
     where tenant_ref = ${db.tenant} and r.order_id = ${orderId} and r.status <> 'failed'
     group by i.order_item_id`,
  )

const columns = sql`
  r.refund_id, r.order_id, r.kind, r.status, r.method, r.amount_cents, r.product_cents,
  r.tax_cents, r.shipping_cents, r.currency, r.reason, r.actor, r.created_at, r.settled_at,
  coalesce((select jsonb_agg(jsonb_build_object(
                     'charge_id', t.charge_id, 'tender', t.tender, 'amount_cents', t.amount_cents,
                     'status', t.status, 'attempt_id', t.attempt_id)
                   order by c.tender = 'store_credit', c.tender = 'gift_card',
                            c.created_at desc, t.charge_id desc)
              from refund_tenders t
              join charges c using (tenant_ref, charge_id)
             where t.tenant_ref = r.tenant_ref and t.refund_id = r.refund_id), '[]') as tenders,
  coalesce((select jsonb_agg(jsonb_build_object(
                     'order_item_id', i.order_item_id, 'quantity', i.quantity,
                     'amount_cents', i.amount_cents)
                   order by i.order_item_id)
              from refund_items i
             where i.tenant_ref = r.tenant_ref and i.refund_id = r.refund_id), '[]') as items`

export const findRefund = (db: Db, refundId: string) =>
  db.maybe(
    RefundRow,
    sql`
    select ${columns}
      from refunds r
     where r.tenant_ref = ${db.tenant} and r.refund_id = ${refundId}`,
  )

/** Of one order, oldest first. */
export const listRefunds = (db: Db, orderId: string) =>
  db.many(
    RefundRow,
    sql`
    select ${columns}
      from refunds r
     where r.tenant_ref = ${db.tenant} and r.order_id = ${orderId}
     order by r.created_at, r.refund_id`,
  )

const Promised = Type.Object({
  product_cents: Type.Integer(),
  tax_cents: Type.Integer(),
  shipping_cents: Type.Integer(),
  pending: Type.Integer(),
})

/** What refunds have taken of an order or are about to, and how many are under way. */
export const sumPromised = (db: Db, orderId: string) =>
  db.one(
    Promised,
    sql`
    select coalesce(sum(product_cents) filter (where kind = 'refund'), 0)::bigint as product_cents,
           coalesce(sum(tax_cents) filter (where kind = 'refund'), 0)::bigint as tax_cents,
           coalesce(sum(shipping_cents) filter (where kind = 'refund'), 0)::bigint
             as shipping_cents,
           count(*) filter (where status = 'pending')::int as pending
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
           shipping_cents = ${end.shipping_cents}, settled_at = now()
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
