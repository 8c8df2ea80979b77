import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { type Found, NEWEST_KEY, readList } from '../../db/list.ts'
import { join, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import { DEFAULT_LOCATION } from '../inventory/schema.ts'
import { orderColumns } from './queries.ts'
import { MerchantOrder, OrderWithWork, type WorkFilters } from './schema.ts'

export interface OrderFilters {
  status?: string | undefined
  payment_status?: string | undefined
  fulfillment_status?: string | undefined
  customer_ref?: string | undefined
  order_number?: number | undefined
  /** A search text, see `matchingSearch`. */
  q?: string | undefined
  /** Timestamps; the end is not included. */
  created_from?: string | undefined
  created_to?: string | undefined
  is_test?: boolean | undefined
  /** The code as the order has it: see `withCode`. */
  coupon_code?: string | undefined
  sku?: string | undefined
}

/**
 * The most results of each part of a search: more than a person reads. A search that
 * finds more needs a longer text.
 */
const FOUND_MAX = 1_000

/** Sorts after every character: appended to a prefix, it is an upper bound of all texts with it. */
const LAST = '\u{10ffff}'

const startsWith = (column: Sql, prefix: string) =>
  sql`${column} ~>=~ ${prefix} and ${column} ~<~ ${prefix + LAST}`

/**
 * The keys of orders that match a search text: their number, or the beginning of the customer's
 * reference, of the e-mail address, of a product's name or of a SKU. Each arm of the union uses an
 * index of its own, and none returns more than a thousand rows.
 */
function matchingSearch(db: Db, q: string): Sql {
  const folded = q.toLowerCase()
  const ofStore = sql`tenant_ref = ${db.tenant}`
  const number = /^#?(\d{1,15})$/.exec(q)?.[1]
  const ofOrders = sql`select created_at, id from orders where ${ofStore}`
  const ofLines = sql`select ordered_at, order_id from order_items where ${ofStore}`
  const arms = [
    sql`${ofOrders} and ${startsWith(sql`customer_ref`, q)}`,
    sql`${ofOrders} and ${startsWith(sql`email_folded`, folded)}`,
    sql`${ofLines} and ${startsWith(sql`sku`, q.normalize('NFC'))}`,
    sql`${ofLines} and ${startsWith(sql`name_folded`, folded)}`,
    ...(number === undefined ? [] : [sql`${ofOrders} and order_number = ${Number(number)}`]),
  ].map((arm) => sql`(${arm} limit ${FOUND_MAX})`)
  return join(arms, ' union ')
}

/**
 * The keys of orders with a line of the SKU, in the order of the list. An order may have two such lines. Why lines have
 * the time of their order: decision 0031.
 */
const withSku = (db: Db, sku: string): Sql => sql`
  select distinct i.ordered_at as created_at, i.order_id as id
    from order_items i
   where i.tenant_ref = ${db.tenant} and i.sku = ${sku}
   order by i.ordered_at desc, i.order_id desc`

const ofStore = (db: Db) => sql`o.tenant_ref = ${db.tenant}`

/**
 * Filters by payment status. It also states the index's condition, because a plan does not know the values: one
 * index has only the rarer statuses.
 */
const byPaymentStatus = (status: string): Sql[] => [
  sql`o.payment_status = ${status}`,
  ...(status === 'paid' ? [] : [sql`o.payment_status <> 'paid'`]),
]

/** The filters by columns of the order itself. */
function conditions(f: OrderFilters): Sql[] {
  const where: Sql[] = []
  if (f.status !== undefined) where.push(sql`o.status = ${f.status}`)
  if (f.payment_status !== undefined) where.push(...byPaymentStatus(f.payment_status))
  if (f.fulfillment_status !== undefined) {
    where.push(sql`o.fulfillment_status = ${f.fulfillment_status}`)
  }
  if (f.customer_ref !== undefined) where.push(sql`o.customer_ref = ${f.customer_ref}`)
  if (f.order_number !== undefined) where.push(sql`o.order_number = ${f.order_number}`)
  if (f.created_from !== undefined) where.push(sql`o.created_at >= ${f.created_from}`)
  if (f.created_to !== undefined) where.push(sql`o.created_at < ${f.created_to}`)
  if (f.is_test !== undefined) where.push(f.is_test ? sql`o.is_test` : sql`not o.is_test`)
  if (f.coupon_code !== undefined) where.push(sql`o.coupon_code = ${f.coupon_code}`)
  return where
}

/** The condition that an order has a line of the SKU, used if another filter selects the orders. */
const hasSku = (sku: string): Sql => sql`
  exists (select from order_items i
           where i.tenant_ref = o.tenant_ref and i.order_id = o.id and i.sku = ${sku})`

/**
 * Returns the keys that a search text finds, or a SKU without any other filter. Otherwise returns undefined:
 * columns of the orders select them.
 */
function findKeys(db: Db, { q, sku }: OrderFilters, where: readonly Sql[]): Found | undefined {
  if (q === undefined) {
    const isAlone = sku !== undefined && where.length === 0
    return isAlone ? { keys: withSku(db, sku), isSearch: false } : undefined
  }
  const all = [...where, ...(sku === undefined ? [] : [hasSku(sku)])]
  const matching = matchingSearch(db, q)
  if (all.length === 0) {
    return { keys: sql`select created_at, id from (${matching}) as matching`, isSearch: true }
  }
  const keys = sql`
    select o.created_at, o.id
      from (${matching}) as matching
      join orders o on ${ofStore(db)} and o.id = matching.id
     where ${join(all, ' and ')}`
  return { keys, isSearch: true }
}

/** Lists the orders of a store, newest first. */
export function listOrders(db: Db, filters: OrderFilters, page: Page) {
  const { sku } = filters
  const where = conditions(filters)
  const found = findKeys(db, filters, where)
  return readList(
    db,
    {
      shape: MerchantOrder,
      table: sql`orders`,
      as: sql`o`,
      scope: ofStore(db),
      filters: sku === undefined ? where : [...where, hasSku(sku)],
      ...(found !== undefined && { found }),
      key: NEWEST_KEY,
      descending: true,
      columns: orderColumns,
    },
    page,
  )
}

const workColumns = sql`
  o.id as order_id, o.order_number, o.placed_at, o.created_at, o.ship_to,
  coalesce((o.pricing ->> 'expedited')::boolean, false) as expedited`

/** Orders that have units to pack and are not held, the oldest first. */
export function listWithWork(db: Db, { location_id }: WorkFilters, page: Page) {
  const list = {
    shape: OrderWithWork,
    table: sql`orders`,
    as: sql`o`,
    scope: ofStore(db),
    descending: false,
    columns: workColumns,
  }
  const all = { ...list, filters: [sql`o.has_work`], key: NEWEST_KEY }
  if (location_id === undefined) return readList(db, all, page)
  if (location_id === DEFAULT_LOCATION) {
    const filters = [...all.filters, hasWorkAtDefault]
    return readList(db, { ...all, filters, isCostly: true }, page)
  }
  const found = { keys: withWorkAt(db, location_id), isSearch: false }
  const key = [{ name: sql`id`, type: 'uuid' as const }]
  return readList(db, { ...list, filters: [], found, key, isCostly: true }, page)
}

/**
 * Selects the ids of orders with units to pack at a location. The ids begin with the time of the order.
 * They are read from the stock, whose index has them in this order: a filter over all orders would also
 * read those of other locations.
 */
const withWorkAt = (db: Db, location_id: string): Sql => sql`
  select distinct r.order_id as id
    from inventory_reservations r
    join orders w on w.tenant_ref = ${db.tenant} and w.id = r.order_id and w.has_work
   where r.tenant_ref = ${db.tenant} and r.location_id = ${location_id} and r.allocated > r.packed
   order by r.order_id`

/**
 * The condition that an order has units to pack at the default location. Units that are allocated nowhere,
 * since their variant is not tracked, are there. It is a sum and not `exists`, for which PostgreSQL might
 * read the units of all orders.
 */
const hasWorkAtDefault = sql`(
  select coalesce(sum(r.allocated - r.packed) filter (where r.location_id = ${DEFAULT_LOCATION}), 0) > 0
         or coalesce(sum(r.allocated - r.packed), 0)
            < (select sum(i.quantity - i.packed_quantity - i.shipped_quantity)
                 from order_items i
                where i.tenant_ref = o.tenant_ref and i.order_id = o.id and not i.gift_card)
    from inventory_reservations r
   where r.tenant_ref = o.tenant_ref and r.order_id = o.id)`

/** The next orders below a number, which is unique in a store. For an export of all orders. */
export function listBelow(db: Db, filters: OrderFilters, below: number, limit: number) {
  const { q, sku } = filters
  const matches = [
    ...(q === undefined ? [] : [matchingSearch(db, q)]),
    ...(sku === undefined ? [] : [withSku(db, sku)]),
  ]
  const where = [
    ofStore(db),
    ...conditions(filters),
    // One list of ids: checked for each order, a SKU that was never bought would make it read all orders.
    ...matches.map((keys) => sql`o.id in (select id from (${keys}) as found)`),
  ]
  return db.many(
    MerchantOrder,
    sql`
    select ${orderColumns}
      from orders o
     where ${join(where, ' and ')}
       and o.order_number < ${below}
     order by o.order_number desc
     limit ${limit}`,
  )
}

export const lockByNumber = (tx: Tx, number: number) =>
  tx.maybe(
    Type.Object({ id: Id, email: Nullable(Type.String()) }),
    sql`
    select id, email from orders
     where tenant_ref = ${tx.tenant} and order_number = ${number}
       for share`,
  )

/** Counts how many units of each of these orders have come back. Orders without such units are left out. */
export const listReturned = (db: Db, order_ids: readonly string[]) =>
  db.many(
    Type.Object({ order_id: Id, units: Type.Integer() }),
    sql`
    select order_id, sum(returned_quantity)::int as units
      from order_items
     where tenant_ref = ${db.tenant} and order_id = any (${order_ids}::uuid[])
     group by order_id
    having sum(returned_quantity) > 0`,
  )
