import { promisify } from 'node:util'
import * as zlib from 'node:zlib'

/**
 * What a public read answers with, finished down to its bytes. Answers of one tenant that say the
 * same between different words share the long part: `head` stands before `body`.
 */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly head?: string
  readonly body: Buffer
  readonly etag?: string
  /** Its headers as they are sent, put together once: they are looked at in every read. */
  readonly lists?: HeaderLists
}

/** Names and values in turn. */
export interface HeaderLists {
  readonly common: readonly string[]
  /** With the length of the body as it is. */
  readonly plain: readonly string[]
  /** RFC 9110 wants `vary` with a 304 as well: a cache between us keeps one entry per encoding. */
  readonly unchanged: readonly string[]
}

/** The whole body in one piece. */
export const wholeBody = ({ head, body }: Answer): Buffer =>
  head === undefined ? body : Buffer.concat([Buffer.from(head), body])

export const bodyBytes = ({ head = '', body }: Answer): number =>
  Buffer.byteLength(head) + body.length

export type Encoding = 'br' | 'gzip'

/** A compressed form of the whole body. */
export interface Encoded {
  body: Buffer
  encoding: Encoding
}

/** Below this a packet is saved by nobody. */
export const COMPRESS_FROM_BYTES = 1_024

const brotli = promisify(zlib.brotliCompress)
const gzip = promisify(zlib.gzip)

/** Above 5, brotli takes several times as long for a few percent. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6

export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzip(body, { level: GZIP_LEVEL })
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants
  return brotli(body, {
    params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: body.length },
  })
}

/** The best encoding that an `accept-encoding` header allows. Brotli wins a draw. */
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
