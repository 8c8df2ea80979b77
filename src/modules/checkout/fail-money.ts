import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as fraud from '../fraud/service.ts'
import * as giftCards from '../gift-cards/money.ts'
import * as inventory from '../inventory/money.ts'
import * as coupons from '../marketing/money.ts'
import * as orderRows from '../orders/money.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { GatewayResult } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import * as storeCredit from '../store-credit/money.ts'
import type { Outcome } from './pay.ts'
import { brief, decisionOf, requireWaiting } from './placed.ts'

type Failed = Extract<Outcome, { kind: 'declined' | 'rejected' | 'lost' }>

/** Nothing was charged: everything held is given back, and the refusal is the key's answer. */
export async function giveUp(
  tx: Tx,
  claim: idempotency.WonClaim,
  order_id: string,
  failed: Failed,
): Promise<idempotency.Answer> {
  const locked = await orders.lock(tx, order_id)
  requireWaiting(locked)
  const order = await letGo(tx, locked, failureOf(failed))
  await Promise.all([
    closeFailed(tx, failed),
    failed.kind === 'rejected' && fraud.record(tx, decisionOf(order, failed.verdict)),
    orderRows.insertTimeline(tx, order_id, {
      type: 'payment_failed',
      actor: 'system',
      data: { reason: failureOf(failed) },
    }),
  ])
  return idempotency.refuse(tx, claim, refusalOf(failed, order))
}

/** Gives back stock, credit, gift card and coupon, in the order in which they are locked. */
async function letGo(tx: Tx, order: OrderRow, failure: string): Promise<OrderRow> {
  const order_id = order.id
  await inventory.release(tx, order_id)
  await storeCredit.voidHold(tx, { order_id })
  await giftCards.voidHold(tx, { order_id })
  await coupons.release(tx, { order_id })
  await orderRows.endCharges(tx, order_id, 'failed')
  return orders.change(tx, order, { payment: 'failed', payment_failure: failure, hold: null })
}

const failureOf = (failed: Failed): string => {
  if (failed.kind === 'rejected') return 'fraud'
  return failed.kind === 'lost' ? 'processing_error' : (failed.result.reason ?? 'card_declined')
}

async function closeFailed(tx: Tx, failed: Failed): Promise<void> {
  if (failed.kind === 'lost') await payments.markNotFound(tx, failed.attempt_id)
  else if (failed.kind === 'declined')
    await payments.closeAttempt(tx, failed.attempt_id, declinedResult(failed.result))
  else await payments.markVoided(tx, failed.attempt_id, failed.result)
}

/** A charge that was taken back is no approval, whatever its record says. */
const declinedResult = (result: GatewayResult): GatewayResult =>
  result.outcome === 'approved' ? { ...result, outcome: 'error', reason: 'invalid_state' } : result

/** What a shopper may be told: the first six reasons of the gateways, and no rule of the fraud check. */
function refusalOf(failed: Failed, order: OrderRow): ApiError {
  if (failed.kind === 'rejected')
    return new ApiError('fraud_rejected', { body: { order: brief(order) } })
  const decline = declineOf(failed.kind === 'declined' ? failed.result : null)
  return new ApiError('payment_declined', { body: { decline, order: brief(order) } })
}

export const declineOf = (result: GatewayResult | null) => ({
  reason: payments.shownReason(result?.reason ?? null),
  retryable: result?.retryable ?? true,
})
