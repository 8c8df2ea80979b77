import { type Static, Type } from 'typebox'
import { Nullable, Shared } from '../../kernel/schema.ts'
import { TIER_NAMES } from './schema.ts'

/** What is counted for each store by the triggers of the tables, and what it means. */
export const COUNTED_LIMITS = {
  products: 'Products, archived ones included.',
  variants: 'Variants, archived ones included.',
  catalog_bytes: 'Bytes of the texts and metadata of products and variants.',
  collections: 'Collections.',
  collection_bytes: 'Bytes of the texts of collections.',
  gift_cards: 'Gift cards that were ever issued.',
  coupon_codes: 'Codes of coupons.',
  campaigns: 'Campaigns, ended ones included.',
  pricing_group_prices: 'Prices of pricing groups.',
  pricing_group_members: 'Members of pricing groups.',
  segments: 'Segments.',
  locations: 'Stock locations, archived ones included.',
  vendors: 'Vendors, archived ones included.',
  purchase_orders: 'Purchase orders, ended ones included.',
  stock_counts: 'Cycle counts, ended ones included.',
  affiliates: 'Affiliates, applicants included.',
  bans: 'Fraud bans, lifted ones included.',
  site_versions: 'Saved versions of the site that are kept.',
  site_bytes: 'Bytes of the saved versions of the site.',
  credentials: 'API keys, revoked ones included.',
} as const

export type CountedLimit = keyof typeof COUNTED_LIMITS

export const COUNTED_KEYS = Object.keys(COUNTED_LIMITS) as CountedLimit[]

const MAX = Number.MAX_SAFE_INTEGER

export const Usage = Shared(
  'Usage',
  Type.Object({
    limit: Type.String(),
    description: Type.String(),
    used: Type.Integer({ description: 'What the store has now.' }),
    max: Type.Integer({ description: 'What it may have.' }),
    source: Type.Enum(['default', 'tier', 'store'], {
      description: 'Whether the limit is that of all stores, of the tier or of this store alone.',
    }),
  }),
)
export type Usage = Static<typeof Usage>

/** Limits that hold for each thing by itself, where there is nothing to count for the store. */
export const Bound = Type.Object({
  limit: Type.String(),
  description: Type.String(),
  max: Type.Integer(),
})
export type Bound = Static<typeof Bound>

export const LimitChange = Type.Object(
  Object.fromEntries(
    COUNTED_KEYS.map((key) => [
      key,
      Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: MAX }))),
    ]),
  ) as Record<CountedLimit, ReturnType<typeof OptionalMax>>,
)
export type LimitChange = Static<typeof LimitChange>

const OptionalMax = () => Type.Optional(Nullable(Type.Integer()))

export const TierLimits = Type.Object({
  tier: Type.Optional(
    Type.Enum(TIER_NAMES, { description: 'Without it, the limits of all stores are set.' }),
  ),
  limits: LimitChange,
})
export type TierLimits = Static<typeof TierLimits>

export const LimitRow = Type.Object({
  tier: Type.String({ description: '`*`: all tiers that have no limit of their own.' }),
  limit: Type.String(),
  max: Type.Integer(),
})
