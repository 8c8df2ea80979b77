import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import { DAY_MS } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import { actorOf } from './actor.ts'
import { disputeHoldOf, tellHeld } from './dispute-hold.ts'
import { paymentRequested } from './events.ts'
import type { PaymentRequest } from './payment-request-schema.ts'
import * as queries from './request-queries.ts'
import type { OrderRow } from './schema.ts'
import { addToTimeline, change, lock } from './service.ts'

/**
 * Payment requests: a shopper is asked to pay for an order that is held until then. Nothing is ever charged without
 * the shopper. An order has at most one request, and it ends when the order stops waiting: the shopper pays, the
 * merchant withdraws it, or it expires.
 */

/** The reason of a hold for a payment request. Shoppers see it. */
const HOLD_REASON = 'payment_request'

/** How often a request is mailed. A shopper who has not paid after so many mails will not. */
const SENT_MAX = 10

interface NewPaymentRequest {
  amount_cents: number
  days: number
  actor: string
  /** The change that is applied once the request is paid, for an order that is placed. */
  correction?: object
}

/** Holds a waiting order, and asks its shopper to pay. Called under the order's lock. */
export async function requestPayment(
  tx: Tx,
  order: OrderRow,
  { amount_cents, days, actor, correction = undefined }: NewPaymentRequest,
): Promise<{ order: OrderRow; request: PaymentRequest }> {
  const at = isoNow(tx.clock)
  const hold = { reason: HOLD_REASON, by: audit.SYSTEM.name, at }
  // A hold of the merchant stays, also after the payment.
  const held = await change(tx, order, {
    payment: 'requested',
    ...(order.hold === null && { hold }),
  })
  const request = await queries.insertRequest(tx, {
    order_id: order.id,
    amount_cents,
    currency: order.currency,
    expires_at: new Date(tx.clock.now() + days * DAY_MS).toISOString(),
    created_by: actor,
    correction: correction ?? null,
  })
  await tell(tx, held, request, actor)
  return { order: held, request }
}

/** Writes a request to the timeline, and emits the event that causes the mail. */
const tell = (tx: Tx, order: OrderRow, request: PaymentRequest, actor: string) =>
  Promise.all([
    addToTimeline(tx, order.id, {
      type: 'payment_requested',
      actor,
      data: { amount_cents: request.amount_cents, expires_at: request.expires_at },
    }),
    paymentRequested.emit(tx, order, { payment_request: request }),
  ])

/** Finds the request of an order. Returns null if there is none. */
export const findRequest = (db: Db, order_id: string): Promise<PaymentRequest | null> =>
  queries.findRequest(db, order_id)

/** Requires an open payment request. Refuses an order without one. */
export async function requireOpen(db: Db, order_id: string): Promise<PaymentRequest> {
  const found = await queries.findRequest(db, order_id)
  const isOver = found !== null && Date.parse(found.expires_at) <= db.clock.now()
  if (found?.status === 'open' && !isOver) return found
  throw new ApiError('payment_request_closed', { body: { status: statusOf(found, isOver) } })
}

const statusOf = (found: PaymentRequest | null, isOver: boolean) =>
  found?.status === 'open' && isOver ? 'expired' : (found?.status ?? null)

/** Whether an order is held for its payment request alone. */
export const isHeldForPayment = ({ hold }: OrderRow): boolean =>
  hold !== null && hold.reason === HOLD_REASON && hold.by === audit.SYSTEM.name

/** Reads the change that an open request applies once it is paid. Returns null if it changes nothing. */
export const readCorrection = async (db: Db, order_id: string): Promise<object | null> =>
  (await queries.findCorrection(db, order_id))?.correction ?? null

/** Ends an unpaid request for a correction. The order stays as it was, and is no longer held for the request. */
export async function endCorrectionRequest(
  tx: Tx,
  order: OrderRow,
  { status, actor }: { status: 'withdrawn' | 'expired'; actor: string },
): Promise<OrderRow> {
  await queries.endRequest(tx, order.id, status)
  await addToTimeline(tx, order.id, { type: `correction_${status}`, actor })
  const hold = isHeldForPayment(order) ? await disputeHoldOf(tx, order) : undefined
  const after = await change(tx, order, {
    payment: order.captured_cents > 0 ? 'captured' : 'none',
    ...(hold !== undefined && { hold }),
  })
  if (hold) await tellHeld(tx, after)
  return after
}

/** Ends the open request of an order, if it has one. */
export const endRequest = (tx: Tx, order_id: string, status: 'paid' | 'withdrawn' | 'expired') =>
  queries.endRequest(tx, order_id, status)

/** Mails an open request again. */
export function sendAgain(db: TenantDb, actor: audit.Actor, id: string): Promise<PaymentRequest> {
  return db.transaction('payment request: send again', async (tx) => {
    const order = await lock(tx, id)
    await requireOpen(tx, order.id)
    const request = await queries.countSent(tx, order.id, SENT_MAX)
    if (request === null) throw sentTooOften()
    await tell(tx, order, request, actorOf(actor))
    await audit.record(tx, actor, {
      action: 'order.payment_request_sent',
      entity: `order:${order.id}`,
      after: { sent_count: request.sent_count },
    })
    return request
  })
}

const sentTooOften = () =>
  new ApiError('limit_reached', {
    message: `A payment request is mailed at most ${SENT_MAX} times. Write to the shopper, or withdraw it.`,
    body: { limit: 'payment_request_mails', max: SENT_MAX, used: SENT_MAX },
  })

export const { requestTurns, nextExpiry, listExpired, postponeExpiry } = queries
