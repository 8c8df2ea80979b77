import { setTimeout as sleep } from 'node:timers/promises'
import type { TenantDb } from '../db/database.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import {
  type Answer,
  bindsKey,
  type ClaimRequest,
  claim,
  giveBack,
  look,
  refuseUnbegun,
  renew,
  type WonClaim,
} from './idempotency.ts'
import { LeaseLostError } from './leases.ts'

/** How long a second request waits for the first one's answer. */
const WAIT_MS = 10_000
const PAUSE_FIRST_MS = 20
const PAUSE_MAX_MS = 400

export interface RunOptions extends ClaimRequest {
  /** Refusals of this operation that pass by themselves, e.g. `order_busy`: the key stays free. */
  passing?: readonly ErrorCode[]
  /** Ends the wait for another request's answer. It never ends the work. */
  signal?: AbortSignal
  waitMs?: number
}

/** What the route sends. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * Does the work of a key once, and answers every request with that key alike.
 *
 * `work` goes on from `claim.recoveryPoint`, and ends with `finish` or `refuse` in its last
 * transaction. A refusal thrown before the first recovery point is kept as the answer if it is the
 * outcome of the work, else the key is free again. Thrown after it, only the lease ends: whoever
 * comes next, the same caller or the reconciler, takes up the work from there.
 */
export async function run(
  db: TenantDb,
  options: RunOptions,
  work: (claim: WonClaim) => Promise<Answer>,
): Promise<Reply> {
  for (;;) {
    const outcome = await awaitAnswer(db, options)
    if (outcome.state === 'answered') return reply(outcome, true)
    try {
      return reply(await work(outcome), false)
    } catch (error) {
      const kept = isLost(error, outcome)
        ? 'lost'
        : await giveUp(db, outcome, error, options.passing ?? [])
      // Somebody else has the work now, and will have the answer.
      if (kept === 'lost') continue
      if (kept === null) throw error
      return reply(kept, false)
    }
  }
}

const isLost = (error: unknown, { token }: WonClaim): boolean =>
  error instanceof LeaseLostError && error.token === token

const reply = ({ status, body }: Answer, replayed: boolean): Reply => ({
  status,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    ...(replayed ? { 'idempotent-replayed': 'true' } : {}),
  },
  body,
})

/** Waits until the key is answered, or ours; refuses as in progress when it takes too long. */
export async function awaitAnswer(db: TenantDb, options: RunOptions): Promise<WonClaim | Answer> {
  const { waitMs = WAIT_MS, signal } = options
  const until = performance.now() + waitMs
  let standing = await claim(db, options)
  for (let pauseMs = PAUSE_FIRST_MS; standing.state === 'running'; pauseMs *= 1.5) {
    const left = until - performance.now()
    if (left <= 0 || signal?.aborted) throw inProgress()
    const pause = Math.min(pauseMs, PAUSE_MAX_MS, left)
    await sleep(pause, undefined, signal ? { signal } : {}).catch(() => {})
    standing = (await look(db, options)) ?? (await claim(db, options))
  }
  return standing
}

/**
 * Also for work that cannot know its outcome yet: it renews its claim until it is worth asking again,
 * and throws this.
 */
export const inProgress = () =>
  new ApiError('idempotency_in_progress', { headers: { 'retry-after': '2' } })

const UNDECIDED: readonly ErrorCode[] = ['idempotency_in_progress', 'payment_unconfirmed']

async function giveUp(
  db: TenantDb,
  held: WonClaim,
  error: unknown,
  passing: readonly ErrorCode[],
): Promise<Answer | 'lost' | null> {
  const refusal = error instanceof ApiError ? error : null
  // Both leave the work to somebody, at a time of their own choosing.
  if (refusal !== null && UNDECIDED.includes(refusal.code)) return null
  const final = refusal !== null && bindsKey(refusal) && !passing.includes(refusal.code)
  try {
    const kept = final ? await refuseUnbegun(db, held, refusal) : null
    if (kept === null && !(await giveBack(db, held))) await renew(db, held, 0)
    return kept
  } catch (failure) {
    // Where the database is away, the lease ends by itself.
    return isLost(failure, held) ? 'lost' : null
  }
}
