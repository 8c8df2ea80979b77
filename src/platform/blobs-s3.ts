import { Readable } from 'node:stream'
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3'
import {
  type BlobRange,
  BlobRangeError,
  type BlobStore,
  checkRange,
  parseKey,
  verified,
} from './blobs.ts'

export interface S3Options {
  bucket: string
  region: string
  /** The address of an S3 other than AWS. Its buckets are then named in the path. */
  endpoint?: string
  /** Without them, the default credential sources of AWS are used. */
  credentials?: { accessKeyId: string; secretAccessKey: string }
}

const CONNECT_MS = 3_000
/** How long a connection may be silent before the call fails. */
const IDLE_MS = 30_000

/**
 * The connections at a time, more than the assets that are sent to readers at a time: an answer holds one for as long
 * as its reader likes. Beyond it a call would wait, and fail.
 */
const CONNECTIONS_MAX = 1_200

/**
 * Stores blobs in an S3 bucket. The SDK is loaded here and not at the start, since few
 * installations need it.
 */
export async function openS3Blobs(options: S3Options): Promise<BlobStore> {
  const { GetObjectCommand, HeadObjectCommand, ...sdk } = await import('@aws-sdk/client-s3')
  const client = connect(sdk.S3Client, options)
  const at = (key: string) => {
    parseKey(key)
    return { Bucket: options.bucket, Key: key }
  }

  async function get(key: string, { range }: { range?: BlobRange } = {}) {
    if (range !== undefined) checkRange(range)
    const header = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end ?? ''}` }
    const found = await orNull(client.send(new GetObjectCommand({ ...at(key), ...header })))
    return found === null ? null : describe(found)
  }

  return {
    async put(key, body, { contentType }) {
      const { sha256 } = parseKey(key)
      const stream = verified(body, sha256)
      const bytes = Buffer.isBuffer(body) ? body.length : body.bytes
      const about = { ContentLength: bytes, ContentType: contentType }
      const command = new sdk.PutObjectCommand({ ...at(key), ...about, Body: stream })
      signBody(command.middlewareStack, sha256)
      await upload(stream, (abortSignal) => client.send(command, { abortSignal }))
    },

    get,

    async head(key) {
      const found = await orNull(client.send(new HeadObjectCommand(at(key))))
      if (found !== null) return headOf(found.ContentLength, found.ContentType)
      // HEAD answers only 404. GET distinguishes a missing blob from a missing bucket, which is a failure.
      const blob = await get(key)
      blob?.stream.destroy()
      return blob === null ? null : headOf(blob.totalBytes, blob.contentType)
    },

    async delete(key) {
      await client.send(new sdk.DeleteObjectCommand(at(key)))
    },

    async close() {
      client.destroy()
    },
  }
}

const ignore = () => {}
const silent = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }

function connect(Client: typeof S3Client, { endpoint, region, credentials }: S3Options): S3Client {
  return new Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: IDLE_MS,
      httpAgent: { maxSockets: CONNECTIONS_MAX },
      httpsAgent: { maxSockets: CONNECTIONS_MAX },
    },
    // The signature already covers the hash of the body; not every S3 supports the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The SDK would write to the console that a stream cannot be sent twice; the caller gets the error instead.
    logger: silent,
  })
}

type Stack = InstanceType<typeof import('@aws-sdk/client-s3').PutObjectCommand>['middlewareStack']

/**
 * Signs the body with the hash that the key names, so that even a stream is checked by the store.
 */
function signBody(stack: Stack, sha256: string) {
  stack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> }
      headers['x-amz-content-sha256'] = sha256
      return next(args)
    },
    { step: 'build', name: 'signBody' },
  )
}

/**
 * Sends a stream, and aborts when the stream fails: the SDK does not notice that, and would wait
 * for the rest.
 */
async function upload(stream: Readable, send: (signal: AbortSignal) => Promise<unknown>) {
  const aborter = new AbortController()
  let failure: Error | undefined
  stream.once('error', (error) => {
    failure = error
    aborter.abort()
  })
  try {
    await send(aborter.signal)
  } catch (error) {
    throw failure ?? error
  } finally {
    stream.destroy()
  }
}

function describe(found: GetObjectCommandOutput) {
  const { Body: stream, ContentLength: bytes, ContentRange: range } = found
  if (!(stream instanceof Readable) || bytes === undefined) {
    throw new Error('the store answered without a body or its length')
  }
  const total = range === undefined ? bytes : Number(/\/(\d+)$/.exec(range)?.[1])
  return { stream: stream as Readable, bytes, ...headOf(total, found.ContentType) }
}

function headOf(totalBytes: number | undefined, contentType: string | undefined) {
  if (totalBytes === undefined || !Number.isSafeInteger(totalBytes)) {
    throw new Error('the store did not say how long the blob is')
  }
  return { totalBytes, ...(contentType === undefined ? {} : { contentType }) }
}

/** Returns null for a missing blob. A missing bucket is a failure. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    const { name } = error as Error
    if (name === 'NoSuchKey' || name === 'NotFound') return null
    if (name === 'InvalidRange') throw new BlobRangeError()
    throw error
  }
}
