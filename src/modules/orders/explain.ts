import type { Db } from '../../db/database.ts'
import { findDue } from '../../platform/idempotency-upkeep.ts'
import { listAttempts } from '../payments/service.ts'
import type { Explanation } from './change-schema.ts'
import { underWayOf } from './operations.ts'
import { listCharges } from './queries.ts'
import { refundableOf } from './refund-plan.ts'
import { listRefunds } from './refund-queries.ts'
import { factsOf, get } from './service.ts'
import { allowedActions, deriveStatus, type Wait } from './status.ts'

/** Each rule of the status, in words, by its number. */
const MEANINGS: readonly string[] = [
  'The order was cancelled, whether it was paid for or not.',
  'Nothing was paid, and the last attempt to pay has failed for good.',
  'The payment is authorised and held back until somebody has looked at the order.',
  'Nothing was paid yet.',
  'All that was paid has been given back.',
  'The order is held back, and something of it has not been shipped.',
  'Some of what was paid has been given back.',
  'Everything that is still wanted has been delivered.',
  'Everything that is still wanted has been shipped.',
  'Some of it has been shipped.',
  'Somebody is at work on it.',
  'It is paid for, and nobody has begun to work on it.',
]

const REASONS: Readonly<Record<string, string>> = {
  already_shipped: 'Something has been shipped: what was shipped comes back as a return.',
  nothing_shipped: 'Nothing has been shipped.',
  nothing_unshipped: 'Nothing is left to be shipped.',
  not_captured: 'Nothing was captured.',
  payment_unconfirmed: 'The outcome of the payment is not known yet.',
  already_processing: 'Somebody is at work on it already.',
  nothing_to_deliver: 'Nothing is on its way.',
  no_open_fulfillment: 'No parcel waits to be shipped.',
  nothing_to_recall: 'Nothing is on its way.',
  order_busy: 'An edit, a cancellation or a release is under way.',
  refund_pending: 'A refund is under way.',
  already_refunded: 'Money was given back already: give back the rest instead.',
}

const wordsOf = (reason: string): string =>
  REASONS[reason] ?? `It cannot be done with an order that is ${reason.replace(/^order_/, '')}.`

export interface ExplainDeps {
  /** What the order has begun to be charged for again and again. */
  subscriptionsOf: (db: Db, orderId: string) => Promise<Explanation['facts']['subscriptions']>
}

/** Why an order is where it is, and what may be done with it. */
export async function explain(
  db: Db,
  id: string,
  { subscriptionsOf }: ExplainDeps,
): Promise<Explanation> {
  const order = await get(db, id)
  const [refunds, charges, subscriptions] = await Promise.all([
    listRefunds(db, order.id),
    listCharges(db, order.id),
    subscriptionsOf(db, order.id),
  ])
  const pending = refunds.filter((each) => each.status === 'pending').map((each) => each.refund_id)
  const underWay: Wait[] = underWayOf(order, pending.length)
  if (pending.length > 0 && refundableOf(charges) === 0) underWay.push('last_refund')
  const facts = factsOf(order)
  const { status, rule, payment_status, fulfillment_status } = deriveStatus(facts)
  const { allowed, refused } = allowedActions(facts, underWay)
  const waiting_for =
    underWay.length === 0 ? null : await findSilence(db, order.id, [order.id, ...pending])
  return {
    status,
    payment_status,
    fulfillment_status,
    facts: { ...facts, waiting_for, subscriptions },
    rule: { number: rule, status, meaning: MEANINGS[rule - 1] ?? '' },
    busy: underWay.length > 0,
    allowed,
    refused: refused.map((each) => ({ ...each, meaning: wordsOf(each.reason) })),
  }
}

/** What a gateway has not answered, the longest unanswered first; and when it is asked about it. */
async function findSilence(db: Db, orderId: string, left: readonly string[]) {
  const [attempts, next_check_at] = await Promise.all([
    listAttempts(db, orderId),
    findDue(db, left),
  ])
  const open = attempts.find(({ state }) => state === 'begun' || state === 'unknown')
  if (open === undefined) return null
  const { id: attempt_id, kind, gateway, amount_cents, created_at: since, checks } = open
  return { attempt_id, kind, gateway, amount_cents, since, checks, next_check_at }
}
