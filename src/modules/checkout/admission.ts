import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Facts } from '../fraud/schema.ts'
import { requireServedCountry } from '../orders/ship-to.ts'
import type { Changed } from '../orders/terms-schema.ts'
import type { Source } from '../payments/adapters/gateway.ts'
import { refuse } from './errors.ts'
import { requireQuoted } from './quote.ts'
import type { CheckoutRequest } from './schema.ts'
import type { CheckoutDeps, Sale } from './service.ts'

/** The payer of an order, and the means of payment. Of a stored card only the fingerprint is known. */
interface Payer {
  request: CheckoutRequest
  source: Source | null
  renewal?: { card: { fingerprint: string | null } }
}

/** Facts about the shopper for the fraud check. They come from the body, and prove no identity. */
export function factsOf({ keys }: CheckoutDeps, { request, source, renewal }: Payer): Facts {
  const card = source !== null && 'card' in source ? source.card : null
  return {
    customer_ref: request.customer_ref,
    email: request.email ?? null,
    ip: request.ip ?? null,
    card_fingerprint: card?.fingerprint(keys.fingerprint) ?? renewal?.card.fingerprint ?? null,
    card_bin: card?.bin ?? null,
    address: request.shipping_address,
  }
}

/** Whether a cart has a line to subscribe to. */
const wantsSubscription = ({
  items,
  subscribe,
}: Pick<CheckoutRequest, 'items' | 'subscribe'>): boolean =>
  items.some((item) => item.subscribe ?? subscribe ?? false)

/** Refuses a cart with options that the site or the add-ons do not offer, before anything is reserved. */
export function requireOffered(
  request: Pick<CheckoutRequest, 'apply_store_credit' | 'gift_card_code' | 'items' | 'subscribe'>,
  { options, features }: Pick<Sale, 'options' | 'features'>,
): void {
  const isOff = (feature: string) => refuse('feature_disabled', { body: { feature_key: feature } })
  if (request.apply_store_credit && !options.storeCredit) throw isOff('store_credit')
  if (request.gift_card_code && !options.giftCards) throw isOff('gift_cards')
  if (wantsSubscription(request) && !features.has('subscriptions')) throw isOff('subscriptions')
}

/** Refuses an address in a country that the store does not ship to. */
export const requireServed = (
  { shipping_address }: Pick<CheckoutRequest, 'shipping_address'>,
  { options: { countries } }: Pick<Sale, 'options'>,
): void => requireServedCountry('shipping_address', shipping_address, countries)

/**
 * Refuses a request that sends no policy if the store has one that cannot be read: it would ship for nothing, or sell
 * without tax. A storefront that sends its own policy knows its terms.
 */
export function requirePolicies(
  { shipping, tax }: Pick<CheckoutRequest, 'shipping' | 'tax'>,
  { options: { policyFaults } }: Pick<Sale, 'options'>,
): void {
  const faults = [...(shipping ? [] : policyFaults.shipping), ...(tax ? [] : policyFaults.tax)]
  if (faults.length === 0) return
  const issues = faults.map(({ path, message }) => ({
    path: `manifest${path.replaceAll('/', '.')}`,
    message,
  }))
  throw new ApiError('unreadable_policy', { body: { issues } })
}

/** Requires the store's statement to be accepted, in its current version. */
function requireAttested({ attestation }: CheckoutRequest, { options, features }: Sale): void {
  if (options.statementVersion === null || !features.has('funnel_gate')) return
  if (attestation?.statement_version === options.statementVersion) return
  throw refuse('attestation_required', {
    body: { statement_version: options.statementVersion },
  })
}

/**
 * Refuses an order that the store does not sell in this way or at this price. Returns the differences from the quote
 * that come from the address alone.
 */
export function requireAdmitted(
  { tenant, clock }: Db,
  { keys }: CheckoutDeps,
  request: CheckoutRequest,
  sale: Sale,
): Changed | null {
  requirePolicies(request, sale)
  requireOffered(request, sale)
  requireServed(request, sale)
  requireAttested(request, sale)
  requireCoupon(sale)
  if (!request.quote_token) return null
  return requireQuoted({ key: keys.quote, clock }, request.quote_token, tenant, sale)
}

/**
 * Refuses a renewal to a country that is not served, or in another currency than its shopper has agreed to. A renewal
 * needs neither the add-on nor a statement: its shopper has agreed before.
 */
export function requireRenewable(
  renewal: { currency: string },
  request: CheckoutRequest,
  sale: Sale,
): void {
  requireServed(request, sale)
  if (sale.priced.currency !== renewal.currency) throw new ApiError('currency_mismatch')
}

/** Refuses a coupon that does not apply: the shopper expects its discount. */
function requireCoupon({ priced }: Sale): void {
  if (priced.coupon.reason === null) return
  throw new ApiError('coupon_invalid', { body: { reason: priced.coupon.reason } })
}

/** Refuses a subscription without a charge to a card: only a charged card is stored for renewals. */
export function requireKeptCard({ priced }: Sale, charge: object | null): void {
  if (charge !== null || !priced.lines.some(({ is_subscription }) => is_subscription)) return
  throw refuse('subscription_card_required')
}
