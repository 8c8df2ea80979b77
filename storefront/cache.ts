/**
 * What the platform answered, for a moment. One request at a time asks for the same thing, the rest
 * wait for it; an answer that has not changed stays the same object, so that whatever was made from
 * it can be kept with it. Bounded: what was used longest ago goes first.
 */
export interface Cache<T extends object> {
  /** At once, if it is fresh. */
  peek(key: string): T | undefined
  get(
    key: string,
    load: (known: T | undefined) => Promise<{ value: T; weight: number }>,
    /** Asks in any case. */
    anew?: boolean,
  ): Promise<T>
}

interface Entry<T> {
  value: T
  weight: number
  freshUntil: number
}

interface CacheOptions {
  freshMs: number
  weightMax: number
}

export function createCache<T extends object>({ freshMs, weightMax }: CacheOptions): Cache<T> {
  const entries = new Map<string, Entry<T>>()
  const loading = new Map<string, Promise<T>>()
  let weight = 0

  function keep(key: string, entry: Entry<T>) {
    drop(key)
    entries.set(key, entry)
    weight += entry.weight
    for (const oldest of entries.keys()) {
      if (weight <= weightMax || oldest === key) break
      drop(oldest)
    }
  }

  function drop(key: string) {
    weight -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }

  return {
    peek(key) {
      const entry = entries.get(key)
      return entry !== undefined && entry.freshUntil > Date.now() ? entry.value : undefined
    },
    get(key, load, anew = false) {
      const entry = entries.get(key)
      const isFresh = entry !== undefined && entry.freshUntil > Date.now()
      if (isFresh && !anew) return Promise.resolve(entry.value)
      const under = loading.get(key)
      if (under !== undefined) return under
      const work = load(entry?.value)
        .then((loaded) => {
          keep(key, { ...loaded, freshUntil: Date.now() + freshMs })
          return loaded.value
        })
        .catch((error: unknown) => {
          // What is gone, or cannot be asked about, must not be shown for another moment.
          drop(key)
          throw error
        })
        .finally(() => loading.delete(key))
      loading.set(key, work)
      return work
    },
  }
}
