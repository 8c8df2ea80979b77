import type { Db } from '../../db/database.ts'
import type { Gateway } from '../payments/adapters/gateway.ts'
import { resultOfLookup } from '../payments/adapters/results.ts'
import type { GatewayResult, Lookup } from '../payments/adapters/schema.ts'
import * as attempts from '../payments/attempts.ts'
import { closedResult, isPartialPayment, reversePartialPayment } from '../payments/gateway.ts'
import { type Attempt, type GatewayName, REFUND_TRANSIT_MS } from '../payments/schema.ts'
import type { GatewayReply } from './schema.ts'
import type { Fenced, OperationDeps, Replies } from './service.ts'

/** Replies of gateways to attempts: as a call returned them, or as a lookup finds them later. */

export function replyOf(attempt_id: string, result: GatewayResult): GatewayReply {
  if (result.outcome === 'unknown') return { kind: 'unknown', attempt_id }
  return { kind: result.outcome === 'approved' ? 'approved' : 'refused', attempt_id, result }
}

/** The reply that our own row of a closed attempt records; null while the attempt is open. */
export function closedReply(attempt: Attempt): GatewayReply | null {
  if (attempt.state === 'not_found') return { kind: 'not_found', attempt_id: attempt.id }
  const result = closedResult(attempt)
  return result && replyOf(attempt.id, result)
}

export const unknownOf = (replies: Iterable<GatewayReply>): string[] =>
  [...replies].filter(({ kind }) => kind === 'unknown').map(({ attempt_id }) => attempt_id)

/** What an operation with one attempt brings back. */
export interface ReplyOutcome extends Replies {
  reply: GatewayReply
}

export const outcomeOf = (reply: GatewayReply): ReplyOutcome => ({
  reply,
  unknown: unknownOf([reply]),
})

/**
 * How long a charge may be in transit to the gateway. Until then a missing record proves nothing;
 * one that arrives later is reversed.
 */
const CHARGE_TRANSIT_MS = 10_000

/** Whether a charge of which the gateway has no record counts as never received. */
export const isOutOfTransit = (
  { clock }: Db,
  { created_at }: Pick<Attempt, 'created_at'>,
): boolean => clock.now() - Date.parse(created_at) >= CHARGE_TRANSIT_MS

/** Like `isOutOfTransit`, but for a refund, which cannot be reversed. */
export const isRefundOutOfTransit = (
  { clock }: Db,
  { sent_at, created_at }: Pick<Attempt, 'sent_at' | 'created_at'>,
): boolean => clock.now() - Date.parse(sent_at ?? created_at) >= REFUND_TRANSIT_MS

/**
 * Sends an attempt that a gateway might carry out twice. It is first marked as sent, so that only one process sends
 * it, even if that process stops. Returns null if another process has marked it (decision 0025).
 */
export async function sendOnce(
  deps: Fenced<OperationDeps>,
  db: Db,
  { attempt_id, gateway }: { attempt_id: string; gateway: GatewayName },
  send: (gateway: Gateway, mark: string) => Promise<GatewayResult>,
): Promise<GatewayResult | null> {
  await deps.assertClaimHeld()
  const mark = await attempts.markSent(db, attempt_id)
  if (mark === null) return null
  await deps.at?.('refund-sent')
  try {
    return await send(await deps.payments.forStore(db, gateway), mark)
  } catch (error) {
    // Only a gateway whose claim is lost rejects, and then it has sent nothing. Without a database
    // the attempt stays marked, which is safe: it is looked up, and not sent again.
    await attempts.clearSent(db, attempt_id, mark).catch(() => {})
    throw error
  }
}

interface Recall {
  /** Sends an attempt that no process has sent yet. */
  sendUnsent?: () => Promise<GatewayReply>
  isOutOfTransit?: (db: Db, attempt: Attempt) => boolean
  /** Finds the outcome in another way, tried before the lookup by our reference. */
  before?: (gateway: Gateway, attempt: Attempt) => Promise<GatewayReply | null>
  /** Turns the gateway's record into a reply. */
  read?: (gateway: Gateway, attempt: Attempt, found: Lookup) => Promise<GatewayReply>
}

/** Finds out how an attempt ended: by our own row if it is closed, otherwise by the gateway's record. */
export async function recallAttempt(
  deps: OperationDeps,
  db: Db,
  attempt_id: string,
  recall: Recall = {},
): Promise<GatewayReply> {
  const { before = async () => null, read = readRecord, sendUnsent } = recall
  const attempt = await attempts.getAttempt(db, attempt_id)
  const closed = closedReply(attempt)
  if (closed !== null) return closed
  if (attempt.sent_at === null && sendUnsent !== undefined) return sendUnsent()
  const gateway = await deps.payments.forStore(db, attempt.gateway)
  const known = await before(gateway, attempt)
  if (known !== null) return known
  const lookup = await gateway.lookup({ ref: attempt_id })
  if (lookup.found === 'yes') return read(gateway, attempt, lookup)
  const isTooLate = recall.isOutOfTransit ?? isOutOfTransit
  const isNotFound = lookup.found === 'no' && isTooLate(db, attempt)
  return { kind: isNotFound ? 'not_found' : 'unknown', attempt_id }
}

const readRecord: NonNullable<Recall['read']> = async (gateway, { id }, found) =>
  replyOf(id, resultOfLookup(gateway, found))

/** Recalls a charge. A refunded charge counts as unpaid; a partial capture is reversed at once. */
export const recallCharge = (
  deps: OperationDeps,
  db: Db,
  attempt_id: string,
): Promise<GatewayReply> =>
  recallAttempt(deps, db, attempt_id, {
    async read(gateway, { amount_cents, currency }, found) {
      if (isPartialPayment(found, amount_cents)) {
        const reversed = await reversePartialPayment(gateway, found, { ref: attempt_id, currency })
        return replyOf(attempt_id, reversed)
      }
      const state = found.state === 'refunded' ? 'voided' : found.state
      return replyOf(attempt_id, resultOfLookup(gateway, { ...found, state }))
    },
  })

/**
 * Recalls a void. It has no reference of its own: it shows in the record of the charge it voided.
 */
export async function recallVoid(
  gateway: Gateway,
  { id: attempt_id, parent_txn_id }: Attempt,
): Promise<GatewayReply | null> {
  if (parent_txn_id === null) return null
  const lookup = await gateway.lookup({ txn_id: parent_txn_id })
  if (lookup.found === 'unreachable') return { kind: 'unknown', attempt_id }
  if (lookup.found !== 'yes' || lookup.state !== 'voided') return null
  const { state: _, ...record } = lookup
  const result = resultOfLookup(gateway, { ...record, state: 'refunded' })
  return { kind: 'approved', attempt_id, result }
}
