import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { outcomeOf, type ReplyOutcome, recallCharge, replyOf } from '../operations/replies.ts'
import type { GatewayReply } from '../operations/schema.ts'
import { defineOperation } from '../operations/service.ts'
import { emitHeld, recordReview, reviewOf } from '../order-changes/edit-review.ts'
import { countDecline, requireAdmitted } from '../order-changes/fraud-check.ts'
import { beginPlan, endPlan, getPlan, type Plan } from '../order-changes/plan.ts'
import { closeAttempt } from '../order-changes/settle-refund-money.ts'
import { actorOf } from '../orders/actor.ts'
import { declinedPayment } from '../orders/declined.ts'
import { holdIfDisputed } from '../orders/dispute-hold.ts'
import { endRequest, findRequest, requireOpen } from '../orders/payment-request.ts'
import type { NewCharge, OrderRow, WholeOrder } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forShopper, shownCharge } from '../orders/show.ts'
import type { Source } from '../payments/adapters/gateway.ts'
import * as attempts from '../payments/attempts.ts'
import type { GatewayName } from '../payments/schema.ts'
import { shownReason } from '../payments/shown-reason.ts'
import {
  lockExchanged,
  requireUndisputedCredit,
  settleExchange,
} from '../returns/exchange-money.ts'
import { isCorrection, requireSameOrder, settleCorrection } from './pay-correction-money.ts'
import type { CheckoutDeps } from './service.ts'
import { settleOrder } from './settle-money.ts'

/**
 * Charges the shopper's card for a payment request. The order has the plan of one payment at a time, so that
 * two payers pay once, and it neither expires nor is cancelled in between. A declined card leaves the order
 * as it was: the shopper can use another.
 */

export interface PayRequest {
  orderId: string
  customer_ref: string
  /** Null if the request has no card. */
  source: Exclude<Source, { vault_id: string }> | null
}

interface PayPlan extends Plan {
  kind: 'pay'
  gateway: GatewayName
  amount_cents: number
  card_brand: string | null
  card_last4: string | null
  card_fingerprint: string | null
  /** Bans that hold the order for review once it is paid. */
  ban_ids: string[]
}

interface Work {
  order: OrderRow
  plan: PayPlan
}

/** The id of the plan is also the id of its attempt. */
export const payOperation = defineOperation<CheckoutDeps, PayRequest, Work, ReplyOutcome>({
  name: 'pay',
  async begin(deps, db, { actor, reach }, { orderId, customer_ref, source }) {
    const order = await orders.get(db, orderId)
    if (order.customer_ref !== customer_ref) throw new ApiError('order_not_found')
    const { amount_cents } = await requirePayable(db, order)
    if (source === null) {
      throw new ApiError('card_required', { body: { amount_due_cents: amount_cents } })
    }
    const ban_ids = await requireAdmitted(deps, db, order, source)
    return db.transaction('pay: begin', async (tx) => {
      const locked = await orders.lock(tx, order.id)
      await requirePayable(tx, locked)
      await requireUndisputedCredit(tx, locked)
      await begin(tx, deps, locked, { source, amount_cents, ban_ids, actor: actorOf(actor) })
      return { state: 'begun', claim: await reach(tx, order.id), source }
    })
  },
  async load(db, orderId) {
    const order = await orders.get(db, orderId)
    return { order, plan: getPlan<PayPlan>(order, 'pay') }
  },
  async ask(deps, db, { order, plan }, source) {
    if (source === null) throw new Error('a payment has no card')
    return outcomeOf(await chargeCard(deps, db, order, { plan, source }))
  },
  recall: async (deps, db, { plan }) => outcomeOf(await recallCharge(deps, db, plan.id)),
  async end(tx, deps, { claim, work, replies: { reply } }) {
    await lockExchanged(tx, work.order)
    const order = await orders.lock(tx, work.order.id)
    const plan = getPlan<PayPlan>(order, 'pay')
    await endPlan(tx, order, plan)
    if (reply.kind !== 'approved') return stayHeld(tx, claim, order, { plan, reply })
    if (isCorrection(order)) {
      const charge = chargeOf(order, plan)
      return settleCorrection(tx, claim, { order, plan, reply, charge })
    }
    return settle(tx, deps, claim, { order, plan, reply })
  },
  async after(deps, db, { order, plan }, { reply }) {
    if (reply.kind === 'refused') await countDecline(deps, db, order, plan)
  },
  orderOf: ({ order }) => briefOf(order),
})

/** Refuses an order that is not to be paid: an order is paid once, and only while its shopper is asked to pay. */
async function requirePayable(db: Db, order: OrderRow) {
  orders.requireFree(order, 'pay')
  const request = await requireOpen(db, order.id)
  orders.requireAllowed(order, 'pay')
  if (isCorrection(order)) await requireSameOrder(db, order, request.amount_cents)
  return request
}

interface Paying {
  source: Source
  amount_cents: number
  ban_ids: string[]
  actor: string
}

async function begin(
  tx: Tx,
  deps: CheckoutDeps,
  order: OrderRow,
  { source, amount_cents, ban_ids, actor }: Paying,
): Promise<void> {
  const { name: gateway } = await deps.payments.forStore(tx)
  const card = 'card' in source ? source.card : null
  const plan: PayPlan = {
    id: newId(),
    kind: 'pay',
    actor,
    gateway,
    amount_cents,
    card_brand: card?.brand ?? null,
    card_last4: card?.last4 ?? null,
    card_fingerprint: card?.fingerprint(deps.keys.fingerprint) ?? null,
    ban_ids,
  }
  await attempts.beginAttempt(tx, {
    id: plan.id,
    order_id: order.id,
    kind: 'pay',
    gateway,
    amount_cents,
    currency: order.currency,
    charge_id: plan.id,
  })
  await beginPlan(tx, order, plan)
}

async function chargeCard(
  deps: CheckoutDeps,
  db: Db,
  order: OrderRow,
  { plan, source }: { plan: PayPlan; source: Source },
): Promise<GatewayReply> {
  if ('vault_id' in source) throw new Error('a payment request is never charged to a stored card')
  const gateway = await deps.payments.forStore(db, plan.gateway)
  const { id: order_id, order_number, currency, email, ip, ship_to } = order
  await deps.at?.('pay-sent')
  const result = await gateway.sale({
    ref: plan.id,
    amount_cents: plan.amount_cents,
    order_id,
    order_number,
    currency,
    email,
    ip,
    ship_to,
    source,
  })
  return replyOf(plan.id, result)
}

interface Approved {
  order: OrderRow
  plan: PayPlan
  reply: Extract<GatewayReply, { kind: 'approved' | 'refused' }>
}

/** Places the order: the card pays the requested amount, and the return's refund the rest. */
async function settle(
  tx: Tx,
  deps: CheckoutDeps,
  claim: idempotency.WonClaim,
  { order, plan, reply }: Approved,
): Promise<idempotency.StoredAnswer> {
  const order_id = order.id
  await orders.insertCharges(tx, order_id, [chargeOf(order, plan)])
  await settleExchange(tx, order_id)
  await endRequest(tx, order_id, 'paid')
  const paid = {
    kind: 'captured',
    attempt_id: plan.id,
    result: reply.result,
    verdict: null,
  } as const
  const settling = { order_id, waiting: null, paid }
  return settleOrder(tx, deps, settling, async (_, whole) => {
    const placed = await reviewPayment(tx, whole, plan)
    const body = {
      order: forShopper(placed),
      charges: whole.charges.map(shownCharge),
      payment_request: await findRequest(tx, order_id),
    }
    return idempotency.finish(tx, claim, 200, JSON.stringify(body))
  })
}

const chargeOf = ({ currency }: OrderRow, plan: PayPlan): NewCharge => ({
  charge_id: plan.id,
  tender: 'card',
  amount_cents: plan.amount_cents,
  currency,
  gateway: plan.gateway,
  card_brand: plan.card_brand,
  card_last4: plan.card_last4,
  card_fingerprint: plan.card_fingerprint,
})

/**
 * Holds a paid order that a ban with the decision `review` concerns, or whose other money a bank may take: its dispute
 * was opened while the shopper paid. The charge stays.
 */
async function reviewPayment(tx: Tx, { order }: WholeOrder, plan: PayPlan): Promise<OrderRow> {
  const hold = reviewOf(tx, order, plan)
  if (hold === null) return holdIfDisputed(tx, order)
  const held = await orders.change(tx, order, { hold })
  await recordReview(tx, held, plan)
  await emitHeld(tx, held, hold)
  return held
}

async function stayHeld(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  { plan, reply }: { plan: PayPlan; reply: GatewayReply },
): Promise<idempotency.StoredAnswer> {
  const result = reply.kind === 'refused' ? reply.result : null
  await closeAttempt(tx, reply)
  await orders.addToTimeline(tx, order.id, {
    type: 'payment_declined',
    actor: plan.actor,
    data: { amount_cents: plan.amount_cents, reason: shownReason(result?.reason ?? null) },
  })
  return idempotency.refuse(tx, claim, declinedPayment(result, order))
}
