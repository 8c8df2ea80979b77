import type { Product, Quote, Variant } from '../api/types.ts'
import { memoize } from '../memo.ts'
import type { Cart } from './cart.ts'

/** A line of a cart as it is shown: names and images from the catalog, prices from the quote. */
export interface CartLine {
  product: Product
  variant: Variant
  quantity: number
  /** Null where the cart could not be priced. */
  quoted: Quote['items'][number] | null
}

type Catalog = ReadonlyMap<string, { product: Product; variant: Variant }>

const byVariant = (products: readonly Product[]): Catalog =>
  memoize(
    products,
    'variants',
    () =>
      new Map(
        products.flatMap((product) =>
          product.variants.map((variant) => [variant.id, { product, variant }] as const),
        ),
      ),
  )

/** The lines of a cart, without variants that are no longer sold. */
export function cartLines(
  cart: Pick<Cart, 'items'>,
  products: readonly Product[],
  quote: Quote | null,
): CartLine[] {
  const catalog = byVariant(products)
  return cart.items.flatMap(({ variant_id, quantity }) => {
    const found = catalog.get(variant_id)
    if (found === undefined) return []
    const quoted = quote?.items.find((each) => each.variant_id === variant_id) ?? null
    return [{ ...found, quantity, quoted }]
  })
}

export const isSold = (products: readonly Product[], variantId: string): boolean =>
  byVariant(products).has(variantId)
