import type { IncomingMessage } from 'node:http'
import type { PlatformClient } from '../api/platform-client.ts'
import type { Site } from '../site/site.ts'
import type { HttpResponse } from './response.ts'

/** The feeds of a store, which the platform writes. */
export const FEED_FILES = ['google.tsv', 'openai.jsonl.gz'] as const

const FEED_PATH = /^\/feeds\/([^/]+)$/

/** The feed that a request asks for; null for any other request. */
export function feedOf({ method }: IncomingMessage, path: string): string | null {
  const [, file] = FEED_PATH.exec(path) ?? []
  const isRead = method === 'GET' || method === 'HEAD'
  return (isRead && FEED_FILES.find((each) => each === file)) || null
}

/** Opens a feed of the platform, to be forwarded. The platform knows the addresses of the store. */
export async function openFeed(
  client: PlatformClient,
  { method, headers }: IncomingMessage,
  { tenant }: Site,
  file: string,
): Promise<HttpResponse> {
  const tag = headers['if-none-match']
  const answer = await client.openFeed(
    method === 'HEAD' ? 'HEAD' : 'GET',
    `/v1/tenants/${tenant}/feeds/${file}`,
    tag === undefined ? {} : { 'if-none-match': tag },
  )
  const { etag, 'cache-control': kept, 'content-type': type } = answer.headers
  return {
    status: answer.statusCode,
    body: answer.body,
    ...(typeof type === 'string' && { type }),
    headers: {
      'cache-control': typeof kept === 'string' ? kept : 'no-cache',
      ...(typeof etag === 'string' && { etag }),
    },
  }
}
