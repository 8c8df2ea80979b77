import { createServer } from 'node:http'
import { isIP } from 'node:net'
import type { Logger } from 'pino'
import type { Storefront } from '../storefront/server.ts'
import type { Config } from './config.ts'
import { addressReader, warnOfUnnamedProxy } from './http/caller-address.ts'
import { handOver } from './http/hand-over.ts'
import type { App } from './http/route.ts'

/**
 * The reference storefront, as a role of this process. It is told where the platform is and has the
 * storefront token, as any other renderer would: it speaks HTTP, also to the process it lives in.
 */
interface Wanted {
  config: Config
  token: string
  /** Shown to the platform in place of the token. */
  platformToken?: string
  logger: Logger
}

async function openStorefront(
  { config, token, platformToken, logger }: Wanted,
  platformUrl: () => string,
) {
  const { createStorefront } = await import('../storefront/server.ts')
  return createStorefront({
    platformUrl,
    token,
    platformToken,
    previousToken: config.STOREFRONT_TOKEN_PREVIOUS,
    zone: config.storefrontZone,
    secure: config.PUBLIC_URL?.startsWith('https:') ?? false,
    assetBaseUrl: config.ASSET_BASE_URL || null,
    ipOf: addressReader(config.TRUST_PROXY),
    log: logger,
  })
}

/** Beside the API: requests for a store's host are its, all others the platform's. */
export async function addStorefront(
  app: App,
  wanted: Wanted & { platformToken: string },
): Promise<Storefront> {
  const { config } = wanted
  const { HOST, PUBLIC_URL } = config
  const platformHost = PUBLIC_URL === undefined ? HOST : new URL(PUBLIC_URL).hostname
  const storefront = await openStorefront(wanted, () => ownUrl(app, HOST))
  handOver(app, platformHost, storefront.listener)
  return storefront
}

/** Where the process reaches itself. One that listens everywhere is found on the loopback. */
function ownUrl(app: App, host: string): string {
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  const own = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${isIP(own) === 6 ? `[${own}]` : own}:${address.port}`
}

const SECOND = 1_000

/** Alone: a process that has no database and knows no secret but the token. */
export async function serveStorefront(wanted: Wanted) {
  const { config } = wanted
  const { STOREFRONT_API_URL } = config
  if (STOREFRONT_API_URL === undefined) throw new Error('STOREFRONT_API_URL must be set')
  const storefront = await openStorefront(wanted, () => STOREFRONT_API_URL)
  const server = createServer({
    headersTimeout: 5 * SECOND,
    requestTimeout: 10 * SECOND,
    keepAliveTimeout: 30 * SECOND,
    connectionsCheckingInterval: SECOND,
  })
  server.on('request', storefront.listener)
  warnOfUnnamedProxy(server, config.TRUST_PROXY, wanted.logger)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(config.PORT, config.HOST, resolve)
  })
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
