import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Database } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { type AnswerSlotOptions, createAnswerSlots } from '../../http/answer-slots.ts'
import { readJson } from '../../http/body.ts'
import { matchesEtag } from '../../http/etag.ts'
import { findIgnored } from '../../http/ignored-members.ts'
import type { NameReader } from '../../http/reader.ts'
import type { App, Routes } from '../../http/route.ts'
import { enforcePace, signalOfClose } from '../../http/sockets.ts'
import { clamp, PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { MINUTE_MS } from '../../kernel/time.ts'
import type { BlobRange } from '../../platform/blobs.ts'
import { refuse } from './errors.ts'
import type { PendingUpload, PendingUploads } from './pending-uploads.ts'
import { freeBuffer } from './process-image.ts'
import { createImageResizer, WIDTHS } from './resized-images.ts'
import { ASSET_BYTES_MAX, Asset, AssetPatch, CONTENT_TYPES, NewUpload } from './schema.ts'
import * as media from './service.ts'
import * as serving from './serving.ts'
import { readUpload, UPLOAD_BODY } from './upload-body.ts'

export interface MediaRouteDeps extends media.MediaDeps {
  pendingUploads: PendingUploads
}

const OneAsset = Type.Object({ asset: ref(Asset) })

const LIST_QUERY = {
  content_type: Type.Enum([...CONTENT_TYPES]),
  unused: Type.Enum(['true']),
  ...PAGE_QUERY,
}

/**
 * The most bytes of an upload in JSON. Base64 takes a third more than the bytes; the
 * rest is room for other members.
 */
const JSON_BYTES_MAX = Math.ceil((ASSET_BYTES_MAX * 4) / 3) + 64 * 1_024

/**
 * An upload may take longer than any other request, since 20 MB take three minutes at 1 Mbit/s. But
 * it must arrive at 16 KiB a second or more. Only callers with a key get this far.
 */
const PACE = { bytes: 160 * 1_024, everyMs: 10_000, atMostMs: 10 * MINUTE_MS }

interface Received {
  pending: PendingUpload
  isJson: boolean
}

/** Writes any body to disk first, bytes or JSON alike. It is read when its turn comes. */
async function receive(pendingUploads: PendingUploads, request: FastifyRequest, stream: Readable) {
  const {
    'content-type': type,
    'content-encoding': encoding,
    'content-length': length,
  } = request.headers
  const isJson = /^application\/json\s*(;|$)/i.test(type ?? '')
  if (!isJson) media.readContentType(type)
  if (encoding !== undefined) throw new ApiError('unsupported_media_type')
  const bytesMax = isJson ? JSON_BYTES_MAX : ASSET_BYTES_MAX
  if (Number(length) > bytesMax) throw refuse('asset_too_large')
  return { pending: await pendingUploads.receive(request.db.tenant, stream, bytesMax), isJson }
}

async function readUploaded(request: FastifyRequest, { pending, isJson }: Received) {
  const bytes = await pending.read()
  if (isJson) {
    const body = readJson(request, bytes)
    freeBuffer(bytes)
    findIgnored(request, NewUpload, body)
    return readUpload(body)
  }
  return { bytes, contentType: request.headers['content-type'] ?? '', alt: null, mayFree: true }
}

async function addUpload(app: App, deps: MediaRouteDeps) {
  app.addHook('preParsing', async ({ raw }) => enforcePace(raw, PACE))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest, stream: Readable) =>
    receive(deps.pendingUploads, request, stream),
  )
  app.post(
    '/v1/merchant/media',
    {
      config: {
        scope: 'manage:own_media',
        failures: [
          'asset_too_large',
          'content_mismatch',
          'image_invalid',
          'media_limit_reached',
          'request_timeout',
        ],
      },
      // The body is validated when it is read from disk.
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'uploadAsset',
        tags: ['merchant-ops'],
        summary:
          'Upload an image or a web font: its bytes with their content type, or base64 in JSON.',
        body: UPLOAD_BODY,
        response: { 200: OneAsset, 201: OneAsset },
      },
    },
    async (request, reply) => {
      const received = request.body as Received | undefined
      if (received === undefined) throw new ApiError('unsupported_media_type')
      const { db, actor } = request
      const read = () => readUploaded(request, received)
      const signal = signalOfClose(reply.raw)
      const uploaded = media.upload(db, deps, { actor, read, signal })
      const asset = await uploaded.finally(() => received.pending.drop())
      return reply.code(asset.deduped ? 200 : 201).send({ asset })
    },
  )
}

export const merchantRoutes =
  (deps: MediaRouteDeps): Routes =>
  async (app) => {
    // The upload has a plugin scope of its own: everywhere else JSON is the only body.
    await app.register(async (scope) => addUpload(scope as App, deps))

    app.get(
      '/v1/merchant/media',
      {
        config: { scope: 'manage:own_media', query: LIST_QUERY },
        schema: {
          operationId: 'listAssets',
          tags: ['merchant-ops'],
          summary:
            "List the store's assets, newest first. `unused=true` lists those that are not in use.",
          response: { 200: PageOf('assets', ref(Asset)) },
        },
      },
      ({ db, query }) => {
        const content_type = readOneOf(query, 'content_type', CONTENT_TYPES)
        const unused = readText(query, 'unused') === 'true'
        return media.list(db, deps, { content_type, unused }, readPage(query))
      },
    )

    app.get(
      '/v1/merchant/media/:sha256',
      {
        config: { scope: 'manage:own_media', failures: ['asset_not_found'] },
        schema: {
          operationId: 'readAsset',
          tags: ['merchant-ops'],
          summary: 'Read an asset.',
          params: Params('sha256'),
          response: { 200: OneAsset },
        },
      },
      async ({ db, params }) => ({ asset: await media.read(db, deps, params.sha256) }),
    )

    app.patch(
      '/v1/merchant/media/:sha256',
      {
        config: { scope: 'manage:own_media', failures: ['asset_not_found'] },
        schema: {
          operationId: 'changeAsset',
          tags: ['merchant-ops'],
          summary: 'Change the alternative text of an asset.',
          params: Params('sha256'),
          body: AssetPatch,
          response: { 200: OneAsset },
        },
      },
      async ({ db, actor, params, body }) => ({
        asset: await media.setAlt(db, deps, { actor, sha256: params.sha256 }, body.alt),
      }),
    )

    app.delete(
      '/v1/merchant/media/:sha256',
      {
        config: { scope: 'manage:own_media', failures: ['asset_not_found', 'asset_in_use'] },
        schema: {
          operationId: 'deleteAsset',
          tags: ['merchant-ops'],
          summary:
            'Delete an asset that is not in use. Another upload of the same bytes restores it.',
          params: Params('sha256'),
          response: { 200: OneAsset },
        },
      },
      async ({ db, actor, params }) => ({
        asset: await media.remove(db, deps, { actor, sha256: params.sha256 }),
      }),
    )
  }

/** How long an asset is cached. Its name contains the hash, so the bytes of a URL never change. */
const FOREVER = 'public, max-age=31536000, immutable'
const BRIEFLY = 'public, max-age=10'

/** The policy of an SVG, which a browser opens as a document: it may not run or load anything. */
const SVG_POLICY = "default-src 'none'; sandbox"

function headersOf({ asset, hash, isFallback }: serving.ServedAsset) {
  return {
    'content-type': asset.content_type,
    'cache-control': isFallback ? BRIEFLY : FOREVER,
    etag: `"${hash}"`,
    'accept-ranges': 'bytes',
    'content-disposition': 'inline',
    // Storefronts on any host show the asset.
    'cross-origin-resource-policy': 'cross-origin',
    // A browser asks for a font of another host only with this header.
    ...(asset.extension === 'woff2' && { 'access-control-allow-origin': '*' }),
    ...(asset.extension === 'svg' && { 'content-security-policy': SVG_POLICY }),
  }
}

const WIDEST = WIDTHS.at(-1) ?? 0

function readWidth(query: unknown): number | null {
  const width = clamp((query as { w?: unknown }).w, { min: 0, max: WIDEST + 1, otherwise: 0 })
  return width === 0 ? null : width
}

const Bytes = {
  content: {
    'image/*': { schema: Type.String({ format: 'binary' }) },
    'font/woff2': { schema: Type.String({ format: 'binary' }) },
  },
}

/**
 * The assets that are sent at a time: each takes a file, or a connection to the bucket, for as long as its reader
 * likes. A browser asks for some dozens of a page at once.
 */
const SLOTS: AnswerSlotOptions = {
  sent: { running: 1_000, runningPerStore: 500, waiting: 2_000, waitingPerStore: 1_000 },
  perReader: { running: 32, waiting: 256 },
  // Slower than any phone: it ends a reader who only keeps its connection alive.
  pace: { bytes: 16 * 1_024, everyMs: 20_000 },
}

interface PublicDeps extends media.MediaDeps {
  /** Names the reader of a public route. */
  readerOf: NameReader
}

export const publicRoutes =
  (database: Database, { blobs, images, readerOf }: PublicDeps): Routes =>
  async (app) => {
    const resizer = createImageResizer({ blobs, images })
    const slots = createAnswerSlots(SLOTS)

    /** Sends bytes when the reader has a slot. The reader waits for the slot after its turn in the queue of reads. */
    async function sendBytes(
      { raw }: FastifyRequest,
      reply: FastifyReply,
      served: serving.ServedAsset,
      range?: BlobRange,
    ) {
      const of = {
        tenant: served.db.tenant,
        reader: readerOf(raw).name,
        signal: signalOfClose(reply.raw),
      }
      await slots.run(of, async () => {
        const stream = await serving.open(blobs, resizer, served, range)
        slots.watch(reply.raw)
        // Resolves when the answer is sent, or its reader has gone.
        await reply.send(stream as never)
      })
    }

    async function send(request: FastifyRequest, reply: FastifyReply, served: serving.ServedAsset) {
      const { headers, method } = request
      const etag = `"${served.hash}"`
      reply.headers(headersOf(served))
      if (matchesEtag(headers['if-none-match'], etag)) return reply.code(304).send()
      const ifRange = headers['if-range']
      // A range is sent only if the reader has other parts of the same bytes.
      const isRanged = method === 'GET' && (ifRange === undefined || ifRange === etag)
      const range = isRanged ? serving.readRange(headers.range, served.bytes) : 'all'
      if (range === 'beyond') {
        const beyond = { 'content-range': `bytes */${served.bytes}` }
        for (const name of Object.keys(headersOf(served))) reply.removeHeader(name)
        throw refuse('range_not_satisfiable', { headers: beyond })
      }
      request.leavePace?.()
      if (range === 'all') {
        reply.header('content-length', served.bytes)
        if (method === 'HEAD') return reply.send(Readable.from([]) as never)
        return sendBytes(request, reply, served)
      }
      const { start, end } = range
      reply
        .code(206)
        .header('content-range', `bytes ${start}-${end}/${served.bytes}`)
        .header('content-length', end - start + 1)
      return sendBytes(request, reply, served, range)
    }

    app.get(
      '/stores/:tenant/assets/:file',
      {
        config: {
          failures: ['asset_not_found', 'range_not_satisfiable', 'request_timeout'],
          query: {
            w: Type.Integer({
              description:
                'The greatest width in pixels. It is rounded up to the next of 160, 320, 480, 640, 960, 1280 and 1920.',
            }),
          },
        },
        schema: {
          operationId: 'readAssetBytes',
          tags: ['public'],
          summary: 'Read the bytes of an asset. The answer has an ETag and supports ranges.',
          params: Params('tenant', 'file'),
          response: { 200: Bytes, 206: Bytes },
        },
      },
      async (request, reply) => {
        const { tenant, file } = request.params
        const width = readWidth(request.query)
        return send(request, reply, await serving.find(database, resizer, { tenant, file, width }))
      },
    )
  }
