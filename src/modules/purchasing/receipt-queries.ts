import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { LinePart, Receipt } from './schema.ts'

export interface AddedUnits {
  line_id: string
  added: number
  rejected: number
  reason: string | null
  arrived_after: number | null
}

/** Adds units to the totals of lines. */
export const addToLines = (tx: Tx, units: readonly AddedUnits[]) =>
  tx.run(sql`
    update purchase_order_lines l
       set received_quantity = l.received_quantity + n.added,
           rejected_quantity = l.rejected_quantity + n.rejected
      from unnest(${units.map((each) => each.line_id)}::uuid[],
                  ${units.map((each) => each.added)}::bigint[],
                  ${units.map((each) => each.rejected)}::bigint[]) as n (line_id, added, rejected)
     where l.tenant_ref = ${tx.tenant} and l.id = n.line_id`)

export const lastReceipt = (tx: Tx, order_id: string) =>
  tx.one(
    Type.Object({ number: Type.Integer() }),
    sql`
    select coalesce(max(number), 0) as number from purchase_receipts
     where tenant_ref = ${tx.tenant} and purchase_order_id = ${order_id}`,
  )

export interface NewReceipt {
  id: string
  purchase_order_id: string
  number: number
  created_by: string
}

export const insertReceipt = (tx: Tx, receipt: NewReceipt, units: readonly AddedUnits[]) =>
  tx.run(sql`
    with receipt as (
      insert into purchase_receipts (tenant_ref, id, purchase_order_id, number, created_by)
      values (${tx.tenant}, ${receipt.id}, ${receipt.purchase_order_id}, ${receipt.number},
              ${receipt.created_by})
    )
    insert into purchase_receipt_lines (tenant_ref, receipt_id, line_id, added, rejected, reason,
                                        arrived_after)
    select ${tx.tenant}, ${receipt.id}::uuid, n.*
      from jsonb_to_recordset(${JSON.stringify(units)})
           as n (line_id uuid, added bigint, rejected bigint, reason text, arrived_after bigint)`)

const columns = sql`
  r.id, r.number, r.created_at,
  (select json_agg(json_build_object('line_id', n.line_id, 'variant_id', l.variant_id,
                                     'added', n.added, 'rejected', n.rejected,
                                     'reason', n.reason) order by l.position)
     from purchase_receipt_lines n
     join purchase_order_lines l on l.tenant_ref = n.tenant_ref and l.id = n.line_id
    where n.tenant_ref = r.tenant_ref and n.receipt_id = r.id) as lines`

/** Lists the receipts of a purchase order, the first one first. */
export const listReceipts = (db: Db, order_id: string, page: Page) =>
  readList(
    db,
    {
      shape: Receipt,
      table: sql`purchase_receipts`,
      as: sql`r`,
      scope: sql`r.tenant_ref = ${db.tenant}`,
      filters: [sql`r.purchase_order_id = ${order_id}`],
      key: [{ name: sql`number`, type: 'integer' }],
      descending: false,
      columns,
    },
    page,
  )

export const getReceipt = (db: Db, id: string) =>
  db.one(
    Receipt,
    sql`select ${columns} from purchase_receipts r where r.tenant_ref = ${db.tenant} and r.id = ${id}`,
  )

/** Lists the units of the lines of an order, by the receipts in which they came. */
export const listParts = (db: Db, order_id: string) =>
  db.many(
    LinePart,
    sql`
    select n.line_id, n.added, n.arrived_after
      from purchase_order_lines l
      join purchase_receipt_lines n on n.tenant_ref = ${db.tenant} and n.line_id = l.id
     where l.tenant_ref = ${db.tenant} and l.purchase_order_id = ${order_id} and n.added > 0`,
  )

export const lastCost = (tx: Tx, order_id: string) =>
  tx.one(
    Type.Object({ number: Type.Integer() }),
    sql`
    select coalesce(max(number), 0) as number from purchase_costs
     where tenant_ref = ${tx.tenant} and purchase_order_id = ${order_id}`,
  )

export interface WrittenCost {
  id: string
  purchase_order_id: string
  number: number
  description: string
  amount_cents: number
  split_by: string
  created_by: string
}

export const insertCost = (
  tx: Tx,
  cost: WrittenCost,
  allocations: readonly { line_id: string }[],
) =>
  tx.run(sql`
    with cost as (
      insert into purchase_costs (tenant_ref, id, purchase_order_id, number, description,
                                  amount_cents, split_by, created_by)
      values (${tx.tenant}, ${cost.id}, ${cost.purchase_order_id}, ${cost.number},
              ${cost.description}, ${cost.amount_cents}, ${cost.split_by}, ${cost.created_by})
    )
    insert into purchase_cost_allocations (tenant_ref, cost_id, line_id, amount_cents,
                                           on_hand_units, on_hand_cents, sold_units, sold_cents)
    select ${tx.tenant}, ${cost.id}::uuid, a.*
      from jsonb_to_recordset(${JSON.stringify(allocations)})
           as a (line_id uuid, amount_cents bigint, on_hand_units bigint, on_hand_cents bigint,
                 sold_units bigint, sold_cents bigint)`)
