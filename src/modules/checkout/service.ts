import { isDeepStrictEqual } from 'node:util'
import { awaitAll } from '../../db/await-all.ts'
import type { Db, TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { Limits } from '../../platform/limits.ts'
import type { SaleVariant } from '../catalog/schema.ts'
import * as catalog from '../catalog/service.ts'
import * as entitlements from '../entitlements/service.ts'
import * as inventory from '../inventory/service.ts'
import type { CheckoutCoupon } from '../marketing/schema.ts'
import * as marketing from '../marketing/service.ts'
import type { OrderChangeDeps } from '../order-changes/deps.ts'
import type { Attestation, ShipTo } from '../orders/schema.ts'
import { countPlaced } from '../orders/service.ts'
import * as pricing from '../pricing/service.ts'
import * as storeCredit from '../store-credit/service.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import { makeQuote } from './quote.ts'
import type { CheckoutRequest, Preview, PreviewRequest } from './schema.ts'
import { optionsOf, type SiteOptions } from './site-options.ts'

/** What a checkout needs, beside what every change of an order does. */
export interface CheckoutDeps extends OrderChangeDeps {
  limits: Limits
  keys: OrderChangeDeps['keys'] & {
    giftCards: { lookup: Buffer }
    customers: Buffer
    quote: Buffer
  }
}

type Wanted = Pick<
  CheckoutRequest,
  'items' | 'coupon_code' | 'shipping' | 'tax' | 'expedited' | 'subscribe'
> & { customer_ref: string; shipping_address?: CheckoutRequest['shipping_address'] }

/** A line that is priced, with all that an order keeps of it. */
export type SaleLine = SaleVariant & { quantity: number; list_price_cents: number } & Awaited<
    ReturnType<typeof priceLines>
  >['lines'][number]

export interface Sale {
  store: Store
  options: SiteOptions
  coupon: CheckoutCoupon | null
  priced: Awaited<ReturnType<typeof priceLines>>
  features: ReadonlySet<string>
}

/** What a tax provider was asked, and has answered. */
export interface Taxed {
  question: pricing.TaxQuestion
  tax: pricing.Tax
}

/** The cart is no longer what the tax was worked out for. */
export class StaleTaxError extends Error {}

/**
 * Reads all that a price depends on, in statements that travel together, and prices it. Refuses what
 * cannot be sold. Also within the transaction that reserves it, so that what is priced is what is
 * there.
 */
export async function readSale(
  db: Db,
  { tax }: Pick<CheckoutDeps, 'tax'>,
  wanted: Wanted,
  taxed?: Taxed,
): Promise<Sale> {
  const ids = [...new Set(wanted.items.map(({ variant_id }) => variant_id.toLowerCase()))]
  const code = wanted.coupon_code ?? ''
  const [store, variants, groups, coupon, ordersBefore, states] = await Promise.all([
    stores.findLive(db),
    catalog.variantsForSale(db, ids),
    wanted.customer_ref === '' ? null : pricing.groupPrices(db, wanted.customer_ref, ids),
    code === '' ? null : marketing.findForCheckout(db, code, wanted.customer_ref),
    code === '' ? 0 : countPlaced(db, wanted.customer_ref),
    entitlements.listStates(db),
  ])
  if (store === null) throw new ApiError('unknown_tenant')
  const features = new Set(
    states.filter((each) => each.state === 'on').map((each) => each.feature_key),
  )
  const options = await optionsOf(db, store.activeVersion)
  const context = {
    now: new Date(db.clock.now()),
    customer_used: coupon?.customer_used ?? 0,
    orders_before: ordersBefore,
    currency: store.currency,
  }
  const usable = features.has('pricing_groups') ? groups : null
  const lines = priceableLines(wanted, variants, usable)
  const terms = { coupon: code === '' ? null : (coupon ?? ('unknown' as const)), context }
  const priced = await priceLines(tax, wanted, lines, terms, taxed)
  return { store, options, coupon, priced, features }
}

/**
 * A request of whose address and statement only that is left which they have by right. Whatever else was
 * sent with them may be anything, somebody's name or card, and is not kept.
 */
export function readRequest(request: CheckoutRequest): CheckoutRequest {
  const { shipping_address: to, attestation } = request
  return {
    ...request,
    shipping_address: to ? addressOf(to) : null,
    attestation: attestation ? attestationOf(attestation) : null,
  }
}

const addressOf = ({ label, line1, line2 = null, city, state, postal_code, country }: ShipTo) => {
  return { label, line1, line2, city, state, postal_code, country }
}

const attestationOf = ({ statement_version, accepted_at }: Attestation) => {
  return { statement_version, accepted_at }
}

/** What is no id is not repeated: it may be anything, such as the number of a card. */
const noVariant = (variant_id: string) =>
  new ApiError('variant_not_found', { body: isUuid(variant_id) ? { variant_id } : {} })

/** The lines of a cart with what the catalog says of them. A variant may stand in several lines. */
function priceableLines(
  { items, subscribe = false }: Wanted,
  variants: readonly SaleVariant[],
  groups: pricing.GroupPrices | null,
) {
  const byId = new Map(variants.map((variant) => [variant.variant_id, variant]))
  const lines = items.map(({ variant_id, quantity }) => {
    const variant = byId.get(variant_id.toLowerCase())
    if (variant === undefined) throw noVariant(variant_id)
    return {
      ...variant,
      quantity,
      list_price_cents: variant.price_cents,
      group_prices: groups === null ? [] : pricing.pricesOf(groups, variant),
      subscription_price_cents: variant.is_subscription ? variant.subscription_price_cents : null,
      is_subscription: subscribe && variant.is_subscription,
    }
  })
  if (pricing.singleCurrency(lines) === null) throw new ApiError('currency_mismatch')
  return lines
}

async function priceLines(
  provider: pricing.TaxProvider | null,
  wanted: Wanted,
  lines: ReturnType<typeof priceableLines>,
  {
    coupon,
    context,
  }: {
    coupon: CheckoutCoupon | 'unknown' | null
    context: Parameters<typeof pricing.price>[0]['coupon_context']
  },
  taxed?: Taxed,
) {
  const { shipping = null, tax: policy = null, expedited = false, subscribe = false } = wanted
  const currency = pricing.singleCurrency(lines) ?? ''
  const input = { lines, subscribe, currency, coupon, coupon_context: context, shipping, expedited }
  const untaxed = price({ ...input, tax: null })
  const question = {
    currency,
    lines: untaxed.lines.map((line) => ({
      variant_id: line.variant_id,
      quantity: line.quantity,
      amount_cents: line.line_total_cents - line.discount_cents,
    })),
    shipping_cents: untaxed.shipping_cents,
    ship_to: wanted.shipping_address ?? null,
  }
  if (taxed !== undefined && !isDeepStrictEqual(taxed.question, question)) throw new StaleTaxError()
  const tax = taxed?.tax ?? (await pricing.resolveTax(provider, policy, question))
  return { ...price({ ...input, ...tax }), taxed: { question, tax } }
}

/** Sums beyond what an order may have are the caller's mistake. */
function price<L extends pricing.PriceLine>(input: pricing.PriceInput<L>) {
  try {
    return pricing.price(input)
  } catch (error) {
    if (!(error instanceof pricing.PriceLimitError)) throw error
    const message =
      error.limit === 'line_quantity'
        ? 'must have at most 10,000 units of one variant'
        : 'must come to at most 100,000,000,000 cents'
    throw invalidBody('items', message)
  }
}

/** Whether a policy asks somebody over the network, who must not be waited for in a transaction. */
export const asksProvider = ({ tax }: Pick<Wanted, 'tax'>): boolean =>
  tax != null && tax.provider !== null && !['null', 'flat_rate'].includes(tax.provider)

/** Guests have none. */
const NO_CREDIT: ReadonlyMap<string, number> = new Map()

/** What a checkout would cost, by the same function. Holds nothing and promises nothing. */
export function preview(
  db: TenantDb,
  deps: CheckoutDeps,
  wanted: PreviewRequest,
): Promise<Preview> {
  const customer_ref = wanted.customer_ref ?? ''
  const request = { ...wanted, customer_ref }
  const ids = wanted.items.map(({ variant_id }) => variant_id.toLowerCase()).filter(isUuid)
  const show = async (tx: Db) => {
    const [sale, stock, credit] = await awaitAll([
      readSale(tx, deps, request),
      inventory.available(tx, ids),
      customer_ref === '' ? NO_CREDIT : storeCredit.availableByCurrency(tx, customer_ref),
    ])
    return shownPreview(db, deps, request, { sale, stock, credit })
  }
  if (asksProvider(wanted)) return show(db)
  return db.transaction('checkout: preview', show)
}

interface PreviewFacts {
  sale: Sale
  stock: ReadonlyMap<string, number | null>
  credit: ReadonlyMap<string, number>
}

function shownPreview(
  { tenant, clock }: Db,
  { keys }: CheckoutDeps,
  wanted: PreviewRequest,
  { sale: { priced }, stock, credit }: PreviewFacts,
): Preview {
  const quantities = new Map<string, number>()
  for (const { variant_id, quantity } of priced.lines) {
    quantities.set(variant_id, (quantities.get(variant_id) ?? 0) + quantity)
  }
  const { currency, total_cents } = priced
  return {
    items: priced.lines.map((line) => ({
      variant_id: line.variant_id,
      quantity: line.quantity,
      unit_price_cents: line.unit_price_cents,
      list_price_cents: line.list_price_cents,
      line_total_cents: line.line_total_cents,
      available:
        (quantities.get(line.variant_id) ?? 0) <=
        (stock.get(line.variant_id) ?? Number.POSITIVE_INFINITY),
    })),
    subtotal_cents: priced.subtotal_cents,
    discount_cents: priced.discount_cents,
    shipping_cents: priced.shipping_cents,
    tax_cents: priced.tax_cents,
    total_cents,
    currency,
    coupon: { code: wanted.coupon_code || null, ...priced.coupon },
    store_credit_available_cents: credit.get(currency) ?? 0,
    free_shipping_remaining_cents: priced.free_shipping_remaining_cents,
    quote_token: makeQuote({ key: keys.quote, clock }, { tenant, total_cents, currency }),
  }
}
