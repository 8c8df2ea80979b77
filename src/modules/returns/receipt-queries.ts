import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import { ReceiptRow } from './schema.ts'

export interface InsertedReceipt {
  id: string
  return_id: string
  status: 'pending' | 'settled'
  method: string
  location_id: string
  restocking_fee_cents: number
  refund_shipping_cents: number
  deducted_cents: number
  waived_cents: number
  refund_id: string | null
  shares: ReceiptRow['shares']
  movement_ids: readonly string[]
  created_by: string
  lines: { return_line_id: string; disposition: string; quantity: number; stock_quantity: number }[]
}

/** Writes a receipt under the next number of its return. The order is locked. */
export const insertReceipt = (tx: Tx, r: InsertedReceipt) =>
  tx.run(sql`
    with inserted as (
      insert into return_receipts (tenant_ref, id, return_id, number, status, method, location_id,
                                   restocking_fee_cents, refund_shipping_cents, deducted_cents,
                                   waived_cents, refund_id, shares, movement_ids, created_by, settled_at)
      select ${tx.tenant}, ${r.id}::uuid, ${r.return_id}::uuid,
             coalesce(max(number), 0) + 1, ${r.status}, ${r.method}, ${r.location_id},
             ${r.restocking_fee_cents}::bigint, ${r.refund_shipping_cents}::bigint,
             ${r.deducted_cents}::bigint, ${r.waived_cents}::bigint, ${r.refund_id}::uuid,
             ${JSON.stringify(r.shares)}::jsonb,
             ${r.movement_ids}::uuid[], ${r.created_by},
             case when ${r.status}::text = 'settled' then fd_now() end
        from return_receipts
       where tenant_ref = ${tx.tenant} and return_id = ${r.return_id}
    )
    insert into return_receipt_lines (tenant_ref, receipt_id, return_line_id, disposition, quantity,
                                      stock_quantity)
    select ${tx.tenant}, ${r.id}::uuid, l.*
      from jsonb_to_recordset(${JSON.stringify(r.lines)})
           as l (return_line_id uuid, disposition text, quantity int, stock_quantity int)`)

const columns = sql`id, return_id, status, refund_id, shares, movement_ids, created_by`

export const findReceipt = (db: Db, id: string) =>
  db.maybe(
    ReceiptRow,
    sql`select ${columns} from return_receipts where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const endReceipt = (tx: Tx, id: string, status: 'settled' | 'failed') =>
  tx.run(sql`
    update return_receipts
       set status = ${status}, settled_at = case when ${status}::text = 'settled' then fd_now() end
     where tenant_ref = ${tx.tenant} and id = ${id} and status = 'pending'`)

const Settlement = Type.Object({
  pending: Type.Integer(),
  /** The refunds that failed. */
  failed: Type.Array(Id),
  /** The amount that receipts have deducted because of them, and of exchanges. */
  deducted_cents: Type.Integer(),
  waived_cents: Type.Integer(),
})

/** Reads how far the money of a return's receipts is settled. */
export const readSettlement = (db: Db, return_id: string) =>
  db.one(
    Settlement,
    sql`
    select count(*) filter (where status = 'pending')::int as pending,
           coalesce(array_agg(refund_id) filter (where status = 'failed'), '{}') as failed,
           coalesce(sum(deducted_cents) filter (where status <> 'failed'), 0)::bigint
             as deducted_cents,
           coalesce(sum(waived_cents) filter (where status = 'settled'), 0)::bigint as waived_cents
      from return_receipts
     where tenant_ref = ${db.tenant} and return_id = ${return_id}`,
  )

/** Lists the receipts of returns: stored answers about a receipt have its id. */
export const listReceiptIds = (db: Db, return_ids: readonly string[]) =>
  db.many(
    Type.Object({ id: Id }),
    sql`
    select id
      from return_receipts
     where tenant_ref = ${db.tenant} and return_id = any (${return_ids}::uuid[])`,
  )
