import { Redis } from 'ioredis'
import {
  CALLS_MAX,
  DEADLINE_MS,
  type LimitStore,
  type StoreOptions,
  WINDOW_SECONDS,
} from './limits-store.ts'

/** A script runs alone, so no counter is ever left without its end. */
const HIT = `
  local most = 0
  for _, key in ipairs(KEYS) do
    local hits = redis.call('incrby', key, ARGV[2])
    if hits == tonumber(ARGV[2]) then redis.call('pexpire', key, ARGV[1]) end
    most = math.max(most, hits)
  end
  return most`

/**
 * Only what is still counted: a decrement would else make a counter without an end, or one below
 * nothing, where what is taken back was counted in the window before.
 */
const UNHIT = `
  if tonumber(redis.call('get', KEYS[1]) or '0') > 0 then redis.call('decr', KEYS[1]) end
  return 0`

const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 500

/** Counters in Redis. Opens whether or not the server is there; calls fail until it is. */
export async function openRedisStore(options: StoreOptions): Promise<LimitStore> {
  const { url, onError, deadlineMs = DEADLINE_MS } = options
  const redis = connect(url, deadlineMs)
  // Unheard, a lost connection would end the process.
  redis.on('error', (error: Error) => onError?.(error))
  // The client goes on trying by itself.
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
    async hit(bucket, weight = 1) {
      const keys = [...new Set([bucket].flat().map(keyOf))]
      const windowMs = WINDOW_SECONDS * 1_000
      return Number(await send(() => redis.eval(HIT, keys.length, ...keys, windowMs, weight)))
    },
    unhit: async (bucket) => void (await send(() => redis.eval(UNHIT, 1, keyOf(bucket)))),
    peek: async (bucket) => Number((await send(() => redis.get(keyOf(bucket)))) ?? 0),
    ping: async () => void (await send(() => redis.ping())),
    close: async () => redis.disconnect(),
  }
}

function connect(url: string, deadlineMs: number): Redis {
  return new Redis(url, {
    lazyConnect: true,
    // A call fails at once while there is no connection; it is neither kept nor sent again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: deadlineMs,
    connectTimeout: deadlineMs,
    // A server that has gone silent keeps its connection open: it is given up and made anew.
    socketTimeout: deadlineMs,
    retryStrategy: (times) => Math.min(times * RETRY_MIN_MS, RETRY_MAX_MS),
    // After a failover the old primary refuses writes. The address may lead to the new one now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
}
