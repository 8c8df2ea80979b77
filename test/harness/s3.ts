import assert from 'node:assert/strict'
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { TestContext } from 'node:test'

export const S3_KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a secret/for+tests only' }
export const S3_REGION = 'eu-test-1'
const BUCKET = 'media'

export interface TestS3 {
  endpoint: string
  bucket: string
  /** All objects, and all uploads that were not cleaned up, after all requests have ended. */
  list(): Promise<string[]>
  contentTypes: Map<string, string>
  requests: string[]
  /** Answers every request with this error from now on. */
  failWith(status: number, code: string): void
}

interface Stored {
  path: string
  contentType: string
}

class Refusal extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/** The part of S3 that our blob storage uses. Each request must be signed as AWS requires. */
export async function startS3(t: TestContext): Promise<TestS3> {
  const folder = await mkdtemp(join(tmpdir(), 's3-'))
  const objects = new Map<string, Stored>()
  const contentTypes = new Map<string, string>()
  const requests: string[] = []
  const underWay = new Set<Promise<void>>()
  let failure: Refusal | null = null

  async function respond(request: IncomingMessage, response: ServerResponse) {
    requests.push(`${request.method} ${request.url}`)
    if (failure !== null) throw failure
    const payloadHash = checkSignature(request)
    const [, bucket, ...rest] = new URL(request.url ?? '', 'http://s3').pathname.split('/')
    if (bucket !== BUCKET) throw new Refusal(404, 'NoSuchBucket')
    const key = rest.map(decodeURIComponent).join('/')
    if (request.method === 'PUT') {
      const stored = await receive(request, folder, payloadHash)
      const before = objects.get(key)
      objects.set(key, stored)
      contentTypes.set(key, stored.contentType)
      if (before !== undefined) await rm(before.path)
      return void response.writeHead(200, { etag: '"x"' }).end()
    }
    if (request.method === 'DELETE') {
      const stored = objects.get(key)
      objects.delete(key)
      if (stored !== undefined) await rm(stored.path)
      return void response.writeHead(204).end()
    }
    const stored = objects.get(key)
    if (stored === undefined) throw new Refusal(404, 'NoSuchKey')
    await give(request, response, stored)
  }

  const server = createServer((request, response) => {
    const work = respond(request, response)
      .catch((error: unknown) => refuse(request, response, error))
      .finally(() => underWay.delete(work))
    underWay.add(work)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    bucket: BUCKET,
    contentTypes,
    requests,
    async list() {
      await Promise.all(underWay)
      const kept = new Set([...objects.values()].map(({ path }) => path))
      const files = (await readdir(folder)).map((name) => join(folder, name))
      return [...objects.keys(), ...files.filter((path) => !kept.has(path))]
    },
    failWith(status, code) {
      failure = new Refusal(status, code)
    },
  }
}

async function receive(request: IncomingMessage, folder: string, payloadHash: string) {
  const path = join(folder, randomUUID())
  const hash = createHash('sha256')
  try {
    await pipeline(
      request,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          yield chunk
        }
      },
      createWriteStream(path),
    )
    if (hash.digest('hex') !== payloadHash) throw new Refusal(400, 'XAmzContentSHA256Mismatch')
    return { path, contentType: request.headers['content-type'] ?? '' }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

async function give(request: IncomingMessage, response: ServerResponse, stored: Stored) {
  const { size } = await stat(stored.path)
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  const start = Number(from ?? 0)
  const end = to === undefined || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== undefined && start >= size) throw new Refusal(416, 'InvalidRange')
  response.writeHead(from === undefined ? 200 : 206, {
    'content-type': stored.contentType,
    'content-length': end - start + 1,
    ...(from === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${size}` }),
  })
  if (request.method === 'HEAD' || size === 0) return void response.end()
  await pipeline(createReadStream(stored.path, { start, end }), response)
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown) {
  if (response.headersSent || request.destroyed) return void response.destroy()
  const { status, code } = error instanceof Refusal ? error : new Refusal(500, 'InternalError')
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' })
  response.end(request.method === 'HEAD' ? undefined : body)
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Checks AWS Signature Version 4, by its documentation. Returns the hash that the body must have.
 */
function checkSignature(request: IncomingMessage): string {
  const { headers } = request
  const [, date = '', signedList = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/eu-test-1\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const time = String(headers['x-amz-date'])
  const payloadHash = String(headers['x-amz-content-sha256'])
  const signed = signedList.split(';')
  const covered = ['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) =>
    signed.includes(name),
  )
  // S3 allows unsigned bodies. Ours are all known before they are sent, so they must be signed.
  if (!covered || !time.startsWith(date) || !/^[0-9a-f]{64}$/.test(payloadHash)) {
    throw new Refusal(403, 'AccessDenied')
  }
  const url = new URL(request.url ?? '', 'http://s3')
  const canonical = [
    request.method,
    url.pathname,
    [...url.searchParams]
      .map((pair) => pair.map(encodeURIComponent).join('='))
      .sort()
      .join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signedList,
    payloadHash,
  ].join('\n')
  const scope = `${date}/${S3_REGION}/s3/aws4_request`
  const key = [S3_REGION, 's3', 'aws4_request'].reduce(
    (previous, part) => hmac(previous, part),
    hmac(`AWS4${S3_KEYS.secretAccessKey}`, date),
  )
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  if (hmac(key, text).toString('hex') !== signature) {
    throw new Refusal(403, 'SignatureDoesNotMatch')
  }
  return payloadHash
}
