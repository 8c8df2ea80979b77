import { Resolver } from 'node:dns/promises'

/**
 * The result of a DNS lookup. `unavailable` means that no server has responded: it says nothing about the
 * record and must never be treated as `missing`.
 */
export type DnsResult = 'found' | 'missing' | 'unavailable'

/** Looks for a value among the TXT records of a name. Never throws. */
export type FindTxt = (name: string, value: string) => Promise<DnsResult>

/** The errors by which DNS says that there is no such name, or that it has no TXT record. */
const ANSWERED: readonly unknown[] = ['ENOTFOUND', 'ENODATA']

/**
 * The longest lookup: two requests of 2 s to the first server, and one to the next. A merchant waits for the
 * result.
 */
const DEADLINE_MS = 6_000

/**
 * Creates a lookup at the given servers (`address` or `address:port`), or at those of the system.
 *
 * It uses a resolver of its own: the system's lookup has no TXT records, cannot be cancelled, and
 * blocks one of the few threads that file and crypto work of the process shares. If a server is
 * silent or unreachable, the next one is asked. A server that reports a failure has answered: the
 * next check asks again.
 */
export function createTxtLookup(servers: readonly string[]): FindTxt {
  const openResolver = () => {
    const resolver = new Resolver({ timeout: 2_000, maxTimeout: 2_000, tries: 2 })
    if (servers.length > 0) resolver.setServers(servers)
    return resolver
  }
  // Throws for an invalid address at the start, rather than with the first lookup.
  openResolver()
  return async (name, value) => {
    const resolver = openResolver()
    const timer = setTimeout(() => resolver.cancel(), DEADLINE_MS)
    try {
      const records = await resolver.resolveTxt(name)
      // A long text is sent as several strings, which are joined without a space.
      return records.some((strings) => strings.join('').trim() === value) ? 'found' : 'missing'
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      return ANSWERED.includes(code) ? 'missing' : 'unavailable'
    } finally {
      clearTimeout(timer)
    }
  }
}
