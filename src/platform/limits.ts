import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isPostgresError } from '../db/constraints.ts'
import { ApiError } from '../errors.ts'
import { withoutPort } from '../kernel/address.ts'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { openPostgresStore } from './limits-postgres.ts'
import { type LimitStore, type StoreOptions, WINDOW_SECONDS } from './limits-store.ts'

/**
 * What the guards ask before they look at a credential. Each throws `rate_limited` when the caller
 * has spent its minute, and `db_error` when the store cannot say: nobody passes uncounted.
 */
export interface Limits {
  /** Counts an attempt, good or bad. Exactly the limit is admitted, also of many at a time. */
  attempt(caller: string): Promise<void>
  /** Refuses a caller that has failed too often. Counts nothing. */
  gate(caller: string): Promise<void>
  /**
   * Counts an attempt as failed before it is made, for what is costly to try: many at a time cannot
   * slip past the limit together. `forgive` takes it back once it has succeeded.
   */
  wager(caller: string): Promise<void>
  forgive(caller: string): Promise<void>
  /** Counts an attempt that failed. */
  failure(caller: string): Promise<void>
  /** Counts one, and answers whether the bucket is still within its limit per minute. */
  velocity(bucket: string, limit: number): Promise<boolean>
  /** Counts so many in each of the buckets, and answers how many the fullest one's minute has now. */
  spend(buckets: readonly string[], weight: number): Promise<number>
  ping(): Promise<void>
}

export interface LimitsOptions {
  store: LimitStore
  clock?: Clock
  perMinute: { my: number; failed: number }
}

/** In Redis where there is one, else in PostgreSQL. */
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
  const { openRedisStore } = await import('./limits-redis.ts')
  return openRedisStore({ ...options, url: redisUrl })
}

export function createLimits({ store, clock = systemClock, perMinute }: LimitsOptions): Limits {
  const overspent = recentlyOver(clock)
  const failures = recentFailures(clock, (caller) => counted(() => store.peek(`failed:${caller}`)))
  const spend = (buckets: readonly string[], weight: number) =>
    counted(() =>
      store.hit(
        buckets.map((bucket) => `velocity:${bucket}`),
        weight,
      ),
    )
  return {
    spend,
    async attempt(caller) {
      if (overspent.has(caller)) throw spent(perMinute.my)
      const hits = await counted(() => store.hit(`my:${caller}`))
      if (hits <= perMinute.my) return
      overspent.add(caller)
      throw spent(perMinute.my)
    },
    async wager(caller) {
      const hits = await counted(() => store.hit(`failed:${caller}`))
      failures.remember(caller, hits)
      if (hits > perMinute.failed) throw spent(perMinute.failed)
    },
    async forgive(caller) {
      await orUnavailable(() => store.unhit(`failed:${caller}`))
      // Else a login that was right would be held against whoever comes next from there.
      failures.forget(caller)
    },
    async gate(caller) {
      if ((await failures.of(caller)) >= perMinute.failed) throw spent(perMinute.failed)
    },
    async failure(caller) {
      failures.remember(caller, await counted(() => store.hit(`failed:${caller}`)))
    },
    async velocity(bucket, limit) {
      return (await spend([bucket], 1)) <= limit
    },
    ping: () => orUnavailable(() => store.ping()),
  }
}

/** The store is spared a question for every request of a busy caller, for this long. */
const TRUSTED_MS = 1_000
const CALLERS_MAX = 10_000

/**
 * Who was over the limit just now. Refused from memory for a second, a flood costs the store one
 * question a second and not all it can answer; nobody within the limit is ever refused so.
 */
function recentlyOver(clock: Clock) {
  const since = new Map<string, number>()
  return {
    has(caller: string): boolean {
      const at = since.get(caller)
      const age = at === undefined ? TRUSTED_MS : clock.now() - at
      return age >= 0 && age < TRUSTED_MS
    },
    add(caller: string): void {
      if (since.size >= CALLERS_MAX) since.clear()
      since.set(caller, clock.now())
    },
  }
}

/** What the store last said of each caller's failures, while that is still trusted. */
function recentFailures(clock: Clock, ask: (caller: string) => Promise<number>) {
  const known = new Map<string, { hits: number; at: number }>()
  const asking = new Map<string, Promise<number>>()

  function trusted(caller: string) {
    const entry = known.get(caller)
    const age = entry === undefined ? TRUSTED_MS : clock.now() - entry.at
    // A clock that was set back must not keep an entry alive.
    return age >= 0 && age < TRUSTED_MS ? entry : undefined
  }

  function remember(caller: string, hits: number): number {
    const entry = trusted(caller)
    if (entry !== undefined) {
      // An answer overtaken by another must not hide the failures the other counted.
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
      asking.delete(caller)
    }
  }

  function of(caller: string): Promise<number> {
    const entry = trusted(caller)
    if (entry !== undefined) return Promise.resolve(entry.hits)
    const question = asking.get(caller) ?? askOnce(caller)
    asking.set(caller, question)
    return question
  }

  return { of, remember, forget: (caller: string) => known.delete(caller) }
}

/** What is no count must not pass for a small one. */
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
    // What PostgreSQL says shows by itself whether it was away; Redis has no such words.
    throw new ApiError('db_error', { cause, ...(!isPostgresError(cause) && { kind: 'outage' }) })
  }
}

const spent = (limit: number) =>
  new ApiError('rate_limited', {
    message: `Too many attempts: at most ${limit} per minute. Try again later.`,
    headers: { 'retry-after': String(WINDOW_SECONDS) },
  })

/** A household's share of the IPv6 space, whose addresses are free to change by the minute. */
const IPV6_PREFIX = 64

/** Who is counted together: an IPv4 address, or an IPv6 network. */
export function callerOf(written: string): string {
  // A plain IPv4 address needs no reading: it is its own name.
  if (isIPv4(written)) return written
  const ip = withoutPort(written)
  // The library would also read 1 or 0x7f.1 as addresses. What is none shares one count.
  if (isIP(ip) === 0) return 'unknown'
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.toString()
  const bits = address.toByteArray().fill(0, IPV6_PREFIX / 8)
  return `${ipaddr.fromByteArray(bits)}/${IPV6_PREFIX}`
}
