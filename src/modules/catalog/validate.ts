import { invalidBody, readEach, readParts, requireRules } from '../../errors.ts'
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
    const names = Object.keys(NOT_SUBSCRIBED) as (keyof Subscription)[]
    requireRules(
      names
        .filter((name) => name !== 'is_subscription')
        .map((name) => [
          (request[name] ?? null) === null,
          name,
          'must be null unless is_subscription is true',
        ]),
    )
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

export function validateNewProduct(request: NewProduct): ProductFields {
  const { slug, subscription, metadata } = readParts({
    slug: () => validateSlug(request.slug),
    subscription: () => readSubscription(NOT_SUBSCRIBED, request),
    metadata: () => validateMetadata(request.metadata ?? {}),
  })
  const { name, description = null, status = 'active' } = request
  return { slug, name, description, status, ...subscription, metadata }
}

/** Validates a change of a product. `hasGiftCard`: a variant of it is a gift card, which cannot be subscribed to. */
export function validateProductPatch(
  before: ProductFields,
  patch: ProductPatch,
  { hasGiftCard }: { hasGiftCard: boolean },
): ProductFields {
  const { status, slug, subscription, metadata } = readParts({
    status: () => refuseStatus(before, patch),
    slug: () => (patch.slug === undefined ? before.slug : validateSlug(patch.slug)),
    subscription: () => {
      const after = readSubscription(before, patch)
      if (!after.is_subscription || !hasGiftCard) return after
      throw invalidBody('is_subscription', 'must be false while a variant is a gift card')
    },
    metadata: () =>
      patch.metadata === undefined ? before.metadata : validateMetadata(patch.metadata),
  })
  const { name = before.name, description = before.description } = patch
  return { slug, name, description, status, ...subscription, metadata }
}

function refuseStatus({ status }: ProductFields, patch: ProductPatch) {
  if (patch.status === undefined) return status
  throw invalidBody(
    'status',
    'can be set only when the product is created; POST .../{id}/activation-request asks the operator to activate a draft',
  )
}

/** Options in Unicode form C and without space around them. Refuses a name that occurs twice. */
function validateOptions(options: readonly VariantOption[]): VariantOption[] {
  const clean = options.map(({ name, value }) => ({
    name: name.normalize('NFC').trim(),
    value: value.normalize('NFC').trim(),
  }))
  const names = clean.map(({ name }) => name.toLowerCase())
  return readEach(clean, (option, at) => {
    if (names.indexOf(names[at] ?? '') === at) return option
    throw invalidBody(`options.${at}.name`, 'must differ from the names of the other options')
  })
}

/** A text that is the same for equal options, in whatever order and case they were sent. */
export const optionsKey = (options: readonly VariantOption[]): string =>
  options
    .map(({ name, value }) => JSON.stringify([name.toLowerCase(), value.toLowerCase()]))
    .toSorted()
    .join()

type Content = Pick<VariantFields, 'content_amount' | 'content_unit'>

/** The content of a variant after a change: an amount and its unit, or neither. */
function validateContent(before: Content, request: Partial<Content>): Content {
  const { content_amount = before.content_amount, content_unit = before.content_unit } = request
  if ((content_amount === null) === (content_unit === null)) return { content_amount, content_unit }
  const missing = content_amount === null ? 'content_amount' : 'content_unit'
  const other = content_amount === null ? 'content_unit' : 'content_amount'
  throw invalidBody(missing, `must be sent with ${other}, or both be null`)
}

/** What the validation of a variant needs beside its own members. */
export interface VariantContext {
  /**
   * Whether the product is a subscription, which a gift card cannot be: the store would owe another one every month.
   */
  is_subscription: boolean
  /** Whether the product has the image that the request names. */
  ownsImage: boolean
}

function validateImage(ref: string | null, { ownsImage }: VariantContext): string | null {
  if (ref === null || ownsImage) return ref
  throw invalidBody('image_asset_ref', "must be one of the product's images")
}

/** Refuses a gift card of a subscription, and one without a price: a gift card is worth its price. */
function validateGiftCard(
  gift_card: boolean,
  price_cents: number,
  { is_subscription }: VariantContext,
): boolean {
  requireRules([
    [!gift_card || !is_subscription, 'gift_card', 'must be false: the product is a subscription'],
    [!gift_card || price_cents > 0, 'price_cents', 'must be at least 1 for a gift card'],
  ])
  return gift_card
}

const NO_CONTENT: Content = { content_amount: null, content_unit: null }

export function validateNewVariant(
  request: NewVariant,
  { storeCurrency, ...context }: VariantContext & { storeCurrency: string },
): VariantFields {
  const { currency: named, price_cents } = request
  const { content, ...fields } = readParts({
    sku: () => validateSku(request.sku),
    options: () => validateOptions(request.options ?? []),
    image_asset_ref: () => validateImage(request.image_asset_ref ?? null, context),
    currency: () => (named === undefined ? storeCurrency : checkCurrency(named)),
    content: () => validateContent(NO_CONTENT, request),
    gift_card: () => validateGiftCard(request.gift_card ?? false, price_cents, context),
    metadata: () => validateMetadata(request.metadata ?? {}),
  })
  return {
    ...fields,
    ...content,
    label: request.label ?? null,
    price_cents,
    compare_at_price_cents: request.compare_at_price_cents ?? null,
    position: request.position ?? null,
  }
}

export function validateVariantPatch(
  before: VariantFields,
  patch: VariantPatch,
  context: VariantContext,
): VariantFields {
  const { price_cents = before.price_cents, gift_card = before.gift_card } = patch
  const { content, ...fields } = readParts({
    sku: () => (patch.sku === undefined ? before.sku : validateSku(patch.sku)),
    options: () => (patch.options === undefined ? before.options : validateOptions(patch.options)),
    image_asset_ref: () =>
      patch.image_asset_ref === undefined
        ? before.image_asset_ref
        : validateImage(patch.image_asset_ref, context),
    currency: () =>
      patch.currency === undefined ? before.currency : checkCurrency(patch.currency),
    content: () => validateContent(before, patch),
    gift_card: () => validateGiftCard(gift_card, price_cents, context),
    metadata: () =>
      patch.metadata === undefined ? before.metadata : validateMetadata(patch.metadata),
  })
  const { label = before.label, compare_at_price_cents = before.compare_at_price_cents } = patch
  return {
    ...fields,
    ...content,
    label,
    price_cents,
    compare_at_price_cents,
    position: patch.position ?? null,
  }
}
