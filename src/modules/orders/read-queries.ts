import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { join, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { orderColumns } from './queries.ts'
import { MerchantOrder } from './schema.ts'

export interface OrderFilters {
  status?: string | undefined
  payment_status?: string | undefined
  fulfillment_status?: string | undefined
  customer_ref?: string | undefined
  order_number?: number | undefined
  /** Part of what somebody remembers: see `remembered`. */
  q?: string | undefined
  /** Timestamps; the end is not included. */
  created_from?: string | undefined
  created_to?: string | undefined
  is_test?: boolean | undefined
  coupon_code?: string | undefined
  sku?: string | undefined
}

/** Beyond this many nobody looks through the list; a search that finds more says too little. */
const FOUND_MAX = 1_000

/** Behind every text that begins with a prefix, byte by byte. */
const LAST = '\u{10ffff}'

const startsWith = (column: Sql, prefix: string) =>
  sql`${column} ~>=~ ${prefix} and ${column} ~<~ ${prefix + LAST}`

/**
 * The number, or the beginning of the customer's reference, of the e-mail address, of a product's name
 * or of a SKU. Each arm goes through an index of its own, and none finds more than a thousand.
 */
function remembered(db: Db, q: string): Sql {
  const folded = q.toLowerCase()
  const own = sql`tenant_ref = ${db.tenant}`
  const number = /^#?(\d{1,15})$/.exec(q)?.[1]
  const arms = [
    sql`select id from orders where ${own} and ${startsWith(sql`customer_ref`, q)}`,
    sql`select id from orders where ${own} and ${startsWith(sql`email_folded`, folded)}`,
    sql`select order_id from order_items where ${own} and ${startsWith(sql`sku`, q.normalize('NFC'))}`,
    sql`select order_id from order_items where ${own} and ${startsWith(sql`name_folded`, folded)}`,
    ...(number === undefined
      ? []
      : [sql`select id from orders where ${own} and order_number = ${Number(number)}`]),
  ].map((arm) => sql`(${arm} limit ${FOUND_MAX})`)
  return sql`o.id in (${join(arms, ' union ')})`
}

function conditions(db: Db, f: OrderFilters): Sql {
  const where = [sql`o.tenant_ref = ${db.tenant}`]
  if (f.status !== undefined) where.push(sql`o.status = ${f.status}`)
  if (f.payment_status !== undefined) where.push(sql`o.payment_status = ${f.payment_status}`)
  if (f.fulfillment_status !== undefined) {
    where.push(sql`o.fulfillment_status = ${f.fulfillment_status}`)
  }
  if (f.customer_ref !== undefined) where.push(sql`o.customer_ref = ${f.customer_ref}`)
  if (f.order_number !== undefined) where.push(sql`o.order_number = ${f.order_number}`)
  if (f.created_from !== undefined) where.push(sql`o.created_at >= ${f.created_from}`)
  if (f.created_to !== undefined) where.push(sql`o.created_at < ${f.created_to}`)
  if (f.is_test !== undefined) where.push(sql`o.is_test = ${f.is_test}`)
  if (f.coupon_code !== undefined) {
    where.push(sql`lower(o.coupon_code) = lower(${f.coupon_code})`)
  }
  if (f.sku !== undefined) {
    where.push(sql`exists (select from order_items i
                            where i.tenant_ref = o.tenant_ref and i.order_id = o.id
                              and i.sku = ${f.sku})`)
  }
  if (f.q !== undefined) where.push(remembered(db, f.q))
  return join(where, ' and ')
}

/** Newest first. */
export const listOrders = (db: Db, filters: OrderFilters, page: Page) =>
  db.many(
    MerchantOrder,
    sql`
    select ${orderColumns}
      from orders o
     where ${conditions(db, filters)}
     order by o.created_at desc, o.id desc
     limit ${page.limit} offset ${page.offset}`,
  )

export const countOrders = (db: Db, filters: OrderFilters) =>
  db.one(
    Type.Object({ total: Type.Integer() }),
    sql`select count(*) as total from orders o where ${conditions(db, filters)}`,
  )

/** The next ones below a number, which no two orders share: for who reads them all. */
export const listBelow = (db: Db, filters: OrderFilters, below: number, limit: number) =>
  db.many(
    MerchantOrder,
    sql`
    select ${orderColumns}
      from orders o
     where ${conditions(db, filters)} and o.order_number < ${below}
     order by o.order_number desc
     limit ${limit}`,
  )
