import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Database } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import { matchesEtag } from '../../http/etag.ts'
import type { App, Routes } from '../../http/route.ts'
import { enforcePace } from '../../http/sockets.ts'
import { clamp, PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { createForms, WIDTHS } from './forms.ts'
import { ASSET_BYTES_MAX, Asset, AssetPatch, CONTENT_TYPES } from './schema.ts'
import * as media from './service.ts'
import * as serving from './serving.ts'
import type { Spool, Spooled } from './spool.ts'
import { readUpload, UPLOAD_BODY } from './upload.ts'
import { free } from './workshop.ts'

export interface MediaRouteDeps extends media.MediaDeps {
  spool: Spool
}

const OneAsset = Type.Object({ asset: ref(Asset) })

const LIST_QUERY = {
  content_type: Type.Enum([...CONTENT_TYPES]),
  unused: Type.Enum(['true']),
  ...PAGE_QUERY,
}

/** A third more than the bytes, and room for the other members. */
const JSON_BYTES_MAX = Math.ceil((ASSET_BYTES_MAX * 4) / 3) + 64 * 1_024

/**
 * An upload may take longer than any other request, since 20 MB take three minutes at 1 Mbit/s; but it
 * must keep coming, at 16 KiB a second. Only who has a key gets this far.
 */
const PACE = { bytes: 160 * 1_024, everyMs: 10_000, atMostMs: 10 * 60_000 }

interface Received {
  spooled: Spooled
  isJson: boolean
}

/** Any body goes to disk first, bytes or JSON alike, and is opened when there is room for it. */
async function receive(spool: Spool, request: FastifyRequest, stream: Readable) {
  const {
    'content-type': type,
    'content-encoding': encoding,
    'content-length': length,
  } = request.headers
  const isJson = /^application\/json\s*(;|$)/i.test(type ?? '')
  if (!isJson) media.readContentType(type)
  if (encoding !== undefined) throw new ApiError('unsupported_media_type')
  const bytesMax = isJson ? JSON_BYTES_MAX : ASSET_BYTES_MAX
  if (Number(length) > bytesMax) throw new ApiError('asset_too_large')
  return { spooled: await spool.receive(request.db.tenant, stream, bytesMax), isJson }
}

async function readGiven(request: FastifyRequest, { spooled, isJson }: Received) {
  const bytes = await spooled.read()
  if (isJson) {
    const body = readJson(request, bytes)
    free(bytes)
    return readUpload(body)
  }
  return { bytes, contentType: request.headers['content-type'] ?? '', alt: null, isOurs: true }
}

async function addUpload(app: App, deps: MediaRouteDeps) {
  app.addHook('preParsing', async ({ raw }) => enforcePace(raw, PACE))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest, stream: Readable) =>
    receive(deps.spool, request, stream),
  )
  app.post(
    '/v1/merchant/media',
    {
      config: {
        scope: 'manage:own_media',
        failures: ['asset_too_large', 'content_mismatch', 'image_invalid', 'media_limit_reached'],
      },
      // What is in the body is looked at when it is read from disk.
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'uploadAsset',
        tags: ['merchant-ops'],
        summary: 'Upload an image: its bytes with their content type, or base64 in JSON.',
        body: UPLOAD_BODY,
        response: { 200: OneAsset, 201: OneAsset },
      },
    },
    async (request, reply) => {
      const received = request.body as Received | undefined
      if (received === undefined) throw new ApiError('unsupported_media_type')
      const { db, actor } = request
      const read = () => readGiven(request, received)
      const uploaded = media.upload(db, deps, { actor, read })
      const asset = await uploaded.finally(() => received.spooled.drop())
      return reply.code(asset.deduped ? 200 : 201).send({ asset })
    },
  )
}

export const merchantRoutes =
  (deps: MediaRouteDeps): Routes =>
  async (app) => {
    // In a room of its own: everywhere else JSON is the only body.
    await app.register(async (room) => addUpload(room as App, deps))

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
          summary: 'Set the alternative text of an asset.',
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

/** The name holds the hash, so what it stands for never changes. */
const FOREVER = 'public, max-age=31536000, immutable'
const SHORTLY = 'public, max-age=10'

/** A drawing is a document to a browser that is led to it: it may do and load nothing. */
const DRAWING_POLICY = "default-src 'none'; sandbox"

function headersOf({ asset, hash, makeshift }: serving.Served) {
  return {
    'content-type': asset.content_type,
    'cache-control': makeshift ? SHORTLY : FOREVER,
    etag: `"${hash}"`,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-disposition': 'inline',
    // Storefronts on any host show it.
    'cross-origin-resource-policy': 'cross-origin',
    ...(asset.extension === 'svg' && { 'content-security-policy': DRAWING_POLICY }),
  }
}

const WIDEST = WIDTHS.at(-1) ?? 0

function readWidth(query: unknown): number | null {
  const width = clamp((query as { w?: unknown }).w, { min: 0, max: WIDEST + 1, otherwise: 0 })
  return width === 0 ? null : width
}

const Bytes = {
  content: { 'image/*': { schema: Type.String({ format: 'binary' }) } },
}

export const publicRoutes =
  (database: Database, { blobs, workshop }: media.MediaDeps): Routes =>
  async (app) => {
    const forms = createForms({ blobs, workshop })

    async function send(request: FastifyRequest, reply: FastifyReply, served: serving.Served) {
      const { headers, method } = request
      const etag = `"${served.hash}"`
      reply.headers(headersOf(served))
      if (matchesEtag(headers['if-none-match'], etag)) return reply.code(304).send()
      const ifRange = headers['if-range']
      // Of a range only where the reader has the other parts of the same bytes.
      const isRanged = method === 'GET' && (ifRange === undefined || ifRange === etag)
      const asked = isRanged ? serving.readRange(headers.range, served.bytes) : 'all'
      if (asked === 'beyond') {
        const beyond = { 'content-range': `bytes */${served.bytes}` }
        for (const name of Object.keys(headersOf(served))) reply.removeHeader(name)
        throw new ApiError('range_not_satisfiable', { headers: beyond })
      }
      if (asked === 'all') {
        const nothing = method === 'HEAD'
        const stream = nothing ? Readable.from([]) : await serving.open(blobs, forms, served)
        return reply.header('content-length', served.bytes).send(stream as never)
      }
      const { start, end } = asked
      const stream = await serving.open(blobs, forms, served, asked)
      return reply
        .code(206)
        .header('content-range', `bytes ${start}-${end}/${served.bytes}`)
        .header('content-length', end - start + 1)
        .send(stream as never)
    }

    app.get(
      '/stores/:tenant/assets/:file',
      {
        config: {
          failures: ['asset_not_found', 'range_not_satisfiable'],
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
          summary: 'Get the bytes of an asset. The answer has an ETag and supports ranges.',
          params: Params('tenant', 'file'),
          response: { 200: Bytes, 206: Bytes },
        },
      },
      async (request, reply) => {
        const { tenant, file } = request.params
        const width = readWidth(request.query)
        return send(request, reply, await serving.find(database, forms, { tenant, file, width }))
      },
    )
  }
