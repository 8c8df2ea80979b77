import type { Static, TSchema } from 'typebox'
import { DAY_MS } from '../../kernel/time.ts'
import type { EventFace } from '../face-parts.ts'
import { orderDelivered, orderShipped } from '../fulfillment/events.ts'
import { giftCardIssued } from '../gift-cards/events.ts'
import {
  orderCancelled,
  orderCorrected,
  orderEdited,
  orderRefunded,
} from '../order-changes/events.ts'
import { orderHeld, orderPlaced, paymentRequested } from '../orders/events.ts'
import { returnApproved, returnReceived } from '../returns/events.ts'
import {
  cardExpiring,
  paymentFailed,
  priceChanged,
  subscriptionCancelled,
  subscriptionPaused,
  subscriptionRecovered,
  subscriptionUpcoming,
} from '../subscriptions/events.ts'
import { isAboutOrder, type MailDetails, type MailKind, type NewMail } from './schema.ts'

/** The mails that the events of a store cause, as data. Why from events: decision 0037. */

/** An event that has just happened. `data` is JSON text. */
export interface HappenedEvent {
  id: string
  type: string
  data: string
  order_id: string | null
  customer_ref: string | null
}

/** The data of an event that another release may have written: any member may be missing (decision 0078). */
type Told<T> = T extends readonly (infer E)[]
  ? readonly Told<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: Told<T[K]> | undefined }
    : T

interface Cause<D> {
  kind: MailKind | ((data: D) => MailKind)
  /** The id of what the mail is about; by default the order. */
  about?: (data: D, event: HappenedEvent) => string | undefined
  /** Whether the shopper gets a mail about this event. */
  isTold?: (data: D) => boolean
  /** Facts of the event that the order no longer shows when the mail is written. */
  details?: (data: D) => MailDetails
  sendAt?: (data: D) => string | null | undefined
  /** The refunds that the mail tells of. A second mail would repeat it. */
  refunds?: (data: D) => readonly Refunded[]
}

type Refunded = Told<{ refund_id: string; amount_cents: number }>

/** What an event causes. */
interface Caused {
  mail: NewMail | null
  /** The refunds that need no mail of their own. */
  toldRefunds: readonly (string | undefined)[]
}

/** Joins a kind of events with the mail that each of them causes. */
const cause = <S extends TSchema>({ type }: EventFace<S>, caused: Cause<Told<Static<S>>>) => ({
  type,
  read(event: HappenedEvent): Caused {
    const data: Told<Static<S>> = JSON.parse(event.data)
    const toldRefunds = (caused.refunds?.(data) ?? []).map(({ refund_id }) => refund_id)
    return { mail: mailOf(event, caused, data), toldRefunds }
  },
})

function mailOf<D>(event: HappenedEvent, caused: Cause<D>, data: D): NewMail | null {
  const { order_id, customer_ref } = event
  const { kind: named, about = orderOf, isTold = () => true } = caused
  const kind = typeof named === 'function' ? named(data) : named
  const about_id = about(data, event)
  const isComplete = about_id !== undefined && (order_id !== null || !isAboutOrder(kind))
  if (!isComplete || !isTold(data)) return null
  const details = caused.details?.(data) ?? null
  return { kind, about_id, order_id, customer_ref, details, send_at: caused.sendAt?.(data) ?? null }
}

const orderOf = (_data: unknown, { order_id }: HappenedEvent) => order_id ?? undefined

/** For mails of which each event causes one. */
const itself = (_data: unknown, { id }: HappenedEvent) => id

const sumOf = (refunds: readonly Refunded[]) =>
  refunds.reduce((sum, { amount_cents = 0 }) => sum + amount_cents, 0)

/** A correction's mail goes to the address as it is now, and shows the order with its correction. */
const totals = {
  kind: 'order_edited',
  about: itself,
  details: ({ total_before_cents = 0, delta_cents = 0 }) => ({ total_before_cents, delta_cents }),
} as const satisfies Cause<Told<{ total_before_cents: number; delta_cents: number }>>

/** The cause of each mail. A new kind of mail is a line here, a template and its words. */
const CAUSES = [
  cause(orderPlaced, { kind: 'order_placed' }),
  // A shopper gets no mail about a hold by a merchant or a bank.
  cause(orderHeld, {
    kind: 'order_held',
    about: itself,
    isTold: ({ order }) => order?.hold?.by === 'system' && order.hold.reason === 'fraud_review',
  }),
  cause(orderShipped, { kind: 'order_shipped', about: ({ fulfillment }) => fulfillment?.id }),
  cause(orderDelivered, { kind: 'order_delivered', about: ({ fulfillment }) => fulfillment?.id }),
  // Money that an exchange moves to another order is not paid out, and units below a cent have none.
  cause(orderRefunded, {
    kind: 'order_refunded',
    about: ({ refund }) => refund?.refund_id,
    isTold: ({ refund }) => refund?.method !== 'exchange' && refund?.amount_cents !== 0,
  }),
  // One mail for each time that the merchant sends the request.
  cause(paymentRequested, { kind: 'payment_request', about: itself }),
  cause(orderCancelled, {
    kind: 'order_cancelled',
    refunds: ({ refunds = [] }) => refunds,
    details: ({ refunds = [] }) => ({ refunded_cents: sumOf(refunds) }),
  }),
  cause(orderEdited, totals),
  cause(orderCorrected, totals),
  cause(giftCardIssued, {
    kind: 'gift_card',
    about: ({ gift_card }) => gift_card?.id,
    isTold: ({ gift_card }) => gift_card?.has_recipient === true,
    sendAt: ({ gift_card }) => gift_card?.send_at,
  }),
  cause(returnApproved, {
    kind: 'return_approved',
    about: (data) => data.return?.id,
    details: (data) => returnDetails(data),
  }),
  // One mail for each receipt: a return may come in several parts.
  cause(returnReceived, {
    kind: 'return_received',
    about: itself,
    refunds: ({ refund }) => (refund ? [refund] : []),
    details: ({ refund, ...data }) => returnDetails(data, refund?.amount_cents),
  }),
  cause(subscriptionUpcoming, {
    kind: 'subscription_upcoming',
    about: itself,
    details: (data) => subscriptionDetails(data, data.at, data.total_cents),
  }),
  cause(priceChanged, {
    kind: 'subscription_price_changed',
    about: itself,
    details: (data) => subscriptionDetails(data, data.at, data.total_cents),
  }),
  cause(paymentFailed, {
    kind: ({ tells }) =>
      tells === 'last' ? 'subscription_last_attempt' : 'subscription_payment_failed',
    about: itself,
    isTold: ({ tells }) => tells === 'first' || tells === 'last',
    details: (data) => subscriptionDetails(data, data.next_attempt_at),
  }),
  cause(subscriptionRecovered, {
    kind: 'subscription_recovered',
    about: itself,
    details: (data) => subscriptionDetails(data),
  }),
  cause(subscriptionPaused, {
    kind: 'subscription_paused',
    about: itself,
    // A customer who paused the subscription knows of it; a customer who is suspected of fraud is not told.
    isTold: ({ reason }) => PAUSES_TOLD.includes(reason),
    details: (data) => subscriptionDetails(data),
  }),
  cause(subscriptionCancelled, {
    kind: 'subscription_cancelled',
    about: itself,
    details: (data) => subscriptionDetails(data),
  }),
  cause(cardExpiring, {
    kind: 'subscription_card_expiring',
    about: itself,
    details: (data) => subscriptionDetails(data, data.expires_on && dayBefore(data.expires_on)),
  }),
]

const BY_TYPE = new Map(CAUSES.map(({ type, read }) => [type, read]))

const PAUSES_TOLD: readonly (string | undefined)[] = [
  'unpaid',
  'not_sellable',
  'currency_changed',
  'country_not_served',
]

/** The facts of an event that the subscription may no longer show. */
const subscriptionDetails = (
  { subscription }: Told<{ subscription: { id: string } }>,
  at: string | null = null,
  total_cents: number | null = null,
): MailDetails => ({ subscription_id: subscription?.id ?? null, at, total_cents })

/** Returns the last day before a date, at noon, so that it is that day in nearly every time zone. */
const dayBefore = (date: string): string =>
  new Date(Date.parse(`${date}T12:00:00Z`) - DAY_MS).toISOString()

const LINES_MAX = 100

/** The details of a return. Units and money are those of the event: later receipts have mails of their own. */
function returnDetails(
  data: Told<Pick<Static<typeof returnApproved.data>, 'return'>>,
  refunded_cents = 0,
): MailDetails {
  const { id: return_id = null, lines = [] } = data.return ?? {}
  return {
    return_id,
    refunded_cents,
    lines: lines
      .slice(0, LINES_MAX)
      .map(({ order_item_id = null, quantity = 0, received_quantity = 0 }) => ({
        order_item_id,
        quantity,
        received_quantity,
      })),
  }
}

/**
 * Lists the mails that events cause, in the order of the events. An event that lacks what its mail is about causes
 * none, and no error: the events after it must still be numbered.
 */
export function listCaused(events: readonly HappenedEvent[]): NewMail[] {
  const caused = events.flatMap((event) => BY_TYPE.get(event.type)?.(event) ?? [])
  const told = new Set(caused.flatMap(({ toldRefunds }) => toldRefunds))
  return caused.flatMap(({ mail }) => (mail === null || told.has(mail.about_id) ? [] : [mail]))
}
