import { randomUUID } from 'node:crypto'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as fraud from '../fraud/service.ts'
import * as giftCards from '../gift-cards/money.ts'
import * as inventory from '../inventory/money.ts'
import * as coupons from '../marketing/money.ts'
import * as orders from '../orders/money.ts'
import * as orderReads from '../orders/service.ts'
import { type Gateway, listAttempts } from '../payments/service.ts'
import type { Tax } from '../pricing/service.ts'
import * as storeCredit from '../store-credit/money.ts'
import { type Facts, factsOf, requireAttested, requireGates } from './admission.ts'
import type { Begun, Placing } from './begun.ts'
import { pay, payByTenders, recall } from './pay.ts'
import { requireQuoted } from './quote.ts'
import { type Tender, writeOrder } from './reserve-money.ts'
import type { CheckoutRequest, Risk } from './schema.ts'
import { asksProvider, type CheckoutDeps, readSale, type Sale } from './service.ts'
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
  await deps.at?.('claimed')
  const facts = factsOf(deps, placing)
  const velocity = await measure(deps, db, facts)
  const tax = asksProvider(placing.request) ? await askTax(deps, db, placing) : undefined
  const order_number = (await orders.takeNumber(db)).last_number
  const begun = await db.transaction('checkout: reserve', (tx) =>
    reserve(tx, deps, claim, { ...placing, facts, velocity, order_number, ...(tax && { tax }) }),
  )
  if (begun.state === 'blocked') throw await block(deps, db, facts, begun)
  await deps.at?.('reserved')
  const outcome = await pay(deps, begun, placing.source)
  return conclude(deps, db, begun.claim, begun.order_id, outcome)
}

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
  const attempts = await listAttempts(db, order.id)
  const attempt = attempts.find(({ kind }) => kind === 'checkout')
  const risk = order.risk as Risk
  if (attempt === undefined) return conclude(deps, db, claim, order.id, payByTenders(risk))
  const gateway = await deps.payments.forStore(db, attempt.gateway)
  const outcome = await recall(deps, gateway, attempt, risk)
  return conclude(deps, db, claim, order.id, outcome, attempt)
}

async function measure(deps: CheckoutDeps, db: TenantDb, facts: Facts): Promise<number> {
  const share = await fraud.measureVelocity(deps.limits, db.tenant, facts, deps.velocityLimit)
  if (share <= 1) return share
  throw new ApiError('velocity_exceeded', { headers: { 'retry-after': '60' } })
}

/** A provider is asked before the transaction, about what it will most likely find. */
async function askTax(deps: CheckoutDeps, db: TenantDb, { request }: Placing): Promise<Tax> {
  return (await readSale(db, deps, request)).priced.taxed.tax
}

interface Reserving extends Placing {
  facts: Facts
  velocity: number
  order_number: number
  tax?: Tax
}

interface Blocked {
  state: 'blocked'
  ban_ids: string[]
}

async function reserve(
  tx: Tx,
  deps: CheckoutDeps,
  claim: idempotency.WonClaim,
  reserving: Reserving,
): Promise<Begun | Blocked> {
  const { request, source, facts, velocity, order_number } = reserving
  const order_id = randomUUID()
  const [sale, bans, gateway] = await Promise.all([
    readSale(tx, deps, request, reserving.tax),
    fraud.checkBans(tx, facts),
    deps.payments.forStore(tx),
    inventory.reserve(tx, order_id, request.items),
  ])
  if (bans.decision === 'block') return { state: 'blocked', ban_ids: bans.ban_ids }
  requireGates(request, sale)
  requireAttested(request, sale)
  requireCoupon(sale)
  const { total_cents, currency } = sale.priced
  if (request.quote_token) {
    const quoting = { key: deps.keys.quote, clock: deps.clock }
    requireQuoted(quoting, request.quote_token, { tenant: tx.tenant, total_cents, currency })
  }
  const tenders = await holdTenders(tx, deps, { order_id, request, sale })
  const due = total_cents - tenders.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  if (due > 0 && source === null)
    throw new ApiError('card_required', { body: { amount_due_cents: due } })
  const charge = due === 0 || source === null ? null : cardCharge(due, currency, gateway)
  const risk: Risk = { ban: bans.decision, ban_ids: bans.ban_ids, velocity }
  await deps.at?.('priced')
  const [held] = await Promise.all([
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
    sale.coupon !== null &&
      sale.priced.coupon.applied &&
      coupons.claim(tx, {
        coupon_id: sale.coupon.id,
        code_id: sale.coupon.code_id,
        order_id,
        customer_ref: request.customer_ref,
      }),
  ])
  return { state: 'begun', claim: held, order_id, order_number, risk, charge, request }
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

const cardCharge = (amount_cents: number, currency: string, gateway: Gateway) => ({
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
  { ban_ids }: Blocked,
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
