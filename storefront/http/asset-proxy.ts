import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PlatformClient } from '../api/platform-client.ts'
import { forwardBody } from './response.ts'

/**
 * The path of a store's asset. No other path of the platform can be reached through the storefront.
 */
const ASSET_PATH = /^\/stores\/[a-z0-9-]{3,63}\/assets\/[\w.-]{1,200}$/

export const isAssetPath = (path: string): boolean => ASSET_PATH.test(path)

/** Includes the platform's policy for SVG images, which is stricter than that of our pages. */
const FORWARDED = [
  'content-type',
  'content-length',
  'etag',
  'cache-control',
  'content-range',
  'accept-ranges',
  'content-security-policy',
]

/** The largest image takes this long at half a megabit a second. */
const SEND_MS = 320_000

/** Forwards an asset of the platform, if the platform itself does not answer on this host. */
export async function proxyAsset(
  client: PlatformClient,
  common: Record<string, string>,
  { request, response, url }: { request: IncomingMessage; response: ServerResponse; url: URL },
): Promise<void> {
  const { range, 'if-none-match': tag } = request.headers
  const forwardedHeaders = {
    ...(range === undefined ? {} : { range }),
    ...(tag === undefined ? {} : { 'if-none-match': tag }),
  }
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET'
  const path = url.pathname + url.search
  const { statusCode, headers, body } = await client.fetchAsset(method, path, forwardedHeaders)
  const forwarded = FORWARDED.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  response.writeHead(statusCode, { ...common, ...Object.fromEntries(forwarded) })
  await forwardBody(response, body, SEND_MS)
}
