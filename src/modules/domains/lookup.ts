import { Resolver } from 'node:dns/promises'

/**
 * What a question to DNS came to. That nobody could be asked says nothing about the record, so it
 * is an answer of its own and never taken for `missing`.
 */
export type Finding = 'found' | 'missing' | 'unavailable'

/** Looks for a value among the TXT records of a name. Never throws. */
export type FindTxt = (name: string, value: string) => Promise<Finding>

/** DNS has answered: there is no such name, or it has no TXT record. */
const ANSWERED: readonly unknown[] = ['ENOTFOUND', 'ENODATA']

/** Two tries of 2 s at the first server, and a short word with the next. A merchant is waiting. */
const DEADLINE_MS = 6_000

/**
 * Asks the given servers (`address` or `address:port`), or without any those of the system.
 *
 * A resolver of our own: the system's lookup knows no TXT, cannot be cancelled, and holds one of
 * the few threads that all of the process's file and crypto work shares. The next server is asked
 * when one is silent or gone; one that says it failed has answered, until the next check.
 */
export function createTxtLookup(servers: readonly string[]): FindTxt {
  const openResolver = () => {
    const resolver = new Resolver({ timeout: 2_000, maxTimeout: 2_000, tries: 2 })
    if (servers.length > 0) resolver.setServers(servers)
    return resolver
  }
  // Throws for what is no address: at the start, and not when the first merchant asks.
  openResolver()
  return async (name, value) => {
    const resolver = openResolver()
    const timer = setTimeout(() => resolver.cancel(), DEADLINE_MS)
    try {
      const records = await resolver.resolveTxt(name)
      // A long text travels as several strings, which belong together without a space.
      return records.some((strings) => strings.join('').trim() === value) ? 'found' : 'missing'
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      return ANSWERED.includes(code) ? 'missing' : 'unavailable'
    } finally {
      clearTimeout(timer)
    }
  }
}
