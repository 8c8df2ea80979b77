import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'

/** Bytes of which the number is known before they come. */
export interface BlobSource {
  stream: Readable
  bytes: number
}

export interface BlobRange {
  /** The first byte, from 0. */
  start: number
  /** The last byte, included. To the end of the blob when absent or beyond it. */
  end?: number
}

export interface BlobHead {
  /** All of the blob, whatever part was asked for. */
  totalBytes: number
  /** Where the store keeps it. The disk does not: the key's extension says it. */
  contentType?: string
}

export interface Blob extends BlobHead {
  /** To be read to its end or destroyed. */
  stream: Readable
  /** What the stream will give. */
  bytes: number
}

/**
 * Where media is kept. A key is `<tenant>/<sha256 of the bytes>.<extension>`, so a blob never
 * changes, and what is put twice is the same. What is missing is null; a store that fails throws.
 */
export interface BlobStore {
  /** Keeps all of it or nothing, and only bytes that have the key's hash. */
  put(key: string, body: Buffer | BlobSource, options: { contentType: string }): Promise<void>
  /** Throws `BlobRangeError` for a range that lies beyond the blob. */
  get(key: string, options?: { range?: BlobRange }): Promise<Blob | null>
  head(key: string): Promise<BlobHead | null>
  /** Also when there is none. */
  delete(key: string): Promise<void>
  close(): Promise<void>
}

export class InvalidBlobKeyError extends Error {
  constructor() {
    super('this is no key of a blob')
    this.name = 'InvalidBlobKeyError'
  }
}

export class BlobRangeError extends Error {
  constructor() {
    super('the range lies beyond the blob')
    this.name = 'BlobRangeError'
  }
}

/** What came is not what the key or the length promised. Nothing was kept. */
export class BlobMismatchError extends Error {
  constructor(what: 'length' | 'hash') {
    super(`the ${what} of the bytes is not the one announced`)
    this.name = 'BlobMismatchError'
  }
}

export interface BlobKey {
  tenant: string
  /** In hex. */
  sha256: string
  extension: string
}

/** Letters, digits and dashes, one slash and one dot: no key can name a place outside its store. */
const KEY =
  /^(?<tenant>[a-z0-9][a-z0-9-]{1,61}[a-z0-9])\/(?<sha256>[0-9a-f]{64})\.(?<extension>[a-z0-9]{1,8})$/

/** Throws unless the text is a key. JavaScript's `$` matches only at the very end. */
export function parseKey(key: string): BlobKey {
  const { tenant, sha256, extension } = KEY.exec(key)?.groups ?? {}
  if (tenant === undefined || sha256 === undefined || extension === undefined) {
    throw new InvalidBlobKeyError()
  }
  return { tenant, sha256, extension }
}

export function checkRange({ start, end }: BlobRange): void {
  const valid = Number.isSafeInteger(start) && start >= 0
  if (!valid || (end !== undefined && !(Number.isSafeInteger(end) && end >= start))) {
    throw new BlobRangeError()
  }
}

/**
 * The same bytes, but for the end: the last chunk is held back until length and hash are known to
 * be right, so that no store ever sees all of a wrong upload.
 */
export function verified(body: Buffer | BlobSource, sha256: string): Readable {
  const [source, bytes] = Buffer.isBuffer(body)
    ? [Readable.from(chunksOf(body), { objectMode: false }), body.length]
    : [body.stream, body.bytes]
  const hash = createHash('sha256')
  let seen = 0
  let held: Buffer | null = null
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen > bytes) return done(new BlobMismatchError('length'))
      hash.update(chunk)
      const ready = held
      held = chunk
      done(null, ready)
    },
    flush(done) {
      if (seen !== bytes) return done(new BlobMismatchError('length'))
      if (hash.digest('hex') !== sha256) return done(new BlobMismatchError('hash'))
      done(null, held)
    },
  })
  return compose(source, check)
}

/** A failure on either side ends both: `pipe` alone would leave the reader waiting for ever. */
function compose(source: Readable, check: Transform): Transform {
  const interrupt = () => {
    if (!source.readableEnded) check.destroy(new Error('the upload was interrupted'))
  }
  // Whoever reads asks the stream itself; unheard in between, a failure would end the process.
  check.on('error', () => {})
  if (source.destroyed) interrupt()
  source.once('error', (error) => check.destroy(error))
  source.once('close', interrupt)
  check.once('close', () => source.destroy())
  return source.pipe(check)
}

const CHUNK_BYTES = 64 * 1_024

function* chunksOf(body: Buffer) {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) yield body.subarray(at, at + CHUNK_BYTES)
}
