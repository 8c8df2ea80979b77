import type { Db, Tx } from '../../db/database.ts'
import { CLAIM_LEASE_SECONDS } from '../../platform/idempotency.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import type { GatewayResult, Reason } from './adapters/schema.ts'
import * as queries from './attempt-queries.ts'
import type { Attempt, NewAttempt } from './schema.ts'

/**
 * Attempts: each request to a gateway that moves money is recorded before it is sent, under the reference that the
 * gateway gets. So the gateway can be asked about it even if the process stops.
 */

/** Records an attempt. */
export const beginAttempt = (tx: Tx, attempt: NewAttempt): Promise<unknown> =>
  queries.insertAttempt(tx, attempt)

export const findAttempt = (db: Db, id: string): Promise<Attempt | null> =>
  queries.findAttempt(db, id)

export async function getAttempt(db: Db, id: string): Promise<Attempt> {
  const attempt = await queries.findAttempt(db, id)
  if (attempt === null) throw new Error('the attempt is gone')
  return attempt
}

/** Lists the attempts of one order, oldest first. */
export const listAttempts = (db: Db, orderId: string): Promise<Attempt[]> =>
  queries.listAttempts(db, orderId)

/**
 * Closes an attempt with the gateway's result. Returns false if it was already closed, by the reconciler or
 * by the call itself; an approval must then be reversed unless the attempt was closed as approved. An
 * unknown result leaves it open.
 */
export async function closeAttempt(tx: Tx, id: string, result: GatewayResult): Promise<boolean> {
  if (result.outcome === 'unknown') return (await queries.markUnknown(tx, id)) === 1
  return (await queries.closeAttempt(tx, id, result)) === 1
}

/** Marks an attempt whose gateway has not answered. Its operation looks it up. */
export const markUnknown = async (db: Db, id: string): Promise<boolean> =>
  (await queries.markUnknown(db, id)) === 1

/**
 * Marks an attempt as sent, before its gateway gets it. Returns the mark, or null if another process has made one:
 * only that process may send the attempt.
 */
export const markSent = async (db: Db, id: string): Promise<string | null> =>
  (await queries.markSent(db, id))?.sent_at ?? null

/** Removes a mark: nothing of the attempt is on its way, so it can be sent again. The mark of another process stays. */
export const clearSent = async (db: Db, id: string, mark: string): Promise<boolean> =>
  (await queries.clearSent(db, id, mark)) === 1

/**
 * Whether a refund's gateway has not answered, and its process has noticed that or has stopped.
 * Until it answers, another refund may be the same one under another key.
 */
export const isUnansweredRefund = ({ clock }: Db, { kind, state, created_at }: Attempt): boolean =>
  kind === 'refund' &&
  (state === 'unknown' || (state === 'begun' && clock.now() - Date.parse(created_at) >= WORK_MS))

/** How long a process may work on a key. After that it has stopped. */
const WORK_MS = CLAIM_LEASE_SECONDS * 1_000

/**
 * Records that an attempt is about to be voided and why, before the gateway is asked. From then on the void may be
 * on its way, even if this process stops: a resume continues with the void.
 */
export const markReversing = async (db: Db, id: string, reason: Reason): Promise<boolean> =>
  (await queries.markReversing(db, id, reason)) === 1

/**
 * Closes an attempt that the gateway has no record of. It is watched for five minutes for a late
 * reply.
 */
export const markNotFound = async (tx: Tx, id: string): Promise<boolean> =>
  (await queries.markNotFound(tx, id)) === 1

/** Closes a `not_found` attempt as approved: the gateway has carried it out late. */
export const closeLate = async (tx: Tx, id: string, result: GatewayResult): Promise<boolean> =>
  (await queries.closeLate(tx, id, result)) === 1

/** Closes an attempt whose money was voided or refunded. */
export const markVoided = async (
  tx: Tx,
  id: string,
  result: GatewayResult | null = null,
): Promise<boolean> => (await queries.markVoided(tx, id, result)) === 1

/** Whether to alert about an attempt now: at first, then once a day. Notes the alert. */
export const isAlertDue = async (db: Db, id: string): Promise<boolean> =>
  (await queries.noteAlert(db, id)) === 1

/** Makes the lookups of an order's `not_found` attempts due now. Returns how many. */
export const makeLookupsDue = (db: Db, orderId: string): Promise<number> =>
  queries.makeLookupsDue(db, orderId)

/** `not_found` attempts that are due for another lookup. */
export const lateQueue = queries.lateQueue
export const nextLateLookup = queries.nextLateLookup

/** Renews the lease on a due attempt. Throws if the lease was lost. */
export async function renewLookup(db: Db, lease: Lease): Promise<void> {
  if (await lateQueue.renew(db, lease)) return
  throw new LeaseLostError(`attempt ${lease.id}`, lease.lease_token)
}

/** Ends the lease on a due attempt, in the transaction that closes it. Throws when it was lost. */
export const endLookup = (tx: Tx, lease: Lease) => queries.endLookup(tx, lease)

/** Postpones a lookup that the gateway did not answer. */
export const postponeLookup = (db: Db, late: queries.LateLookup) => queries.postponeLookup(db, late)

/** Postpones the lookup of an attempt that still has no record: once, then it ends. */
export const postponeLateLookup = (db: Db, late: queries.LateLookup) =>
  queries.postponeLateLookup(db, late)

/** Ends the lookups of a `not_found` attempt. */
export const endLateLookups = (db: Db, lease: Lease) => queries.endLateLookups(db, lease)
