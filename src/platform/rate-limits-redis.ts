import { Redis } from 'ioredis'
import {
  CALLS_MAX,
  DEADLINE_MS,
  type LimitStore,
  type StoreOptions,
  WINDOW_SECONDS,
} from './rate-limits-store.ts'

/** Adds hits and starts the window. A script is atomic, so no counter is left without an expiry. */
const HIT = `
  local most = 0
  for _, key in ipairs(KEYS) do
    local hits = redis.call('incrby', key, ARGV[2])
    if hits == tonumber(ARGV[2]) then redis.call('pexpire', key, ARGV[1]) end
    most = math.max(most, hits)
  end
  return most`

/**
 * Removes one hit, if the window still has one. If the hit was counted in the window before, a plain decrement would
 * create a counter without an expiry, or one below zero.
 */
const RELEASE_HIT = `
  if tonumber(redis.call('get', KEYS[1]) or '0') > 0 then redis.call('decr', KEYS[1]) end
  return 0`

const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 500

/** Opens counters in Redis, whether or not the server answers. Calls fail until it does. */
export async function openRedisStore(options: StoreOptions): Promise<LimitStore> {
  const { url, onError, deadlineMs = DEADLINE_MS } = options
  const redis = connect(url, deadlineMs)
  // Without a listener, a lost connection would end the process.
  redis.on('error', (error: Error) => onError?.(error))
  // The client retries by itself.
  await redis.connect().catch(() => {})
  let calls = 0

  async function send<T>(command: () => Promise<T>): Promise<T> {
    if (calls >= CALLS_MAX) throw new Error('too many calls wait for the limiter')
    calls += 1
    try {
      return await command()
    } finally {
      calls -= 1
    }
  }

  const keyOf = (bucket: string) => `fd:limit:${bucket}`
  return {
    async hit(bucket, weight = 1, windowSeconds = WINDOW_SECONDS) {
      const keys = [...new Set([bucket].flat().map(keyOf))]
      const windowMs = windowSeconds * 1_000
      return Number(await send(() => redis.eval(HIT, keys.length, ...keys, windowMs, weight)))
    },
    releaseHit: async (bucket) =>
      void (await send(() => redis.eval(RELEASE_HIT, 1, keyOf(bucket)))),
    peek: async (bucket) => Number((await send(() => redis.get(keyOf(bucket)))) ?? 0),
    ping: async () => void (await send(() => redis.ping())),
    close: async () => redis.disconnect(),
  }
}

function connect(url: string, deadlineMs: number): Redis {
  return new Redis(url, {
    lazyConnect: true,
    // A call fails at once while there is no connection; it is neither queued nor sent again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: deadlineMs,
    connectTimeout: deadlineMs,
    // A silent server keeps its connection open: we close it and open a new one.
    socketTimeout: deadlineMs,
    retryStrategy: (times) => Math.min(times * RETRY_MIN_MS, RETRY_MAX_MS),
    // After a failover the old primary refuses writes. The address may point to the new one by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
}
