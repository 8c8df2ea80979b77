import { invalidBody } from '../../errors.ts'
import { checkCurrency } from '../stores/service.ts'
import type { ProductFields, VariantFields } from './queries.ts'
import {
  type NewProduct,
  type NewVariant,
  type ProductPatch,
  SKU_LENGTH_MAX,
  SLUG_LENGTH_MAX,
  SLUG_PATTERN,
  type VariantPatch,
} from './schema.ts'

/** Notes of the merchant's own. Enough for a few ids and flags; no place for a document. */
const METADATA_BYTES_MAX = 16_384

/** One word is one slug, however its accents were typed. */
export const checkSlug = (text: string) => composed(text, 'slug', SLUG_LENGTH_MAX)

const checkSku = (text: string) => composed(text, 'sku', SKU_LENGTH_MAX)

/** In Unicode's form C. A few characters grow when they are put into it. */
function composed(text: string, path: string, lengthMax: number): string {
  const form = text.normalize('NFC')
  if ([...form].length > lengthMax)
    throw invalidBody(path, `must be at most ${lengthMax} characters`)
  return form
}

const SLUG = new RegExp(SLUG_PATTERN, 'u')

/**
 * A slug as it may be typed: taken apart into its accents, or of characters that take two units
 * each.
 */
export const SLUG_TYPED_MAX = 4 * SLUG_LENGTH_MAX

/** A slug as it stands in an address: in any form of Unicode. Null: no product can have it. */
export function readSlug(text: string): string | null {
  const slug = text.length > SLUG_TYPED_MAX ? '' : text.normalize('NFC')
  return SLUG.test(slug) && [...slug].length <= SLUG_LENGTH_MAX ? slug : null
}

function checkMetadata(metadata: Record<string, unknown>) {
  if (Buffer.byteLength(JSON.stringify(metadata)) > METADATA_BYTES_MAX) {
    throw invalidBody('metadata', `must be at most ${METADATA_BYTES_MAX} bytes as JSON`)
  }
  return metadata
}

const NOT_SUBSCRIBED = {
  is_subscription: false,
  subscription_interval: null,
  subscription_interval_count: null,
  subscription_price_cents: null,
} as const

type Subscription = Pick<ProductFields, keyof typeof NOT_SUBSCRIBED>
type GivenSubscription = Pick<ProductPatch, keyof typeof NOT_SUBSCRIBED>

/**
 * How a product is subscribed to. Naming an interval makes it a subscription; taking that away
 * clears the rest. What is not sent stays as it was.
 */
function readSubscription(before: Subscription, given: GivenSubscription): Subscription {
  const interval = given.subscription_interval
  const wanted =
    given.is_subscription ?? (interval === undefined ? before.is_subscription : interval !== null)
  if (!wanted) {
    for (const name of Object.keys(NOT_SUBSCRIBED) as (keyof Subscription)[]) {
      if (name !== 'is_subscription' && (given[name] ?? null) !== null) {
        throw invalidBody(name, 'must be null unless is_subscription is true')
      }
    }
    return NOT_SUBSCRIBED
  }
  const kept = interval === undefined ? before.subscription_interval : interval
  if (kept === null) throw invalidBody('subscription_interval', 'is required for a subscription')
  const price = given.subscription_price_cents
  return {
    is_subscription: true,
    subscription_interval: kept,
    subscription_interval_count:
      given.subscription_interval_count ?? before.subscription_interval_count ?? 1,
    subscription_price_cents: price === undefined ? before.subscription_price_cents : price,
  }
}

export const newProduct = (given: NewProduct): ProductFields => ({
  slug: checkSlug(given.slug),
  name: given.name,
  description: given.description ?? null,
  status: given.status ?? 'active',
  ...readSubscription(NOT_SUBSCRIBED, given),
  metadata: checkMetadata(given.metadata ?? {}),
})

export function patchedProduct(before: ProductFields, patch: ProductPatch): ProductFields {
  if (patch.status !== undefined) {
    throw invalidBody('status', 'can be set only when the product is created')
  }
  return {
    slug: patch.slug === undefined ? before.slug : checkSlug(patch.slug),
    name: patch.name ?? before.name,
    description: patch.description === undefined ? before.description : patch.description,
    status: before.status,
    ...readSubscription(before, patch),
    metadata: patch.metadata === undefined ? before.metadata : checkMetadata(patch.metadata),
  }
}

export const newVariant = (given: NewVariant, storeCurrency: string): VariantFields => ({
  sku: checkSku(given.sku),
  label: given.label ?? null,
  price_cents: given.price_cents,
  currency: given.currency === undefined ? storeCurrency : checkCurrency(given.currency),
  metadata: checkMetadata(given.metadata ?? {}),
  position: given.position ?? null,
})

export const patchedVariant = (before: VariantFields, patch: VariantPatch): VariantFields => ({
  sku: patch.sku === undefined ? before.sku : checkSku(patch.sku),
  label: patch.label === undefined ? before.label : patch.label,
  price_cents: patch.price_cents ?? before.price_cents,
  currency: patch.currency === undefined ? before.currency : checkCurrency(patch.currency),
  metadata: patch.metadata === undefined ? before.metadata : checkMetadata(patch.metadata),
  position: patch.position ?? null,
})
