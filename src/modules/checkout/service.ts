import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import type { SaleVariant } from '../catalog/schema.ts'
import * as catalog from '../catalog/service.ts'
import * as entitlements from '../entitlements/service.ts'
import type { CodeKeys } from '../gift-cards/card-code.ts'
import { FEATURE as GIFT_CARDS } from '../gift-cards/service.ts'
import type { CheckoutCoupon } from '../marketing/schema.ts'
import * as marketing from '../marketing/service.ts'
import type { OrderChangeDeps } from '../order-changes/deps.ts'
import { countPlaced } from '../orders/service.ts'
import { knownAddress } from '../orders/ship-to.ts'
import type { Attestation } from '../orders/terms-schema.ts'
import type { CouponContext, CouponTerms, DiscountTerms } from '../pricing/coupon.ts'
import { type GroupPrices, groupPrices, pricesOf } from '../pricing/groups.ts'
import { PriceLimitError, priceGoods, priceOrder, singleCurrency } from '../pricing/price.ts'
import {
  resolveTax,
  type Tax,
  type TaxProvider,
  type TaxQuestion,
  taxQuestion,
} from '../pricing/tax.ts'
import { resolveShipping } from '../shipping/resolve.ts'
import type { ShippingTerms } from '../shipping/schema.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import type { CheckoutPorts } from './ports.ts'
import type { CheckoutRequest } from './schema.ts'
import { optionsOf, type SiteOptions } from './site-options.ts'

/** What a checkout needs in addition to every change of an order. */
export interface CheckoutDeps extends OrderChangeDeps, Pick<CheckoutPorts, 'onRenewal'> {
  limits: Limits
  keys: OrderChangeDeps['keys'] & {
    giftCards: CodeKeys
    customers: Buffer
    quote: Buffer
    /** Verifies when the link of an affiliate was followed. */
    touch: Buffer
  }
}

/** The part of a request that decides the price. */
type PriceRequest = Pick<CheckoutRequest, 'items' | 'coupon_code' | 'tax' | 'subscribe'> &
  ShippingTerms & {
    customer_ref: string
    shipping_address?: CheckoutRequest['shipping_address']
    kept?: KeptTerms
  }

/** Terms that hold whatever is sent: those that a subscription was sold by, or that a merchant exchanges by. */
export interface KeptTerms {
  shipping: ShippingTerms
  /** Null: the price of the catalog. */
  unit_price_cents: number | null
  /** Whether that price has the tax inside. Null: as the site says now. */
  prices_include_tax: boolean | null
  /** A coupon that recurs. Its period and its limits are not checked again. */
  coupon: DiscountTerms | null
}

/** A priced line, with everything that an order stores of it. */
export type SaleLine = SaleVariant & { quantity: number; list_price_cents: number } & Awaited<
    ReturnType<typeof priceLines>
  >['lines'][number]

/** A cart with its price, and what the store offers. */
export interface Sale {
  store: Store
  options: SiteOptions
  coupon: CheckoutCoupon | null
  priced: Awaited<ReturnType<typeof priceLines>>
  features: ReadonlySet<string>
}

/** A question to a tax provider, and its response. */
export interface Taxed {
  question: TaxQuestion
  tax: Tax
}

/** The cart has changed since its tax was computed. */
export class StaleTaxError extends Error {}

/**
 * Reads everything that a price depends on, in statements that are sent together, and prices the
 * cart. Refuses a cart that cannot be sold. Also runs in the transaction that reserves the order,
 * so that the price is that of the rows it reserves.
 */
export async function readSale(
  db: Db,
  { tax }: Pick<CheckoutDeps, 'tax'>,
  request: PriceRequest,
  taxed?: Taxed,
): Promise<Sale> {
  const ids = [...new Set(request.items.map(({ variant_id }) => variant_id.toLowerCase()))]
  const code = request.coupon_code ?? ''
  const [store, variants, groups, coupon, ordersBefore, states] = await Promise.all([
    stores.findLive(db),
    catalog.variantsForSale(db, ids),
    request.customer_ref === '' ? null : groupPrices(db, request.customer_ref, ids),
    code === '' ? null : marketing.findForCheckout(db, code, request.customer_ref),
    code === '' ? 0 : countPlaced(db, request.customer_ref),
    entitlements.listStates(db),
  ])
  if (store === null) throw new ApiError('unknown_tenant')
  const features = new Set(
    states.filter((each) => each.state === 'on').map((each) => each.feature_key),
  )
  const site = await optionsOf(db, store.activeVersion)
  const pricesIncludeTax = request.kept?.prices_include_tax ?? site.pricesIncludeTax
  const options = { ...site, pricesIncludeTax }
  const context = {
    now: new Date(db.clock.now()),
    customer_used: coupon?.customer_used ?? 0,
    orders_before: ordersBefore,
    currency: store.currency,
  }
  const usable = features.has('pricing_groups') ? groups : null
  const lines = priceableLines(request, variants, { groups: usable, features })
  requireGiftCards(request, lines, features)
  const priced = await priceLines(tax, request, lines, {
    coupon: code === '' ? keptCoupon(request) : (coupon ?? ('unknown' as const)),
    context,
    taxed,
    prices_include_tax: pricesIncludeTax,
  })
  return { store, options, coupon, priced, features }
}

/** A coupon that a renewal keeps, as a coupon without limits. */
const keptCoupon = ({ kept }: PriceRequest): CouponTerms | null =>
  kept?.coupon ? { ...UNLIMITED, ...kept.coupon } : null

const UNLIMITED = {
  status: 'active',
  starts_at: null,
  ends_at: null,
  usage_limit: null,
  usage_limit_per_customer: null,
  first_order_only: false,
  used_count: 0,
} as const

/**
 * The request with only the known members of its address and its attestation. Other members may be
 * anything, such as a name or a card number, and are not stored.
 */
export function readRequest(request: CheckoutRequest): CheckoutRequest {
  const { shipping_address: to, attestation } = request
  return {
    ...request,
    shipping_address: to ? knownAddress(to) : null,
    attestation: attestation ? attestationOf(attestation) : null,
  }
}

const attestationOf = ({ statement_version, accepted_at }: Attestation) => {
  return { statement_version, accepted_at }
}

/**
 * The refusal of an unknown variant. A text that is not an id is not repeated in it: it may be anything, such as a card
 * number.
 */
const noVariant = (variant_id: string) =>
  new ApiError('variant_not_found', { body: isUuid(variant_id) ? { variant_id } : {} })

/** The lines of a cart with the catalog's facts about them. A variant may be in several lines. */
function priceableLines(
  { items, subscribe = false, kept }: PriceRequest,
  variants: readonly SaleVariant[],
  { groups, features }: { groups: GroupPrices | null; features: ReadonlySet<string> },
) {
  const saves = features.has('subscribe_and_save')
  const byId = new Map(variants.map((variant) => [variant.variant_id, variant]))
  const lines = items.map(({ variant_id, quantity, subscribe: ofLine }, at) => {
    const variant = byId.get(variant_id.toLowerCase())
    if (variant === undefined) throw noVariant(variant_id)
    const canRepeat = variant.is_subscription && !variant.gift_card
    if (ofLine && !canRepeat) throw notSubscribable(at)
    const is_subscription = (ofLine ?? subscribe) && canRepeat
    return {
      ...variant,
      quantity,
      list_price_cents: variant.price_cents,
      group_prices: groups === null ? [] : pricesOf(groups, variant),
      // Without the add-on a subscription is sold at the price of a single purchase. An existing subscription keeps
      // its own price.
      subscription_price_cents:
        (saves || kept !== undefined) && is_subscription ? variant.subscription_price_cents : null,
      locked_price_cents: kept?.unit_price_cents ?? null,
      is_subscription,
    }
  })
  if (singleCurrency(lines) === null) throw new ApiError('currency_mismatch')
  return lines
}

const notSubscribable = (at: number) =>
  invalidBody(`items.${at}.subscribe`, 'must be left out: the variant cannot be subscribed to')

/** Refuses gift cards while the add-on is off, and a recipient for a line that is not a gift card. */
function requireGiftCards(
  { items }: PriceRequest,
  lines: readonly { gift_card: boolean }[],
  features: ReadonlySet<string>,
): void {
  const wrong = items.findIndex(({ gift_card }, at) => gift_card && !lines[at]?.gift_card)
  if (wrong >= 0) {
    throw invalidBody(`items.${wrong}.gift_card`, 'must be left out: the variant is no gift card')
  }
  if (lines.some(({ gift_card }) => gift_card) && !features.has(GIFT_CARDS)) {
    throw new ApiError('feature_not_enabled', { body: { feature_key: GIFT_CARDS } })
  }
}

interface PriceTerms {
  coupon: CouponTerms | 'unknown' | null
  context: CouponContext
  taxed: Taxed | undefined
  prices_include_tax: boolean
}

async function priceLines(
  provider: TaxProvider | null,
  request: PriceRequest,
  lines: ReturnType<typeof priceableLines>,
  { coupon, context, taxed, prices_include_tax }: PriceTerms,
) {
  const { tax: policy = null, shipping_address: ship_to = null, kept } = request
  const currency = singleCurrency(lines) ?? ''
  // Only a subscribed line has a subscription price.
  const bought = { lines, subscribe: true, currency, coupon, coupon_context: context }
  const goods = withinLimits(() => priceGoods(bought))
  const shipping = resolveShipping({ sent: request, kept: kept?.shipping }, goods)
  const price = (tax: Tax) =>
    withinLimits(() => priceOrder(goods, { shipping, prices_include_tax, ...tax }))
  const question = taxQuestion(price({ tax: null }), { prices_include_tax, ship_to })
  if (taxed !== undefined && !isDeepStrictEqual(taxed.question, question)) throw new StaleTaxError()
  // Gift cards are not taxed, so that no provider is asked about a cart of them alone.
  const isTaxed = question.lines.length > 0
  const tax = taxed?.tax ?? (isTaxed ? await resolveTax(provider, policy, question) : { tax: null })
  return { ...price(tax), shipping_terms: shipping.terms, taxed: { question, tax } }
}

/** The member of the request that is beyond a limit of an order. */
const LIMITED_MEMBERS: Record<PriceLimitError['limit'], string> = {
  line_quantity: 'items',
  shipping: 'shipping',
  tax: 'tax',
  order_total: 'items',
}

/** Refuses a sum above the limits of an order: it is the caller's mistake. */
function withinLimits<T>(price: () => T): T {
  try {
    return price()
  } catch (error) {
    if (!(error instanceof PriceLimitError)) throw error
    const message =
      error.limit === 'line_quantity'
        ? 'must have at most 10,000 units of one variant'
        : 'must come to at most 100,000,000,000 cents'
    throw invalidBody(LIMITED_MEMBERS[error.limit], message)
  }
}

/** Whether the tax policy asks a provider over the network, which no transaction may wait for. */
export const asksProvider = ({ tax }: Pick<PriceRequest, 'tax'>): boolean =>
  tax != null && tax.provider !== null && !['null', 'flat_rate'].includes(tax.provider)
