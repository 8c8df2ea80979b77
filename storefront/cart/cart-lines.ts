import type { GiftRecipient, Item, Product, Quote, Variant } from '../api/types.ts'
import { rhythmOf } from '../catalog/purchase-plan.ts'
import { memoize } from '../memo.ts'
import type { Site } from '../site/site.ts'
import { type Cart, lineKey } from './cart.ts'

/** A line of a cart as it is shown: names and images from the catalog, prices from the quote. */
export interface CartLine {
  product: Product
  variant: Variant
  quantity: number
  /** Names the line in forms. */
  key: string
  /** The recipient of a gift card; null for the shopper's own, and for goods. */
  gift: GiftRecipient | null
  /** Whether the line is subscribed to. */
  isRepeated: boolean
  /** The prices of the line; null if the cart could not be priced. */
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
  return cart.items.flatMap((item, at) => {
    const { variant_id, quantity, gift_card: gift = null, subscribe: isRepeated = false } = item
    const found = catalog.get(variant_id)
    if (found === undefined) return []
    const isQuoted = (each: Quote['items'][number]) => each.variant_id === variant_id
    // A gift card may be in several lines, whose prices a quote lists in their order.
    const quoted = [quote?.items[at], ...(quote?.items ?? [])].find(
      (each) => each && isQuoted(each),
    )
    return [{ ...found, quantity, key: lineKey(item), gift, isRepeated, quoted: quoted ?? null }]
  })
}

/** The page of a line's product, with the choice that the line has. */
export const variantPath = ({ product, variant }: CartLine): string =>
  product.variants.length > 1
    ? `/products/${product.slug}?variant=${variant.id}`
    : `/products/${product.slug}`

/** Whether a cart has goods, which need an address. Gift cards are mailed. */
export const needsAddress = (lines: readonly CartLine[]): boolean =>
  lines.some(({ variant }) => !variant.gift_card)

/** The items that are still sold; an item is subscribed to only if that is still possible. */
export function sellableItems(site: Site, cart: Pick<Cart, 'items'>, products: readonly Product[]) {
  const catalog = byVariant(products)
  return cart.items.flatMap((item): Item[] => {
    const found = catalog.get(item.variant_id)
    if (found === undefined) return []
    const { subscribe, ...once } = item
    const canKeep = !subscribe || rhythmOf(site, found.product, found.variant) !== null
    return [canKeep ? item : once]
  })
}
