import type { Db } from '../../db/database.ts'
import { readManifest } from './service.ts'

/** The switches of a published version: the parts of a manifest that the platform itself obeys. */

/**
 * How many switches are cached of each database, at some hundred bytes each. Beyond that, the least recently used
 * ones are dropped.
 */
const CACHED_MAX = 5_000

/**
 * Makes a reader of switches, which caches those of each database: a version never changes. A store without a
 * published version has the switches `none`.
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
  /** Caches switches as the most recently used. */
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

/** Reads a member of any value, since manifests may hold anything. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
