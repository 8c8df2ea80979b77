import type { Db } from '../../db/database.ts'
import { csvLine } from '../../kernel/csv.ts'
import { type Parcels, type Tracked, withCode } from './read.ts'
import { listBelow, listReturned, type OrderFilters } from './read-queries.ts'
import type { MerchantOrder } from './schema.ts'

/** The export of orders as a table, for a spreadsheet. */

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

/** Columns of later versions are last, so that a program that counts columns can still read the table. */
const LATER = [
  'prices_include_tax',
  'gift_card_cents',
] as const satisfies readonly (keyof MerchantOrder)[]
const AFTER_SALE = ['parcels', 'tracking_numbers', 'returned_units'] as const

/** Rows of a page, which has a few hundred kilobytes however many orders there are. */
const PAGE_ROWS = 500

const header = csvLine([
  ...COLUMNS,
  ...ADDRESS.map((name) => `ship_to_${name}`),
  ...LATER,
  ...AFTER_SALE,
])

/** The parcels and returns of an order. */
interface AfterSale extends Tracked {
  returned_units: number
}

const NO_PARCELS: Tracked = { parcels: 0, tracking_numbers: [] }

const rowOf = (order: MerchantOrder, after: AfterSale): string =>
  csvLine([
    ...COLUMNS.map((name) => order[name]),
    ...ADDRESS.map((name) => order.ship_to?.[name]),
    ...LATER.map((name) => order[name]),
    after.parcels,
    after.tracking_numbers.join(' '),
    after.returned_units,
  ])

/**
 * Writes the whole table, the newest number first, in pages: no transaction is open between two pages, and only
 * one is in memory. An order that is placed meanwhile is left out. An error halfway is thrown, so that an
 * incomplete file never looks complete.
 */
export async function* exportCsv(
  db: Db,
  filters: OrderFilters,
  parcels: Pick<Parcels, 'listTracking'>,
): AsyncGenerator<string> {
  yield header
  const resolved = await withCode(db, filters)
  let below = Number.MAX_SAFE_INTEGER
  for (;;) {
    const orders = await listBelow(db, resolved, below, PAGE_ROWS)
    const last = orders.at(-1)
    if (last === undefined) return
    yield await writePage(db, orders, parcels)
    below = last.order_number
  }
}

/** Writes a page. It costs two more statements, whatever its orders are. */
async function writePage(
  db: Db,
  orders: readonly MerchantOrder[],
  { listTracking }: Pick<Parcels, 'listTracking'>,
): Promise<string> {
  const ids = orders.map(({ id }) => id)
  const [tracked, returned] = await Promise.all([listTracking(db, ids), listReturned(db, ids)])
  const unitsOf = new Map(returned.map(({ order_id, units }) => [order_id, units]))
  return orders
    .map((order) => {
      const { parcels, tracking_numbers } = tracked.get(order.id) ?? NO_PARCELS
      const returned_units = unitsOf.get(order.id) ?? 0
      return rowOf(order, { parcels, tracking_numbers, returned_units })
    })
    .join('')
}
