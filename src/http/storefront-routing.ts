import type { IncomingMessage, RequestListener } from 'node:http'
import { canonicalHostname } from '../kernel/hostname.ts'
import { countHosts } from './repeated-headers.ts'
import type { App } from './route.ts'

/** Paths that belong to the platform on every host. On the host of a store all other paths belong to the store. */
const PLATFORM_PATH =
  /^\/(?:(?:v1|stores|docs|dashboard|operator)(?:[/?]|$)|(?:openapi\.json|healthz|readyz)(?:\?|$))/

/**
 * Passes requests for a store's host to the storefront, before any route is looked up. The platform's own hosts are
 * its name, any IP address, and any text that is not a host name.
 */
export function routeToStorefront(
  app: App,
  platformHost: string,
  storefront: RequestListener,
): void {
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
