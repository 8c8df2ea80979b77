import type { Db } from '../../db/database.ts'
import { csvLine } from '../../kernel/csv.ts'
import { readPlace } from './list-schema.ts'
import type { ProductFilters } from './queries.ts'
import { type FullProduct, OPTIONS_MAX, type ProductRow, type Variant } from './schema.ts'
import { list } from './service.ts'

/** A table of products for a spreadsheet: a line for each variant. `examples/import-products` reads it. */

const PRODUCT = [
  'slug',
  'name',
  'description',
  'status',
  'subscription_interval',
  'subscription_interval_count',
  'subscription_price_cents',
] as const satisfies readonly (keyof ProductRow)[]

const VARIANT = [
  'sku',
  'label',
  'image_asset_ref',
  'price_cents',
  'compare_at_price_cents',
  'currency',
  'content_amount',
  'content_unit',
  'gift_card',
  'position',
] as const satisfies readonly (keyof Variant)[]

const OPTION_PLACES = Array.from({ length: OPTIONS_MAX }, (_, at) => at)

const header = csvLine([
  'product_id',
  ...PRODUCT,
  'images',
  'variant_id',
  ...VARIANT,
  ...OPTION_PLACES.flatMap((at) => [`option${at + 1}_name`, `option${at + 1}_value`]),
])

/**
 * Writes a line for each variant of a product, without the archived ones. A product without a variant has one
 * line, too.
 */
function linesOf(product: FullProduct): string {
  const shared = [
    product.id,
    ...PRODUCT.map((name) => product[name]),
    product.images.map(({ asset_ref }) => asset_ref).join(' '),
  ]
  const living = product.variants.filter(({ archived_at }) => archived_at === null)
  const variants: (Variant | null)[] = living.length > 0 ? living : [null]
  return variants.map((variant) => csvLine([...shared, ...cellsOf(variant)])).join('')
}

const cellsOf = (variant: Variant | null): unknown[] => [
  variant?.id,
  ...VARIANT.map((name) => variant?.[name]),
  ...OPTION_PLACES.flatMap((at) => [variant?.options[at]?.name, variant?.options[at]?.value]),
]

/** Products of one page: some megabytes of long texts at most. */
const PAGE_ROWS = 200

/**
 * Exports the whole table, newest product first, in pages: no transaction is open between two pages, and no
 * more than one is in memory. An error on the way is thrown, so that half a table is never taken for a whole
 * one.
 */
export async function* exportCsv(db: Db, filters: ProductFilters): AsyncGenerator<string> {
  yield header
  let after = null as ReturnType<typeof readPlace>
  do {
    const page = await list(db, filters, { limit: PAGE_ROWS, offset: 0, after })
    yield page.products.map(linesOf).join('')
    after = readPlace(page.next_after)
  } while (after !== null)
}
