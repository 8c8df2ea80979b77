import { promisify } from 'node:util'
import * as zlib from 'node:zlib'

/**
 * A finished response of a public route, as it is sent. Responses of one store that differ only at
 * their beginning share the long part: `head` is sent before `body`.
 */
export interface CachedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly head?: string
  readonly body: Buffer
  readonly etag?: string
  /** How long it may be answered from memory. Without a value, until its store changes. */
  readonly freshMs?: number
  /** The headers as lists, built once: every read needs them. */
  readonly headerLists?: HeaderLists
}

/** Headers in the form that Node accepts: names and values alternate. */
export interface HeaderLists {
  readonly common: readonly string[]
  /** The headers with the length of the uncompressed body. */
  readonly plain: readonly string[]
  /**
   * The headers of a 304. RFC 9110 requires `vary` with it as well: a cache on the way stores one entry per encoding.
   */
  readonly unchanged: readonly string[]
}

/** Returns the whole body in one piece. */
export const wholeBody = ({ head, body }: CachedResponse): Buffer =>
  head === undefined ? body : Buffer.concat([Buffer.from(head), body])

export const bodyBytes = ({ head = '', body }: CachedResponse): number =>
  Buffer.byteLength(head) + body.length

export type Encoding = 'br' | 'gzip'

/** A compressed form of the whole body. */
export interface EncodedBody {
  body: Buffer
  encoding: Encoding
}

/** From how many bytes on a body is compressed. Below this size, compression saves no network packet. */
export const COMPRESS_FROM_BYTES = 1_024

const brotli = promisify(zlib.brotliCompress)
const gzip = promisify(zlib.gzip)

/** The levels of compression. Above 5, brotli takes several times as long for a few percent. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6

/**
 * From how many bytes on the fastest level is used: a list of thousands of products is compressed again after each
 * change, and its first reader would wait longer for that than for the bytes it saves.
 */
const COMPRESS_FAST_FROM_BYTES = 1_024 * 1_024

export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  const isLarge = body.length >= COMPRESS_FAST_FROM_BYTES
  if (encoding === 'gzip') return gzip(body, { level: isLarge ? 1 : GZIP_LEVEL })
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants
  const quality = isLarge ? 1 : BROTLI_QUALITY
  return brotli(body, {
    params: { [BROTLI_PARAM_QUALITY]: quality, [BROTLI_PARAM_SIZE_HINT]: body.length },
  })
}

/** Picks the best encoding that an `accept-encoding` header allows. Where two are equal, brotli is picked. */
export function pickEncoding(header: string | undefined): Encoding | null {
  if (header === undefined || header === '') return null
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim())
    const weight = parameters.find((each) => each.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  const weigh = (name: Encoding) => weights.get(name) ?? weights.get('*') ?? 0
  const [br, gz] = [weigh('br'), weigh('gzip')]
  if (br > 0 && !(gz > br)) return 'br'
  return gz > 0 ? 'gzip' : null
}
