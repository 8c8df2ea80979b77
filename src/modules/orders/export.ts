import type { Db } from '../../db/database.ts'
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

/** A few hundred kilobytes at a time, however many orders there are. */
const PAGE_ROWS = 500

/** The last four are what an East Asian keyboard types for the first. */
const FORMULA = /^[=+\-@\t\r\n|%＝＋－＠]/

/**
 * What a spreadsheet would take for a formula is made text, and every cell is quoted, so that whoever
 * opens the file runs nothing that a shopper has typed.
 */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const isFormula = typeof value === 'string' && FORMULA.test(text.trimStart())
  const tame = isFormula ? `'${text}` : text
  return `"${tame.replaceAll('"', '""')}"`
}

const header = [...COLUMNS, ...ADDRESS.map((name) => `ship_to_${name}`)].map(cell).join(',')

const rowOf = (order: MerchantOrder): string =>
  [...COLUMNS.map((name) => order[name]), ...ADDRESS.map((name) => order.ship_to?.[name])]
    .map(cell)
    .join(',')

/**
 * The whole table, newest number first, a page at a time: no transaction is open between two of them,
 * and no more than one is in memory. An order that is placed meanwhile is not among them. What fails
 * on the way is thrown, so that the file is never taken for a whole one.
 */
export async function* exportCsv(db: Db, filters: OrderFilters): AsyncGenerator<string> {
  yield `${header}\r\n`
  const wanted = await withCode(db, filters)
  let below = Number.MAX_SAFE_INTEGER
  for (;;) {
    const orders = await listBelow(db, wanted, below, PAGE_ROWS)
    const last = orders.at(-1)
    if (last === undefined) return
    yield `${orders.map(rowOf).join('\r\n')}\r\n`
    below = last.order_number
  }
}
