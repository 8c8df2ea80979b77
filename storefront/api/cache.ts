import { watchKept } from '../kept-bytes.ts'
import { PlatformError } from './platform-client.ts'

/**
 * Caches answers of the platform for a moment. Requests for the same key wait for one load. An
 * answer that has not changed stays the same object, so that values made from it can be kept with
 * it. The cache is bounded by weight: the entry that was loaded longest ago is dropped first.
 */
export interface Cache<T extends object> {
  /** Returns the value if it is known and fresh; loads nothing. */
  peek(key: string): T | undefined
  get(
    key: string,
    load: (known: T | undefined) => Promise<{ value: T; weight: number }>,
    /** Loads the value even if it is still fresh. */
    reload?: boolean,
  ): Promise<T>
}

interface Entry<T> {
  value: T
  weight: number
  freshUntil: number
}

interface CacheOptions<T> {
  freshMs: number
  weightMax: number
  /** The object with which pages keep what they render of a value: it counts in the weight, at once. */
  keeperOf(value: T): object
}

export function createCache<T extends object>({
  freshMs,
  weightMax,
  keeperOf,
}: CacheOptions<T>): Cache<T> {
  const entries = new Map<string, Entry<T>>()
  const loading = new Map<string, Promise<T>>()
  let weight = 0

  function put(key: string, value: T, loadedWeight: number) {
    drop(key)
    const entry = { value, weight: 0, freshUntil: Date.now() + freshMs }
    entries.set(key, entry)
    const grow = (by: number) => {
      if (entries.get(key) !== entry) return
      entry.weight += by
      weight += by
      for (const oldest of entries.keys()) {
        if (weight <= weightMax || oldest === key) break
        drop(oldest)
      }
    }
    grow(loadedWeight + watchKept(keeperOf(value), grow))
  }

  function drop(key: string) {
    weight -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }

  const cache: Cache<T> = {
    peek(key) {
      const entry = entries.get(key)
      return entry !== undefined && entry.freshUntil > Date.now() ? entry.value : undefined
    },
    get(key, load, reload = false) {
      const entry = entries.get(key)
      const isFresh = entry !== undefined && entry.freshUntil > Date.now()
      if (isFresh && !reload) return Promise.resolve(entry.value)
      const running = loading.get(key)
      if (running !== undefined) {
        return running.catch((error: unknown) => {
          if (!isOfOneCaller(error)) throw error
          return cache.get(key, load, reload)
        })
      }
      const work = load(entry?.value)
        .then((loaded) => {
          put(key, loaded.value, loaded.weight)
          return loaded.value
        })
        .catch((error: unknown) => {
          // A value that is gone, or that the platform cannot confirm, must not be shown any longer.
          drop(key)
          throw error
        })
        .finally(() => loading.delete(key))
      loading.set(key, work)
      return work
    },
  }
  return cache
}

/**
 * Whether the platform refused the caller who loads, because too many of this caller's reads wait already. Other
 * callers who wait for the same load then load it themselves.
 */
const isOfOneCaller = (error: unknown): boolean =>
  error instanceof PlatformError && error.status === 429
