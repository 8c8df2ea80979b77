import { createServer, type RequestListener } from 'node:http'
import { isIP } from 'node:net'
import type { Logger } from 'pino'
import type { Storefront } from '../storefront/server.ts'
import type { Config } from './config.ts'
import { addressReader, warnOfUnnamedProxy } from './http/caller-address.ts'
import type { ServedPage } from './http/metrics.ts'
import type { App } from './http/route.ts'
import { routeToStorefront } from './http/storefront-routing.ts'
import { listening } from './taken-port.ts'

/**
 * Options of the reference storefront, as a role of this process. It gets the platform's address
 * and the storefront token, as any other storefront would: it speaks HTTP, even to its own process.
 */
interface StorefrontOptions {
  config: Config
  token: string
  /** Sent to the platform instead of the token. */
  platformToken?: string
  logger: Logger
  /** For tests: how long a read of the platform may take. */
  readMs?: number
  /** Called with each response. */
  onPage?: ((page: ServedPage) => void) | undefined
}

async function openStorefront(
  { config, token, platformToken, logger, readMs, onPage }: StorefrontOptions,
  platformUrl: () => string,
): Promise<Storefront> {
  const { createStorefront } = await import('../storefront/server.ts')
  const storefront = createStorefront({
    platformUrl,
    token,
    platformToken,
    previousToken: config.STOREFRONT_TOKEN_PREVIOUS,
    zone: config.storefrontZone,
    secure: config.isHttps,
    assetBaseUrl: config.ASSET_BASE_URL || null,

    ipOf: addressReader(config.TRUST_PROXY),
    log: logger,
    readMs,
  })
  if (onPage === undefined) return storefront
  return { ...storefront, listener: countPages(storefront.listener, onPage) }
}

/** The first part of a path, for the kinds of page that are counted separately. */
const PAGES = new Set([
  'assets',
  'cart',
  'checkout',
  'collections',
  'feeds',
  'orders',
  'products',
  'search',
])

/** Names the kind of a page and not its path: each value of a label uses memory for as long as the process runs. */
function nameOfPage(path: string): string {
  const [, first = ''] = /^\/([a-z]*)(?:[/?]|$)/.exec(path) ?? [null, 'other']
  if (first === '') return 'home'
  return PAGES.has(first) ? first : 'other'
}

const countPages =
  (listener: RequestListener, onPage: (page: ServedPage) => void): RequestListener =>
  (request, response) => {
    const began = performance.now()
    const page = nameOfPage(request.url ?? '/')
    response.once('close', () => {
      onPage({ page, status: response.statusCode, seconds: (performance.now() - began) / 1_000 })
    })
    listener(request, response)
  }

/**
 * Adds the storefront to the API's server: requests for a store's host go to it, all others to the
 * platform.
 */
export async function addStorefront(
  app: App,
  options: StorefrontOptions & { platformToken: string },
): Promise<Storefront> {
  const { config } = options
  const { HOST, PUBLIC_URL } = config
  const platformHost = PUBLIC_URL === undefined ? HOST : new URL(PUBLIC_URL).hostname
  const storefront = await openStorefront(options, () => ownUrl(app, HOST))
  routeToStorefront(app, platformHost, storefront.listener)
  return storefront
}

/** Returns the address at which the process reaches itself. If it listens on every address, that is loopback. */
function ownUrl(app: App, host: string): string {
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  const own = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${isIP(own) === 6 ? `[${own}]` : own}:${address.port}`
}

const SECOND = 1_000

/** Serves the storefront alone: a process that has no database and no secret except the token. */
export async function serveStorefront(options: StorefrontOptions) {
  const { config } = options
  const { STOREFRONT_API_URL } = config
  if (STOREFRONT_API_URL === undefined) throw new Error('STOREFRONT_API_URL must be set')
  const storefront = await openStorefront(options, () => STOREFRONT_API_URL)
  const server = createServer({
    headersTimeout: 5 * SECOND,
    requestTimeout: 10 * SECOND,
    keepAliveTimeout: 30 * SECOND,
    connectionsCheckingInterval: SECOND,
  })
  server.on('request', storefront.listener)
  warnOfUnnamedProxy(server, config.TRUST_PROXY, options.logger)
  const opened = new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(config.PORT, config.HOST, resolve)
  })
  await listening('PORT', opened)
  const address = server.address()
  const port = address === null || typeof address === 'string' ? config.PORT : address.port
  return {
    url: `http://${config.HOST}:${port}`,
    async close() {
      server.close()
      server.closeIdleConnections()
      await storefront.close()
    },
  }
}
