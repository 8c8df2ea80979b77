import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { jsonTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import type { ReturnState } from '../orders/return-schema.ts'
import { type ReturnLineRow, ReturnRow, SettledUnits } from './schema.ts'

const columns = sql`
  r.id, r.order_id, r.return_number, r.status, r.requested_by, r.note, r.instructions, r.label_url,
  r.decline_reason, r.created_at, r.updated_at, r.approved_at, r.declined_at, r.received_at,
  r.closed_at, r.cancelled_at, l.lines,
  array(select refund_id from return_receipts
         where tenant_ref = r.tenant_ref and return_id = r.id and refund_id is not null
         order by number) as refund_ids,
  (select coalesce(json_agg(json_build_object(
            'id', x.id, 'order_id', x.order_id, 'status', x.status, 'advance', x.advance,
            'amount_cents', x.amount_cents, 'created_at', ${jsonTime(sql`x.created_at`)},
            'placed_at', ${jsonTime(sql`x.placed_at`)},
            'released_at', ${jsonTime(sql`x.released_at`)}) order by x.created_at, x.id), '[]')
     from return_exchanges x
    where x.tenant_ref = r.tenant_ref and x.return_id = r.id) as exchanges`

const lines = sql`
  cross join lateral (
        select json_agg(json_build_object(
                 'id', id, 'order_item_id', order_item_id, 'variant_id', variant_id, 'sku', sku,
                 'product_name', product_name, 'label', label, 'reason', reason,
                 'quantity', quantity, 'restocked_quantity', restocked_quantity,
                 'damaged_quantity', damaged_quantity,
                 'quarantined_quantity', quarantined_quantity,
                 'missing_quantity', missing_quantity,
                 'quarantine_location_id', quarantine_location_id,
                 'refunded_quantity', refunded_quantity,
                 'already_refunded_quantity', already_refunded_quantity,
                 'waived_quantity', waived_quantity, 'refund_cents', refund_cents)
                 order by position) as lines
          from return_lines
         where tenant_ref = r.tenant_ref and return_id = r.id) as l`

const listWhere = (db: Db, where: Sql) =>
  db.many(
    ReturnRow,
    sql`
    select ${columns}
      from returns r ${lines}
     where r.tenant_ref = ${db.tenant} and ${where}
     order by r.order_id, r.number`,
  )

/** Lists the returns of orders, by their numbers within each order. */
export const listOfOrders = (db: Db, order_ids: readonly string[]) =>
  listWhere(db, sql`r.order_id = any (${order_ids}::uuid[])`)

export const find = async (db: Db, id: string): Promise<ReturnRow | null> =>
  (await listWhere(db, sql`r.id = ${id}`))[0] ?? null

export interface ReturnFilters {
  status: ReturnState | undefined
  order_id: string | undefined
}

/** Lists the returns of a store, newest first. */
export const list = (db: Db, { status, order_id }: ReturnFilters, page: Page) =>
  readList(
    db,
    {
      shape: ReturnRow,
      table: sql`returns`,
      as: sql`r`,
      scope: sql`r.tenant_ref = ${db.tenant}`,
      filters: [
        ...(status === undefined ? [] : [sql`r.status = ${status}`]),
        ...(order_id === undefined ? [] : [sql`r.order_id = ${order_id}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns,
      joins: lines,
    },
    page,
  )

/** Reads the number of an order's last return, or 0 if it has none. */
export const lastNumber = (tx: Tx, order_id: string) =>
  tx.one(
    Type.Object({ last: Type.Integer() }),
    sql`
    select coalesce(max(number), 0) as last
      from returns
     where tenant_ref = ${tx.tenant} and order_id = ${order_id}`,
  )

export interface InsertedReturn {
  id: string
  order_id: string
  number: number
  return_number: string
  status: ReturnState
  requested_by: string
  note: string | null
  instructions: string | null
  label_url: string | null
  created_by: string
  created_at: string
  approved_at: string | null
  lines: {
    order_item_id: string
    variant_id: string
    sku: string
    product_name: string
    label: string | null
    reason: string | null
    quantity: number
  }[]
}

export const insertReturn = (tx: Tx, r: InsertedReturn) =>
  tx.run(sql`
    with inserted as (
      insert into returns (tenant_ref, id, order_id, number, return_number, status, requested_by,
                           note, instructions, label_url, created_by, created_at, updated_at,
                           approved_at)
      values (${tx.tenant}, ${r.id}, ${r.order_id}, ${r.number}, ${r.return_number}, ${r.status},
              ${r.requested_by}, ${r.note}, ${r.instructions}, ${r.label_url}, ${r.created_by},
              ${r.created_at}, ${r.created_at}, ${r.approved_at})
    )
    insert into return_lines (tenant_ref, return_id, position, order_item_id, variant_id, sku,
                              product_name, label, reason, quantity)
    select ${tx.tenant}, ${r.id}::uuid, l.*
      from jsonb_to_recordset(
             ${JSON.stringify(r.lines.map((line, position) => ({ position, ...line })))})
           as l (position int, order_item_id uuid, variant_id uuid, sku text, product_name text,
                 label text, reason text, quantity int)`)

/** Writes the changed members of a return. Its order is locked. */
export const writeReturn = (tx: Tx, r: Omit<ReturnRow, 'lines'>) =>
  tx.run(sql`
    update returns
       set status = ${r.status}, instructions = ${r.instructions}, label_url = ${r.label_url},
           decline_reason = ${r.decline_reason}, updated_at = ${r.updated_at},
           approved_at = ${r.approved_at}, declined_at = ${r.declined_at},
           received_at = ${r.received_at}, closed_at = ${r.closed_at},
           cancelled_at = ${r.cancelled_at}
     where tenant_ref = ${tx.tenant} and id = ${r.id}`)

/** Writes the changed members of lines of a return. Its order is locked. */
export const writeLines = (tx: Tx, changed: readonly ReturnLineRow[]) =>
  tx.run(sql`
    update return_lines l
       set restocked_quantity = c.restocked_quantity, damaged_quantity = c.damaged_quantity,
           quarantined_quantity = c.quarantined_quantity, missing_quantity = c.missing_quantity,
           quarantine_location_id = c.quarantine_location_id,
           refunded_quantity = c.refunded_quantity,
           already_refunded_quantity = c.already_refunded_quantity,
           waived_quantity = c.waived_quantity, refund_cents = c.refund_cents
      from jsonb_to_recordset(${JSON.stringify(changed)})
           as c (id uuid, restocked_quantity int, damaged_quantity int, quarantined_quantity int,
                 missing_quantity int, quarantine_location_id text, refunded_quantity int,
                 already_refunded_quantity int, waived_quantity int, refund_cents bigint)
     where l.tenant_ref = ${tx.tenant} and l.id = c.id`)

/** Adds up the units that the returns of these lines of an order have settled. */
export const sumSettled = (db: Db, order_item_ids: readonly string[]) =>
  db.many(
    SettledUnits,
    sql`
    select order_item_id, sum(refunded_quantity)::int as refunded,
           sum(already_refunded_quantity)::int as already_refunded,
           sum(waived_quantity)::int as waived
      from return_lines
     where tenant_ref = ${db.tenant} and order_item_id = any (${order_item_ids}::uuid[])
     group by order_item_id`,
  )

export interface InsertedResolution {
  return_line_id: string
  disposition: string
  quantity: number
  stock_quantity: number
}

export const insertResolutions = (
  tx: Tx,
  created_by: string,
  resolved: readonly InsertedResolution[],
) =>
  tx.run(sql`
    insert into return_resolutions (tenant_ref, created_by, return_line_id, disposition, quantity,
                                    stock_quantity)
    select ${tx.tenant}, ${created_by}, r.*
      from jsonb_to_recordset(${JSON.stringify(resolved)})
           as r (return_line_id uuid, disposition text, quantity int, stock_quantity int)`)

/** Replaces a text that a person wrote. */
const ERASED = '[erased]'

const erased = (column: Sql) => sql`case when ${column} is null then null else ${ERASED} end`

/** Erases the texts of people from the returns of orders, and the links to labels with addresses. */
export const eraseReturns = (tx: Tx, order_ids: readonly string[]) =>
  tx.many(
    Type.Object({ id: Id }),
    sql`
    update returns
       set note = ${erased(sql`note`)}, decline_reason = ${erased(sql`decline_reason`)},
           instructions = ${erased(sql`instructions`)}, label_url = null, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and order_id = any (${order_ids}::uuid[])
    returning id`,
  )

export const eraseReasons = (tx: Tx, return_ids: readonly string[]) =>
  tx.run(sql`
    update return_lines set reason = ${ERASED}
     where tenant_ref = ${tx.tenant} and return_id = any (${return_ids}::uuid[])
       and reason is not null`)
