import { assetUrl } from '../media/service.ts'
import type {
  FullProduct,
  KeptImage,
  MerchantProduct,
  ProductImage,
  PublicProduct,
  StorefrontProduct,
} from './schema.ts'

/** Where the installation's assets are; null where it has no address for them. */
export type AssetBase = string | null

export const showImages = (base: AssetBase, images: readonly KeptImage[]): ProductImage[] =>
  images.map(({ asset_ref, alt }) => ({ asset_ref, alt, url: assetUrl(base, asset_ref) }))

const showMain = (base: AssetBase, [main]: readonly KeptImage[]) => ({
  image_asset_ref: main?.asset_ref ?? null,
  image_url: assetUrl(base, main?.asset_ref ?? null),
})

/** A product as the public sees it, with the addresses of its pictures. */
export const showPublic = (base: AssetBase, product: PublicProduct): StorefrontProduct => ({
  id: product.id,
  tenant_ref: product.tenant_ref,
  slug: product.slug,
  name: product.name,
  description: product.description,
  status: product.status,
  ...showMain(base, product.images),
  is_subscription: product.is_subscription,
  subscription_interval: product.subscription_interval,
  subscription_interval_count: product.subscription_interval_count,
  subscription_price_cents: product.subscription_price_cents,
  images: showImages(base, product.images),
  variants: product.variants,
})

/** A product as its merchant sees it. */
export const showProduct = (base: AssetBase, product: FullProduct): MerchantProduct => ({
  ...product,
  ...showMain(base, product.images),
  images: showImages(base, product.images),
})
