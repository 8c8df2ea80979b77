import type { Db } from '../../db/database.ts'
import { recallAttempt, recallVoid, replyOf } from '../operations/replies.ts'
import type { GatewayReply } from '../operations/schema.ts'
import type { OperationDeps } from '../operations/service.ts'
import type { ChargeRow, RefundRow } from '../orders/schema.ts'
import { reversePayment } from '../payments/gateway.ts'

/** The replies to a refund, by charge: one for each card that it refunds. */
export type RefundReplies = ReadonlyMap<string, GatewayReply>

export const NO_REPLIES: RefundReplies = new Map()

/**
 * Asks each card's gateway to refund its share. A share of the whole charge is voided if possible.
 */
export async function askRefund(
  deps: OperationDeps,
  db: Db,
  refund: RefundRow,
  charges: readonly ChargeRow[],
): Promise<RefundReplies> {
  await deps.at?.('refund-sent')
  return forEachCard(refund, charges, async (charge, { attempt_id, amount_cents }) => {
    if (charge.txn_id === null || charge.gateway === null) return { kind: 'not_found', attempt_id }
    const gateway = await deps.payments.forStore(db, charge.gateway)
    const what = { ref: attempt_id, txn_id: charge.txn_id, amount_cents, currency: charge.currency }
    const isWhole = amount_cents === charge.captured_cents
    const result = await (isWhole ? reversePayment(gateway, what) : gateway.refund(what))
    return replyOf(attempt_id, result)
  })
}

/** Looks up a refund that an earlier process may have sent. Sends nothing again. */
export const recallRefund = (
  deps: OperationDeps,
  db: Db,
  refund: RefundRow,
  charges: readonly ChargeRow[],
): Promise<RefundReplies> =>
  forEachCard(refund, charges, (charge, { attempt_id, amount_cents }) => {
    const isWhole = amount_cents === charge.captured_cents
    return recallAttempt(deps, db, attempt_id, isWhole ? { before: recallVoid } : {})
  })

async function forEachCard(
  { tenders }: RefundRow,
  charges: readonly ChargeRow[],
  ask: (
    charge: ChargeRow,
    share: { attempt_id: string; amount_cents: number },
  ) => Promise<GatewayReply>,
): Promise<RefundReplies> {
  const replies = tenders.map(async ({ charge_id, attempt_id, amount_cents }) => {
    const charge = charges.find((each) => each.charge_id === charge_id)
    if (attempt_id === null || charge === undefined) return []
    return [[charge_id, await ask(charge, { attempt_id, amount_cents })] as const]
  })
  return new Map((await Promise.all(replies)).flat())
}
