import { awaitAll, awaitLater } from '../../db/await-all.ts'
import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import { sum } from '../../kernel/money.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as customers from '../customers/service.ts'
import type { FraudScore } from '../fraud/score.ts'
import * as fraud from '../fraud/service.ts'
import * as giftCards from '../gift-cards/money.ts'
import { cardEntries, issueBought } from '../gift-cards/purchase-money.ts'
import type { CardShare } from '../gift-cards/purchase-schema.ts'
import * as orderStock from '../inventory/order-stock.ts'
import * as ledger from '../ledger/money.ts'
import * as redemptions from '../marketing/redemptions.ts'
import { declinedPayment } from '../orders/declined.ts'
import { orderHeld, orderPlaced } from '../orders/events.ts'
import type { ChargeRow, OrderRow, WaitingOrder, WholeOrder } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forShopper, shownCharge } from '../orders/show.ts'
import { settled, writeSettled } from '../orders/write-order.ts'
import type { CardFacts, GatewayResult } from '../payments/adapters/schema.ts'
import * as attempts from '../payments/attempts.ts'
import { withoutTax } from '../pricing/price.ts'
import { termsIn } from '../shipping/terms.ts'
import * as storeCredit from '../store-credit/money.ts'
import * as subscriptions from '../subscriptions/service.ts'
import { earnCommission } from './commission-money.ts'
import { refuse } from './errors.ts'
import type { Outcome } from './pay-order.ts'
import { cardOf, decisionOf, placedFacts, requireWaiting, startedOf } from './placed-order.ts'
import { taxEstimate } from './quoted-renewals.ts'
import type { CheckoutDeps } from './service.ts'

/** Ends a checkout, in one transaction with its answer: the order is placed, held or failed. */

/** A paid order. It has no decision of the fraud check if a person released it. */
export type Paid = Unjudged<Extract<Outcome, { kind: 'captured' | 'covered' }>>
type Unjudged<O> = O extends { verdict: FraudScore }
  ? Omit<O, 'verdict'> & { verdict: FraudScore | null }
  : never

/** The order to settle. If `waiting` is null, it is read under its lock. */
interface Settling {
  order_id: string
  waiting: WaitingOrder | null
  paid: Paid
}

/**
 * Places a paid order: sells its stock, captures the holds, issues the gift cards it bought, posts the
 * ledger and emits the event.
 * `answer` stores the caller's answer in the same transaction.
 */
export async function settleOrder<T>(
  tx: Tx,
  deps: CheckoutDeps,
  { order_id, waiting, paid }: Settling,
  answer: (body: string, whole: WholeOrder) => Promise<T>,
): Promise<T> {
  const before = waiting ?? (await lockWaiting(tx, order_id))
  const at = isoNow(tx.clock)
  const card = cardOf('captured', paid.kind === 'captured' ? paid.result : null)
  const captured_cents = before.order.total_cents
  const facts = { payment: 'captured', captured_cents, placed_at: at, hold: null }
  const whole = settled(before, facts, card, at)
  const { order, charges } = whole
  // Locks are taken in one order everywhere: the order, its stock, its balances.
  const writing = awaitLater(
    writeSettled(tx, order, facts, {
      card,
      entry: { type: 'placed', actor: 'system', data: { captured_cents } },
      version: waiting?.version ?? null,
    }),
  )
  const stock = awaitLater(orderStock.sell(tx, order_id))
  const holds = await captureHolds(tx, order_id, charges)
  const cardFacts = paid.kind === 'captured' ? paid.result.card : null
  const earned = await earnCommission(tx, whole)
  const referral_code = earned.isAttributed ? order.referral_code : null
  const started = await startSubscriptions(tx, whole, { at, card: cardFacts, referral_code })
  // Before all other events: an order is placed first.
  const placed = awaitLater(orderPlaced.emit(tx, order, placedFacts(whole, started)))
  const bought = order.gift_card_cents > 0 ? await issueCards(tx, deps, order) : []
  const [, , stored] = await awaitAll([
    writing,
    placed,
    answer(answerBody(whole, started, 'accepted'), whole),
    ledger.postAll(tx, [saleJournal(order, { ...holds, bought }, charges), ...earned.journals]),
    paid.verdict !== null && fraud.record(tx, decisionOf(order, paid.verdict)),
    paid.kind === 'captured' && attempts.closeAttempt(tx, paid.attempt_id, paid.result),
    order.coupon_code !== null && redemptions.confirm(tx, { order_id }),
    customers.recordSeen(tx, deps.keys.customers, customerOf(order)),
    stock,
  ])
  if (order.subscription_id !== null)
    await deps.onRenewal(tx, { kind: 'paid', order, items: whole.items })
  return stored
}

/** Locks a waiting order, and reads it with its lines and charges. */
async function lockWaiting(tx: Tx, order_id: string): Promise<WholeOrder> {
  const [order, items, charges] = await awaitAll([
    orders.lock(tx, order_id),
    orders.listItems(tx, order_id),
    orders.listCharges(tx, order_id),
  ])
  requireWaiting(order)
  return { order, items, charges }
}

/** Captures the holds on balances. Store credit is locked first, here as everywhere. */
async function captureHolds(tx: Tx, order_id: string, charges: readonly ChargeRow[]) {
  // The charge of an exchange was captured by another order.
  const has = (kind: ChargeRow['tender']) =>
    charges.some(({ tender, moved_from }) => tender === kind && moved_from === null)
  const credits = has('store_credit') ? await storeCredit.captureHold(tx, { order_id }) : []
  const cards = has('gift_card') ? await giftCards.captureHold(tx, { order_id }) : []
  return { credits, cards }
}

/** Issues the gift cards that an order has bought. */
async function issueCards(tx: Tx, { keys }: CheckoutDeps, order: OrderRow): Promise<CardShare[]> {
  const bought = await issueBought(tx, keys.giftCards, order)
  const data = { count: bought.length, amount_cents: order.gift_card_cents }
  const entry = { type: 'gift_cards_issued', actor: 'system', data }
  await orders.addToTimeline(tx, order.id, entry)
  return bought
}

/** The balances that an order has paid with, and the gift cards that it has bought. */
interface Balances extends Awaited<ReturnType<typeof captureHolds>> {
  bought: readonly CardShare[]
}

/**
 * The journal of a sale: positive entries for tenders and the discount, negative ones for sales, shipping,
 * tax and the gift cards that are owed. Sales are without tax, which has its own entry. The ledger refuses
 * entries that do not sum to zero.
 */
function saleJournal(order: OrderRow, holds: Balances, charges: readonly ChargeRow[]) {
  const card = sum(
    charges
      .filter(({ tender, moved_from }) => tender === 'card' && moved_from === null)
      .map(({ captured_cents }) => captured_cents),
  )
  const moved = sum(
    charges
      .filter(({ moved_from }) => moved_from !== null)
      .map(({ captured_cents }) => captured_cents),
  )
  const sold = withoutTax(order)
  return {
    kind: 'order.placed',
    currency: order.currency,
    order_id: order.id,
    ref: order.id,
    isCounted: true,
    entries: [
      ...holds.credits.map(({ account_id, amount_cents }) => ({
        account: 'store_credit' as const,
        ref: account_id,
        amount_cents,
      })),
      ...holds.cards.map(({ gift_card_id, amount_cents }) => ({
        account: 'gift_card' as const,
        ref: gift_card_id,
        amount_cents,
      })),
      { account: 'card_clearing' as const, amount_cents: card },
      ...cardEntries(holds.bought, -1),
      { account: 'exchange' as const, amount_cents: moved },
      { account: 'sales' as const, amount_cents: -sold.sales_cents },
      { account: 'discount' as const, amount_cents: sold.discount_cents },
      { account: 'shipping_income' as const, amount_cents: -sold.shipping_cents },
      { account: 'tax_payable' as const, amount_cents: -sold.tax_cents },
    ],
  }
}

interface Start {
  at: string
  card: CardFacts | null
  /** The code of the affiliate who earns by the order, and by its renewals. */
  referral_code: string | null
}

/**
 * Starts the subscriptions of an order. A payment that was captured without a stored card, because
 * an operator decided it or the gateway's record does not show the card, buys this order alone: a
 * subscription that cannot be charged is not started, and the timeline says so.
 */
async function startSubscriptions(tx: Tx, { order, items, charges }: WholeOrder, start: Start) {
  const requested = startedOf(order, items)
  if (requested.length === 0) return []
  const origin = originOf(order, charges, start)
  if (origin.vault_id !== null) return subscriptions.start(tx, origin, requested)
  const data = { reason: 'card_not_stored', variant_ids: requested.map((each) => each.variant_id) }
  const entry = { type: 'subscription_not_started', actor: 'system', data }
  await orders.addToTimeline(tx, order.id, entry)
  return []
}

const customerOf = ({ customer_ref, person_id, email, customer_name }: OrderRow) => ({
  customer_ref,
  person_id,
  email,
  name: customer_name,
})

function originOf(
  order: OrderRow,
  charges: readonly ChargeRow[],
  { at, card, referral_code }: Start,
) {
  const paidBy = charges.find(({ tender }) => tender === 'card')
  const { time_zone = 'UTC', ...pricing } = order.pricing
  const { tax = null } = pricing
  return {
    order_id: order.id,
    customer_ref: order.customer_ref,
    person_id: order.person_id,
    currency: order.currency,
    at,
    time_zone,
    ship_to: order.ship_to,
    email: order.email,
    prices_include_tax: order.prices_include_tax,
    pricing: {
      ...termsIn(pricing),
      tax,
      ...taxEstimate({ ...order, tax }),
      ...(referral_code !== null && { referral_code }),
    },
    gateway: paidBy?.gateway ?? null,
    vault_id: paidBy?.vault_id ?? null,
    initial_txn_id: paidBy?.txn_id ?? null,
    card: card ?? paidBy?.card ?? null,
    card_fingerprint: paidBy?.card_fingerprint ?? null,
  }
}

const answerBody = (
  { order, items, charges }: WholeOrder,
  started: Awaited<ReturnType<typeof subscriptions.start>>,
  decision: 'accepted' | 'review',
): string =>
  JSON.stringify({
    order: forShopper(order),
    items,
    charges: charges.map(shownCharge),
    subscriptions: started,
    amount_due_cents: 0,
    ...changedOf(order),
    fraud: { decision },
  })

/** The differences between the order and its quote, if the quote had no address. */
const changedOf = ({ pricing }: OrderRow) => {
  const { changed } = pricing
  return changed === undefined ? {} : { changed }
}

/** Holds an authorised order for review. The authorisation and all reservations stay. */
export async function holdForReview(
  tx: Tx,
  claim: idempotency.WonClaim,
  order_id: string,
  { attempt_id, result, verdict }: Extract<Outcome, { kind: 'review' }>,
): Promise<idempotency.StoredAnswer> {
  const before = await lockWaiting(tx, order_id)
  const at = isoNow(tx.clock)
  const held = { payment: 'authorized', hold: { reason: 'fraud_review', by: 'system', at } }
  const card = cardOf('authorized', result)
  const whole = settled(before, held, card, at)
  const { order } = whole
  const [stored] = await awaitAll([
    idempotency.finish(tx, claim, 202, answerBody(whole, [], 'review')),
    writeSettled(tx, order, held, {
      card,
      entry: {
        type: 'held',
        actor: 'system',
        data: { reason: 'fraud_review', score: verdict.score },
      },
      version: null,
    }),
    fraud.record(tx, decisionOf(order, verdict)),
    orderHeld.emit(tx, order, {}),
    result !== null && attempt_id !== null && attempts.closeAttempt(tx, attempt_id, result),
  ])
  return stored
}

type Failed = Extract<Outcome, { kind: 'declined' | 'rejected' | 'not_found' }>

/** Fails an order that was not charged: releases all reservations, and stores the refusal. */
export async function failOrder(
  tx: Tx,
  deps: Pick<CheckoutDeps, 'onRenewal'>,
  claim: idempotency.WonClaim,
  { order_id, failed }: { order_id: string; failed: Failed },
): Promise<idempotency.StoredAnswer> {
  const locked = await orders.lock(tx, order_id)
  requireWaiting(locked)
  const order = await releaseAll(tx, locked, failureOf(failed))
  await Promise.all([
    closeFailedAttempt(tx, failed),
    failed.kind === 'rejected' && fraud.record(tx, decisionOf(order, failed.verdict)),
    orders.addToTimeline(tx, order_id, {
      type: 'payment_failed',
      actor: 'system',
      data: { reason: failureOf(failed) },
    }),
  ])
  if (order.subscription_id !== null) {
    const result = failed.kind === 'declined' ? failed.result : null
    await deps.onRenewal(tx, { kind: 'failed', order, failure: failureOf(failed), result })
  }
  return idempotency.refuse(tx, claim, refusalOf(failed, order))
}

/** Releases stock, store credit, gift card and coupon, in the order in which they are locked. */
async function releaseAll(tx: Tx, order: OrderRow, failure: string): Promise<OrderRow> {
  const order_id = order.id
  await orderStock.release(tx, order_id)
  await storeCredit.releaseHold(tx, { order_id })
  await giftCards.releaseHold(tx, { order_id })
  await redemptions.release(tx, { order_id })
  await orders.endCharges(tx, order_id, 'failed')
  return orders.change(tx, order, { payment: 'failed', payment_failure: failure, hold: null })
}

const failureOf = (failed: Failed): string => {
  if (failed.kind === 'rejected') return 'fraud'
  return failed.kind === 'not_found'
    ? 'processing_error'
    : (failed.result.reason ?? 'card_declined')
}

async function closeFailedAttempt(tx: Tx, failed: Failed): Promise<void> {
  if (failed.kind === 'not_found') await attempts.markNotFound(tx, failed.attempt_id)
  else if (failed.kind === 'declined')
    await attempts.closeAttempt(tx, failed.attempt_id, declinedResult(failed.result))
  else await attempts.markVoided(tx, failed.attempt_id, failed.result)
}

/** Turns the result of a reversed charge into a failure: it is not an approval, even if its record says so. */
const declinedResult = (result: GatewayResult): GatewayResult =>
  result.outcome === 'approved' ? { ...result, outcome: 'error', reason: 'invalid_state' } : result

const CARD_NOT_STORED =
  'The payment was not taken: a subscription needs a card that can be charged again, and the gateway has not stored this one. Order without `subscribe`, or use another card.'

/** The refusal for the shopper. It names no rule of the fraud check. */
function refusalOf(failed: Failed, order: OrderRow): ApiError {
  if (failed.kind === 'rejected')
    return new ApiError('fraud_rejected', { body: { order: briefOf(order) } })
  if (failed.kind === 'declined' && failed.result.reason === 'card_not_stored')
    return refuse('subscription_card_required', {
      message: CARD_NOT_STORED,
      body: { order: briefOf(order) },
    })
  return declinedPayment(failed.kind === 'declined' ? failed.result : null, order)
}
