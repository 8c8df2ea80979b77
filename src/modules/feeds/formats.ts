import type { FeedStore } from './items.ts'
import type { FeedItem } from './schema.ts'

/** A file from which other services read a catalog. docs/guides/feeds.md has the sources and dates of the formats. */
export interface FeedFormat {
  file: string
  contentType: string
  /** The text before the first item. */
  head: string
  /** Writes one item as a line, with its end. */
  toLine(shop: FeedStore, item: FeedItem): string
  isGzipped: boolean
}

/** An option that both vocabularies have a name for, by the names that merchants use. */
const KNOWN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  color: ['color', 'colour', 'farbe', 'couleur'],
  size: ['size', 'größe', 'grösse', 'talla', 'tamaño', 'taille'],
  material: ['material', 'matériau', 'matière'],
}

function optionOf({ options }: FeedItem, known: string): string | null {
  const names = KNOWN_OPTIONS[known] ?? []
  return options.find(({ name }) => names.includes(name.toLowerCase()))?.value ?? null
}

const availabilityOf = ({ isAvailable }: FeedItem) => (isAvailable ? 'in_stock' : 'out_of_stock')

/** `country:region:service:price`, for each country. The store names no regions. */
const shippingOf = ({ shipping }: FeedItem) =>
  shipping.map(({ country, price }) => `${country}::Standard:${price}`).join(',')

function weightOf({ weightGrams }: FeedItem): string | null {
  return weightGrams === null ? null : `${weightGrams} g`
}

const GOOGLE: Readonly<Record<string, (item: FeedItem) => string | null>> = {
  id: ({ id }) => id,
  title: ({ title }) => title,
  description: ({ description }) => description,
  link: ({ link }) => link,
  image_link: ({ images: [first = ''] }) => first,
  additional_image_link: ({ images: [, ...others] }) => others.join(','),
  availability: availabilityOf,
  price: ({ price }) => price,
  sale_price: ({ salePrice }) => salePrice,
  brand: ({ brand }) => brand,
  gtin: ({ gtin }) => gtin,
  mpn: ({ mpn }) => mpn,
  identifier_exists: ({ gtin, mpn }) => (gtin === null && mpn === null ? 'no' : 'yes'),
  condition: ({ condition }) => condition,
  item_group_id: ({ groupId }) => groupId,
  google_product_category: ({ category }) => category,
  color: (item) => optionOf(item, 'color'),
  size: (item) => optionOf(item, 'size'),
  material: (item) => optionOf(item, 'material'),
  shipping: shippingOf,
  shipping_weight: weightOf,
  product_weight: weightOf,
  unit_pricing_measure: ({ measure }) => measure,
}

/**
 * A cell of a table with tabs. The texts are one line without tabs already. A text with a quote is quoted, since a
 * reader would take a quote at its beginning for the start of a quoted cell.
 */
const cell = (value: string | null): string =>
  value?.includes('"') ? `"${value.replaceAll('"', '""')}"` : (value ?? '')

const google: FeedFormat = {
  file: 'google.tsv',
  contentType: 'text/tab-separated-values; charset=utf-8',
  head: `${Object.keys(GOOGLE).join('\t')}\n`,
  toLine: (_, item) =>
    `${Object.values(GOOGLE)
      .map((of) => cell(of(item)))
      .join('\t')}\n`,
  isGzipped: false,
}

/** Leaves out members without a value: an empty text would be a value. */
const withoutNulls = (members: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

const pageOf = ({ origin }: FeedStore, path: string | null) => path && origin + path

const openai: FeedFormat = {
  file: 'openai.jsonl.gz',
  contentType: 'application/gzip',
  head: '',
  toLine: (shop, item) => `${JSON.stringify(withoutNulls(openaiMembers(shop, item)))}\n`,
  isGzipped: true,
}

function openaiMembers(shop: FeedStore, item: FeedItem): Record<string, unknown> {
  const [first, ...others] = item.images
  const { countries, country, returnDays, paths } = shop
  return {
    is_eligible_search: true,
    // Shoppers pay at the store: there is no checkout inside of an assistant.
    is_eligible_checkout: false,
    item_id: item.id,
    gtin: item.gtin,
    mpn: item.mpn,
    title: item.title,
    description: item.description,
    url: item.link,
    condition: item.condition,
    product_category: item.category,
    brand: item.brand,
    color: optionOf(item, 'color'),
    size: optionOf(item, 'size'),
    material: optionOf(item, 'material'),
    weight: item.weightGrams && String(item.weightGrams),
    item_weight_unit: item.weightGrams && 'g',
    image_url: first,
    additional_image_urls: others.length === 0 ? null : others,
    price: item.price,
    sale_price: item.salePrice,
    availability: availabilityOf(item),
    group_id: item.groupId ?? item.id,
    listing_has_variations: item.groupId !== null,
    variant_dict: item.groupId && variantsOf(item),
    shipping_price: shippingOf(item) || null,
    seller_name: shop.brand ?? shop.name,
    seller_url: `${shop.origin}/`,
    seller_privacy_policy: pageOf(shop, paths.privacy),
    seller_tos: pageOf(shop, paths.terms),
    return_policy: pageOf(shop, paths.withdrawal),
    accepts_returns: returnDays === null ? null : returnDays > 0,
    return_deadline_in_days: returnDays || null,
    target_countries: countries ?? (country === null ? null : [country]),
    store_country: country,
  }
}

const variantsOf = ({ options }: FeedItem) =>
  options.length === 0 ? null : Object.fromEntries(options.map(({ name, value }) => [name, value]))

export const FORMATS = { google, openai } as const satisfies Record<string, FeedFormat>
