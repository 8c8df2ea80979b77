import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { jsonTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import {
  type NewVendor,
  PurchaseOrder,
  PurchaseOrderHead,
  type PurchaseOrderState,
  Vendor,
} from './schema.ts'

const vendorColumns = sql`
  v.id, v.name, v.email, v.phone, v.address, v.lead_time_days, v.notes, v.created_at, v.updated_at,
  v.archived_at`

/** Lists the vendors by name. */
export const listVendors = (db: Db, { archived }: { archived: boolean }, page: Page) =>
  readList(
    db,
    {
      shape: Vendor,
      table: sql`vendors`,
      as: sql`v`,
      scope: sql`v.tenant_ref = ${db.tenant}`,
      filters: [archived ? sql`v.archived_at is not null` : sql`v.archived_at is null`],
      key: [
        { name: sql`name`, type: 'text' },
        { name: sql`id`, type: 'uuid' },
      ],
      descending: false,
      columns: vendorColumns,
    },
    page,
  )

export const findVendor = (db: Db, id: string) =>
  db.maybe(
    Vendor,
    sql`select ${vendorColumns} from vendors v where v.tenant_ref = ${db.tenant} and v.id = ${id}`,
  )

export const lockVendor = (tx: Tx, id: string) =>
  tx.maybe(
    Vendor,
    sql`
    select ${vendorColumns} from vendors v where v.tenant_ref = ${tx.tenant} and v.id = ${id}
       for no key update`,
  )

export const insertVendor = (tx: Tx, vendor: NewVendor) =>
  tx.one(
    Vendor,
    sql`
    insert into vendors as v (tenant_ref, name, email, phone, address, lead_time_days, notes)
    values (${tx.tenant}, ${vendor.name}, ${vendor.email ?? null}, ${vendor.phone ?? null},
            ${vendor.address ?? null}, ${vendor.lead_time_days ?? null}, ${vendor.notes ?? null})
    returning ${vendorColumns}`,
  )

/** Writes a locked vendor as it is now. */
export const writeVendor = (tx: Tx, vendor: Vendor) =>
  tx.one(
    Vendor,
    sql`
    update vendors v
       set name = ${vendor.name}, email = ${vendor.email}, phone = ${vendor.phone},
           address = ${vendor.address}, lead_time_days = ${vendor.lead_time_days},
           notes = ${vendor.notes}, archived_at = ${vendor.archived_at}, updated_at = fd_now()
     where v.tenant_ref = ${tx.tenant} and v.id = ${vendor.id}
    returning ${vendorColumns}`,
  )

const headColumns = sql`
  o.id, o.po_number, o.vendor_id, o.location_id, o.status, o.currency, o.expected_at, o.notes,
  o.over_receipt_percent, o.subtotal_cents, o.shipping_cents,
  o.subtotal_cents + o.shipping_cents as total_cents, o.created_at, o.updated_at, o.ordered_at,
  o.received_at, o.closed_at, o.cancelled_at`

export interface OrderFilters {
  status: PurchaseOrderState | undefined
  vendor_id: string | undefined
}

/** Lists the purchase orders, newest first. */
export const listOrders = (db: Db, { status, vendor_id }: OrderFilters, page: Page) =>
  readList(
    db,
    {
      shape: PurchaseOrderHead,
      table: sql`purchase_orders`,
      as: sql`o`,
      scope: sql`o.tenant_ref = ${db.tenant}`,
      filters: [
        ...(status === undefined ? [] : [sql`o.status = ${status}`]),
        ...(vendor_id === undefined ? [] : [sql`o.vendor_id = ${vendor_id}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns: headColumns,
    },
    page,
  )

/** The units of a line that are still expected: none of an order that has ended. */
const openQuantity = sql`
  case when o.status in ('ordered', 'partially_received')
       then greatest(0, l.quantity - l.received_quantity - l.rejected_quantity) else 0 end`

const itsLines = sql`
  (select json_agg(json_build_object(
            'id', l.id, 'variant_id', l.variant_id, 'sku', l.sku, 'quantity', l.quantity,
            'received_quantity', l.received_quantity, 'rejected_quantity', l.rejected_quantity,
            'open_quantity', ${openQuantity}, 'unit_cost_cents', l.unit_cost_cents,
            'unit_weight_grams', l.unit_weight_grams) order by l.position)
     from purchase_order_lines l
    where l.tenant_ref = o.tenant_ref and l.purchase_order_id = o.id)`

const itsAllocations = sql`
  (select json_agg(json_build_object(
            'line_id', a.line_id, 'variant_id', l.variant_id, 'amount_cents', a.amount_cents,
            'on_hand_units', a.on_hand_units, 'on_hand_cents', a.on_hand_cents,
            'sold_units', a.sold_units, 'sold_cents', a.sold_cents) order by l.position)
     from purchase_cost_allocations a
     join purchase_order_lines l on l.tenant_ref = a.tenant_ref and l.id = a.line_id
    where a.tenant_ref = c.tenant_ref and a.cost_id = c.id)`

const itsCosts = sql`
  coalesce((select json_agg(json_build_object(
                     'id', c.id, 'description', c.description, 'amount_cents', c.amount_cents,
                     'split_by', c.split_by, 'allocations', ${itsAllocations},
                     'created_at', ${jsonTime(sql`c.created_at`)})
                     order by c.number)
              from purchase_costs c
             where c.tenant_ref = o.tenant_ref and c.purchase_order_id = o.id), '[]')`

const wholeOrder = (db: Db, id: string, lock: Sql) => sql`
  select ${headColumns}, ${itsLines} as lines, ${itsCosts} as costs
    from purchase_orders o
   where o.tenant_ref = ${db.tenant} and o.id = ${id} ${lock}`

export const findOrder = (db: Db, id: string) => db.maybe(PurchaseOrder, wholeOrder(db, id, sql``))

/** Locks the order. Its lines are read by another statement, after the lock is held. */
export const lockOrder = (tx: Tx, id: string) =>
  tx.run(sql`
    select from purchase_orders o where o.tenant_ref = ${tx.tenant} and o.id = ${id}
       for no key update`)

/**
 * Takes the next number of a purchase order. Two callers get two numbers, one after the other; a transaction that
 * is rolled back returns its number.
 */
export const takeNumber = (tx: Tx) =>
  tx.one(
    Type.Object({ last_number: Type.Integer() }),
    sql`
    insert into purchase_order_counters as c (tenant_ref, last_number)
    values (${tx.tenant}, 1001)
        on conflict (tenant_ref) do update set last_number = c.last_number + 1
    returning last_number`,
  )

/** The terms of a purchase order, which change only while it is a draft. */
export interface OrderTerms {
  id: string
  vendor_id: string
  location_id: string
  currency: string
  expected_at: string | null
  notes: string | null
  shipping_cents: number
  subtotal_cents: number
  over_receipt_percent: number
}

export const insertOrder = (
  tx: Tx,
  terms: OrderTerms,
  { po_number, created_by }: { po_number: string; created_by: string },
) =>
  tx.run(sql`
    insert into purchase_orders (tenant_ref, id, po_number, vendor_id, location_id, currency,
                                 expected_at, notes, shipping_cents, subtotal_cents,
                                 over_receipt_percent, created_by)
    values (${tx.tenant}, ${terms.id}, ${po_number}, ${terms.vendor_id}, ${terms.location_id},
            ${terms.currency}, ${terms.expected_at}, ${terms.notes}, ${terms.shipping_cents},
            ${terms.subtotal_cents}, ${terms.over_receipt_percent}, ${created_by})`)

export const writeTerms = (tx: Tx, terms: OrderTerms) =>
  tx.run(sql`
    update purchase_orders
       set vendor_id = ${terms.vendor_id}, location_id = ${terms.location_id},
           expected_at = ${terms.expected_at}, notes = ${terms.notes},
           shipping_cents = ${terms.shipping_cents}, subtotal_cents = ${terms.subtotal_cents},
           over_receipt_percent = ${terms.over_receipt_percent}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${terms.id}`)

export interface WrittenLine {
  variant_id: string
  sku: string
  quantity: number
  unit_cost_cents: number
  unit_weight_grams: number | null
}

export const deleteLines = (tx: Tx, order_id: string) =>
  tx.run(sql`
    delete from purchase_order_lines
     where tenant_ref = ${tx.tenant} and purchase_order_id = ${order_id}`)

export const insertLines = (tx: Tx, order_id: string, lines: readonly WrittenLine[]) =>
  tx.run(sql`
    insert into purchase_order_lines (tenant_ref, purchase_order_id, position, variant_id, sku,
                                      quantity, unit_cost_cents, unit_weight_grams)
    select ${tx.tenant}, ${order_id}::uuid, l.*
      from jsonb_to_recordset(${JSON.stringify(lines.map((line, position) => ({ position, ...line })))})
           as l (position int, variant_id uuid, sku text, quantity bigint, unit_cost_cents bigint,
                 unit_weight_grams int)`)

/** Sets the status, and its time. */
export const setStatus = (tx: Tx, id: string, status: PurchaseOrderState) =>
  tx.run(sql`
    update purchase_orders
       set status = ${status}, updated_at = fd_now(),
           ordered_at = case when ${status}::text = 'ordered' then fd_now() else ordered_at end,
           received_at = case when ${status}::text = 'received'
                              then coalesce(received_at, fd_now()) end,
           closed_at = case when ${status}::text = 'closed_short' then fd_now() end,
           cancelled_at = case when ${status}::text = 'cancelled' then fd_now() end
     where tenant_ref = ${tx.tenant} and id = ${id}`)
