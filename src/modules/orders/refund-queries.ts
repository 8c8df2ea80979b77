import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { RefundRow } from './schema.ts'

const columns = sql`
  r.refund_id, r.order_id, r.kind, r.status, r.method, r.amount_cents, r.product_cents,
  r.tax_cents, r.shipping_cents, r.gift_card_cents, r.currency, r.reason, r.actor, r.created_at, r.settled_at,
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
                     'amount_cents', i.amount_cents,
                     'restocked_quantity', i.restocked_quantity)
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

/** Lists the refunds of an order, oldest first. */
export const listRefunds = (db: Db, orderId: string) =>
  db.many(
    RefundRow,
    sql`
    select ${columns}
      from refunds r
     where r.tenant_ref = ${db.tenant} and r.order_id = ${orderId}
     order by r.created_at, r.refund_id`,
  )
