import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'

/** A stream whose length is known before it is read. */
export interface BlobSource {
  stream: Readable
  bytes: number
}

export interface BlobRange {
  /** The first byte, from 0. */
  start: number
  /** The last byte, included. Without it, or with one beyond the blob, the range goes to the end of the blob. */
  end?: number
}

export interface BlobHead {
  /** The length of the whole blob, whichever range was requested. */
  totalBytes: number
  /** The content type, only where the store keeps it. The disk does not: there, the extension of the key says it. */
  contentType?: string
}

export interface Blob extends BlobHead {
  /** The caller must read it to its end or destroy it. */
  stream: Readable
  /** The length of the stream. */
  bytes: number
}

/**
 * Storage for media. A key is `<tenant>/<sha256 of the bytes>.<extension>`, so a blob never
 * changes, and a second `put` of the same blob changes nothing. A missing blob is null; a store
 * that fails throws.
 */
export interface BlobStore {
  /** Stores the whole blob or nothing, and only bytes that match the hash in the key. */
  put(key: string, body: Buffer | BlobSource, options: { contentType: string }): Promise<void>
  /** Throws `BlobRangeError` for a range that lies beyond the blob. */
  get(key: string, options?: { range?: BlobRange }): Promise<Blob | null>
  head(key: string): Promise<BlobHead | null>
  /** Deletes the blob, or does nothing when there is none. */
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

/** The error that the bytes do not match the key's hash or the declared length. Nothing was stored. */
export class BlobMismatchError extends Error {
  constructor(what: 'length' | 'hash') {
    super(`the ${what} of the bytes is not the one announced`)
    this.name = 'BlobMismatchError'
  }
}

export interface BlobKey {
  tenant: string
  /** The hash in hex. */
  sha256: string
  extension: string
}

/**
 * The form of a key. It consists of letters, digits and dashes, one slash and one dot: no key can name a file outside
 * its store's folder.
 */
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
 * Passes the bytes on and checks them. The last chunk is held back until length and hash are known
 * to be right, so that the blob store never gets a complete wrong upload.
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

/**
 * Pipes one stream into another so that a failure of either ends both: `pipe` alone would leave the
 * reader waiting for ever.
 */
function compose(source: Readable, check: Transform): Transform {
  const interrupt = () => {
    if (!source.readableEnded) check.destroy(new Error('the upload was interrupted'))
  }
  // The reader sees the failure on the stream itself. Without a listener, a failure before that
  // would end the process.
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
