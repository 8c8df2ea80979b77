import type { IncomingMessage } from 'node:http'

/** More than any form of the storefront can have. */
const FORM_BYTES_MAX = 32_768

/** Reads a form as browsers send it. Returns null for any other body, and for one that is too large. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('application/x-www-form-urlencoded')) return null
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    // A body that is too large is read to its end, too: the next request on this connection follows
    // it.
    if (bytes <= FORM_BYTES_MAX) parts.push(part)
  }
  return bytes > FORM_BYTES_MAX ? null : new URLSearchParams(Buffer.concat(parts).toString())
}

/**
 * Whether a form may come from a page of this very store, by `Sec-Fetch-Site` and `Origin`. A
 * request with neither header is accepted: every current browser sends `Origin` with a post, so a
 * program sent it, which has no cookies but its own. `SameSite` keeps a shopper's cookies from
 * posts of other sites.
 */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

const CONTROL = /\p{Cc}+/gu

/**
 * Makes a typed or pasted text acceptable to the platform: control characters become spaces, and a
 * text that is too long is cut between characters. Half an emoji is no valid text, and the platform
 * would refuse the whole form for it.
 */
export function cleanText(text: string | null, lengthMax: number): string {
  const cut = (text ?? '').replace(CONTROL, ' ').trim().slice(0, lengthMax)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
