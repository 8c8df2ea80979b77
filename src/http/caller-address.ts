import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Who is asking, where no framework says so: the peer, or behind proxies that are trusted, the last
 * address that one of them vouches for.
 */
export function addressReader(trusted: readonly string[]) {
  const ranges = trusted.map((each) =>
    each.includes('/')
      ? ipaddr.parseCIDR(each)
      : ([ipaddr.process(each), ipaddr.process(each).kind() === 'ipv4' ? 32 : 128] as const),
  )
  const isTrusted = (address: string) => {
    const parsed = ipaddr.process(address)
    return ranges.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits))
  }
  return ({ socket, headers }: IncomingMessage): string | null => {
    let address = socket.remoteAddress ?? null
    const given = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
    for (const next of given.toReversed().map((each) => each.trim())) {
      if (address === null || isIP(next) === 0 || !isTrusted(address)) break
      address = next
    }
    return address === null ? null : ipaddr.process(address).toString()
  }
}
