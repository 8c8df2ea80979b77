import type { IncomingMessage, RequestListener } from 'node:http'
import { canonicalHostname } from '../kernel/hostname.ts'
import { countHosts } from './hosts.ts'
import type { App } from './route.ts'

/** The platform's own on every host. All other paths of another host are its store's. */
const PLATFORM_PATH =
  /^\/(?:(?:v1|stores|docs|dashboard|operator)(?:[/?]|$)|(?:openapi\.json|healthz|readyz)(?:\?|$))/

/**
 * Hands what is meant for a store to the storefront, before any route is looked for. The platform's
 * own host is its name, any address, and whatever is no name at all.
 */
export function handOver(app: App, platformHost: string, storefront: RequestListener): void {
  const own = canonicalHostname(platformHost)

  function isForStore({ url = '', headers, rawHeaders }: IncomingMessage): boolean {
    if (PLATFORM_PATH.test(url) || !url.startsWith('/')) return false
    const host = canonicalHostname(headers.host ?? '')
    return host !== null && host !== own && countHosts(rawHeaders) === 1
  }

  const [routed] = app.server.listeners('request') as RequestListener[]
  if (routed === undefined) throw new Error('the server has no router')
  app.server.removeListener('request', routed)
  app.server.prependListener('request', (request, response) => {
    const listener = isForStore(request) ? storefront : routed
    listener.call(app.server, request, response)
  })
}
