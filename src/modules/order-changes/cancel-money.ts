import type { Db, Tx } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import { newId } from '../../kernel/id.ts'
import { sum } from '../../kernel/money.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as giftCards from '../gift-cards/money.ts'
import * as orderStock from '../inventory/order-stock.ts'
import * as redemptions from '../marketing/redemptions.ts'
import {
  closedReply,
  isRefundOutOfTransit,
  recallVoid,
  replyOf,
  sendOnce,
  unknownOf,
} from '../operations/replies.ts'
import type { GatewayReply } from '../operations/schema.ts'
import { defineOperation, type Fenced, type Replies } from '../operations/service.ts'
import { actorOf, auditOrder, isShopper } from '../orders/actor.ts'
import { endRequest } from '../orders/payment-request.ts'
import type { ChargeRow, OrderRefund, OrderRow, RefundRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forActor, refundForShopper, shownRefund } from '../orders/show.ts'
import { resultOfLookup, unknownResult } from '../payments/adapters/results.ts'
import type { GatewayResult, Reason } from '../payments/adapters/schema.ts'
import * as attempts from '../payments/attempts.ts'
import { wasNotSent } from '../payments/gateway.ts'
import type { Attempt } from '../payments/schema.ts'
import * as storeCredit from '../store-credit/money.ts'
import { takeBackAll } from './bought-cards.ts'
import type { OrderChangeDeps } from './deps.ts'
import { orderCancelled } from './events.ts'
import { beginPlan, endPlan, getPlan, type Plan, requireCharge } from './plan.ts'
import { auditRefund, refundFailed } from './refund-money.ts'
import { partsOf, splitAmount, splitOverTenders, subtractParts } from './refund-parts.ts'
import { sumReserved } from './refund-queries.ts'
import { askRefund, type RefundReplies, recallRefund } from './refund-replies.ts'
import type { CancelReason } from './schema.ts'
import {
  chargeOf,
  disputed,
  gatewayOf,
  reserveRefund,
  type SettledRefund,
  settleRefund,
} from './settle-refund-money.ts'

/**
 * Cancels an order in one operation: voids authorised charges, refunds captured ones over every
 * tender, releases stock, holds and coupon. If a gateway refuses the refund, the order stays as it
 * was.
 */

interface Terms {
  reason: CancelReason
  /** Free text for the merchant. */
  note: string | null
  /** Whether the units return to stock. Otherwise they are written off. */
  restock: boolean
  /** The form of the answer: an edit that leaves no units is answered as an edit; only a held order can be rejected. */
  as: 'cancel' | 'edit' | 'reject'
}

export interface CancelRequest extends Terms {
  orderId: string
  /** A charge that the order must have. */
  charge_id?: string | null | undefined
  /** Runs under the order's lock once the order may be cancelled. If it throws, nothing changes. */
  also?: (tx: Tx, order: OrderRow) => Promise<void>
}

interface CancelPlan extends Plan, Terms {
  kind: 'cancel'
  refund_id: string | null
  voids: { charge_id: string; attempt_id: string }[]
}

interface Work {
  order: OrderRow
  plan: CancelPlan
  charges: ChargeRow[]
  refund: RefundRow | null
}

/** The reply to a void, and the amount that a gateway keeps if it neither voids nor refunds the payment. */
type VoidReply = GatewayReply & { kept_cents?: number }

interface CancelOutcome extends Replies {
  refunds: RefundReplies
  voids: VoidReply[]
}

export const cancelOperation = defineOperation<OrderChangeDeps, CancelRequest, Work, CancelOutcome>(
  {
    name: 'cancel',
    begin: (_, db, { actor, claim, reach }, { orderId, charge_id, also, ...terms }) =>
      db.transaction('cancel: begin', async (tx) => {
        const order = await orders.lock(tx, orderId)
        if (charge_id) requireCharge(await orders.listCharges(tx, order.id), charge_id)
        const by = actorOf(actor)
        if (order.cancelled_at !== null)
          return answerRepeat(tx, claim, order, { ...terms, actor: by })
        await begin(tx, order, terms, by)
        await also?.(tx, order)
        return { state: 'begun', claim: await reach(tx, order.id) }
      }),
    async load(db, orderId) {
      const order = await orders.get(db, orderId)
      const plan = getPlan<CancelPlan>(order, 'cancel')
      const [charges, refund] = await Promise.all([
        orders.listCharges(db, order.id),
        plan.refund_id === null ? null : orders.getRefund(db, plan.refund_id),
      ])
      return { order, plan, charges, refund }
    },
    ask: (deps, db, work) => askGateways(deps, db, work, askRefund),
    recall: (deps, db, work) => askGateways(deps, db, work, recallRefund),
    async end(tx, deps, { claim, work, replies }) {
      const { actor, reason, restock } = work.plan
      const ended = await end(tx, deps, work, replies)
      if (ended.state === 'failed') {
        const { refunded_cents } = ended
        if (work.refund) await auditRefund(tx, { actor, claim }, work.refund, refunded_cents)
        return idempotency.refuse(tx, claim, refundFailed(ended))
      }
      const refunded_cents = sum(ended.refunds.map(({ amount_cents }) => amount_cents))
      await auditOrder(tx, { actor, claim }, work.order.id, {
        action: 'order.cancelled',
        before: { status: work.order.status },
        after: { reason, restock, refunded_cents },
      })
      return answer(tx, claim, work.plan, ended)
    },
    orderOf: ({ order }) => briefOf(order),
  },
)

/** Reserves the refund of everything captured, records the voids, and claims the order for the cancellation. */
async function begin(tx: Tx, order: OrderRow, terms: Terms, actor: string): Promise<void> {
  const [charges, reserved] = await Promise.all([
    orders.listCharges(tx, order.id),
    sumReserved(tx, order.id),
  ])
  // An unpaid order cannot be edited, but an edit that leaves no units cancels it.
  const action = terms.as === 'edit' && order.placed_at === null ? 'cancel' : terms.as
  orders.requireAllowed(order, action, reserved.pending)
  // Money that came from a return is returned to that return when the cancellation ends.
  const own = charges.filter(({ moved_from }) => moved_from === null)
  if (order.disputed && isMovedCardLeft(charges)) throw await disputed(tx, order, charges)
  const amount = orders.refundableOf(own)
  const parts = splitAmount(amount, subtractParts(partsOf(order), reserved))
  const refund_id =
    amount === 0
      ? null
      : await reserveRefund(tx, order, charges, {
          kind: 'refund',
          method: 'original',
          parts,
          ...(await takeBackAll(tx, order, parts)),
          tenders: splitOverTenders(own, amount, 'original'),
          // The text is in the note alone, which only the merchant sees.
          reason: null,
          actor,
        })
  const voids = charges
    .filter(({ tender, status }) => tender === 'card' && status === 'authorized')
    .map(({ charge_id }) => ({ charge_id, attempt_id: newId() }))
  for (const each of voids) await beginVoid(tx, order, chargeOf(charges, each.charge_id), each)
  const plan: CancelPlan = { id: newId(), kind: 'cancel', actor, refund_id, voids, ...terms }
  await beginPlan(tx, order, plan)
}

/** Whether card money of another order is left that the cancellation would move back, out of reach of the dispute. */
const isMovedCardLeft = (charges: readonly ChargeRow[]): boolean =>
  orders.cardsOf(charges).some((each) => each.moved_from !== null && orders.leftOn(each) > 0)

const beginVoid = (
  tx: Tx,
  { id: order_id, currency }: OrderRow,
  charge: ChargeRow,
  { attempt_id, charge_id }: CancelPlan['voids'][number],
) =>
  attempts.beginAttempt(tx, {
    id: attempt_id,
    order_id,
    kind: 'void',
    gateway: gatewayOf(charge),
    amount_cents: charge.amount_cents,
    currency,
    charge_id,
    parent_txn_id: charge.txn_id,
    // Only the refund in place of a void counts as sent: a void can be repeated.
    isUnsent: true,
  })

/**
 * Sends the refund and the voids. A void can be sent again without harm, so only the refund
 * differs between ask and recall.
 */
async function askGateways(
  deps: Fenced<OrderChangeDeps>,
  db: Db,
  { plan, refund, charges }: Work,
  refundBy: typeof askRefund,
): Promise<CancelOutcome> {
  const { refunds } = await refundBy(deps, db, refund, charges)
  const voids = await Promise.all(
    plan.voids.map(({ attempt_id, charge_id }) =>
      voidCharge(deps, db, chargeOf(charges, charge_id), attempt_id),
    ),
  )
  return { refunds, voids, unknown: unknownOf([...refunds.values(), ...voids]) }
}

/** Refusals that pass without an action: a fault at the gateway, or a capture that it has not settled yet. */
const PASSING: readonly (Reason | null)[] = ['processing_error', 'not_settled']

/** How long a passing refusal is tried again. After that it counts as a refusal. */
const PASSING_MS = HOUR_MS

/**
 * Voids an authorised charge. A charge that turns out to be captured and settled, by an abandoned release or in the
 * gateway's own back office, is refunded. If the gateway refuses the void, it no longer has an active
 * authorisation, or the authorisation lapses within days: the order is cancelled in either case. If the gateway
 * also refuses the refund, it keeps money of a cancelled order: that is an alert. A gateway that was not reached,
 * or has a passing fault, counts as unanswered.
 */
async function voidCharge(
  deps: Fenced<OrderChangeDeps>,
  db: Db,
  charge: ChargeRow,
  attempt_id: string,
): Promise<VoidReply> {
  const attempt = await attempts.getAttempt(db, attempt_id)
  const closed = closedReply(attempt)
  if (closed !== null) return closed
  const isYoung = db.clock.now() - Date.parse(attempt.created_at) < PASSING_MS
  const isNoAnswer = (result: GatewayResult) =>
    wasNotSent(result) || (isYoung && PASSING.includes(result.reason))
  const gateway = await deps.payments.forStore(db, gatewayOf(charge))
  const result = await gateway.void({ txn_id: charge.txn_id ?? '' })
  if (result.reason === 'already_settled') {
    const refunded = await refundOnce(deps, db, charge, attempt)
    if (isNoAnswer(refunded)) return { kind: 'unknown', attempt_id }
    const reply = replyOf(attempt_id, refunded)
    return reply.kind === 'refused' ? alertKept(deps, db, charge, reply) : reply
  }
  if (result.outcome === 'unknown')
    return (await recallVoid(gateway, attempt)) ?? { kind: 'unknown', attempt_id }
  return isNoAnswer(result) ? { kind: 'unknown', attempt_id } : replyOf(attempt_id, result)
}

function alertKept(
  { onAlert }: OrderChangeDeps,
  { tenant }: Db,
  { order_id, charge_id, amount_cents }: ChargeRow,
  reply: GatewayReply,
): VoidReply {
  const alert = { tenant, order_id, charge_id, amount_cents }
  onAlert(alert, 'the payment of a cancelled order could be neither voided nor refunded')
  return { ...reply, kept_cents: amount_cents }
}

/**
 * Refunds a charge in place of its void. A refund sent twice would refund twice: one that was sent before and has
 * not ended is looked up until it counts as lost.
 */
async function refundOnce(
  deps: Fenced<OrderChangeDeps>,
  db: Db,
  charge: ChargeRow,
  attempt: Attempt,
): Promise<GatewayResult> {
  const { id: attempt_id, sent_at } = attempt
  const name = gatewayOf(charge)
  if (sent_at !== null) {
    const gateway = await deps.payments.forStore(db, name)
    const found = await gateway.lookup({ ref: attempt_id })
    if (found.found === 'yes' && found.state !== 'failed') return resultOfLookup(gateway, found)
    const isLost = found.found !== 'unreachable' && isRefundOutOfTransit(db, attempt)
    if (!isLost) return unknownResult()
    await attempts.clearSent(db, attempt_id, sent_at)
  }
  const { txn_id, amount_cents, currency } = charge
  const what = { ref: attempt_id, txn_id: txn_id ?? '', amount_cents, currency }
  const to = { attempt_id, gateway: name }
  const result = await sendOnce(deps, db, to, async (opened, mark) => {
    const sent = await opened.refund(what)
    // A refusal is a reply: no refund is on its way, and it may be sent again.
    const isRefused = sent.outcome === 'declined' || sent.outcome === 'error'
    if (isRefused) await attempts.clearSent(db, attempt_id, mark)
    return sent
  })
  return result ?? unknownResult()
}

type Ended =
  | { state: 'cancelled'; order: OrderRow; refunds: OrderRefund[] }
  | Extract<SettledRefund, { state: 'failed' }>

async function end(
  tx: Tx,
  deps: OrderChangeDeps,
  { order: source, refund, charges }: Work,
  { refunds: replies, voids }: CancelOutcome,
): Promise<Ended> {
  const isRefused = [...replies.values()].some(({ kind }) => kind !== 'approved')
  // The order of the return is locked first, here and everywhere else.
  const endExchange = isRefused ? null : await deps.openExchange(tx, source)
  const found = await orders.lock(tx, source.id)
  const plan = getPlan<CancelPlan>(found, 'cancel')
  const order = isRefused ? found : await deps.cancelParcels(tx, found, plan.actor)
  // Stock is locked before balances, here and everywhere else.
  if (!isRefused) {
    const isRestocked = plan.restock || order.placed_at === null
    await (isRestocked ? orderStock.release : orderStock.writeOff)(tx, order.id)
  }
  const facts = {
    cancelled_at: isoNow(tx.clock),
    cancel_reason: plan.reason,
    hold: null,
  }
  const settling = { charges, replies, also: facts }
  const settled = refund && (await settleRefund(tx, order, refund, settling))
  await endPlan(tx, order, plan)
  if (settled?.state === 'failed') return settled
  for (const reply of voids) await closeVoid(tx, order.id, reply)
  await releaseTenders(tx, order)
  await endRequest(tx, order.id, plan.reason === 'expired' ? 'expired' : 'withdrawn')
  const changed = settled?.order ?? (await orders.change(tx, order, facts))
  const cancelled = endExchange === null ? changed : await endExchange(changed, plan.actor)
  const refunds = settled === null ? [] : [settled.refund]
  await record(tx, cancelled, plan, refunds)
  await endSubscriptions(tx, deps, order, plan)
  return { state: 'cancelled', order: cancelled, refunds }
}

async function closeVoid(tx: Tx, order_id: string, reply: VoidReply): Promise<void> {
  const { attempt_id, kept_cents: amount_cents } = reply
  if (reply.kind !== 'approved' && reply.kind !== 'refused') return
  await attempts.closeAttempt(tx, attempt_id, reply.result)
  if (amount_cents === undefined) return
  const data = { attempt_id, amount_cents }
  await orders.addToTimeline(tx, order_id, { type: 'payment_not_returned', actor: 'system', data })
}

/** Releases the holds on balances, the uncaptured charges and the coupon. */
async function releaseTenders(tx: Tx, { id: order_id }: OrderRow): Promise<void> {
  await storeCredit.releaseHold(tx, { order_id })
  await giftCards.releaseHold(tx, { order_id })
  await orders.endCharges(tx, order_id, 'voided')
  await redemptions.release(tx, { order_id })
}

/** Records a cancellation. Free text goes into a note, which can be erased; the timeline cannot. */
async function record(
  tx: Tx,
  order: OrderRow,
  { actor, reason, restock, note }: CancelPlan,
  refunds: readonly OrderRefund[],
): Promise<void> {
  const amounts = refunds.map(({ refund_id, amount_cents }) => ({ refund_id, amount_cents }))
  await Promise.all([
    note !== null && orders.addNote(tx, order.id, { note, actor }),
    orders.addToTimeline(tx, order.id, {
      type: 'cancelled',
      actor,
      data: { reason, restock, refunds: amounts },
    }),
    orderCancelled.emit(tx, order, { reason, refunds: amounts }),
  ])
}

async function endSubscriptions(
  tx: Tx,
  deps: OrderChangeDeps,
  order: OrderRow,
  { actor, reason }: CancelPlan,
): Promise<void> {
  const { id: order_id } = order
  for (const { id: subscription_id } of await deps.endSubscriptions(tx, order, reason)) {
    const data = { subscription_id }
    await orders.addToTimeline(tx, order_id, { type: 'subscription_cancelled', actor, data })
  }
}

type As = Pick<CancelPlan, 'actor' | 'as'>

/** Answers a second cancellation: it changes nothing. */
async function answerRepeat(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  { actor, as }: As,
): Promise<idempotency.StoredAnswer> {
  if (as === 'edit') return answerEdit(tx, claim, order, { actor, refunds: [] })
  const refunds = (await orders.listRefunds(tx, order.id))
    .filter(({ status }) => status === 'succeeded')
    .map(isShopper(actor) ? refundForShopper : shownRefund)
  const body = { order: forActor(order, actor), refunds, already_cancelled: true }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

function answer(
  tx: Tx,
  claim: idempotency.WonClaim,
  { actor, as }: As,
  { order, refunds }: Extract<Ended, { state: 'cancelled' }>,
): Promise<idempotency.StoredAnswer> {
  if (as === 'edit') return answerEdit(tx, claim, order, { actor, refunds })
  const body = { order: forActor(order, actor), refunds, already_cancelled: false }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

/** Answers an edit that left no units, in the form of an edit. */
async function answerEdit(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  { actor, refunds }: { actor: string; refunds: readonly OrderRefund[] },
): Promise<idempotency.StoredAnswer> {
  const items = await orders.listItems(tx, order.id)
  const delta_cents = -sum(refunds.map(({ amount_cents }) => amount_cents))
  const refund = refunds[0] ?? null
  const body = { order: forActor(order, actor), items, charge: null, refund, delta_cents }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}
