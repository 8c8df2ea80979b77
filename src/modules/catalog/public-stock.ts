import type { Db } from '../../db/database.ts'
import type { PublicProduct, StorefrontProduct, VariantStock } from './schema.ts'

/**
 * Reads the stock of the products' variants whose stock is counted. The stock belongs to a module above this one, which
 * passes its reader.
 */
export type ReadStock = (db: Db, productIds: readonly string[]) => Promise<CountedVariant[]>

export interface CountedVariant extends VariantStock {
  product_id: string
  variant_id: string
}

/** The stock of one product's variants, by their ids. A variant without one can always be bought. */
export type ProductStock = ReadonlyMap<string, CountedVariant>

export const NO_STOCK: ProductStock = new Map()

/** Reads the stock of products, by their ids. A product without a counted variant is missing. */
export async function readStockOf(
  read: ReadStock,
  db: Db,
  productIds: readonly string[],
): Promise<Map<string, ProductStock>> {
  const found = await read(db, productIds)
  const byProduct = Map.groupBy(found, ({ product_id }) => product_id)
  return new Map(
    [...byProduct].map(([id, rows]) => [
      id,
      new Map(rows.map((row) => [row.variant_id, row] as const)),
    ]),
  )
}

const IN_STOCK: VariantStock = { available: true, low_stock: false, available_units: null }

/** Returns a text that differs if the shown stock differs. */
export const stampOf = (stock: ProductStock): string =>
  [...stock.values()]
    .filter(({ available, low_stock }) => !available || low_stock)
    .map(({ variant_id, available, available_units }) => [variant_id, available, available_units])
    .toSorted()
    .join()

/** Returns the members of a product, and of its variants, that show their stock. */
export function withStock(
  { variants }: Pick<PublicProduct, 'variants'>,
  stock: ProductStock,
): Pick<StorefrontProduct, 'available' | 'low_stock' | 'variants'> {
  const shown = variants.map((variant) => {
    const { available, low_stock, available_units } = stock.get(variant.id) ?? IN_STOCK
    return { ...variant, available, low_stock, available_units }
  })
  const buyable = shown.filter(({ available }) => available)
  return {
    available: buyable.length > 0,
    low_stock: buyable.length > 0 && buyable.every(({ low_stock }) => low_stock),
    variants: shown,
  }
}
