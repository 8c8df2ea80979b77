import type { Db } from '../../db/database.ts'
import { csvLine } from '../../kernel/csv.ts'
import { withCode } from './read.ts'
import { listBelow, type OrderFilters } from './read-queries.ts'
import type { MerchantOrder } from './schema.ts'

/** A table of orders, for a spreadsheet. */

const COLUMNS = [
  'order_number',
  'id',
  'status',
  'payment_status',
  'fulfillment_status',
  'customer_ref',
  'email',
  'currency',
  'subtotal_cents',
  'discount_cents',
  'shipping_cents',
  'tax_cents',
  'total_cents',
  'captured_cents',
  'refunded_cents',
  'coupon_code',
  'source',
  'is_test',
  'created_at',
  'placed_at',
  'cancelled_at',
] as const satisfies readonly (keyof MerchantOrder)[]

const ADDRESS = ['label', 'line1', 'line2', 'city', 'state', 'postal_code', 'country'] as const

/** Columns of later versions stand last, so that a program that counts columns still reads it. */
const LATER = ['prices_include_tax'] as const satisfies readonly (keyof MerchantOrder)[]

/** A page is a few hundred kilobytes, however many orders there are. */
const PAGE_ROWS = 500

const header = csvLine([...COLUMNS, ...ADDRESS.map((name) => `ship_to_${name}`), ...LATER])

const rowOf = (order: MerchantOrder): string =>
  csvLine([
    ...COLUMNS.map((name) => order[name]),
    ...ADDRESS.map((name) => order.ship_to?.[name]),
    ...LATER.map((name) => order[name]),
  ])

/**
 * The whole table, the newest number first, in pages: no transaction is open between two pages, and
 * no more than one is in memory. An order that is placed meanwhile is left out. An error on the way
 * is thrown, so that an incomplete file is never taken for a whole one.
 */
export async function* exportCsv(db: Db, filters: OrderFilters): AsyncGenerator<string> {
  yield header
  const resolved = await withCode(db, filters)
  let below = Number.MAX_SAFE_INTEGER
  for (;;) {
    const orders = await listBelow(db, resolved, below, PAGE_ROWS)
    const last = orders.at(-1)
    if (last === undefined) return
    yield orders.map(rowOf).join('')
    below = last.order_number
  }
}
