import type {
  Action,
  Derived,
  FulfillmentStatus,
  OrderStatus,
  PaymentStatus,
} from './status-schema.ts'

/**
 * The status of an order. It is derived from the facts about its money, its units and its holds,
 * and never set directly. Pure functions: the caller reads the facts under the order's lock.
 */

export interface OrderFacts {
  total_cents: number
  /** The captured amount of all tenders, less the adjustments of edits and cancelled quantities. */
  captured_cents: number
  /** Refunds that have succeeded, without adjustments. */
  refunded_cents: number
  placed_at: string | null
  cancelled_at: string | null
  /** Set by `/process`; an open fulfilment means the same. */
  processing_at: string | null
  /** A merchant, a dispute or the fraud check holds the order. */
  live_hold: boolean
  /** A dispute is open. */
  disputed: boolean
  /**
   * The state of the last payment. `failed` is final: declined, refused or expired. `requested`: the
   * shopper has been asked to pay.
   */
  payment: 'none' | 'pending' | 'requested' | 'unknown' | 'authorized' | 'captured' | 'failed'
  /** The units of goods. Gift cards are issued when the order is placed, and are not shipped. */
  q_ordered: number
  q_gift_cards: number
  q_cancelled: number
  q_shipped: number
  q_delivered: number
  /** Units in fulfilments that are not yet shipped. */
  q_packed: number
  /** Units in returns that have not come back, and units that have. */
  q_returning: number
  q_returned: number
  /** Units that a refund names. They may be worth less than a cent each, so that nothing was refunded. */
  q_refunded: number
}

/** Whether an order is paid. An order with a total of zero has nothing to capture. */
const isPaid = (facts: OrderFacts): boolean =>
  facts.captured_cents > 0 || (facts.total_cents === 0 && facts.placed_at !== null)

/** Returns how many units are ordered and not cancelled. `q_cancelled` also has the units that a refund restocked. */
const openQuantity = (facts: OrderFacts): number => facts.q_ordered - facts.q_cancelled

/** Whether all units have arrived. An order of gift cards alone is delivered when it is placed. */
function isDelivered(facts: OrderFacts): boolean {
  const open = openQuantity(facts)
  return open > 0 ? facts.q_delivered === open : facts.q_gift_cards > 0
}

const isInHand = (facts: OrderFacts): boolean => facts.q_packed > 0 || facts.processing_at !== null

/** The statuses in which units can be packed and shipped, if there are any. */
const OPEN: readonly OrderStatus[] = [
  'placed',
  'processing',
  'partially_shipped',
  'partially_refunded',
]

type Rule = readonly [status: OrderStatus, holds: (facts: OrderFacts) => boolean]

/** The rules of the status. The first rule that holds decides. If none holds, the order is placed. */
const RULES: readonly Rule[] = [
  ['cancelled', (f) => f.cancelled_at !== null],
  ['payment_failed', (f) => !isPaid(f) && f.payment === 'failed'],
  ['on_hold', (f) => !isPaid(f) && f.live_hold],
  ['pending_payment', (f) => !isPaid(f)],
  ['refunded', (f) => f.captured_cents > 0 && f.refunded_cents >= f.captured_cents],
  ['on_hold', (f) => f.live_hold && f.q_shipped < openQuantity(f)],
  ['partially_refunded', (f) => f.refunded_cents > 0],
  ['delivered', isDelivered],
  ['shipped', (f) => openQuantity(f) > 0 && f.q_shipped === openQuantity(f)],
  ['partially_shipped', (f) => f.q_shipped > 0],
  ['processing', isInHand],
]

export function deriveStatus(facts: OrderFacts): Derived {
  const found = RULES.findIndex(([, holds]) => holds(facts))
  const status = RULES[found]?.[0] ?? 'placed'
  return {
    status,
    rule: (found === -1 ? RULES.length : found) + 1,
    payment_status: paymentStatus(facts),
    fulfillment_status: fulfillmentStatus(facts),
    has_work: OPEN.includes(status) && facts.q_packed + facts.q_shipped < openQuantity(facts),
  }
}

function paymentStatus(facts: OrderFacts): PaymentStatus {
  const { captured_cents, refunded_cents, payment } = facts
  if (facts.disputed) return 'disputed'
  if (captured_cents > 0) {
    if (refunded_cents >= captured_cents) return 'refunded'
    return refunded_cents > 0 ? 'partially_refunded' : 'paid'
  }
  if (facts.cancelled_at !== null) return 'voided'
  if (isPaid(facts)) return 'paid'
  if (payment === 'failed' || payment === 'unknown' || payment === 'authorized') return payment
  return 'pending'
}

function fulfillmentStatus(facts: OrderFacts): FulfillmentStatus {
  const open = openQuantity(facts)
  if (facts.cancelled_at !== null) return 'cancelled'
  if (open === 0) {
    if (facts.q_gift_cards === 0) return 'cancelled'
    return isPaid(facts) ? 'delivered' : 'unfulfilled'
  }
  if (facts.q_delivered === open) return 'delivered'
  if (facts.q_shipped === open) return 'shipped'
  if (facts.q_shipped > 0) return 'partially_shipped'
  return isInHand(facts) ? 'processing' : 'unfulfilled'
}

/** Why an action is refused. `explain.ts` has the words for each. */
export type Reason =
  | 'already_shipped'
  | 'nothing_shipped'
  | 'nothing_unshipped'
  | 'nothing_to_pack'
  | 'nothing_to_return'
  | 'nothing_to_deliver'
  | 'nothing_to_recall'
  | 'nothing_to_pay'
  | 'no_open_fulfillment'
  | 'already_processing'
  | 'already_refunded'
  | 'not_captured'
  | 'payment_requested'
  | 'payment_unconfirmed'
  | 'order_busy'
  | 'refund_pending'
  | 'disputed'

/** The reason of a refusal, or a status in which the action is not possible. */
export type RefusalReason = Reason | `order_${OrderStatus}`

type Guard = readonly [reason: RefusalReason, holds: (facts: OrderFacts) => boolean]

const nothingShipped: Guard = ['already_shipped', (f) => f.q_shipped === 0]
const someShipped: Guard = ['nothing_shipped', (f) => f.q_shipped > 0]
const someUnshipped: Guard = ['nothing_unshipped', (f) => f.q_shipped < openQuantity(f)]
const someUnpacked: Guard = ['nothing_to_pack', (f) => f.q_packed + f.q_shipped < openQuantity(f)]
const someToReturn: Guard = ['nothing_to_return', (f) => f.q_returning + f.q_returned < f.q_shipped]
const notRequested: Guard = ['payment_requested', (f) => f.payment !== 'requested']
const captured: Guard = ['not_captured', (f) => f.captured_cents > 0]
/** A cancelled order has money left only where an exchange has given it back since. Nothing else can end it. */
const leftIfCancelled: Guard = [
  'order_cancelled',
  (f) => f.cancelled_at === null || f.refunded_cents < f.captured_cents,
]

/**
 * The kinds of work that may be under way at an order. The last refund is one that leaves nothing to refund; a
 * refund is unanswered once its process has no answer, or has stopped. A dispute is under way while the bank may
 * still take what is left of the card charges; a cancellation waits for it only where it would take that money out of
 * the reach of the dispute.
 */
export type Wait =
  | 'payment'
  | 'operation'
  | 'refund'
  | 'last_refund'
  | 'unanswered_refund'
  | 'dispute'
  | 'cancel_dispute'

const UNDER_WAY: Record<Wait, Reason> = {
  payment: 'payment_unconfirmed',
  operation: 'order_busy',
  refund: 'refund_pending',
  last_refund: 'refund_pending',
  unanswered_refund: 'refund_pending',
  dispute: 'disputed',
  cancel_dispute: 'disputed',
}

interface Condition {
  /** The work that must have ended before the action. */
  after: readonly Wait[]
  from: readonly OrderStatus[]
  guards: readonly Guard[]
}

const ALONE: readonly Wait[] = ['operation']
const SETTLED: readonly Wait[] = ['payment', 'operation']
const ALL_SETTLED: readonly Wait[] = [...SETTLED, 'refund']

/** The conditions of each action: the statuses that allow it, the work it waits for, and the guards that must hold. */
const CONDITIONS: Record<Action, Condition> = {
  hold: { after: ALONE, from: OPEN, guards: [someUnshipped] },
  release: {
    after: SETTLED,
    from: ['on_hold'],
    guards: [
      notRequested,
      ['payment_unconfirmed', (f) => isPaid(f) || !['pending', 'unknown'].includes(f.payment)],
    ],
  },
  reject: {
    after: [...ALL_SETTLED, 'cancel_dispute'],
    from: ['on_hold'],
    guards: [nothingShipped],
  },
  process: {
    after: ALONE,
    from: ['placed', 'partially_refunded'],
    guards: [nothingShipped, ['already_processing', (f) => !isInHand(f)]],
  },
  fulfill: { after: ALONE, from: OPEN, guards: [someUnpacked] },
  ship: { after: ALONE, from: OPEN, guards: [someUnshipped] },
  // A parcel can be delivered whatever happens to the money or to the other units.
  deliver: {
    after: [],
    from: ['shipped', 'partially_shipped', 'partially_refunded', 'refunded', 'on_hold'],
    guards: [['nothing_to_deliver', (f) => f.q_delivered < f.q_shipped]],
  },
  cancel_fulfillment: {
    after: ALONE,
    from: ['processing', 'partially_shipped', 'partially_refunded', 'on_hold'],
    guards: [['no_open_fulfillment', (f) => f.q_packed > 0]],
  },
  recall: {
    after: [],
    from: ['shipped', 'partially_shipped', 'partially_refunded'],
    guards: [['nothing_to_recall', (f) => f.q_delivered < f.q_shipped]],
  },
  // A refunded order can be cancelled, too (decision 0009): until then its stock stays reserved and its coupon used. An
  // order of gift cards alone is delivered although nothing has shipped.
  cancel: {
    after: [...ALL_SETTLED, 'cancel_dispute'],
    from: [
      'pending_payment',
      'placed',
      'processing',
      'on_hold',
      'partially_refunded',
      'refunded',
      'delivered',
    ],
    guards: [nothingShipped],
  },
  cancel_remaining: {
    after: ALL_SETTLED,
    from: ['partially_shipped', 'partially_refunded'],
    guards: [someShipped, someUnshipped],
  },
  // An authorised payment can be captured or voided, but not changed.
  edit: {
    after: ALL_SETTLED,
    from: ['placed', 'processing', 'on_hold'],
    guards: [
      nothingShipped,
      ['already_refunded', (f) => f.refunded_cents === 0 && f.q_refunded === 0],
      ['not_captured', (f) => f.placed_at !== null],
      notRequested,
    ],
  },
  // Gift cards alone are delivered when they are placed. Where the money changes, an edit must be allowed, too.
  correct: {
    after: ALL_SETTLED,
    from: ['placed', 'processing', 'on_hold', 'partially_refunded', 'delivered'],
    guards: [nothingShipped, notRequested],
  },
  // Before a capture there is nothing to wait for, and nothing to refund.
  refund: {
    after: [...ALONE, 'last_refund', 'unanswered_refund', 'dispute'],
    from: [...OPEN, 'on_hold', 'shipped', 'delivered', 'cancelled'],
    guards: [leftIfCancelled, captured, notRequested],
  },
  // Goods can come back whatever happens to their money, or to the units that have not shipped.
  return: {
    after: ALONE,
    from: [
      'shipped',
      'delivered',
      'partially_shipped',
      'partially_refunded',
      'refunded',
      'on_hold',
    ],
    guards: [someShipped, someToReturn],
  },
  pay: {
    after: ALONE,
    from: ['on_hold'],
    guards: [['nothing_to_pay', (f) => f.payment === 'requested']],
  },
}

export interface Allowed {
  allowed: Action[]
  /** The other actions, each with the first reason against it. */
  refused: { action: Action; reason: RefusalReason }[]
}

/** Returns what an action has to wait for, or undefined if it need not wait. */
export const waitOf = (action: Action, underWay: readonly Wait[]): Wait | undefined =>
  CONDITIONS[action].after.find((wait) => underWay.includes(wait))

/** Which actions are possible now, and why the others are not. */
export function allowedActions(facts: OrderFacts, underWay: readonly Wait[] = []): Allowed {
  const { status } = deriveStatus(facts)
  const answer: Allowed = { allowed: [], refused: [] }
  for (const [action, { from, guards }] of Object.entries(CONDITIONS) as [Action, Condition][]) {
    const wait = waitOf(action, underWay)
    const failed = guards.find(([, holds]) => !holds(facts))
    if (wait !== undefined) answer.refused.push({ action, reason: UNDER_WAY[wait] })
    else if (!from.includes(status)) answer.refused.push({ action, reason: `order_${status}` })
    else if (failed !== undefined) answer.refused.push({ action, reason: failed[0] })
    else answer.allowed.push(action)
  }
  return answer
}
