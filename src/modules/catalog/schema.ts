import { type Static, Type } from 'typebox'
import {
  Currency,
  Id,
  Line,
  Nullable,
  OpenObject,
  Pattern,
  Shared,
  Timestamp,
} from '../../kernel/schema.ts'
import { Finding } from '../health-claims/schema.ts'
import { ProductRequest } from './activation-schema.ts'

export const PRODUCT_STATUSES = ['draft', 'active', 'archived'] as const
export const ProductStatus = Type.Enum([...PRODUCT_STATUSES])
export type ProductStatus = Static<typeof ProductStatus>

export const INTERVALS = ['day', 'week', 'month', 'year'] as const

/** The largest total of an order, so that no single price exceeds it. */
export const PRICE_MAX = 100_000_000_000
const Price = Type.Integer({ minimum: 0, maximum: PRICE_MAX })

const subscription = {
  is_subscription: Type.Boolean(),
  subscription_interval: Nullable(Type.Enum([...INTERVALS])),
  subscription_interval_count: Nullable(Type.Integer()),
  subscription_price_cents: Nullable(Type.Integer()),
}

const product = {
  id: Id,
  tenant_ref: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  status: ProductStatus,
}

/** An option in which a variant differs from the others of its product, such as its size. */
export const VariantOption = Type.Object({ name: Type.String(), value: Type.String() })
export type VariantOption = Static<typeof VariantOption>

/** The units of the content of a variant. */
const CONTENT_UNITS = ['g', 'kg', 'ml', 'l', 'cm', 'm', 'cm2', 'm2', 'piece'] as const
export const CONTENT_AMOUNT_MAX = 1_000_000

const content = {
  content_amount: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: CONTENT_AMOUNT_MAX,
      description:
        'How much one unit contains, in `content_unit`: `750` and `ml`. From both a storefront works out the price of a litre or a kilogram.',
    }),
  ),
  content_unit: Nullable(Type.Enum([...CONTENT_UNITS])),
}

const GiftCardFlag = Type.Boolean({
  description:
    'Whether the variant is a gift card: each unit issues a card worth its price, which is mailed to a recipient. It is neither taxed, discounted nor shipped, and has no stock.',
})

const CompareAt = (description: string) => Nullable(Type.Integer({ description }))

/** A variant that the public may see, as the database returns it. */
const PublicVariant = Type.Object({
  id: Id,
  tenant_ref: Type.String(),
  product_id: Id,
  sku: Type.String(),
  label: Nullable(Type.String()),
  options: Type.Array(VariantOption, {
    description: 'In the order in which the product has them.',
  }),
  image_asset_ref: Nullable(
    Type.String({ description: "The one of the product's images that shows this variant." }),
  ),
  price_cents: Type.Integer(),
  compare_at_price_cents: CompareAt(
    'The price before, to be shown struck out. Null unless it is greater than `price_cents`; nothing is charged by it.',
  ),
  lowest_price_30_days_cents: Nullable(
    Type.Integer({
      description:
        'The lowest price in the 30 days before the reduction that `compare_at_price_cents` announces, as the EU asks to show beside it. The price has fallen only where it is greater than `price_cents`. Null without a reduction, and where nothing was sold at a price before.',
    }),
  ),
  currency: Type.String(),
  ...content,
  gift_card: GiftCardFlag,
})

const variantStock = {
  available: Type.Boolean({
    description:
      'Whether it can be bought: its stock is not counted, a unit is left, or backorders are allowed. Some seconds old at most.',
  }),
  low_stock: Type.Boolean({
    description:
      "Few units are left, by the variant's `low_stock_threshold`. False unless the store's `stock_hint` is `low` or `count`.",
  }),
  available_units: Nullable(
    Type.Integer({
      description: "How many are left, where few are and the store's `stock_hint` is `count`.",
    }),
  ),
}
export type VariantStock = Static<ReturnType<typeof Type.Object<typeof variantStock>>>

export const StorefrontVariant = Shared(
  'StorefrontVariant',
  Type.Object({ ...PublicVariant.properties, ...variantStock }),
)
export type StorefrontVariant = Static<typeof StorefrontVariant>

/** An image as it is stored, without its URL, which depends on the installation. */
const StoredImage = Type.Object({ asset_ref: Type.String(), alt: Nullable(Type.String()) })
export type StoredImage = Static<typeof StoredImage>

export const ProductImage = Shared(
  'ProductImage',
  Type.Object({ ...StoredImage.properties, url: Nullable(Type.String()) }),
)
export type ProductImage = Static<typeof ProductImage>

/** The public members of a product, as the database returns them. */
export const PublicProduct = Type.Object({
  ...product,
  ...subscription,
  images: Type.Array(StoredImage),
  variants: Type.Array(PublicVariant),
})
export type PublicProduct = Static<typeof PublicProduct>

const shownProduct = {
  ...product,
  image_asset_ref: Nullable(Type.String()),
  image_url: Nullable(Type.String()),
  ...subscription,
  images: Type.Array(ProductImage),
  option_names: Type.Array(Type.String(), {
    description: 'The names of all options of its variants, in the order in which they come.',
  }),
}

/** A product as the public sees it, with the URLs of its images. */
export const StorefrontProduct = Shared(
  'StorefrontProduct',
  Type.Object({
    ...shownProduct,
    available: Type.Boolean({ description: 'Whether any of its variants can be bought.' }),
    low_stock: Type.Boolean({
      description: 'Every variant that can be bought has few units left.',
    }),
    variants: Type.Array(StorefrontVariant),
  }),
)
export type StorefrontProduct = Static<typeof StorefrontProduct>

export const StorefrontCollection = Shared(
  'StorefrontCollection',
  Type.Object({
    slug: Type.String(),
    title: Type.String(),
    description: Nullable(Type.String()),
  }),
)
export type StorefrontCollection = Static<typeof StorefrontCollection>

/** An active product, as far as a sitemap names it. */
export const SitemapProduct = Shared(
  'SitemapProduct',
  Type.Object({ slug: Type.String(), updated_at: Timestamp }),
)

export const Variant = Shared(
  'MerchantVariant',
  Type.Object({
    ...PublicVariant.properties,
    compare_at_price_cents: CompareAt(
      'The price before. Shoppers see it only while it is greater than `price_cents`.',
    ),
    position: Type.Integer(),
    metadata: OpenObject,
    archived_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type Variant = Static<typeof Variant>

/** A product's own row. */
export const ProductRow = Type.Object({
  ...product,
  ...subscription,
  metadata: OpenObject,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type ProductRow = Static<typeof ProductRow>

/** The latest request that the operator makes the product active. */
const activation = {
  activation_request: Nullable({
    ...ProductRequest,
    description:
      'The latest request to make the product active; null if there was none. Only the operator can activate a draft: `POST /v1/merchant/catalog/products/{id}/activation-request` asks for it.',
  }),
}

/** A product with its images and variants, as the database returns it. */
export const FullProduct = Type.Object({
  ...ProductRow.properties,
  images: Type.Array(StoredImage),
  variants: Type.Array(Variant),
  ...activation,
})
export type FullProduct = Static<typeof FullProduct>

/** The part of a product that shoppers see and its warnings depend on. */
export const ShownProduct = Type.Object({
  status: ProductStatus,
  images: Type.Array(StoredImage),
  variants: Type.Array(Type.Pick(Variant, ['price_cents', 'archived_at'])),
})
export type ShownProduct = Static<typeof ShownProduct>

export const MerchantProduct = Shared(
  'MerchantProduct',
  Type.Object({
    ...shownProduct,
    variants: Type.Array(Variant),
    metadata: OpenObject,
    ...activation,
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type MerchantProduct = Static<typeof MerchantProduct>

/** The health claims in a product's text. Null: the scan could not run. */
export const Warnings = Nullable(Type.Array(Finding))

export const Collection = Shared(
  'MerchantCollection',
  Type.Object({
    id: Id,
    tenant_ref: Type.String(),
    ...StorefrontCollection.properties,
    position: Type.Integer(),
    product_ids: Type.Array(Id),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type Collection = Static<typeof Collection>

/** How many products a list shows of each collection: a collection may have 10,000. */
export const LISTED_PRODUCTS = 50

export const ListedCollection = Shared(
  'ListedCollection',
  Type.Object({
    ...Collection.properties,
    product_ids: Type.Array(Id, {
      description: `The first ${LISTED_PRODUCTS} products. The collection itself has all of them.`,
    }),
    more_products: Type.Boolean({ description: 'Whether the collection has more products.' }),
  }),
)

/** A variant that can be bought, as a cart needs it. */
export const SaleVariant = Type.Object({
  variant_id: Id,
  product_id: Id,
  product_name: Type.String(),
  sku: Type.String(),
  label: Nullable(Type.String()),
  price_cents: Type.Integer(),
  currency: Type.String(),
  gift_card: Type.Boolean(),
  ...subscription,
  collection_slugs: Type.Array(Type.String()),
})
export type SaleVariant = Static<typeof SaleVariant>

/** The names of a variant. */
export const VariantNames = Type.Object({
  product_name: Type.String(),
  sku: Type.String(),
  label: Nullable(Type.String()),
})
export type VariantNames = Static<typeof VariantNames>

export const SLUG_LENGTH_MAX = 200

/** Letters that have no capital form of their own: lower case, or a script without cases. */
const SLUG_CHARACTER = '\\p{Ll}\\p{Lo}\\p{Lm}\\p{M}\\p{Nd}'

/** Slugs may use the letters of every script. */
export const SLUG_PATTERN = `^[\\p{Ll}\\p{Lo}\\p{Lm}\\p{Nd}](?:[${SLUG_CHARACTER}_-]*[${SLUG_CHARACTER}])?$`

export const Slug = Pattern(
  SLUG_PATTERN,
  'must be lower-case letters, digits, hyphens and underscores, and begin and end with a letter or digit',
  { minLength: 1, maxLength: SLUG_LENGTH_MAX },
)

/** The characters of a description. */
export const TEXT_LENGTH_MAX = 20_000

/** The characters of a name, title or label. */
export const NAME_LENGTH_MAX = 300

const Prose = Pattern(
  '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]*$',
  'must not have control characters other than line breaks and tabs',
  { maxLength: TEXT_LENGTH_MAX },
)

export const SKU_LENGTH_MAX = 100

const Sku = Pattern(
  '^[^\\p{C}\\p{Z}](?:[^\\p{C}\\p{Zl}\\p{Zp}]*[^\\p{C}\\p{Z}])?$',
  'must be visible characters, with spaces only in between',
  { minLength: 1, maxLength: SKU_LENGTH_MAX },
)

const productFields = {
  description: Type.Optional(Nullable(Prose)),
  is_subscription: Type.Optional(Type.Boolean()),
  subscription_interval: Type.Optional(subscription.subscription_interval),
  subscription_interval_count: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: 1_000 })),
  ),
  subscription_price_cents: Type.Optional(Nullable(Price)),
  metadata: Type.Optional(OpenObject),
}

export const NewProduct = Type.Object({
  slug: Slug,
  name: Line(NAME_LENGTH_MAX),
  status: Type.Optional(Type.Enum(['draft', 'active'], { default: 'active' })),
  ...productFields,
})
export type NewProduct = Static<typeof NewProduct>

export const ProductPatch = Type.Object({
  slug: Type.Optional(Slug),
  name: Type.Optional(Line(NAME_LENGTH_MAX)),
  ...productFields,
  status: Type.Optional(
    Type.Unknown({
      description:
        'Always refused: the status can be set only at creation. An activation request asks the operator for it.',
    }),
  ),
})
export type ProductPatch = Static<typeof ProductPatch>

const Position = Type.Integer({ minimum: 0, maximum: 1_000_000 })

/** More kinds of options than a shopper can choose by. */
export const OPTIONS_MAX = 5
export const OPTION_NAME_MAX = 50
export const OPTION_VALUE_MAX = 100

const variantFields = {
  label: Type.Optional(Nullable(Line(NAME_LENGTH_MAX))),
  options: Type.Optional(
    Type.Array(Type.Object({ name: Line(OPTION_NAME_MAX), value: Line(OPTION_VALUE_MAX) }), {
      maxItems: OPTIONS_MAX,
      description:
        'What the variant differs by, such as a size and a colour. Each name once; no two variants of a product have the same.',
    }),
  ),
  image_asset_ref: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 200,
        description: "One of the product's images. Null again once the product has it no more.",
      }),
    ),
  ),
  compare_at_price_cents: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: PRICE_MAX }))),
  currency: Type.Optional(Currency),
  content_amount: Type.Optional(content.content_amount),
  content_unit: Type.Optional(content.content_unit),
  gift_card: Type.Optional(GiftCardFlag),
  position: Type.Optional(Position),
  metadata: Type.Optional(OpenObject),
}

export const NewVariant = Type.Object({ sku: Sku, price_cents: Price, ...variantFields })
export type NewVariant = Static<typeof NewVariant>

export const VariantPatch = Type.Object({
  sku: Type.Optional(Sku),
  price_cents: Type.Optional(Price),
  ...variantFields,
})
export type VariantPatch = Static<typeof VariantPatch>

/** Accepts any text as `asset_ref`: a text that is no asset of the store is answered as not found. */
export const NewImage = Type.Object({
  asset_ref: Type.String(),
  alt: Type.Optional(Nullable(Line(1_000))),
})
export type NewImage = Static<typeof NewImage>

/** More sizes and colours than a shopper chooses from. */
export const VARIANTS_PER_PRODUCT_MAX = 500

/** More images than a shopper looks at. */
export const IMAGES_MAX = 50

export const ImageList = Type.Object({ images: Type.Array(NewImage, { maxItems: IMAGES_MAX }) })

export const NewCollection = Type.Object({
  slug: Slug,
  title: Line(NAME_LENGTH_MAX),
  description: Type.Optional(Nullable(Prose)),
  position: Type.Optional(Position),
})
export type NewCollection = Static<typeof NewCollection>

export const CollectionPatch = Type.Partial(NewCollection)
export type CollectionPatch = Static<typeof CollectionPatch>

export const Members = Type.Object({
  product_ids: Type.Array(Type.String(), { maxItems: 10_000, uniqueItems: true }),
})
