import type { Db } from '../../db/database.ts'
import { findNextAttempt } from '../../platform/idempotency-due.ts'
import { isUnansweredRefund, listAttempts } from '../payments/attempts.ts'
import { type Attempt, REFUND_TRANSIT_MS } from '../payments/schema.ts'
import { disputeWaits } from './chain.ts'
import type { Explanation } from './explain-schema.ts'
import { factsOf, get, listCharges, listRefunds, refundableOf, underWayOf } from './service.ts'
import {
  allowedActions,
  deriveStatus,
  type Reason,
  type RefusalReason,
  type Wait,
} from './status.ts'

/** The rules of the status in words, by their number. */
const MEANINGS: readonly string[] = [
  'The order is cancelled.',
  'Nothing is paid, and the last attempt to pay has failed for good.',
  'Nothing is captured: the payment waits for the review of the merchant, or the shopper has been asked to pay.',
  'Nothing is paid yet.',
  'Everything that was paid has been refunded.',
  'The order is on hold, and some units have not shipped.',
  'A part of what was paid has been refunded.',
  'All units that were not cancelled have been delivered.',
  'All units that were not cancelled have shipped.',
  'Some units have shipped.',
  'The merchant has started to process the order.',
  'The order is paid, and processing has not started.',
]

const REASONS: Readonly<Record<Reason, string>> = {
  already_shipped: 'Some units have shipped. Use a return for them.',
  nothing_shipped: 'Nothing has shipped.',
  nothing_unshipped: 'No units are left to ship.',
  nothing_to_pack: 'All units that have not shipped are in a parcel.',
  not_captured: 'Nothing was captured.',
  payment_unconfirmed: 'The outcome of the payment is not known yet.',
  payment_requested:
    'The shopper has been asked to pay, and has not paid. Wait, or withdraw the payment request.',
  nothing_to_pay: 'The shopper has not been asked to pay.',
  already_processing: 'The order is already being processed.',
  nothing_to_deliver: 'No parcel is on its way.',
  no_open_fulfillment: 'No parcel is waiting to be shipped.',
  nothing_to_recall: 'No parcel is on its way.',
  nothing_to_return: 'All units that have shipped came back already, or are in a return.',
  order_busy: 'An edit, a cancellation or a release is in progress. Try again in a moment.',
  refund_pending: 'A refund is in progress. See `waiting_for` for what it waits for.',
  disputed:
    'The card payment is disputed. Wait until the dispute is over: the bank may take the money.',
  already_refunded: 'A part was already refunded. Refund the rest instead.',
}

const isReason = (reason: RefusalReason): reason is Reason => reason in REASONS

const wordsOf = (reason: RefusalReason): string =>
  isReason(reason)
    ? REASONS[reason]
    : `This is not possible for an order that is ${reason.replace(/^order_/, '')}.`

export interface ExplainDeps {
  /** The subscriptions that the order started. */
  subscriptionsOf: (db: Db, orderId: string) => Promise<Explanation['facts']['subscriptions']>
}

/** Explains why an order has its status, and which actions are possible now. */
export async function explain(
  db: Db,
  id: string,
  { subscriptionsOf }: ExplainDeps,
): Promise<Explanation> {
  const order = await get(db, id)
  const [refunds, charges, subscriptions, attempts] = await Promise.all([
    listRefunds(db, order.id),
    listCharges(db, order.id),
    subscriptionsOf(db, order.id),
    listAttempts(db, order.id),
  ])
  // A refund that waits until the order of an exchange is paid blocks no action.
  const pending = refunds.filter((each) => each.status === 'pending' && each.method !== 'exchange')
  const underWay: Wait[] = underWayOf(order, pending.length)
  if (pending.length > 0 && refundableOf(charges) === 0) underWay.push('last_refund')
  if (attempts.some((each) => isUnansweredRefund(db, each))) underWay.push('unanswered_refund')
  const facts = factsOf(order)
  const { status, rule, payment_status, fulfillment_status } = deriveStatus(facts)
  const waits = [...underWay, ...(await disputeWaits(db, order, charges))]
  const { allowed, refused } = allowedActions(facts, waits)
  const pending_refunds = pending.map(({ refund_id, amount_cents, created_at }) => {
    return { refund_id, amount_cents, created_at }
  })
  const resources = [order.id, ...pending.map(({ refund_id }) => refund_id)]
  const waiting_for = underWay.length === 0 ? null : await explainWait(db, attempts, resources)
  return {
    status,
    payment_status,
    fulfillment_status,
    facts: {
      ...facts,
      prices_include_tax: order.prices_include_tax,
      waiting_for,
      pending_refunds,
      subscriptions,
    },
    rule: { number: rule, status, meaning: MEANINGS[rule - 1] ?? '' },
    busy: underWay.length > 0,
    allowed,
    refused: refused.map((each) => ({ ...each, meaning: wordsOf(each.reason) })),
  }
}

/** Finds the oldest attempt whose gateway has not answered, when it is looked up next, and until when. */
async function explainWait(db: Db, attempts: readonly Attempt[], resources: readonly string[]) {
  const open = attempts.find(({ state }) => state === 'begun' || state === 'unknown')
  if (open === undefined) return null
  const { id: attempt_id, kind, gateway, amount_cents, created_at: since, checks, sent_at } = open
  const next_check_at = await findNextAttempt(db, resources)
  const isRefund = kind === 'refund'
  const gives_up_at =
    isRefund && sent_at !== null
      ? new Date(Date.parse(sent_at) + REFUND_TRANSIT_MS).toISOString()
      : null
  const meaning = !isRefund ? PAYMENT_WAITS : sent_at === null ? REFUND_UNSENT : REFUND_WAITS
  const about = { attempt_id, kind, gateway, amount_cents, since, checks }
  return { ...about, next_check_at, gives_up_at, meaning }
}

const PAYMENT_WAITS = 'The gateway has not answered. It is asked again at `next_check_at`.'
const REFUND_UNSENT = 'The refund has not reached the gateway yet. It is sent at `next_check_at`.'
const REFUND_WAITS =
  'The gateway has not said whether it refunded the money. It is asked again at `next_check_at`. If it has no record of the refund at `gives_up_at`, the refund fails and can be made again. Until then nothing else is refunded.'
