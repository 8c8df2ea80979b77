import type { Db, Tx } from '../../db/database.ts'
import type { Page } from '../../kernel/page.ts'
import { unknownResult } from './gateway.ts'
import * as handQueries from './hand-queries.ts'
import * as queries from './queries.ts'
import type { Attempt, AttemptKind, GatewayResult, Reason, Said } from './schema.ts'

/** What no gateway has spoken of for hours, the oldest first. */
export async function listUnsettled(db: Db, page: Page) {
  const [payments, { total }] = await Promise.all([
    handQueries.listUnsettled(db, page),
    handQueries.countUnsettled(db),
  ])
  return { payments, total, ...page }
}

/** Whether a transaction is another payment's already: no money pays twice. */
export const isTxnTaken = async (db: Db, { id, gateway }: Attempt, txn_id: string) =>
  (await handQueries.findOfTxn(db, { id, gateway, txn_id })) !== null

/** Whatever a gateway may have taken or given back under a reference that it does not know yet. */
const WATCHED: readonly AttemptKind[] = ['checkout', 'edit', 'refund', 'renewal']

/**
 * Closes an attempt as somebody says that it ended, and answers whether that was news. What was not
 * found is watched as ever, so that what comes of it late is given back.
 */
export async function closeByHand(tx: Tx, attempt: Attempt, said: Said): Promise<boolean> {
  const { id, kind } = attempt
  const isWatched = said.outcome === 'not_found' && WATCHED.includes(kind)
  if (said.txn_id !== undefined) await handQueries.lockTxn(tx, said.txn_id)
  const closed = isWatched
    ? await queries.markNotFound(tx, id)
    : await queries.closeAttempt(tx, id, saidResult(attempt, said))
  await handQueries.resolveUnknown(tx, id)
  return closed === 1
}

/** What was to be taken back keeps the reason why. */
function saidResult({ reason }: Attempt, { outcome, txn_id }: Said): GatewayResult {
  if (outcome === 'approved') {
    return unknownResult({ outcome, txn_id: txn_id ?? null, reason: null })
  }
  return unknownResult({
    outcome: 'declined',
    reason: (reason as Reason | null) ?? 'processing_error',
  })
}
