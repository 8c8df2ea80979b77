import { awaitAll, awaitLater } from '../../db/await-all.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { WonClaim } from '../../platform/idempotency.ts'
import { requireRoom } from '../entitlements/limits.ts'
import { recordBlock, requireWithinOwn, requireWithinVelocity } from '../fraud/admission.ts'
import type { BanVerdict, Facts } from '../fraud/schema.ts'
import * as fraud from '../fraud/service.ts'
import { ADVANCED, rulesOf } from '../fraud/settings.ts'
import * as giftCards from '../gift-cards/money.ts'
import { recordPurchases } from '../gift-cards/purchase-money.ts'
import { readPurchases } from '../gift-cards/purchases.ts'
import * as orderStock from '../inventory/order-stock.ts'
import * as redemptions from '../marketing/redemptions.ts'
import type { Reach } from '../operations/service.ts'
import type { NewCharge, WaitingOrder } from '../orders/schema.ts'
import type { Changed, OrderTerms, Risk } from '../orders/terms-schema.ts'
import { insertWaiting, returnOrderNumber, takeOrderNumber } from '../orders/write-order.ts'
import type { Gateway, Source } from '../payments/adapters/gateway.ts'
import * as attempts from '../payments/attempts.ts'
import type { GatewayName } from '../payments/schema.ts'
import { termsForOrder } from '../pricing/coupon.ts'
import * as storeCredit from '../store-credit/money.ts'
import { factsOf, requireAdmitted, requireKeptCard, requireRenewable } from './admission.ts'
import type { CardCharge } from './pay-order.ts'
import { referralOf } from './referral.ts'
import type { CheckoutRequest } from './schema.ts'
import {
  asksProvider,
  type CheckoutDeps,
  type KeptTerms,
  readSale,
  type Sale,
  StaleTaxError,
  type Taxed,
} from './service.ts'

/**
 * Reserves an order: prices it, takes stock, coupon and balances, and writes it as
 * `pending_payment`.
 */

/** A checkout's request with what the route has read from it. */
export interface PlaceRequest {
  request: CheckoutRequest
  /** Null if the request has no card. */
  source: Source | null
  /** Set for a renewal alone, which no shopper asks for. */
  renewal?: Renewal
}

/** The charge of one cycle of a subscription. */
export interface Renewal {
  subscription_id: string
  cycle: number
  /** The key of its order. The key of its operation may be that of a merchant who charges early. */
  key: string
  kept: KeptTerms
  /** The currency that the subscription was sold in. */
  currency: string
  /** The gateway that stores the card. */
  gateway: GatewayName
  card: { brand: string | null; last4: string | null; fingerprint: string | null }
  /** Whether units that are not in stock are backordered. */
  isBackordered: boolean
  /** Marks the cycle as being charged, in the transaction that writes its order. */
  begin: (tx: Tx, order: { order_id: string; total_cents: number }) => Promise<void>
}

/** An order that waits for its payment, and its charge. */
interface Reserved {
  claim: WonClaim
  waiting: WaitingOrder
  risk: Risk
  /** Null: the other tenders cover the total. */
  charge: CardCharge | null
}

interface Start {
  claim: WonClaim
  reach: Reach
}

interface Reserving extends PlaceRequest {
  facts: Facts
  velocity: number
  order_number: number
  /** The response of a tax provider about the cart; undefined if none is asked. */
  taxed?: Taxed | undefined
}

/**
 * Reserves the order. A tax provider is asked before the transaction, about the cart that the transaction
 * will most likely find, and again when it finds another.
 */
export async function reserveOrder(
  deps: CheckoutDeps,
  db: TenantDb,
  start: Start,
  placing: PlaceRequest,
): Promise<Reserved> {
  const facts = factsOf(deps, placing)
  // Attempts count against shoppers who type; a renewal is made by the platform.
  const velocity = placing.renewal ? 0 : await requireWithinVelocity(deps, db, facts)
  const order_number = await takeOrderNumber(db)
  const reserving = { ...placing, facts, velocity, order_number }
  try {
    return await reserveTaxed(deps, db, start, reserving)
  } catch (error) {
    // Only a refusal proves that no order has the number: a lost commit may have written one.
    if (error instanceof ApiError || error instanceof BlockedError)
      await returnOrderNumber(db, order_number)
    if (!(error instanceof BlockedError)) throw error
    throw placing.renewal
      ? new ApiError('fraud_rejected')
      : await recordBlock(deps, db, facts, { order_id: null, ban_ids: error.ban_ids })
  }
}

const reserveTaxed = (
  deps: CheckoutDeps,
  db: TenantDb,
  start: Start,
  reserving: Reserving,
): Promise<Reserved> =>
  withTax(deps, db, pricedRequest(reserving), (taxed) =>
    db.transaction('checkout: begin', (tx) => reserve(tx, deps, start, { ...reserving, taxed })),
  )

/** Runs a function that reserves a cart, with the response of the tax provider if one is asked. */
export async function withTax<T>(
  deps: CheckoutDeps,
  db: TenantDb,
  request: Parameters<typeof readSale>[2],
  run: (taxed: Taxed | undefined) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const taxed = asksProvider(request)
      ? (await readSale(db, deps, request)).priced.taxed
      : undefined
    try {
      return await run(taxed)
    } catch (error) {
      if (!(error instanceof StaleTaxError) || tries === TAX_TRIES_MAX) throw error
    }
  }
}

/** The request as it is priced. */
const pricedRequest = ({ request, renewal }: PlaceRequest) =>
  renewal === undefined ? request : { ...request, kept: renewal.kept }

/** How often a tax provider is asked about a cart that changes in between. */
const TAX_TRIES_MAX = 3

/** Rolls the transaction back that found the ban. */
class BlockedError extends Error {
  readonly ban_ids: string[]
  constructor(ban_ids: string[]) {
    super('the shopper is banned')
    this.ban_ids = ban_ids
  }
}

async function reserve(
  tx: Tx,
  deps: CheckoutDeps,
  { claim: { key }, reach }: Start,
  reserving: Reserving,
): Promise<Reserved> {
  const { request, source, renewal, facts, velocity, order_number, taxed } = reserving
  const order_id = newId()
  const reading = awaitAll([
    readSale(tx, deps, pricedRequest(reserving), taxed),
    fraud.checkBans(tx, facts),
    deps.payments.forStore(tx, renewal?.gateway),
  ])
  const stock = awaitLater(
    orderStock.reserve(tx, order_id, stockLines(request.items), renewal?.isBackordered),
  )
  const [sale, bans, gateway] = await reading
  if (bans.decision === 'block') throw new BlockedError(bans.ban_ids)
  const changed = renewal === undefined ? requireAdmitted(tx, deps, request, sale) : null
  if (renewal !== undefined) requireRenewable(renewal, request, sale)
  const { total_cents, currency } = sale.priced
  const tenders = await holdTenders(tx, deps, { order_id, request, sale })
  const due = total_cents - tenders.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  if (due > 0 && source === null)
    throw new ApiError('card_required', { body: { amount_due_cents: due } })
  const charge = due === 0 || source === null ? null : newCardCharge(due, currency, gateway)
  if (renewal === undefined) requireKeptCard(sale, charge)
  const risk = riskOf(deps, sale, { bans, velocity })
  await deps.at?.('priced')
  // Sent first: of two processes that charge one cycle, the second learns that here.
  const begun = awaitLater(renewal?.begin(tx, { order_id, total_cents }) ?? Promise.resolve())
  const writing = {
    order_id,
    order_number,
    key,
    sale,
    risk,
    tenders,
    charge,
    changed,
    placing: reserving,
  }
  const [, , claim, waiting] = await awaitAll([
    begun,
    stock,
    reach(tx, order_id),
    ...writeOrder(tx, deps, writing),
    claimCoupon(tx, order_id, request, sale),
  ])
  return { claim, waiting, risk, charge }
}

/** The facts about an attempt before its payment, with the store's own rules if it has any. */
function riskOf(
  { velocityLimit }: CheckoutDeps,
  { features }: Sale,
  { bans, velocity }: { bans: BanVerdict; velocity: number },
): Risk {
  const { decision: ban, ban_ids, settings } = bans
  if (settings === null || !features.has(ADVANCED)) return { ban, ban_ids, velocity }
  const share = requireWithinOwn(velocity, settings, velocityLimit)
  return { ban, ban_ids, velocity: share, rules: rulesOf(settings) }
}

/** Returns the lines that may have stock. A line whose variant is no id has none; pricing refuses it. */
export const stockLines = (items: CheckoutRequest['items']) =>
  items
    .filter(({ variant_id }) => isUuid(variant_id))
    .map(({ variant_id, quantity }) => ({ variant_id: variant_id.toLowerCase(), quantity }))

async function claimCoupon(
  tx: Tx,
  order_id: string,
  { customer_ref }: CheckoutRequest,
  { coupon, priced }: Sale,
): Promise<void> {
  if (coupon === null || !priced.coupon.applied) return
  const { id: coupon_id, code_id } = coupon
  const { discount_cents } = priced
  await redemptions.reserve(tx, { coupon_id, code_id, order_id, customer_ref, discount_cents })
}

/**
 * Holds store credit first, then the gift card: each up to its balance and the amount that is left to pay. Neither pays
 * for a gift card: an old balance would become a new one.
 */
async function holdTenders(
  tx: Tx,
  { keys }: CheckoutDeps,
  { order_id, request, sale }: { order_id: string; request: CheckoutRequest; sale: Sale },
): Promise<NewCharge[]> {
  const { currency, total_cents, gift_card_cents } = sale.priced
  const tenders: NewCharge[] = []
  let left = total_cents - gift_card_cents
  if (request.apply_store_credit && left > 0) {
    const hold = { customer_ref: request.customer_ref, currency, most_cents: left, order_id }
    const { amount_cents } = await storeCredit.holdUpTo(tx, hold)
    if (amount_cents > 0)
      tenders.push({ charge_id: newId(), tender: 'store_credit', amount_cents, currency })
    left -= amount_cents
  }
  if (request.gift_card_code) {
    const hold = { code: request.gift_card_code, currency, most_cents: left, order_id }
    const { gift_card_id, last4, amount_cents } = await giftCards.holdUpTo(tx, keys.giftCards, hold)
    if (amount_cents > 0) {
      tenders.push({
        charge_id: newId(),
        tender: 'gift_card',
        amount_cents,
        currency,
        gift_card_id,
        gift_card_last4: last4,
      })
    }
  }
  return tenders
}

const newCardCharge = (amount_cents: number, currency: string, gateway: Gateway): CardCharge => ({
  attempt_id: newId(),
  amount_cents,
  currency,
  gateway,
})

interface Writing {
  order_id: string
  order_number: number
  key: string
  sale: Sale
  risk: Risk
  tenders: readonly NewCharge[]
  charge: CardCharge | null
  changed?: Changed | null
  placing: PlaceRequest
  /** By default `checkout`. */
  source?: 'exchange'
}

/** Writes all rows of the order, in statements that are sent together. */
export function writeOrder(
  tx: Tx,
  { keys }: CheckoutDeps,
  writing: Writing,
): [Promise<WaitingOrder>, Promise<unknown>, Promise<unknown>] {
  const { order_id, sale, tenders, charge, placing } = writing
  const items = sale.priced.lines.map((line) => ({ ...line, id: newId() }))
  const referral = readReferral(tx, keys, writing)
  const charges = charge === null ? tenders : [...tenders, rowOfCard(charge, placing, keys)]
  return [
    insertWaiting(tx, newOrder(writing, referral), items, charges),
    charge === null ? Promise.resolve() : beginAttempt(tx, order_id, charge, placing),
    writePurchases(tx, order_id, items, writing),
  ]
}

type NewLine = Sale['priced']['lines'][number] & { id: string }

/** Stores the recipients of the gift cards of an order. A cart without gift cards costs no statement. */
async function writePurchases(
  tx: Tx,
  order_id: string,
  items: readonly NewLine[],
  { placing: { request }, sale }: Writing,
): Promise<void> {
  const lines = items.flatMap(({ id, quantity, unit_price_cents, gift_card }, index) => {
    const recipient = request.items[index]?.gift_card ?? null
    const line = { order_item_id: id, quantity, amount_cents: unit_price_cents, index, recipient }
    return gift_card ? [line] : []
  })
  if (lines.length === 0) return
  const { email = null } = request
  const { time_zone } = sale.store
  const purchases = readPurchases(tx, lines, { email, time_zone })
  const cards = purchases.reduce((sum, { quantity }) => sum + quantity, 0)
  // Before the payment: a paid order must have its cards.
  await requireRoom(tx, 'gift_cards', cards)
  await recordPurchases(tx, order_id, purchases)
}

function rowOfCard(
  charge: CardCharge,
  { source, renewal }: PlaceRequest,
  keys: CheckoutDeps['keys'],
): NewCharge {
  const card = source !== null && 'card' in source ? source.card : null
  const known = card === null ? renewal?.card : undefined
  return {
    charge_id: charge.attempt_id,
    tender: 'card',
    amount_cents: charge.amount_cents,
    currency: charge.currency,
    gateway: charge.gateway.name,
    card_brand: card?.brand ?? known?.brand ?? null,
    card_last4: card?.last4 ?? known?.last4 ?? null,
    card_fingerprint: card?.fingerprint(keys.fingerprint) ?? known?.fingerprint ?? null,
  }
}

const beginAttempt = (tx: Tx, order_id: string, charge: CardCharge, { renewal }: PlaceRequest) =>
  attempts.beginAttempt(tx, {
    id: charge.attempt_id,
    order_id,
    kind: renewal === undefined ? 'checkout' : 'renewal',
    gateway: charge.gateway.name,
    amount_cents: charge.amount_cents,
    currency: charge.currency,
    charge_id: charge.attempt_id,
  })

/** Reads the referral code of an order, and where the code came from. */
function readReferral(
  { tenant }: Tx,
  { touch: touchKey }: CheckoutDeps['keys'],
  { placing: { request, renewal }, sale, source }: Writing,
) {
  const follows = renewal === undefined ? (source ?? null) : 'subscription'
  return referralOf({ tenant, touchKey, request, sale, follows })
}

function newOrder(
  { order_id, order_number, key, sale, risk, changed, placing, source }: Writing,
  referral: ReturnType<typeof readReferral>,
) {
  const { request, renewal } = placing
  const { priced, store } = sale
  // A renewal starts no subscription: it belongs to one.
  const subscriptions = renewal === undefined ? priced.lines.flatMap(subscriptionOf) : []
  const pricing: OrderTerms = {
    ...priced.shipping_terms,
    tax: request.tax ?? null,
    coupon: couponTerms(sale, renewal),
    ...(sale.coupon?.recurring && priced.coupon.applied && { coupon_recurs: true as const }),
    subscribe: priced.lines.some(({ is_subscription }) => is_subscription),
    attestation: request.attestation ?? null,
    ...(changed && { changed }),
    ...(referral !== null && { referral: referral.evidence }),
    subscriptions,
    ...(subscriptions.length > 0 && { time_zone: store.time_zone }),
  }
  return {
    id: order_id,
    order_number,
    customer_ref: request.customer_ref,
    person_id: request.person_id?.toLowerCase() ?? null,
    // In the spelling of the merchant; shoppers type it in any case.
    coupon_code: priced.coupon.applied ? (sale.coupon?.code ?? null) : null,
    subtotal_cents: priced.subtotal_cents,
    gift_card_cents: priced.gift_card_cents,
    discount_cents: priced.discount_cents,
    shipping_cents: priced.shipping_cents,
    tax_cents: priced.tax_cents,
    total_cents: priced.total_cents,
    prices_include_tax: sale.options.pricesIncludeTax,
    currency: priced.currency,
    idempotency_key: renewal?.key ?? key,
    ship_to: request.shipping_address ? { line2: null, ...request.shipping_address } : null,
    email: request.email ?? null,
    ip: request.ip ?? null,
    customer_name: nameOf(request),
    referral_code: referral?.code ?? null,
    source: source ?? sourceOf(renewal),
    pricing,
    risk,
    subscription_id: renewal?.subscription_id ?? null,
    subscription_cycle: renewal?.cycle ?? null,
  }
}

/** The terms of the coupon that was applied; null without one. */
function couponTerms({ coupon, priced }: Sale, renewal: Renewal | undefined) {
  if (!priced.coupon.applied) return null
  return coupon === null ? (renewal?.kept.coupon ?? null) : termsForOrder(coupon, priced.lines)
}

const sourceOf = (renewal: Renewal | undefined) =>
  renewal === undefined ? ('checkout' as const) : ('subscription_renewal' as const)

/** The interval of a subscribed line, as its product has it now. */
function subscriptionOf(
  line: Sale['priced']['lines'][number],
): NonNullable<OrderTerms['subscriptions']> {
  const { variant_id, is_subscription, subscription_interval, subscription_interval_count } = line
  if (!is_subscription || subscription_interval === null) return []
  const interval_count = subscription_interval_count ?? 1
  return [{ variant_id, interval: subscription_interval, interval_count }]
}

/** Returns the name of the shopper. The label of an address does not count: it may say "Home". */
const nameOf = ({ name, shipping_address }: CheckoutRequest): string | null =>
  name?.trim() || shipping_address?.name?.trim() || null
