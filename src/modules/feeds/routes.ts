import { addAbortSignal, pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type AnswerSlotOptions, createAnswerSlots } from '../../http/answer-slots.ts'
import { matchesEtag } from '../../http/etag.ts'
import type { NameReader } from '../../http/reader.ts'
import type { App, Routes } from '../../http/route.ts'
import { REVALIDATED_HEADERS } from '../../http/safe-headers.ts'
import { signalOfClose } from '../../http/sockets.ts'
import { Params } from '../../kernel/schema.ts'
import { type FeedFormat, FORMATS } from './formats.ts'
import * as feeds from './service.ts'

/** A feed of 100,000 products has some 100 MB: this long at 3 Mbit/s. */
const SEND_MS = 300_000

/**
 * The feeds that are sent at a time: a reader holds a page of products in memory, and may be slow. One reader gets one
 * feed at a time, so that it cannot take the slots of all others, and a reader slower than the pace could not finish a
 * large feed in time.
 */
export const FEED_SLOTS: AnswerSlotOptions = {
  sent: { running: 32, runningPerStore: 8, waiting: 64, waitingPerStore: 16 },
  perReader: { running: 1, waiting: 8 },
  pace: { bytes: 1_024 * 1_024, everyMs: 10_000 },
}

/** The fastest level: the lines of a feed are much alike. */
const GZIP_LEVEL = 1

const headersOf = ({ contentType }: FeedFormat, { etag }: feeds.Feed) => ({
  ...REVALIDATED_HEADERS,
  'content-type': contentType,
  etag,
})

export interface FeedRouteDeps extends feeds.FeedDeps {
  /** Names the reader of a public route. */
  readerOf: NameReader
}

export const publicRoutes = (deps: FeedRouteDeps): Routes => {
  const slots = createAnswerSlots(FEED_SLOTS)

  async function send(
    format: FeedFormat,
    request: FastifyRequest<{ Params: { tenant: string } }>,
    reply: FastifyReply,
  ) {
    const { tenant } = request.params
    const feed = await feeds.open(deps, tenant, format)
    const headers = headersOf(format, feed)
    if (matchesEtag(request.headers['if-none-match'], feed.etag)) {
      return reply.code(304).headers(headers).send()
    }
    if (request.method === 'HEAD') return reply.headers(headers).send(Readable.from([]) as never)
    const signal = signalOfClose(reply.raw)
    const work = async () => {
      const text = await begin(feed)
      const body = format.isGzipped ? gzipped(text) : text
      addAbortSignal(AbortSignal.timeout(SEND_MS), body)
      slots.watch(reply.raw)
      // Resolves when the answer is sent, or its reader has gone.
      await reply.headers(headers).send(body as never)
    }
    const { name: reader } = deps.readerOf(request.raw)
    return slots.run({ tenant, reader, signal }, work)
  }

  const addRoute = (app: App, format: FeedFormat, about: { id: string; summary: string }) =>
    app.get(
      `/v1/tenants/:tenant/feeds/${format.file}`,
      {
        config: {
          streams: true,
          failures: ['unknown_tenant', 'feed_not_found', 'scan_unavailable', 'request_timeout'],
          headers: { 'if-none-match': Type.String() },
        },
        schema: {
          operationId: about.id,
          tags: ['public'],
          summary: about.summary,
          params: Params('tenant'),
          response: {
            200: {
              content: {
                [format.contentType.replace(/;.*/, '')]: {
                  schema: Type.String(format.isGzipped ? { format: 'binary' } : {}),
                },
              },
            },
          },
        },
      },
      (request, reply) => send(format, request, reply) as never,
    )

  return async (app) => {
    addRoute(app, FORMATS.google, {
      id: 'readGoogleFeed',
      summary:
        "Read the active products of a live store as a table for Google's Merchant Center, one line for each variant. Also at `/feeds/google.tsv` on the store's own host. Has an ETag. Products with prohibited health claims are left out.",
    })
    addRoute(app, FORMATS.openai, {
      id: 'readOpenaiFeed',
      summary:
        "Read the active products of a live store for OpenAI's product search: JSON, one line for each variant, gzipped. Also at `/feeds/openai.jsonl.gz` on the store's own host. Has an ETag. Products with prohibited health claims are left out.",
    })
  }
}

/** Compresses the text of a feed. An error of the text breaks the gzipped bytes off, and so ends the connection. */
const gzipped = (text: Readable): Readable =>
  pipeline(text, createGzip({ level: GZIP_LEVEL }), () => {})

/**
 * Starts a feed. Its first page is read before the first byte is sent, so that the answer of a store that
 * cannot be read is an error and not a feed that breaks off.
 */
async function begin(feed: feeds.Feed): Promise<Readable> {
  const parts = feed.read()
  const head = await parts.next()
  const first = await parts.next()
  async function* all() {
    try {
      if (!head.done) yield head.value
      if (!first.done) yield first.value
      yield* parts
    } finally {
      await parts.return(undefined)
    }
  }
  return Readable.from(all(), { objectMode: false })
}
