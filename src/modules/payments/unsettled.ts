import type { AllStores, Db, Tx } from '../../db/database.ts'
import type { Page } from '../../kernel/page.ts'
import { unknownResult } from './adapters/results.ts'
import type { GatewayResult, Reason } from './adapters/schema.ts'
import * as queries from './attempt-queries.ts'
import { resolveUnknown } from './queries.ts'
import type { Attempt, AttemptKind, OperatorDecision } from './schema.ts'

/** Lists the attempts whose gateway has not answered for hours, the oldest first. */
export async function listUnsettled(db: Db, page: Page) {
  const { rows, shown } = await queries.listUnsettled(db, page)
  return { payments: rows, ...shown }
}

/** Lists the unsettled attempts of all stores, each with its store. */
export async function listAllUnsettled(operator: AllStores, page: Page) {
  const { rows, shown } = await queries.listAllUnsettled(operator, page)
  return { payments: rows, ...shown }
}

/** Whether another payment of the store has this transaction: one transaction pays one order. */
export const isTxnTaken = async (db: Db, { id, gateway }: Attempt, txn_id: string) =>
  (await queries.findOfTxn(db, { id, gateway, txn_id })) !== null

/**
 * Attempts that a gateway may still carry out under our reference, although it has no record of
 * them yet.
 */
const WATCHED: readonly AttemptKind[] = ['checkout', 'edit', 'refund', 'renewal', 'pay']

/**
 * Closes an attempt with the outcome that an operator decided. Returns false if it was already closed. An attempt
 * that was not found is watched like any other, so that a late approval is reversed.
 */
export async function closeByOperator(
  tx: Tx,
  attempt: Attempt,
  decision: OperatorDecision,
): Promise<boolean> {
  const { id, kind } = attempt
  const isWatched = decision.outcome === 'not_found' && WATCHED.includes(kind)
  if (decision.txn_id !== undefined) await queries.lockTxn(tx, decision.txn_id)
  const closed = isWatched
    ? await queries.markNotFound(tx, id)
    : await queries.closeAttempt(tx, id, decidedResult(attempt, decision))
  await resolveUnknown(tx, id)
  return closed === 1
}

/** Returns the result of a decision. An attempt that was about to be reversed keeps its reason. */
function decidedResult({ reason }: Attempt, { outcome, txn_id }: OperatorDecision): GatewayResult {
  if (outcome === 'approved') {
    return unknownResult({ outcome, txn_id: txn_id ?? null, reason: null })
  }
  return unknownResult({
    outcome: 'declined',
    reason: (reason as Reason | null) ?? 'processing_error',
  })
}
