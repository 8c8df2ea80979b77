import type { Db } from '../../db/database.ts'
import {
  isRefundOutOfTransit,
  recallAttempt,
  recallVoid,
  replyOf,
  sendOnce,
  unknownOf,
} from '../operations/replies.ts'
import type { GatewayReply } from '../operations/schema.ts'
import type { Fenced, OperationDeps, Replies } from '../operations/service.ts'
import type { ChargeRow, RefundRow } from '../orders/schema.ts'
import { reversePayment } from '../payments/gateway.ts'

/** The replies to a refund, by charge: one for each card that it refunds. */
export type RefundReplies = ReadonlyMap<string, GatewayReply>

export const NO_REPLIES: RefundReplies = new Map()

/** The replies to the refund of an operation. */
export interface RefundOutcome extends Replies {
  refunds: RefundReplies
}

/**
 * Asks each card's gateway to refund its share. A share of the whole charge is voided if possible. Without a
 * refund there is nothing to ask.
 */
export const askRefund = (
  deps: Fenced<OperationDeps>,
  db: Db,
  refund: RefundRow | null,
  charges: readonly ChargeRow[],
): Promise<RefundOutcome> =>
  forEachCard(refund, charges, (charge, share) => sendRefund(deps, db, charge, share))

/**
 * Looks up a refund that an earlier process may have sent, and sends one that none has. Nothing is
 * sent twice: while the gateway may still get a refund, its outcome is unknown.
 */
export const recallRefund = (
  deps: Fenced<OperationDeps>,
  db: Db,
  refund: RefundRow | null,
  charges: readonly ChargeRow[],
): Promise<RefundOutcome> =>
  forEachCard(refund, charges, (charge, share) =>
    recallAttempt(deps, db, share.attempt_id, {
      sendUnsent: () => sendRefund(deps, db, charge, share),
      isOutOfTransit: isRefundOutOfTransit,
      ...(isWhole(charge, share) && { before: recallVoid }),
    }),
  )

interface CardShare {
  attempt_id: string
  amount_cents: number
}

/**
 * Whether a share is the whole charge. A transaction of which an exchange has moved a part is never
 * voided: another order has the rest.
 */
const isWhole = ({ captured_cents, moved_from }: ChargeRow, { amount_cents }: CardShare): boolean =>
  moved_from === null && amount_cents === captured_cents

async function sendRefund(
  deps: Fenced<OperationDeps>,
  db: Db,
  charge: ChargeRow,
  share: CardShare,
): Promise<GatewayReply> {
  const { attempt_id, amount_cents } = share
  const { txn_id, gateway, currency } = charge
  if (txn_id === null || gateway === null) return { kind: 'not_found', attempt_id }
  const what = { ref: attempt_id, txn_id, amount_cents, currency }
  const result = await sendOnce(deps, db, { attempt_id, gateway }, (opened) =>
    isWhole(charge, share) ? reversePayment(opened, what) : opened.refund(what),
  )
  return result === null ? { kind: 'unknown', attempt_id } : replyOf(attempt_id, result)
}

async function forEachCard(
  refund: RefundRow | null,
  charges: readonly ChargeRow[],
  ask: (charge: ChargeRow, share: CardShare) => Promise<GatewayReply>,
): Promise<RefundOutcome> {
  const tenders = refund === null ? [] : refund.tenders
  const replies = tenders.map(async ({ charge_id, attempt_id, amount_cents }) => {
    const charge = charges.find((each) => each.charge_id === charge_id)
    if (attempt_id === null || charge === undefined) return []
    return [[charge_id, await ask(charge, { attempt_id, amount_cents })] as const]
  })
  const refunds = new Map((await Promise.all(replies)).flat())
  return { refunds, unknown: unknownOf(refunds.values()) }
}
