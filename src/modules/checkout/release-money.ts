import { awaitAll } from '../../db/await-all.ts'
import type { Db, Tx } from '../../db/database.ts'
import { newId } from '../../kernel/id.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { closedReply, outcomeOf, type ReplyOutcome, replyOf } from '../operations/replies.ts'
import type { GatewayReply } from '../operations/schema.ts'
import { defineOperation, type Reach } from '../operations/service.ts'
import { beginPlan, endPlan, getPlan, type Plan } from '../order-changes/plan.ts'
import { chargeOf, closeAttempt, gatewayOf } from '../order-changes/settle-refund-money.ts'
import { actorOf, auditOrder } from '../orders/actor.ts'
import { declinedPayment } from '../orders/declined.ts'
import { orderReleased } from '../orders/events.ts'
import type { ChargeRow, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forMerchant } from '../orders/show.ts'
import { resultOfLookup } from '../payments/adapters/results.ts'
import type { Lookup } from '../payments/adapters/schema.ts'
import * as attempts from '../payments/attempts.ts'
import { isPartialPayment } from '../payments/gateway.ts'
import type { CheckoutDeps } from './service.ts'
import { settleOrder } from './settle-money.ts'

/**
 * Releases a held order. An order that was paid before returns to its status. An order whose
 * payment is only authorised is captured, and placed as by its checkout; if the gateway refuses, it
 * stays held.
 */

interface ReleasePlan extends Plan {
  kind: 'release'
  charge_id: string
}

interface Work {
  order: OrderRow
  plan: ReleasePlan
  charge: ChargeRow
}

export const releaseOperation = defineOperation<
  CheckoutDeps,
  { orderId: string },
  Work,
  ReplyOutcome
>({
  name: 'release',
  begin: (deps, db, { actor, claim, reach }, { orderId }) =>
    db.transaction('release: begin', async (tx) => {
      const order = await orders.lock(tx, orderId)
      orders.requireAllowed(order, 'release')
      const acting = { actor: actorOf(actor), claim }
      if (order.placed_at !== null) {
        return record(tx, acting, await orders.change(tx, order, { hold: null }))
      }
      const charge = (await orders.listCharges(tx, order.id)).find(isAuthorized)
      if (charge !== undefined) return begin(tx, order, charge, { ...acting, reach })
      const paid = { kind: 'covered', verdict: null } as const
      return settleOrder(tx, deps, { order_id: order.id, waiting: null, paid }, (_, whole) =>
        record(tx, acting, whole.order),
      )
    }),
  async load(db, orderId) {
    const order = await orders.get(db, orderId)
    const plan = getPlan<ReleasePlan>(order, 'release')
    const charges = await orders.listCharges(db, order.id)
    return { order, plan, charge: chargeOf(charges, plan.charge_id) }
  },
  ask: async (deps, db, work) => outcomeOf(await capture(deps, db, work)),
  recall: async (deps, db, work) => outcomeOf(await recallCapture(deps, db, work)),
  end(tx, deps, { claim, work, replies: { reply } }) {
    const { order, plan, charge } = work
    if (reply.kind !== 'approved') return stayHeld(tx, claim, work, reply)
    // A capture is a reply to the authorisation: the charge keeps that transaction.
    const result = { ...reply.result, txn_id: charge.txn_id }
    const paid = { kind: 'captured', attempt_id: plan.id, verdict: null, result } as const
    const settling = { order_id: order.id, waiting: null, paid }
    return settleOrder(tx, deps, settling, async (_, whole) => {
      await endPlan(tx, order, plan)
      return record(tx, { actor: plan.actor, claim }, whole.order)
    })
  },
  orderOf: ({ order }) => briefOf(order),
})

const isAuthorized = ({ tender, status }: ChargeRow) => tender === 'card' && status === 'authorized'

async function begin(
  tx: Tx,
  order: OrderRow,
  charge: ChargeRow,
  { actor, reach }: { actor: string; reach: Reach },
) {
  const { charge_id, amount_cents, currency, txn_id } = charge
  const plan: ReleasePlan = { id: newId(), kind: 'release', actor, charge_id }
  const [claim] = await awaitAll([
    reach(tx, order.id),
    beginPlan(tx, order, plan),
    attempts.beginAttempt(tx, {
      id: plan.id,
      order_id: order.id,
      kind: 'release',
      gateway: gatewayOf(charge),
      amount_cents,
      currency,
      charge_id,
      parent_txn_id: txn_id,
    }),
  ])
  return { state: 'begun' as const, claim }
}

/** Records a release in timeline, event and audit log, and stores its answer. */
async function record(
  tx: Tx,
  { actor, claim }: { actor: string; claim: idempotency.WonClaim },
  order: OrderRow,
): Promise<idempotency.StoredAnswer> {
  const [answer] = await awaitAll([
    idempotency.finish(tx, claim, 200, JSON.stringify({ order: forMerchant(order) })),
    orders.addToTimeline(tx, order.id, { type: 'released', actor }),
    auditOrder(tx, { actor, claim }, order.id, {
      action: 'order.released',
      before: { status: 'on_hold' },
      after: { status: order.status },
    }),
    orderReleased.emit(tx, order, {}),
  ])
  return answer
}

/**
 * Captures the authorisation. After a refusal it looks the charge up: the capture may have been made a moment
 * ago, or by a release that was given up.
 */
async function capture(deps: CheckoutDeps, db: Db, { plan, charge }: Work): Promise<GatewayReply> {
  const gateway = await deps.payments.forStore(db, gatewayOf(charge))
  const { amount_cents, currency } = charge
  const txn_id = charge.txn_id ?? ''
  const result = await gateway.capture({ ref: plan.id, txn_id, amount_cents, currency })
  if (result.outcome === 'approved' || result.outcome === 'unknown') return replyOf(plan.id, result)
  const found = await gateway.lookup({ txn_id })
  return replyOf(plan.id, isNotCaptured(found, charge) ? result : resultOfLookup(gateway, found))
}

/** Captures an authorisation that is not captured yet, unless an operator has decided how the capture ended. */
async function recallCapture(deps: CheckoutDeps, db: Db, work: Work): Promise<GatewayReply> {
  const { plan, charge } = work
  const closed = closedReply(await attempts.getAttempt(db, plan.id))
  if (closed !== null) return closed
  const gateway = await deps.payments.forStore(db, gatewayOf(charge))
  const found = await gateway.lookup({ txn_id: charge.txn_id ?? '' })
  return isNotCaptured(found, charge)
    ? capture(deps, db, work)
    : replyOf(plan.id, resultOfLookup(gateway, found))
}

/**
 * Whether a charge is not captured. A refunded capture counts as none, and so does a partial one, made in the
 * gateway's own back office. So does a transaction that the gateway does not know: the store has another
 * account by now.
 */
const isNotCaptured = (found: Lookup, { amount_cents }: ChargeRow) =>
  found.found === 'no' ||
  found.state === 'authorized' ||
  found.state === 'refunded' ||
  isPartialPayment(found, amount_cents)

async function stayHeld(
  tx: Tx,
  claim: idempotency.WonClaim,
  { order, plan }: Work,
  reply: GatewayReply,
): Promise<idempotency.StoredAnswer> {
  const result = reply.kind === 'refused' ? reply.result : null
  const locked = await orders.lock(tx, order.id)
  await awaitAll([
    endPlan(tx, locked, plan),
    closeAttempt(tx, reply),
    orders.addToTimeline(tx, order.id, {
      type: 'release_failed',
      actor: plan.actor,
      data: { reason: result?.reason ?? null },
    }),
  ])
  return idempotency.refuse(tx, claim, declinedPayment(result, locked))
}
