import type { Db } from '../../db/database.ts'
import { readManifest } from './service.ts'

/** What the platform itself goes by in a manifest: the switches of a published version. */

/** Some hundred bytes each. Beyond that the longest unused are dropped. */
const CACHED_MAX = 5_000

/**
 * A reader of switches, which remembers what it has read of each database: a version never changes.
 * `none` are the switches of a store without a published version.
 */
export function switchesReader<T>(
  none: T,
  read: (manifest: unknown) => T,
): (db: Db, version: number | null) => Promise<T> {
  const caches = new WeakMap<object, Map<string, T>>()
  const cacheOf = ({ source }: Db): Map<string, T> => {
    const cache = caches.get(source) ?? new Map<string, T>()
    caches.set(source, cache)
    return cache
  }
  /** Caches switches as the last used. */
  const remember = (cache: Map<string, T>, key: string, switches: T): T => {
    cache.delete(key)
    const [oldest] = cache.keys()
    if (cache.size >= CACHED_MAX && oldest !== undefined) cache.delete(oldest)
    cache.set(key, switches)
    return switches
  }
  return async (db, version) => {
    if (version === null) return none
    const key = `${db.tenant} ${version}`
    const cache = cacheOf(db)
    const known = cache.get(key)
    if (known !== undefined) return remember(cache, key, known)
    return remember(cache, key, read(await readManifest(db, version)))
  }
}

/** A member of anything: manifests may hold what they like. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
