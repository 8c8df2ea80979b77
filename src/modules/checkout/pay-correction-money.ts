import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import type { Caller, GatewayReply } from '../operations/schema.ts'
import { applyCorrection } from '../order-changes/apply-correction-money.ts'
import type { Correction } from '../order-changes/correction.ts'
import { emitHeld, recordReview, reviewOf } from '../order-changes/edit-review.ts'
import type { Plan } from '../order-changes/plan.ts'
import { closeAttempt } from '../order-changes/settle-refund-money.ts'
import { disputeHoldOf, tellHeld } from '../orders/dispute-hold.ts'
import {
  endCorrectionRequest,
  endRequest,
  findRequest,
  isHeldForPayment,
  readCorrection,
  requireOpen,
} from '../orders/payment-request.ts'
import type { NewCharge, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { forMerchant, forShopper, shownCharge } from '../orders/show.ts'

/** The end of a payment request for a correction: paid, it is applied; otherwise the order is as it was. */

/** A correction as its payment request stores it. */
export interface AskedCorrection extends Correction {
  /** The reference of the correction's journal. */
  id: string
}

/** Whether a payment request is for the correction of a placed order, and not for a new order. */
export const isCorrection = ({ placed_at }: OrderRow): boolean => placed_at !== null

interface Paid {
  order: OrderRow
  plan: Plan & { ban_ids: string[] }
  reply: Extract<GatewayReply, { kind: 'approved' | 'refused' }>
  charge: NewCharge
}

/** Applies a correction whose difference was paid. */
export async function settleCorrection(
  tx: Tx,
  claim: idempotency.WonClaim,
  { order: before, plan, reply, charge }: Paid,
): Promise<idempotency.StoredAnswer> {
  const order_id = before.id
  const { id, ...correction } = await getCorrection(tx, order_id)
  const { charge_id, amount_cents } = charge
  await closeAttempt(tx, reply)
  await orders.insertCharges(tx, order_id, [charge])
  const { txn_id = null, vault_id = null } = reply.result
  await orders.captureCharge(tx, charge_id, { captured_cents: amount_cents, txn_id, vault_id })
  await endRequest(tx, order_id, 'paid')
  const hasWaited = isHeldForPayment(before)
  const review = reviewOf(tx, hasWaited ? { ...before, hold: null } : before, plan)
  const risk = hasWaited && review === null ? await disputeHoldOf(tx, before) : null
  const order = await applyCorrection(tx, before, correction, {
    id,
    charge: { amount_cents },
    also: {
      payment: 'captured',
      ...((hasWaited || review !== null) && { hold: review ?? risk }),
    },
    acting: { actor: plan.actor, claim },
  })
  if (plan.ban_ids.length > 0) await recordReview(tx, order, plan)
  if (review !== null) await emitHeld(tx, order, review)
  if (risk !== null) await tellHeld(tx, order)
  const charges = await orders.listCharges(tx, order_id)
  const body = {
    order: forShopper(await orders.get(tx, order_id)),
    charges: charges.map(shownCharge),
    payment_request: await findRequest(tx, order_id),
  }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

async function getCorrection(tx: Tx, order_id: string): Promise<AskedCorrection> {
  const found = await readCorrection(tx, order_id)
  if (found === null) throw new Error('a correction that was paid for is not known')
  return found as AskedCorrection
}

/** Refuses a payment if the order has changed since the shopper was asked, for instance by a lost dispute. */
export async function requireSameOrder(db: Db, order: OrderRow, amount_cents: number) {
  const correction = (await readCorrection(db, order.id)) as AskedCorrection | null
  const total = (correction?.priced?.totals.total_cents ?? Number.NaN) - order.total_cents
  if (total === amount_cents && order.refunded_cents === 0) return
  throw new ApiError('payment_request_closed', { body: { status: 'open' } })
}

/** Withdraws the request for a correction, because the merchant asks for it. */
export function withdrawCorrection(
  db: TenantDb,
  { actor, claim }: Caller,
  id: string,
): Promise<idempotency.StoredAnswer> {
  return db.transaction('correction: withdraw', async (tx) => {
    const found = await orders.lock(tx, id)
    await requireOpen(tx, found.id)
    orders.requireFree(found, 'pay')
    const order = await endCorrectionRequest(tx, found, { status: 'withdrawn', actor: actor.name })
    await audit.record(tx, actor, {
      action: 'order.correction_withdrawn',
      entity: `order:${order.id}`,
      before: { status: found.status },
      after: { status: order.status },
    })
    const body = { order: forMerchant(order), refunds: [], already_cancelled: false }
    return idempotency.finish(tx, claim, 200, JSON.stringify(body))
  })
}

/** Ends a request for a correction that was not paid in time. Returns false while the shopper is paying. */
export function expireCorrection(db: TenantDb, id: string): Promise<boolean> {
  return db.transaction('correction: expire', async (tx) => {
    const order = await orders.lock(tx, id)
    const request = await findRequest(tx, order.id)
    if (request?.status !== 'open' || order.busy) return false
    await endCorrectionRequest(tx, order, { status: 'expired', actor: audit.SYSTEM.name })
    return true
  })
}
