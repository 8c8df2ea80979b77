import { decimalAmount } from '../../kernel/money.ts'
import type { StorefrontProduct, StorefrontVariant } from '../catalog/schema.ts'
import { assetUrl } from '../media/service.ts'
import { resolveShipping } from '../shipping/resolve.ts'
import type { FeedItem } from './schema.ts'
import type { SiteFacts } from './site-facts.ts'
import { toGtin, toLine, toLineOrNull } from './texts.ts'

/** A store as its feeds show it. */
export interface FeedStore extends SiteFacts {
  /** The address of its pages, such as `https://shop.example`. */
  origin: string
  name: string
}

/** The metadata of the page's products and variants, by their ids. */
export type Marked = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** The keys of the metadata for facts that have no member in the catalog. */
export const MARKS = [
  'brand',
  'condition',
  'google_product_category',
  'gtin',
  'mpn',
  'weight_grams',
] as const

/** The limits of Google, which are the narrower ones: OpenAI has the same for title and text. */
const TITLE_MAX = 150
const DESCRIPTION_MAX = 5_000
const BRAND_MAX = 70
const MPN_MAX = 70
const CATEGORY_MAX = 750
const OPTION_MAX = 100

/** The main image and as many others as Google takes. */
const IMAGES_MAX = 11

/** More countries than a feed line should repeat for each item. */
const COUNTRIES_MAX = 30

const CONDITIONS = ['new', 'refurbished', 'used']

/** A thousand kilograms: the most that Google takes. */
const WEIGHT_MAX = 1_000_000

/**
 * The items of a product, one for each variant. A variant without an image or a price is left out:
 * both readers refuse a line without them.
 */
export function toItems(shop: FeedStore, product: StorefrontProduct, marked: Marked): FeedItem[] {
  return product.variants.flatMap((variant) => {
    const images = imagesOf(shop, product, variant)
    return images.length === 0 || variant.price_cents === 0
      ? []
      : [toItem(shop, { product, variant, images, marked })]
  })
}

interface Part {
  product: StorefrontProduct
  variant: StorefrontVariant
  images: readonly string[]
  marked: Marked
}

function toItem(shop: FeedStore, { product, variant, images, marked }: Part): FeedItem {
  const own = marked.get(product.id) ?? {}
  const marks = { ...own, ...marked.get(variant.id) }
  const hasVariants = product.variants.length > 1
  const page = `${shop.origin}/products/${encodeURIComponent(product.slug)}`
  const name = hasVariants && variant.label ? `${product.name} - ${variant.label}` : product.name
  const title = toLine(name, TITLE_MAX) || product.slug
  const condition = toLineOrNull(marks.condition, OPTION_MAX) ?? ''
  return {
    id: variant.id,
    groupId: hasVariants ? product.id : null,
    title,
    description: toLine(product.description ?? '', DESCRIPTION_MAX) || title,
    link: hasVariants ? `${page}?variant=${variant.id}` : page,
    images,
    isAvailable: variant.available,
    ...pricesOf(variant),
    brand: toLineOrNull(marks.brand, BRAND_MAX) ?? toLine(shop.brand ?? shop.name, BRAND_MAX),
    gtin: toGtin(marks.gtin),
    mpn: toLineOrNull(marks.mpn, MPN_MAX),
    condition: CONDITIONS.includes(condition) ? condition : 'new',
    category: toLineOrNull(marks.google_product_category, CATEGORY_MAX),
    options: variant.options.map((option) => ({
      name: toLine(option.name, OPTION_MAX),
      value: toLine(option.value, OPTION_MAX),
    })),
    shipping: shippingOf(shop, variant),
    weightGrams: toWeight(marks.weight_grams),
    measure: measureOf(variant),
  }
}

const money = (cents: number, currency: string) => `${decimalAmount(cents, currency)} ${currency}`

function pricesOf({ price_cents, compare_at_price_cents, currency }: StorefrontVariant) {
  const price = money(price_cents, currency)
  if (compare_at_price_cents === null) return { price, salePrice: null }
  return { price: money(compare_at_price_cents, currency), salePrice: price }
}

/** Images that the readers of feeds do not show. */
const UNSEEN = /\.(?:svg|avif)$/

/** The image of the variant comes first. Without an address of its own, the shop's host has it. */
function imagesOf(
  shop: FeedStore,
  { images }: StorefrontProduct,
  variant: StorefrontVariant,
): string[] {
  const first = images.filter(({ asset_ref }) => asset_ref === variant.image_asset_ref)
  const urls = [...first, ...images].flatMap(({ asset_ref, url }) => {
    const address = url ?? assetUrl(shop.origin, asset_ref)
    return address === null || UNSEEN.test(address) ? [] : [address]
  })
  return [...new Set(urls)].slice(0, IMAGES_MAX)
}

/**
 * Returns the shipping prices of a variant. They are known if the store has a flat rate and says which countries it
 * ships to, or where it is.
 */
function shippingOf(shop: FeedStore, { price_cents, currency }: StorefrontVariant) {
  const { shipping, countries, country } = shop
  const known = countries ?? (country === null ? [] : [country])
  if (shipping === null) return []
  const goods = { lines: [{ quantity: 1 }], goods_cents: price_cents }
  const { cents } = resolveShipping({ sent: { shipping } }, goods)
  const price = money(cents, currency)
  return known.slice(0, COUNTRIES_MAX).map((each) => ({ country: each, price }))
}

function toWeight(value: unknown): number | null {
  const grams = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  const isWeight = Number.isFinite(grams) && Number(grams) > 0 && Number(grams) <= WEIGHT_MAX
  return isWeight ? Number(grams) : null
}

/** The names of the units of `content_unit`, and how many of ours are one of them. */
const MEASURES = {
  g: ['g', 1],
  kg: ['kg', 1],
  ml: ['ml', 1],
  l: ['l', 1],
  cm: ['cm', 1],
  m: ['m', 1],
  cm2: ['sqm', 10_000],
  m2: ['sqm', 1],
  piece: ['ct', 1],
} as const satisfies Record<
  NonNullable<StorefrontVariant['content_unit']>,
  readonly [string, number]
>

function measureOf({ content_amount, content_unit }: StorefrontVariant): string | null {
  if (content_amount === null || content_unit === null) return null
  const [unit, size] = MEASURES[content_unit]
  return `${content_amount / size} ${unit}`
}
