import { assetUrl } from '../media/service.ts'
import { type ProductStock, withStock } from './public-stock.ts'
import type {
  FullProduct,
  MerchantProduct,
  ProductImage,
  PublicProduct,
  StoredImage,
  StorefrontProduct,
  VariantOption,
} from './schema.ts'

/** The base URL of the installation's assets; null if it has none. */
export type AssetBase = string | null

export const toProductImages = (base: AssetBase, images: readonly StoredImage[]): ProductImage[] =>
  images.map(({ asset_ref, alt }) => ({ asset_ref, alt, url: assetUrl(base, asset_ref) }))

const mainImageOf = (base: AssetBase, [main]: readonly StoredImage[]) => ({
  image_asset_ref: main?.asset_ref ?? null,
  image_url: assetUrl(base, main?.asset_ref ?? null),
})

/** The names of the options of variants on sale, each once however it is written. */
function optionNamesOf(variants: readonly { options: readonly VariantOption[] }[]): string[] {
  const names = new Map<string, string>()
  for (const { name } of variants.flatMap(({ options }) => options)) {
    const folded = name.toLowerCase()
    if (!names.has(folded)) names.set(folded, name)
  }
  return [...names.values()]
}

/** A product as the public sees it, with the URLs of its images. */
export const toStorefrontProduct = (
  base: AssetBase,
  product: PublicProduct,
  stock: ProductStock,
): StorefrontProduct => ({
  id: product.id,
  tenant_ref: product.tenant_ref,
  slug: product.slug,
  name: product.name,
  description: product.description,
  status: product.status,
  ...mainImageOf(base, product.images),
  is_subscription: product.is_subscription,
  subscription_interval: product.subscription_interval,
  subscription_interval_count: product.subscription_interval_count,
  subscription_price_cents: product.subscription_price_cents,
  images: toProductImages(base, product.images),
  option_names: optionNamesOf(product.variants),
  ...withStock(product, stock),
})

/** A product as its merchant sees it. */
export const toMerchantProduct = (base: AssetBase, product: FullProduct): MerchantProduct => ({
  ...product,
  ...mainImageOf(base, product.images),
  images: toProductImages(base, product.images),
  option_names: optionNamesOf(product.variants.filter(({ archived_at }) => archived_at === null)),
})
