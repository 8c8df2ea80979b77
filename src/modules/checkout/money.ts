import { randomUUID } from 'node:crypto'
import { allOf, besides } from '../../db/all-of.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as fraud from '../fraud/service.ts'
import * as giftCards from '../gift-cards/money.ts'
import * as inventory from '../inventory/money.ts'
import * as coupons from '../marketing/money.ts'
import * as orders from '../orders/money.ts'
import * as orderReads from '../orders/service.ts'
import * as payments from '../payments/service.ts'
import * as storeCredit from '../store-credit/money.ts'
import { type Facts, factsOf, requireAttested, requireGates } from './admission.ts'
import type { Begun, Placing } from './begun.ts'
import { type MarkUndone, pay, payByTenders, recall } from './pay.ts'
import { requireQuoted } from './quote.ts'
import { type Tender, writeOrder } from './reserve-money.ts'
import type { CheckoutRequest, Risk } from './schema.ts'
import {
  asksProvider,
  type CheckoutDeps,
  readSale,
  type Sale,
  StaleTaxError,
  type Taxed,
} from './service.ts'
import { conclude } from './settle-money.ts'

/** The recovery point at which an order waits for its payment. */
export const RESERVED = 'reserved'

/**
 * Places an order, in three steps:
 *
 *   reserve  (transaction)  price, take stock and tenders, write pending_payment
 *   pay      (network)      ask the gateway, under a reference of our own
 *   settle   (transaction)  post the ledger, mark placed, write the event, keep the answer
 *
 * No transaction is open across the network. A crash between two steps leaves the order at the last
 * step that committed; whoever takes the claim up asks the gateway about that same reference.
 */
export async function place(
  deps: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  placing: Placing,
): Promise<idempotency.Answer> {
  const since = deps.clock.now()
  await deps.at?.('claimed')
  const facts = factsOf(deps, placing)
  const velocity = await measure(deps, db, facts)
  const order_number = (await orders.takeNumber(db)).last_number
  const begun = await begin(deps, db, claim, { ...placing, facts, velocity, order_number })
  await deps.at?.('reserved')
  const still = async () => {
    if (deps.clock.now() - since > SURE_MS) await idempotency.renew(db, begun.claim)
  }
  const markUndone = undoing(db, still)
  const outcome = await pay(deps, begun, placing.source, { still, markUndone })
  return conclude(deps, db, begun.claim, outcome, { waiting: begun.waiting })
}

/**
 * For so long nobody takes a claim over, and no statement is spent on asking whether it is ours. What
 * a machine sends whose clock stood still with it is left to the watch of late approvals.
 */
const SURE_MS = (idempotency.CLAIM_LEASE_SECONDS * 1_000) / 2

/**
 * Takes up what somebody began and did not end: the same caller with the same key, or the worker.
 * What the gateway remembers of our reference decides.
 */
export async function resume(
  deps: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
): Promise<idempotency.Answer> {
  const order = await orderReads.get(db, claim.resourceId ?? '')
  const attempts = await payments.listAttempts(db, order.id)
  const attempt = attempts.find(({ kind }) => kind === 'checkout')
  const risk = order.risk as Risk
  if (attempt === undefined)
    return conclude(deps, db, claim, payByTenders(risk), { order_id: order.id })
  const sure = orders.whileHeld(deps, db, claim)
  const gateway = await sure.payments.forStore(db, attempt.gateway)
  const markUndone = undoing(db, () => idempotency.renew(db, claim))
  const outcome = await recall(deps, gateway, attempt, { risk, markUndone })
  return conclude(deps, db, claim, outcome, { order_id: order.id, asked: attempt })
}

/** By whoever still holds the claim: an intent of who was overtaken would undo what others captured. */
const undoing =
  (db: TenantDb, still: () => Promise<void>): MarkUndone =>
  async (attempt_id, reason) => {
    await still()
    await payments.markUndone(db, attempt_id, reason)
  }

async function measure(deps: CheckoutDeps, db: TenantDb, facts: Facts): Promise<number> {
  const share = await fraud.measureVelocity(deps.limits, db.tenant, facts, deps.velocityLimit)
  if (share <= 1) return share
  throw new ApiError('velocity_exceeded', { headers: { 'retry-after': '60' } })
}

/** How often a tax provider is asked about a cart that changes under its hands. */
const TAX_TRIES_MAX = 3

/**
 * Reserves the order. A tax provider is asked before the transaction, about what that will most
 * likely find; and again, when it has found something else.
 */
async function begin(
  deps: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  reserving: Reserving,
): Promise<Begun> {
  const { request } = reserving
  for (let tries = 1; ; tries++) {
    const taxed = asksProvider(request)
      ? (await readSale(db, deps, request)).priced.taxed
      : undefined
    try {
      return await db.transaction('checkout: reserve', (tx) =>
        reserve(tx, deps, claim, reserving, taxed),
      )
    } catch (error) {
      if (error instanceof BlockedError) throw await block(deps, db, reserving.facts, error)
      if (!(error instanceof StaleTaxError) || tries === TAX_TRIES_MAX) throw error
    }
  }
}

interface Reserving extends Placing {
  facts: Facts
  velocity: number
  order_number: number
}

/** Undoes the transaction that found the ban, with all that it holds. */
class BlockedError extends Error {
  readonly ban_ids: string[]
  constructor(ban_ids: string[]) {
    super('a ban stands against the shopper')
    this.ban_ids = ban_ids
  }
}

async function reserve(
  tx: Tx,
  deps: CheckoutDeps,
  claim: idempotency.WonClaim,
  reserving: Reserving,
  taxed?: Taxed,
): Promise<Begun> {
  const { request, source, facts, velocity, order_number } = reserving
  const order_id = randomUUID()
  const reading = allOf([
    readSale(tx, deps, request, taxed),
    fraud.checkBans(tx, facts),
    deps.payments.forStore(tx),
  ])
  const stock = besides(inventory.reserve(tx, order_id, stockLines(request.items)))
  const [sale, bans, gateway] = await reading
  if (bans.decision === 'block') throw new BlockedError(bans.ban_ids)
  requireAdmitted(tx, deps, request, sale)
  const { total_cents, currency } = sale.priced
  const tenders = await holdTenders(tx, deps, { order_id, request, sale })
  const due = total_cents - tenders.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  if (due > 0 && source === null)
    throw new ApiError('card_required', { body: { amount_due_cents: due } })
  const charge = due === 0 || source === null ? null : cardCharge(due, currency, gateway)
  const risk: Risk = { ban: bans.decision, ban_ids: bans.ban_ids, velocity }
  await deps.at?.('priced')
  const [, held, waiting] = await allOf([
    stock,
    idempotency.advance(tx, claim, RESERVED, order_id),
    ...writeOrder(tx, deps, {
      order_id,
      order_number,
      key: claim.key,
      sale,
      risk,
      tenders,
      charge,
      placing: reserving,
    }),
    claimCoupon(tx, order_id, request, sale),
  ])
  return { state: 'begun', claim: held, waiting, risk, charge, request }
}

/** What is no id is no variant, and refused as such by whoever prices it. */
const stockLines = (items: CheckoutRequest['items']) =>
  items
    .filter(({ variant_id }) => isUuid(variant_id))
    .map(({ variant_id, quantity }) => ({ variant_id: variant_id.toLowerCase(), quantity }))

/** Whether this may be bought here, in this way and at this price. */
function requireAdmitted(
  { tenant }: Tx,
  { keys, clock }: CheckoutDeps,
  request: CheckoutRequest,
  sale: Sale,
): void {
  requireGates(request, sale)
  requireAttested(request, sale)
  requireCoupon(sale)
  if (!request.quote_token) return
  const { total_cents, currency } = sale.priced
  requireQuoted({ key: keys.quote, clock }, request.quote_token, { tenant, total_cents, currency })
}

async function claimCoupon(
  tx: Tx,
  order_id: string,
  { customer_ref }: CheckoutRequest,
  { coupon, priced }: Sale,
): Promise<void> {
  if (coupon === null || !priced.coupon.applied) return
  const { id: coupon_id, code_id } = coupon
  await coupons.claim(tx, { coupon_id, code_id, order_id, customer_ref })
}

/** A coupon that does nothing is not sold without: the shopper expects its discount. */
function requireCoupon({ priced }: Sale): void {
  if (priced.coupon.reason === null) return
  throw new ApiError('coupon_invalid', { body: { reason: priced.coupon.reason } })
}

/** Store credit first, then the gift card: each as much as it has, up to what is left to pay. */
async function holdTenders(
  tx: Tx,
  { keys }: CheckoutDeps,
  { order_id, request, sale }: { order_id: string; request: CheckoutRequest; sale: Sale },
): Promise<Tender[]> {
  const { currency, total_cents } = sale.priced
  const tenders: Tender[] = []
  let left = total_cents
  if (request.apply_store_credit && left > 0) {
    const wanted = { customer_ref: request.customer_ref, currency, wanted_cents: left, order_id }
    const { amount_cents } = await storeCredit.holdUpTo(tx, wanted)
    if (amount_cents > 0)
      tenders.push({ charge_id: randomUUID(), tender: 'store_credit', amount_cents, currency })
    left -= amount_cents
  }
  if (request.gift_card_code) {
    const wanted = { code: request.gift_card_code, currency, wanted_cents: left, order_id }
    const { gift_card_id, last4, amount_cents } = await giftCards.holdUpTo(
      tx,
      keys.giftCards,
      wanted,
    )
    if (amount_cents > 0) {
      tenders.push({
        charge_id: randomUUID(),
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

const cardCharge = (amount_cents: number, currency: string, gateway: payments.Gateway) => ({
  attempt_id: randomUUID(),
  amount_cents,
  currency,
  gateway,
})

/** Refused before there is an order: the attempt is written down, and says nothing of the rule. */
async function block(
  deps: CheckoutDeps,
  db: TenantDb,
  facts: Facts,
  { ban_ids }: BlockedError,
): Promise<ApiError> {
  const { score, signals } = fraud.score({ ban: 'block' })
  await Promise.all([
    db.transaction('checkout: block', (tx) =>
      fraud.record(tx, { order_id: null, decision: 'rejected', score, signals, ban_ids }),
    ),
    fraud.noteFailure(deps.limits, db.tenant, facts),
  ])
  return new ApiError('fraud_rejected')
}
