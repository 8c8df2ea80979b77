import { setTimeout as sleep } from 'node:timers/promises'
import type { TenantDb } from '../db/database.ts'
import type { ErrorCode } from '../error-codes.ts'
import { ApiError } from '../errors.ts'
import {
  bindsKey,
  type ClaimRequest,
  claim,
  freeKey,
  postpone,
  readClaim,
  refuseUnbegun,
  type StoredAnswer,
  type WonClaim,
} from './idempotency.ts'
import { LeaseLostError } from './leases.ts'

/** How long a second request with the same key waits for the first one's answer. */
const WAIT_MS = 10_000
const PAUSE_FIRST_MS = 20
const PAUSE_MAX_MS = 400

export interface RunOptions extends ClaimRequest {
  /** Refusals of this operation that are only temporary, e.g. `order_busy`: they free the key. */
  passing?: readonly ErrorCode[] | 'all'
  /** Ends the wait for another request's answer. It never interrupts the operation. */
  signal?: AbortSignal
  waitMs?: number
}

/** The answer that the route sends. */
export interface SentAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * Runs the operation of a key once, and sends every request with that key the same answer.
 *
 * `work` continues from `claim.recoveryPoint`, and ends with `finish` or `refuse` in its last transaction. A refusal
 * thrown before the first recovery point is stored as the answer if it is an outcome of the operation; otherwise the
 * key is free again. A refusal thrown later only ends the lease: the same caller or the reconciler resumes the
 * operation from there.
 */
export async function run(
  db: TenantDb,
  options: RunOptions,
  work: (claim: WonClaim) => Promise<StoredAnswer>,
): Promise<SentAnswer> {
  for (;;) {
    const outcome = await awaitAnswer(db, options)
    if (outcome.state === 'answered') return answerOf(outcome, true)
    try {
      return answerOf(await work(outcome), false)
    } catch (error) {
      const kept = isLost(error, outcome)
        ? 'lost'
        : await giveUp(db, outcome, error, options.passing ?? [])
      // Another process has claimed the key, and will store its answer.
      if (kept === 'lost') continue
      if (kept === null) throw error
      return answerOf(kept, false)
    }
  }
}

const isLost = (error: unknown, { token }: WonClaim): boolean =>
  error instanceof LeaseLostError && error.token === token

const answerOf = ({ status, body }: StoredAnswer, replayed: boolean): SentAnswer => ({
  status,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    ...(replayed ? { 'idempotent-replayed': 'true' } : {}),
  },
  body,
})

/**
 * Waits until the key is answered or we have claimed it. Refuses with `idempotency_in_progress` after the time limit.
 */
export async function awaitAnswer(
  db: TenantDb,
  options: RunOptions,
): Promise<WonClaim | StoredAnswer> {
  const { waitMs = WAIT_MS, signal } = options
  const until = performance.now() + waitMs
  let standing = await claim(db, options)
  for (let pauseMs = PAUSE_FIRST_MS; standing.state === 'running'; pauseMs *= 1.5) {
    const left = until - performance.now()
    if (left <= 0 || signal?.aborted) throw inProgress()
    const pause = Math.min(pauseMs, PAUSE_MAX_MS, left)
    await sleep(pause, undefined, signal ? { signal } : {}).catch(() => {})
    standing = (await readClaim(db, options)) ?? (await claim(db, options))
  }
  return standing
}

/** The refusal of a key that another process works on, or whose outcome is still unknown. */
export const inProgress = () =>
  new ApiError('idempotency_in_progress', { headers: { 'retry-after': '2' } })

const UNDECIDED: readonly ErrorCode[] = [
  'idempotency_in_progress',
  'payment_unconfirmed',
  'carrier_unconfirmed',
]

/**
 * Ends the claim of work that failed. Returns the refusal that it has stored, `lost` where another process has
 * claimed the key, and otherwise null. A refusal that is final but is not stored becomes a 503: the same key may
 * still succeed, and a caller that got the refusal would use another key.
 */
async function giveUp(
  db: TenantDb,
  held: WonClaim,
  error: unknown,
  passing: readonly ErrorCode[] | 'all',
): Promise<StoredAnswer | 'lost' | null> {
  const refusal = error instanceof ApiError ? error : null
  // These refusals have postponed the key already, to a time of their own.
  if (refusal !== null && UNDECIDED.includes(refusal.code)) return null
  const final =
    refusal !== null && bindsKey(refusal) && passing !== 'all' && !passing.includes(refusal.code)
  try {
    const kept = final ? await refuseUnbegun(db, held, refusal) : null
    if (kept === null && !(await freeKey(db, held))) await postpone(db, held, 0)
    if (kept !== null || !final) return kept
  } catch (failure) {
    if (isLost(failure, held)) return 'lost'
    // While the database cannot be reached, the lease expires on its own.
    if (!final) return null
  }
  throw new ApiError('service_unavailable', { cause: refusal })
}
