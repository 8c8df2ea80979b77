import { randomUUID } from 'node:crypto'
import { allOf } from '../../db/all-of.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { inProgress } from '../../platform/idempotency-run.ts'
import * as orderRows from '../orders/money.ts'
import type { ChargeRow, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { Attempt, GatewayResult, Lookup } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import * as webhooks from '../webhooks/service.ts'
import { declineOf } from './fail-money.ts'
import { brief } from './placed.ts'
import type { CheckoutDeps } from './service.ts'
import { askAgainAfter, settle } from './settle-money.ts'

/**
 * Lets a held order go on. One that was paid before goes back to where it was; one whose payment is
 * only authorised is captured, and placed as by its checkout. A refusal of the gateway leaves it held.
 */

/** The recovery point at which a release waits for its gateway. */
const RELEASING = 'releasing'

interface ReleasePlan extends orderRows.Plan {
  kind: 'release'
  charge_id: string
}

export async function release(
  deps: CheckoutDeps,
  db: TenantDb,
  { actor, claim }: orderRows.Asked,
  orderId: string,
): Promise<idempotency.Answer> {
  if (claim.recoveryPoint === RELEASING) return resumeRelease(deps, db, claim)
  const begun = await db.transaction('checkout: release', (tx) =>
    begin(tx, deps, claim, { orderId, by: orderRows.actorOf(actor) }),
  )
  if (begun.state === 'answered') return begun
  await deps.at?.('release-begun')
  return conclude(deps, db, begun, true)
}

/** Ends a release that somebody left, by the gateway's own record. */
export const resumeRelease = (
  deps: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
): Promise<idempotency.Answer> => conclude(deps, db, claim, false)

async function begin(
  tx: Tx,
  deps: CheckoutDeps,
  claim: idempotency.WonClaim,
  { orderId, by }: { orderId: string; by: string },
): Promise<idempotency.Answer | idempotency.WonClaim> {
  const order = await orders.lock(tx, orderId)
  orders.requireAllowed(order, 'release')
  if (order.placed_at !== null) {
    return told(tx, claim, await orders.change(tx, order, { hold: null }), by)
  }
  const charge = (await orders.listCharges(tx, order.id)).find(isAuthorized)
  if (charge === undefined) {
    const paid = { kind: 'covered', verdict: null } as const
    return settle(tx, deps, { order_id: order.id, waiting: null }, paid, (_, whole) =>
      told(tx, claim, whole.order, by),
    )
  }
  const { charge_id, amount_cents, currency, txn_id } = charge
  const plan: ReleasePlan = { id: randomUUID(), kind: 'release', actor: by, charge_id }
  const [held] = await allOf([
    idempotency.advance(tx, claim, RELEASING, order.id),
    orderRows.occupy(tx, order, plan),
    payments.beginAttempt(tx, {
      ...{ id: plan.id, order_id: order.id, kind: 'release', amount_cents, currency, charge_id },
      gateway: gatewayOf(charge),
      parent_txn_id: txn_id,
    }),
  ])
  return held
}

const isAuthorized = ({ tender, status }: ChargeRow) => tender === 'card' && status === 'authorized'

function gatewayOf({ gateway }: ChargeRow) {
  if (gateway === null) throw new Error('an authorised card has no gateway')
  return gateway
}

/** Says so to the order, the world and the caller. */
async function told(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  by: string,
): Promise<idempotency.Answer> {
  const [answer] = await allOf([
    idempotency.finish(tx, claim, 200, JSON.stringify({ order: orders.forMerchant(order) })),
    orderRows.insertTimeline(tx, order.id, { type: 'released', actor: by }),
    orderRows.record(tx, { actor: by, claim }, order.id, {
      ...{ action: 'order.released', before: { status: 'on_hold' } },
      after: { status: order.status },
    }),
    webhooks.emit(tx, {
      type: 'commerce.order.released.v1',
      order_id: order.id,
      customer_ref: order.customer_ref,
      data: { order: orders.forMerchant(order) },
    }),
  ])
  return answer
}

async function conclude(
  deps: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  isFirst: boolean,
): Promise<idempotency.Answer> {
  const order = await orders.get(db, claim.resourceId ?? '')
  const plan = orderRows.planOf<ReleasePlan>(order, 'release')
  const charges = await orders.listCharges(db, order.id)
  const charge = charges.find(({ charge_id }) => charge_id === plan?.charge_id)
  if (plan === null || charge === undefined) throw new Error('nothing is being released')
  const sure = orderRows.whileHeld(deps, db, claim)
  const result = await (isFirst ? take : recall)(sure, db, plan, charge)
  if (result.outcome === 'unknown') return leave(deps, db, claim, { order, plan, isFirst })
  await deps.at?.('release-answered')
  return db.transaction('checkout: end a release', async (tx) => {
    if (result.outcome !== 'approved') return stayHeld(tx, claim, { order, plan, result })
    const { txn_id } = charge
    const paid = { kind: 'captured', attempt_id: plan.id, verdict: null } as const
    return settle(
      tx,
      deps,
      { order_id: order.id, waiting: null },
      { ...paid, result: { ...result, txn_id } },
      async (_, whole) => {
        await orderRows.vacate(tx, order, plan)
        return told(tx, claim, whole.order, plan.actor)
      },
    )
  })
}

/** What cannot be taken may have been: a moment ago, or by a release that was given up. */
async function take(
  deps: CheckoutDeps,
  db: Db,
  plan: ReleasePlan,
  charge: ChargeRow,
): Promise<GatewayResult> {
  const gateway = await deps.payments.forStore(db, gatewayOf(charge))
  const { amount_cents, currency } = charge
  const txn_id = charge.txn_id ?? ''
  const result = await gateway.capture({ ref: plan.id, txn_id, amount_cents, currency })
  if (result.outcome === 'approved' || result.outcome === 'unknown') return result
  const found = await gateway.lookup({ txn_id })
  return isNotTaken(found, charge) ? result : payments.resultOfLookup(found)
}

/** What was not taken is taken now, unless somebody has said by hand how it ended. */
async function recall(
  deps: CheckoutDeps,
  db: Db,
  plan: ReleasePlan,
  charge: ChargeRow,
): Promise<GatewayResult> {
  const attempt = await payments.findAttempt(db, plan.id)
  const decided = attempt && payments.closedResult(attempt)
  if (decided !== null) return decided
  const gateway = await deps.payments.forStore(db, gatewayOf(charge))
  const found = await gateway.lookup({ txn_id: charge.txn_id ?? '' })
  return isNotTaken(found, charge) ? take(deps, db, plan, charge) : payments.resultOfLookup(found)
}

/**
 * Taken and given back again is not taken; nor is a part, which somebody took at the gateway's own desk,
 * nor what the gateway does not know: its account is another one by now, and would never know.
 */
const isNotTaken = (found: Lookup, { amount_cents }: ChargeRow) =>
  found.found === 'no' ||
  found.state === 'authorized' ||
  found.state === 'refunded' ||
  payments.isPart(found, amount_cents)

async function stayHeld(
  tx: Tx,
  claim: idempotency.WonClaim,
  { order, plan, result }: { order: OrderRow; plan: ReleasePlan; result: GatewayResult },
): Promise<idempotency.Answer> {
  const locked = await orders.lock(tx, order.id)
  await allOf([
    orderRows.vacate(tx, locked, plan),
    payments.closeAttempt(tx, plan.id, result),
    orderRows.insertTimeline(tx, order.id, {
      type: 'release_failed',
      actor: plan.actor,
      data: { reason: result.reason },
    }),
  ])
  const body = { decline: declineOf(result), order: brief(locked) }
  return idempotency.refuse(tx, claim, new ApiError('payment_declined', { body }))
}

/** Nobody can say yet: left for the reconciler, or for the same key. */
async function leave(
  { clock }: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  { order, plan, isFirst }: { order: OrderRow; plan: ReleasePlan; isFirst: boolean },
): Promise<never> {
  const asked: Attempt | null = isFirst ? null : await payments.findAttempt(db, plan.id)
  await db.transaction('checkout: release unknown', async (tx) => {
    await payments.markUnknown(tx, plan.id)
    await idempotency.renew(tx, claim, askAgainAfter(asked ?? undefined, clock.now()))
  })
  if (!isFirst) throw inProgress()
  throw new ApiError('payment_unconfirmed', { body: { order: brief(order) }, kind: 'upstream' })
}
