import { isUuid } from '../../kernel/schema.ts'
import { DAY_MS } from '../../kernel/time.ts'
import { isAboutOrder, type MailKind, type NewMail } from './schema.ts'

/** The mails that the events of a store cause, as data. Why from events: decision 0037. */

/** An event that has just happened. `data` is JSON text. */
export interface HappenedEvent {
  id: string
  type: string
  data: string
  order_id: string | null
  customer_ref: string | null
}

type Json = Record<string, unknown>

interface Cause {
  kind: MailKind | ((data: Json) => MailKind)
  /** What the mail is about; by default the order. */
  about?: 'event' | 'fulfillment' | 'refund' | 'gift_card' | 'return'
  /** Whether the shopper gets a mail about this event. */
  isTold?: (data: Json) => boolean
  /** Facts of the event that the order no longer shows when the mail is written. */
  details?: (data: Json) => Json
  sendAt?: (data: Json) => unknown
}

/** The cause of each mail, by the type of its event. A new kind of mail is a line here, a template and its words. */
const CAUSES: Readonly<Record<string, Cause>> = {
  'commerce.order.placed.v1': { kind: 'order_placed' },
  'commerce.order.held.v1': { kind: 'order_held', about: 'event', isTold: isPaymentReview },
  'commerce.order.shipped.v1': { kind: 'order_shipped', about: 'fulfillment' },
  'commerce.order.delivered.v1': { kind: 'order_delivered', about: 'fulfillment' },
  // Money that an exchange moves to another order is not paid out, and units below a cent have none.
  'commerce.order.refunded.v1': {
    kind: 'order_refunded',
    about: 'refund',
    isTold: (data) => {
      const { method, amount_cents } = asObject(data.refund)
      return method !== 'exchange' && amount_cents !== 0
    },
  },
  // One mail for each time that the merchant sends the request.
  'commerce.order.payment_requested.v1': { kind: 'payment_request', about: 'event' },
  'commerce.order.cancelled.v1': {
    kind: 'order_cancelled',
    details: (data) => ({ refunded_cents: refundsOf(data).reduce((sum, r) => sum + r.cents, 0) }),
  },
  'commerce.order.edited.v1': {
    kind: 'order_edited',
    about: 'event',
    details: (data) => ({
      total_before_cents: asCents(data.total_before_cents),
      delta_cents: asCents(data.delta_cents),
    }),
  },
  // It goes to the address as it is now, and shows the order with its correction.
  'commerce.order.corrected.v1': {
    kind: 'order_edited',
    about: 'event',
    details: (data) => ({
      total_before_cents: asCents(data.total_before_cents),
      delta_cents: asCents(data.delta_cents),
    }),
  },
  'commerce.giftcard.issued.v1': {
    kind: 'gift_card',
    about: 'gift_card',
    isTold: (data) => asObject(data.gift_card).has_recipient === true,
    sendAt: (data) => asObject(data.gift_card).send_at,
  },
  'commerce.return.approved.v1': {
    kind: 'return_approved',
    about: 'return',
    details: returnDetails,
  },
  // One mail for each receipt: a return may come in several parts.
  'commerce.return.received.v1': {
    kind: 'return_received',
    about: 'event',
    details: returnDetails,
  },
  ...subscriptionCauses(),
}

/**
 * The causes of mails about subscriptions. Each mail is about its event, since every charge, attempt and notice is a
 * new one.
 */
function subscriptionCauses(): Record<string, Cause> {
  const about = 'event'
  const details = subscriptionDetails
  return {
    'commerce.subscription.upcoming.v1': { kind: 'subscription_upcoming', about, details },
    'commerce.subscription.price_changed.v1': {
      kind: 'subscription_price_changed',
      about,
      details,
    },
    'commerce.subscription.payment_failed.v1': {
      kind: ({ tells }) =>
        tells === 'last' ? 'subscription_last_attempt' : 'subscription_payment_failed',
      about,
      isTold: ({ tells }) => tells === 'first' || tells === 'last',
      details,
    },
    'commerce.subscription.recovered.v1': { kind: 'subscription_recovered', about, details },
    'commerce.subscription.paused.v1': {
      kind: 'subscription_paused',
      about,
      // A customer who paused the subscription knows of it; a customer who is suspected of fraud is not told.
      isTold: ({ reason }) => PAUSES_TOLD.includes(reason),
      details,
    },
    'commerce.subscription.cancelled.v1': { kind: 'subscription_cancelled', about, details },
    'commerce.subscription.card_expiring.v1': {
      kind: 'subscription_card_expiring',
      about,
      details,
    },
  }
}

const PAUSES_TOLD: readonly unknown[] = [
  'unpaid',
  'not_sellable',
  'currency_changed',
  'country_not_served',
]

/** Reads the facts of an event that the subscription may no longer show. */
function subscriptionDetails(data: Json): Json {
  const { at, next_attempt_at, expires_on, total_cents } = data
  const lastDay = typeof expires_on === 'string' ? dayBefore(expires_on) : null
  return {
    subscription_id: asId(asObject(data.subscription).id),
    at: asTime(at ?? next_attempt_at) ?? lastDay,
    total_cents: Number.isSafeInteger(total_cents) ? total_cents : null,
  }
}

/** Returns the last day before a date, at noon, so that it is that day in nearly every time zone. */
const dayBefore = (date: string): string | null => {
  const time = Date.parse(`${date}T12:00:00Z`)
  return Number.isNaN(time) ? null : new Date(time - DAY_MS).toISOString()
}

/**
 * Whether a hold was caused by the review of a payment. A shopper gets no mail about a hold by a merchant or a bank.
 */
function isPaymentReview(data: Json): boolean {
  const { reason, by } = asObject(asObject(data.order).hold)
  return by === 'system' && reason === 'fraud_review'
}

const LINES_MAX = 100

/** Reads the details of a return. Units and money are those of the event: later receipts have mails of their own. */
function returnDetails({ return: given, refund }: Json): Json {
  const { id, lines } = asObject(given)
  const named = (Array.isArray(lines) ? lines : []).map(asObject)
  return {
    return_id: asId(id),
    refunded_cents: asCents(asObject(refund).amount_cents),
    lines: named.slice(0, LINES_MAX).map((line) => ({
      order_item_id: asId(line.order_item_id),
      quantity: asCents(line.quantity),
      received_quantity: asCents(line.received_quantity),
    })),
  }
}

/**
 * Lists the mails that events cause, in the order of the events. An event of an unexpected form causes no mail, and
 * no error: the events after it must still be numbered.
 */
export function listCaused(events: readonly HappenedEvent[]): NewMail[] {
  const told = events.flatMap((event) => {
    const cause = Object.hasOwn(CAUSES, event.type) ? CAUSES[event.type] : undefined
    return cause === undefined ? [] : [{ event, cause, data: parse(event.data) }]
  })
  const telling = told.filter(({ cause, data }) => TELLS_REFUND.includes(kindOf(cause, data)))
  const said = new Set(telling.flatMap(({ data }) => refundsOf(data).map(({ id }) => id)))
  return told.flatMap(({ event, cause, data }) => {
    const { isTold = () => true, details = () => null } = cause
    const kind = kindOf(cause, data)
    const about_id = aboutOf(event, cause, data)
    const { order_id, customer_ref } = event
    const isComplete = about_id !== null && (order_id !== null || !isAboutOrder(kind))
    if (!isComplete || !isTold(data) || said.has(about_id)) return []
    const send_at = asTime(cause.sendAt?.(data))
    return [{ kind, about_id, order_id, customer_ref, details: details(data), send_at }]
  })
}

const kindOf = ({ kind }: Cause, data: Json): MailKind =>
  typeof kind === 'function' ? kind(data) : kind

function aboutOf({ id, order_id }: HappenedEvent, { about }: Cause, data: Json): string | null {
  if (about === undefined) return order_id
  if (about === 'event') return id
  const named = asObject(data[about])
  const found = about === 'refund' ? named.refund_id : named.id
  return asId(found)
}

/** The mails that say how much is refunded. A second mail would repeat it. */
const TELLS_REFUND: readonly MailKind[] = ['order_cancelled', 'return_received']

function refundsOf({ refund, refunds = [refund] }: Json): { id: unknown; cents: number }[] {
  if (!Array.isArray(refunds)) return []
  return refunds
    .map(asObject)
    .map(({ refund_id, amount_cents }) => ({ id: refund_id, cents: asCents(amount_cents) }))
}

const parse = (text: string): Json => asObject(JSON.parse(text))

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

const asCents = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0)

const asId = (value: unknown): string | null =>
  typeof value === 'string' && isUuid(value) ? value : null

const asTime = (value: unknown): string | null =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))
    ? new Date(value).toISOString()
    : null
