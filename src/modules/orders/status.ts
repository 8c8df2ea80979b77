/**
 * An order's status is derived from what is known of its money, its goods and its holds, and never
 * set by hand. Pure: whoever locks the order gathers the facts.
 */

export const ORDER_STATUSES = [
  'pending_payment',
  'placed',
  'processing',
  'on_hold',
  'shipped',
  'partially_shipped',
  'delivered',
  'cancelled',
  'refunded',
  'partially_refunded',
  'payment_failed',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const PAYMENT_STATUSES = [
  'pending',
  'authorized',
  'paid',
  'partially_refunded',
  'refunded',
  'failed',
  'voided',
  'unknown',
  'disputed',
] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

export const FULFILLMENT_STATUSES = [
  'unfulfilled',
  'processing',
  'partially_shipped',
  'shipped',
  'delivered',
  'cancelled',
] as const
export type FulfillmentStatus = (typeof FULFILLMENT_STATUSES)[number]

/** No action and no news leads out of these. What is refunded can still be cancelled. */
export const TERMINAL: readonly OrderStatus[] = ['cancelled', 'payment_failed']

export interface OrderFacts {
  total_cents: number
  /** Over all tenders, less what an edit or a cancelled quantity gave back (an adjustment). */
  captured_cents: number
  /** Refunds that have succeeded. Adjustments are not among them. */
  refunded_cents: number
  placed_at: string | null
  cancelled_at: string | null
  /** Set by hand, by `/process` or an export; fulfilments count by themselves. */
  processing_at: string | null
  /** A merchant, a dispute or the risk check holds the order back. */
  live_hold: boolean
  /** A chargeback is open. */
  disputed: boolean
  /** How the last attempt to pay stands. `failed` is final: declined, refused or expired. */
  payment: 'none' | 'pending' | 'unknown' | 'authorized' | 'captured' | 'failed'
  q_ordered: number
  q_cancelled: number
  q_shipped: number
  q_delivered: number
  /** Fulfilments that are made and not yet shipped. */
  open_fulfillments: number
}

/** An order that a coupon or a gift made free has nothing to capture. */
const isPaid = (facts: OrderFacts): boolean =>
  facts.captured_cents > 0 || (facts.total_cents === 0 && facts.placed_at !== null)

/** The units that are still wanted. */
const openQuantity = (facts: OrderFacts): number => facts.q_ordered - facts.q_cancelled

const isInHand = (facts: OrderFacts): boolean =>
  facts.open_fulfillments > 0 || facts.processing_at !== null

type Rule = readonly [status: OrderStatus, holds: (facts: OrderFacts) => boolean]

/** The first that holds decides, and where none does, the order is placed. */
const RULES: readonly Rule[] = [
  ['cancelled', (f) => f.cancelled_at !== null],
  ['payment_failed', (f) => !isPaid(f) && f.payment === 'failed'],
  ['on_hold', (f) => !isPaid(f) && f.live_hold],
  ['pending_payment', (f) => !isPaid(f)],
  ['refunded', (f) => f.captured_cents > 0 && f.refunded_cents >= f.captured_cents],
  ['on_hold', (f) => f.live_hold && f.q_shipped < openQuantity(f)],
  ['partially_refunded', (f) => f.refunded_cents > 0],
  ['delivered', (f) => openQuantity(f) > 0 && f.q_delivered === openQuantity(f)],
  ['shipped', (f) => openQuantity(f) > 0 && f.q_shipped === openQuantity(f)],
  ['partially_shipped', (f) => f.q_shipped > 0],
  ['processing', isInHand],
]

export interface Derived {
  status: OrderStatus
  /** Which rule decided, from 1 to 12, for whoever asks why. */
  rule: number
  payment_status: PaymentStatus
  fulfillment_status: FulfillmentStatus
}

export function deriveStatus(facts: OrderFacts): Derived {
  const found = RULES.findIndex(([, holds]) => holds(facts))
  return {
    status: RULES[found]?.[0] ?? 'placed',
    rule: (found === -1 ? RULES.length : found) + 1,
    payment_status: paymentStatus(facts),
    fulfillment_status: fulfillmentStatus(facts),
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
  if (facts.cancelled_at !== null || open === 0) return 'cancelled'
  if (facts.q_delivered === open) return 'delivered'
  if (facts.q_shipped === open) return 'shipped'
  if (facts.q_shipped > 0) return 'partially_shipped'
  return isInHand(facts) ? 'processing' : 'unfulfilled'
}

export const ACTIONS = [
  'hold',
  'release',
  'reject',
  'process',
  'fulfill',
  'ship',
  'deliver',
  'cancel_fulfillment',
  'recall',
  'cancel',
  'cancel_remaining',
  'edit',
  'refund',
  'return',
] as const
export type Action = (typeof ACTIONS)[number]

type Guard = readonly [reason: string, holds: (facts: OrderFacts) => boolean]

const nothingShipped: Guard = ['already_shipped', (f) => f.q_shipped === 0]
const someShipped: Guard = ['nothing_shipped', (f) => f.q_shipped > 0]
const someUnshipped: Guard = ['nothing_unshipped', (f) => f.q_shipped < openQuantity(f)]
const captured: Guard = ['not_captured', (f) => f.captured_cents > 0]

/** What may be under way at an order: the last refund is one that leaves nothing to be given back. */
export type Wait = 'payment' | 'operation' | 'refund' | 'last_refund'

const UNDER_WAY: Record<Wait, string> = {
  payment: 'payment_unconfirmed',
  operation: 'order_busy',
  refund: 'refund_pending',
  last_refund: 'refund_pending',
}

interface Condition {
  /** What must have ended before. */
  after: readonly Wait[]
  from: readonly OrderStatus[]
  guards: readonly Guard[]
}

const ALONE: readonly Wait[] = ['operation']
const SETTLED: readonly Wait[] = ['payment', 'operation']
const ALL_SETTLED: readonly Wait[] = [...SETTLED, 'refund']

const OPEN: readonly OrderStatus[] = [
  'placed',
  'processing',
  'partially_shipped',
  'partially_refunded',
]

/** From which status each action may be taken, after what, and what else must hold. */
const CONDITIONS: Record<Action, Condition> = {
  hold: { after: ALONE, from: OPEN, guards: [someUnshipped] },
  release: {
    after: SETTLED,
    from: ['on_hold'],
    guards: [
      ['payment_unconfirmed', (f) => isPaid(f) || !['pending', 'unknown'].includes(f.payment)],
    ],
  },
  reject: { after: ALL_SETTLED, from: ['on_hold'], guards: [nothingShipped] },
  process: {
    after: ALONE,
    from: ['placed', 'partially_refunded'],
    guards: [nothingShipped, ['already_processing', (f) => !isInHand(f)]],
  },
  fulfill: { after: ALONE, from: OPEN, guards: [someUnshipped] },
  ship: { after: ALONE, from: OPEN, guards: [someUnshipped] },
  // What a carrier has brought is brought, whatever became of the money or of the rest.
  deliver: {
    after: [],
    from: ['shipped', 'partially_shipped', 'partially_refunded', 'refunded', 'on_hold'],
    guards: [['nothing_to_deliver', (f) => f.q_delivered < f.q_shipped]],
  },
  cancel_fulfillment: {
    after: ALONE,
    from: ['processing', 'partially_shipped', 'partially_refunded', 'on_hold'],
    guards: [['no_open_fulfillment', (f) => f.open_fulfillments > 0]],
  },
  recall: {
    after: [],
    from: ['shipped', 'partially_shipped', 'partially_refunded'],
    guards: [['nothing_to_recall', (f) => f.q_delivered < f.q_shipped]],
  },
  // Also once all was given back: until then its stock is owed, and its coupon used.
  cancel: {
    after: ALL_SETTLED,
    from: ['pending_payment', 'placed', 'processing', 'on_hold', 'partially_refunded', 'refunded'],
    guards: [nothingShipped],
  },
  cancel_remaining: {
    after: ALL_SETTLED,
    from: ['partially_shipped', 'partially_refunded'],
    guards: [someShipped, someUnshipped],
  },
  // What is only authorised can be taken or let go of, and not changed.
  edit: {
    after: ALL_SETTLED,
    from: ['placed', 'processing', 'on_hold'],
    guards: [
      nothingShipped,
      ['already_refunded', (f) => f.refunded_cents === 0],
      ['not_captured', (f) => f.placed_at !== null],
    ],
  },
  // Before anything was captured there is nothing to wait for, but nothing to give back.
  refund: {
    after: [...ALONE, 'last_refund'],
    from: [...OPEN, 'on_hold', 'shipped', 'delivered'],
    guards: [captured],
  },
  return: {
    after: ALONE,
    from: ['shipped', 'delivered', 'partially_shipped', 'partially_refunded'],
    guards: [someShipped],
  },
}

export interface Allowed {
  allowed: Action[]
  /** The others, each with the first thing that stands in its way. */
  refused: { action: Action; reason: string }[]
}

/** What of all that is under way keeps an action waiting; undefined where nothing does. */
export const waitOf = (action: Action, underWay: readonly Wait[]): Wait | undefined =>
  CONDITIONS[action].after.find((wait) => underWay.includes(wait))

/** What may be done with the order now, and why not what may not. */
export function allowedActions(facts: OrderFacts, underWay: readonly Wait[] = []): Allowed {
  const { status } = deriveStatus(facts)
  const answer: Allowed = { allowed: [], refused: [] }
  for (const action of ACTIONS) {
    const { from, guards } = CONDITIONS[action]
    const wait = waitOf(action, underWay)
    const failed = guards.find(([, holds]) => !holds(facts))
    if (wait !== undefined) answer.refused.push({ action, reason: UNDER_WAY[wait] })
    else if (!from.includes(status)) answer.refused.push({ action, reason: `order_${status}` })
    else if (failed !== undefined) answer.refused.push({ action, reason: failed[0] })
    else answer.allowed.push(action)
  }
  return answer
}
