import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isPostgresError } from '../db/constraints.ts'
import { ApiError } from '../errors.ts'
import { withoutPort } from '../kernel/address.ts'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { openPostgresStore } from './rate-limits-postgres.ts'
import { type LimitStore, type StoreOptions, WINDOW_SECONDS } from './rate-limits-store.ts'

/**
 * The rate limiter that guards call before they check a credential. Each method throws `rate_limited` when the caller
 * has used up its minute, and `db_error` when the counters cannot be read: no caller passes without being counted.
 */
export interface Limits {
  /** Counts an attempt, successful or not. Admits exactly the limit, even when many come at the same time. */
  countAttempt(caller: string): Promise<void>
  /** Refuses a caller that has failed too often. Counts nothing itself. */
  checkFailures(caller: string): Promise<void>
  /**
   * Counts an attempt as failed before it is made, for attempts that are costly: many at the same time cannot pass
   * the limit together. `uncountFailure` undoes that once the attempt has succeeded.
   */
  countFailureAhead(caller: string): Promise<void>
  uncountFailure(caller: string): Promise<void>
  /** Counts an attempt that failed. */
  countFailure(caller: string): Promise<void>
  /**
   * Counts one hit, and returns whether the bucket is still within its limit: per minute, or in another window. A
   * bucket always has the same window.
   */
  velocity(bucket: string, limit: number, windowSeconds?: number): Promise<boolean>
  /** Returns the hits that `velocity` has counted for a bucket in this minute. Counts nothing itself. */
  hits(bucket: string): Promise<number>
  /** Removes one hit of `velocity`, where only failures are to count. */
  releaseHit(bucket: string): Promise<void>
  /** Adds hits to each of the buckets, and returns the count of the fullest one in this minute. */
  addHits(buckets: readonly string[], weight: number): Promise<number>
  ping(): Promise<void>
}

export interface LimitsOptions {
  store: LimitStore
  clock?: Clock
  perMinute: { my: number; failed: number }
}

/** Opens the counters: in Redis where one is configured, otherwise in PostgreSQL. */
export async function openLimitStore({
  databaseUrl,
  redisUrl,
  ...options
}: Omit<StoreOptions, 'url'> & {
  /** Logs in as `fd_app`. */
  databaseUrl: string
  redisUrl?: string | undefined
}): Promise<LimitStore> {
  if (redisUrl === undefined) return openPostgresStore({ ...options, url: databaseUrl })
  const { openRedisStore } = await import('./rate-limits-redis.ts')
  return openRedisStore({ ...options, url: redisUrl })
}

export function createLimits({ store, clock = systemClock, perMinute }: LimitsOptions): Limits {
  const overLimit = recentlyOverLimit(clock)
  const failures = recentFailures(clock, (caller) => counted(() => store.peek(`failed:${caller}`)))
  const addHits = (buckets: readonly string[], weight: number, windowSeconds?: number) =>
    counted(() =>
      store.hit(
        buckets.map((bucket) => `velocity:${bucket}`),
        weight,
        windowSeconds,
      ),
    )
  return {
    addHits,
    async countAttempt(caller) {
      if (overLimit.has(caller)) throw limitError(perMinute.my)
      const hits = await counted(() => store.hit(`my:${caller}`))
      if (hits <= perMinute.my) return
      overLimit.add(caller)
      throw limitError(perMinute.my)
    },
    async countFailureAhead(caller) {
      const hits = await counted(() => store.hit(`failed:${caller}`))
      failures.remember(caller, hits)
      if (hits > perMinute.failed) throw limitError(perMinute.failed)
    },
    async uncountFailure(caller) {
      await orUnavailable(() => store.releaseHit(`failed:${caller}`))
      // Otherwise a successful login would count against the next caller with that address.
      failures.forget(caller)
    },
    async checkFailures(caller) {
      if ((await failures.of(caller)) >= perMinute.failed) throw limitError(perMinute.failed)
    },
    async countFailure(caller) {
      failures.remember(caller, await counted(() => store.hit(`failed:${caller}`)))
    },
    async velocity(bucket, limit, windowSeconds) {
      return (await addHits([bucket], 1, windowSeconds)) <= limit
    },
    hits: (bucket) => counted(() => store.peek(`velocity:${bucket}`)),
    releaseHit: (bucket) => orUnavailable(() => store.releaseHit(`velocity:${bucket}`)),
    ping: () => orUnavailable(() => store.ping()),
  }
}

/**
 * How long a caller's count is used from memory, so that a busy caller does not cost one query per request
 * (decision 0006).
 */
const KNOWN_FOR_MS = 1_000
const CALLERS_MAX = 10_000

/**
 * The callers that were over the limit within the last second. They are refused from memory, so
 * that a flood costs one query a second. A caller within the limit is never refused by this.
 */
function recentlyOverLimit(clock: Clock) {
  const since = new Map<string, number>()
  return {
    has(caller: string): boolean {
      const at = since.get(caller)
      const age = at === undefined ? KNOWN_FOR_MS : clock.now() - at
      return age >= 0 && age < KNOWN_FOR_MS
    },
    add(caller: string): void {
      if (since.size >= CALLERS_MAX) since.clear()
      since.set(caller, clock.now())
    },
  }
}

/** Returns the last known count of each caller's failures, for as long as it is recent. */
function recentFailures(clock: Clock, ask: (caller: string) => Promise<number>) {
  const known = new Map<string, { hits: number; at: number }>()
  const pending = new Map<string, Promise<number>>()

  function findRecent(caller: string) {
    const entry = known.get(caller)
    const age = entry === undefined ? KNOWN_FOR_MS : clock.now() - entry.at
    // A clock that was set back must not prolong an entry.
    return age >= 0 && age < KNOWN_FOR_MS ? entry : undefined
  }

  function remember(caller: string, hits: number): number {
    const entry = findRecent(caller)
    if (entry !== undefined) {
      // An older count that arrives late must not replace a higher one.
      entry.hits = Math.max(entry.hits, hits)
      return entry.hits
    }
    known.delete(caller)
    known.set(caller, { hits, at: clock.now() })
    const [oldest] = known.keys()
    if (known.size > CALLERS_MAX && oldest !== undefined) known.delete(oldest)
    return hits
  }

  async function askOnce(caller: string): Promise<number> {
    try {
      return remember(caller, await ask(caller))
    } finally {
      pending.delete(caller)
    }
  }

  function of(caller: string): Promise<number> {
    const entry = findRecent(caller)
    if (entry !== undefined) return Promise.resolve(entry.hits)
    const pendingCount = pending.get(caller) ?? askOnce(caller)
    pending.set(caller, pendingCount)
    return pendingCount
  }

  return { of, remember, forget: (caller: string) => known.delete(caller) }
}

/** After how many seconds a caller that could not be counted should try again: the counters recover by themselves. */
const RETRY_SECONDS = 2

/** Reads a count, and refuses a value that is not a count: it must not pass for a small one. */
async function counted(ask: () => Promise<number>): Promise<number> {
  return orUnavailable(async () => {
    const hits = await ask()
    if (!Number.isSafeInteger(hits) || hits < 0) throw new Error('the store answered no count')
    return hits
  })
}

async function orUnavailable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    // An error of PostgreSQL shows by its code whether it is an outage; Redis has no such codes.
    const headers = { 'retry-after': String(RETRY_SECONDS) }
    const kind = isPostgresError(cause) ? {} : ({ kind: 'outage' } as const)
    throw new ApiError('db_error', { cause, headers, ...kind })
  }
}

/** Counts one hit of a bucket, and refuses a hit beyond its limit per minute. */
export async function requireWithin(
  limits: Pick<Limits, 'velocity'>,
  bucket: string,
  limit: number,
): Promise<void> {
  if (await limits.velocity(bucket, limit)) return
  throw new ApiError('rate_limited', { headers: { 'retry-after': String(WINDOW_SECONDS) } })
}

const limitError = (limit: number) =>
  new ApiError('rate_limited', {
    message: `Too many attempts: at most ${limit} per minute. Try again later.`,
    headers: { 'retry-after': String(WINDOW_SECONDS) },
  })

/** How many bits of an IPv6 address name one household. It can change the rest of its address every minute. */
const IPV6_PREFIX = 64

/** Names the caller that a request is counted for: an IPv4 address, or an IPv6 network. */
export function callerOf(written: string): string {
  // A plain IPv4 address needs no parsing.
  if (isIPv4(written)) return written
  const ip = withoutPort(written)
  // The library would also read 1 or 0x7f.1 as addresses. All texts that are not an address share one count.
  if (isIP(ip) === 0) return 'unknown'
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.toString()
  const bits = address.toByteArray().fill(0, IPV6_PREFIX / 8)
  return `${ipaddr.fromByteArray(bits)}/${IPV6_PREFIX}`
}
