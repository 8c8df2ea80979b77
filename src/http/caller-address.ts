import type { IncomingMessage, Server } from 'node:http'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Logger } from 'pino'
import { withoutPort } from '../kernel/address.ts'

/**
 * Reads the address of the caller where the framework does not: the address of the peer, or, behind trusted proxies,
 * the last address that one of them reports.
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
    for (const next of given.toReversed().map((each) => withoutPort(each.trim()))) {
      if (address === null || isIP(next) === 0 || !isTrusted(address)) break
      address = next
    }
    return address === null ? null : ipaddr.process(address).toString()
  }
}

/**
 * Warns once when requests come through a proxy that is not configured: every limit then counts all callers of the
 * proxy as one, and orders record the proxy's address.
 */
export function warnOfUnnamedProxy(
  server: Server,
  trusted: readonly string[],
  logger: Pick<Logger, 'warn'>,
): void {
  if (trusted.length > 0) return
  const watch = ({ headers }: IncomingMessage) => {
    if (headers['x-forwarded-for'] === undefined) return
    server.off('request', watch)
    logger.warn(
      'requests carry x-forwarded-for, but TRUST_PROXY is not set: all callers behind that proxy count as one; set TRUST_PROXY',
    )
  }
  server.on('request', watch)
}
