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
  type VariantOption,
  type VariantPatch,
} from './schema.ts'

/**
 * The limit of the merchant's own metadata: enough for a few ids and flags, too little for a
 * document.
 */
export const METADATA_BYTES_MAX = 16_384

/** A slug in one form, however its accents were typed. */
export const validateSlug = (text: string) => toFormC(text, 'slug', SLUG_LENGTH_MAX)

const validateSku = (text: string) => toFormC(text, 'sku', SKU_LENGTH_MAX)

/** Converts to Unicode form C, and checks the length after it: a few characters grow by it. */
function toFormC(text: string, path: string, lengthMax: number): string {
  const composed = text.normalize('NFC')
  if ([...composed].length > lengthMax)
    throw invalidBody(path, `must be at most ${lengthMax} characters`)
  return composed
}

const SLUG = new RegExp(SLUG_PATTERN, 'u')

/**
 * The longest slug as typed: with separate accents, or of characters that take two code units each.
 */
export const SLUG_TYPED_MAX = 4 * SLUG_LENGTH_MAX

/** Parses a slug of a URL, in any form of Unicode. Null: no product can have it. */
export function parseSlug(text: string): string | null {
  const slug = text.length > SLUG_TYPED_MAX ? '' : text.normalize('NFC')
  return SLUG.test(slug) && [...slug].length <= SLUG_LENGTH_MAX ? slug : null
}

function validateMetadata(metadata: Record<string, unknown>) {
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
type SubscriptionPatch = Pick<ProductPatch, keyof typeof NOT_SUBSCRIBED>

/**
 * The subscription members of a product after a change. An interval makes the product a
 * subscription; without one the other members are cleared. Members that are not sent stay as they
 * are.
 */
function readSubscription(before: Subscription, request: SubscriptionPatch): Subscription {
  const interval = request.subscription_interval
  const isSubscription =
    request.is_subscription ?? (interval === undefined ? before.is_subscription : interval !== null)
  if (!isSubscription) {
    for (const name of Object.keys(NOT_SUBSCRIBED) as (keyof Subscription)[]) {
      if (name !== 'is_subscription' && (request[name] ?? null) !== null) {
        throw invalidBody(name, 'must be null unless is_subscription is true')
      }
    }
    return NOT_SUBSCRIBED
  }
  const intervalAfter = interval === undefined ? before.subscription_interval : interval
  if (intervalAfter === null)
    throw invalidBody('subscription_interval', 'is required for a subscription')
  const price = request.subscription_price_cents
  return {
    is_subscription: true,
    subscription_interval: intervalAfter,
    subscription_interval_count:
      request.subscription_interval_count ?? before.subscription_interval_count ?? 1,
    subscription_price_cents: price === undefined ? before.subscription_price_cents : price,
  }
}

export const validateNewProduct = (request: NewProduct): ProductFields => ({
  slug: validateSlug(request.slug),
  name: request.name,
  description: request.description ?? null,
  status: request.status ?? 'active',
  ...readSubscription(NOT_SUBSCRIBED, request),
  metadata: validateMetadata(request.metadata ?? {}),
})

export function validateProductPatch(before: ProductFields, patch: ProductPatch): ProductFields {
  if (patch.status !== undefined) {
    throw invalidBody(
      'status',
      'can be set only when the product is created; POST .../{id}/activation-request asks the operator to activate a draft',
    )
  }
  return {
    slug: patch.slug === undefined ? before.slug : validateSlug(patch.slug),
    name: patch.name ?? before.name,
    description: patch.description === undefined ? before.description : patch.description,
    status: before.status,
    ...readSubscription(before, patch),
    metadata: patch.metadata === undefined ? before.metadata : validateMetadata(patch.metadata),
  }
}

/** Options in Unicode form C and without space around them. Refuses a name that occurs twice. */
function validateOptions(options: readonly VariantOption[]): VariantOption[] {
  const clean = options.map(({ name, value }) => ({
    name: name.normalize('NFC').trim(),
    value: value.normalize('NFC').trim(),
  }))
  const names = clean.map(({ name }) => name.toLowerCase())
  const twice = names.findIndex((name, at) => names.indexOf(name) < at)
  if (twice >= 0) throw invalidBody(`options.${twice}.name`, 'must be another than those before it')
  return clean
}

/** A text that is the same for equal options, in whatever order and case they were sent. */
export const optionsKey = (options: readonly VariantOption[]): string =>
  options
    .map(({ name, value }) => JSON.stringify([name.toLowerCase(), value.toLowerCase()]))
    .toSorted()
    .join()

type Content = Pick<VariantFields, 'content_amount' | 'content_unit'>

/** What a variant contains after a change: an amount and its unit, or neither. */
function validateContent(before: Content, request: Partial<Content>): Content {
  const { content_amount = before.content_amount, content_unit = before.content_unit } = request
  if ((content_amount === null) === (content_unit === null)) return { content_amount, content_unit }
  const missing = content_amount === null ? 'content_amount' : 'content_unit'
  const other = content_amount === null ? 'content_unit' : 'content_amount'
  throw invalidBody(missing, `must be sent with ${other}, or both be null`)
}

/** A gift card is worth its price, and a card of nothing is none. */
function validateGiftCard(gift_card: boolean, price_cents: number): boolean {
  if (gift_card && price_cents === 0) {
    throw invalidBody('price_cents', 'must be at least 1 for a gift card')
  }
  return gift_card
}

const NO_CONTENT: Content = { content_amount: null, content_unit: null }

export const validateNewVariant = (request: NewVariant, storeCurrency: string): VariantFields => ({
  sku: validateSku(request.sku),
  label: request.label ?? null,
  options: validateOptions(request.options ?? []),
  image_asset_ref: request.image_asset_ref ?? null,
  price_cents: request.price_cents,
  compare_at_price_cents: request.compare_at_price_cents ?? null,
  currency: request.currency === undefined ? storeCurrency : checkCurrency(request.currency),
  ...validateContent(NO_CONTENT, request),
  gift_card: validateGiftCard(request.gift_card ?? false, request.price_cents),
  metadata: validateMetadata(request.metadata ?? {}),
  position: request.position ?? null,
})

export const validateVariantPatch = (
  before: VariantFields,
  patch: VariantPatch,
): VariantFields => ({
  sku: patch.sku === undefined ? before.sku : validateSku(patch.sku),
  label: patch.label === undefined ? before.label : patch.label,
  options: patch.options === undefined ? before.options : validateOptions(patch.options),
  image_asset_ref:
    patch.image_asset_ref === undefined ? before.image_asset_ref : patch.image_asset_ref,
  price_cents: patch.price_cents ?? before.price_cents,
  compare_at_price_cents:
    patch.compare_at_price_cents === undefined
      ? before.compare_at_price_cents
      : patch.compare_at_price_cents,
  currency: patch.currency === undefined ? before.currency : checkCurrency(patch.currency),
  ...validateContent(before, patch),
  gift_card: validateGiftCard(
    patch.gift_card ?? before.gift_card,
    patch.price_cents ?? before.price_cents,
  ),
  metadata: patch.metadata === undefined ? before.metadata : validateMetadata(patch.metadata),
  position: patch.position ?? null,
})
