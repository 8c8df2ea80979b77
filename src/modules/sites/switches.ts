import type { Db } from '../../db/database.ts'
import { readManifest } from './service.ts'

/** What the platform itself goes by in a manifest: the switches of a published version. */

/** Some hundred bytes each. Beyond that the longest unused are dropped. */
const CACHED_MAX = 5_000

/**
 * A reader of switches, which remembers what it has read: a version never changes. `none` are the
 * switches of a store without a published version.
 */
export function switchesReader<T>(
  none: T,
  read: (manifest: unknown) => T,
): (db: Db, version: number | null) => Promise<T> {
  const cache = new Map<string, T>()
  /** Caches switches as the last used. */
  const remember = (key: string, switches: T): T => {
    cache.delete(key)
    const [oldest] = cache.keys()
    if (cache.size >= CACHED_MAX && oldest !== undefined) cache.delete(oldest)
    cache.set(key, switches)
    return switches
  }
  return async (db, version) => {
    if (version === null) return none
    const key = `${db.tenant} ${version}`
    const known = cache.get(key)
    if (known !== undefined) return remember(key, known)
    return remember(key, read(await readManifest(db, version)))
  }
}

/** A member of anything: manifests may hold what they like. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
