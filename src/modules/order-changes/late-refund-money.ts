import type { Tx } from '../../db/database.ts'
import { newId } from '../../kernel/id.ts'
import { reserveCards } from '../gift-cards/purchase-money.ts'
import { recallVoid, replyOf } from '../operations/replies.ts'
import type { GatewayReply } from '../operations/schema.ts'
import * as orders from '../orders/service.ts'
import type { Gateway } from '../payments/adapters/gateway.ts'
import { resultOfLookup } from '../payments/adapters/results.ts'
import * as attempts from '../payments/attempts.ts'
import type { Attempt } from '../payments/schema.ts'
import { takeBackLeft } from './bought-cards.ts'
import { partsOf, splitAmount, subtractParts, withoutNegatives } from './refund-parts.ts'
import * as queries from './refund-queries.ts'
import { chargeOf, settleRefund } from './settle-refund-money.ts'

/**
 * Late refunds: a gateway has carried out a refund that we had given up as `not_found`. The shopper has the money,
 * so it counts as a separate refund. The failed refund stays on record as failed.
 */

interface LateReply {
  reply: GatewayReply
  /** The record is that of the voided charge, and not of our reference. */
  byVoid: boolean
}

/** Looks up a refund that was given up as `not_found`. */
export async function recallLateRefund(gateway: Gateway, attempt: Attempt): Promise<LateReply> {
  const { id: attempt_id } = attempt
  const lookup = await gateway.lookup({ ref: attempt_id })
  if (lookup.found === 'unreachable') {
    return { reply: { kind: 'unknown', attempt_id }, byVoid: false }
  }
  if (lookup.found === 'yes') {
    return { reply: replyOf(attempt_id, resultOfLookup(gateway, lookup)), byVoid: false }
  }
  const voided = await recallVoid(gateway, attempt)
  return { reply: voided ?? { kind: 'not_found', attempt_id }, byVoid: true }
}

/**
 * Counts a late refund, in a transaction of its own. `counted`: it is a refund now. `twice`: the
 * charge was refunded in another way as well, so the shopper was paid twice. `nothing`: the gateway
 * has not refunded it, or another operation voided the charge and has counted that. `busy`: an
 * operation or a refund of the order is in progress and must end first.
 */
export async function countLateRefund(
  tx: Tx,
  attempt: Attempt,
  { reply, byVoid }: LateReply,
): Promise<'counted' | 'twice' | 'nothing' | 'busy'> {
  if (reply.kind !== 'approved') return 'nothing'
  const order = await orders.lock(tx, attempt.order_id)
  const [charges, reserved] = await Promise.all([
    orders.listCharges(tx, order.id),
    queries.sumReserved(tx, order.id),
  ])
  // A pending refund may be refused because of this one, and then releases what it has reserved.
  if (order.busy || reserved.pending > 0) return 'busy'
  const { charge_id, captured_cents } = chargeOf(charges, attempt.charge_id ?? '')
  const { amount_cents, currency } = attempt
  if (byVoid && amount_cents !== captured_cents) return 'nothing'
  if ((await queries.reserveFromCharge(tx, charge_id, amount_cents)) === 0) {
    const isCounted = byVoid && (await queries.findWholeRefund(tx, charge_id)) !== null
    return isCounted ? 'nothing' : 'twice'
  }
  const left = withoutNegatives(subtractParts(partsOf(order), reserved))
  const parts = splitAmount(amount_cents, left)
  const { cards = [] } = await takeBackLeft(tx, order, parts)
  const refund_id = newId()
  await queries.insertRefund(tx, {
    refund_id,
    order_id: order.id,
    kind: 'refund',
    method: 'original',
    amount_cents,
    currency,
    reason: null,
    actor: 'system',
    ...parts,
  })
  await reserveCards(tx, refund_id, cards)
  const share = { charge_id, tender: 'card', amount_cents, attempt_id: attempt.id }
  await queries.insertTenders(tx, refund_id, [share])
  const refund = await orders.getRefund(tx, refund_id)
  await attempts.closeLate(tx, attempt.id, reply.result)
  const replies = new Map([[charge_id, reply]])
  await settleRefund(tx, order, refund, { charges, replies, mayLose: true })
  return 'counted'
}
