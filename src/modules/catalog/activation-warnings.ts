import type { ActivationWarning } from './activation-schema.ts'
import type { ShownProduct } from './schema.ts'

/** Lists what a shopper would miss in a product. Nothing is refused for it. */
export function listWarnings({
  variants,
  images,
}: Pick<ShownProduct, 'variants' | 'images'>): ActivationWarning[] {
  const prices = variants.flatMap(({ archived_at, price_cents }) =>
    archived_at === null ? [price_cents] : [],
  )
  const warnings: ActivationWarning[] = []
  if (prices.length === 0) {
    const message = 'The product has no variant, so it has no price and cannot be bought.'
    warnings.push({ path: '/variants', code: 'no_price', message })
  } else if (prices.every((price) => price === 0)) {
    const message = 'Every variant costs 0: shoppers get the product for nothing.'
    warnings.push({ path: '/variants', code: 'no_price', message })
  }
  if (images.length === 0) {
    const message = 'The product has no image. Add one, so that shoppers see what they buy.'
    warnings.push({ path: '/images', code: 'no_image', message })
  }
  return warnings
}

/** Lists the warnings after a change of a product: none unless it is active, since no shopper sees it otherwise. */
export const listLiveWarnings = (product: ShownProduct): ActivationWarning[] =>
  product.status === 'active' ? listWarnings(product) : []
