import { type Static, Type } from 'typebox'
import { Id } from '../../kernel/schema.ts'

/** The verdict of the claim scanner about a product: for texts with this hash, by these rules. */
export const ProductScan = Type.Object({
  product_id: Id,
  text_hash: Type.Unsafe<Buffer>({}),
  rules_version: Type.String(),
  passed: Type.Boolean(),
})
export type ProductScan = Static<typeof ProductScan>

/** One variant as feeds show it. Every text is one line. */
export interface FeedItem {
  id: string
  /** The product, if it has several variants. */
  groupId: string | null
  title: string
  description: string
  link: string
  /** The addresses of its images, the most telling first. Never empty. */
  images: readonly string[]
  isAvailable: boolean
  /** With its currency, as `12.50 USD`. */
  price: string
  /** The price that is charged, if it is less than `price`. */
  salePrice: string | null
  brand: string
  gtin: string | null
  mpn: string | null
  condition: string
  category: string | null
  options: readonly { name: string; value: string }[]
  shipping: readonly ShippingPrice[]
  weightGrams: number | null
  /** The content of the variant, as `750 ml`. */
  measure: string | null
}

export interface ShippingPrice {
  country: string
  price: string
}
