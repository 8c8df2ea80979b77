import { Type } from 'typebox'
import { ApiError } from '../../errors.ts'
import { type LiveRead, plainJsonResponse, refusalResponse, sendCached } from '../../http/live.ts'
import type { Routes } from '../../http/route.ts'
import { clamp } from '../../kernel/page.ts'
import { readText } from '../../kernel/query.ts'
import { isUuid, Nullable, Params, ref } from '../../kernel/schema.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import { refuse } from './errors.ts'
import { KnownSlugs } from './known-slugs.ts'
import * as live from './live-reads.ts'
import { LIST_BOUNDS, readListRequest } from './public-list.ts'
import { SitemapProduct, StorefrontCollection, StorefrontProduct } from './schema.ts'

/**
 * The headers of a page. The first says that this is not the whole list, to callers that expect it;
 * the second is RFC 8288, for clients that follow links by themselves.
 */
function pageHeaders({ next, prev }: live.PageLinks): Record<string, string> {
  const links = Object.entries({ next, prev }).flatMap(([rel, url]) =>
    url === null ? [] : [`<${url}>; rel="${rel}"`],
  )
  return links.length === 0 ? {} : { 'x-fairdock-partial': 'true', link: links.join(', ') }
}

const ANSWERS: live.PublicAnswers = {
  found: (body, links, freshMs) => ({
    ...plainJsonResponse(body, links ? pageHeaders(links) : {}),
    ...(freshMs !== undefined && { freshMs }),
  }),
  unknownTenant: refusalResponse(new ApiError('unknown_tenant')),
  noProduct: refusalResponse(refuse('product_not_found')),
  noCollection: refusalResponse(refuse('collection_not_found')),
}

const PRODUCTS_URL = '/v1/tenants/:tenant/catalog/products'
const PRODUCT_URL = `${PRODUCTS_URL}/:slug`
const COLLECTIONS_URL = '/v1/tenants/:tenant/catalog/collections'
const COLLECTION_URL = `${COLLECTIONS_URL}/:slug`
const SITEMAP_URL = '/v1/tenants/:tenant/catalog/sitemap'

/** The URLs that are answered from memory. Any other spelling goes to its route. */
const PATH =
  /^\/v1\/tenants\/([a-z0-9-]{3,63})\/catalog\/(products|collections)(?:\/([a-z0-9_-]{1,200}))?$/

const BOUNDS = LIST_BOUNDS
const count = (number: number) => number.toLocaleString('en')
const mebibytes = (bytes: number) => `${bytes / 1_024 / 1_024} MiB`

const WHOLE_OR_PAGES = `The answer has all of them up to ${count(BOUNDS.wholeMax)} products and ${mebibytes(BOUNDS.wholeBytes)}. Beyond that, and with \`after\` or \`before\`, it is a page (\`after=\` is the first; a bare \`limit\` or \`offset\` counts for nothing): it has the members below from \`total\` on, and the headers \`link\` and \`x-fairdock-partial: true\` unless it is the only page.`

const Cursor = (text: string) => Type.String({ description: `A cursor: ${text}` })

const PAGE_QUERY = {
  limit: Type.Integer({
    minimum: 1,
    maximum: BOUNDS.limitMax,
    default: BOUNDS.limitDefault,
    description: `Of a page, that is, with \`after\` or \`before\`. A page ends earlier where it would exceed ${mebibytes(BOUNDS.pageBytes)}.`,
  }),
  after: Cursor('the page after the one whose `next_after` it is. Empty: the first page.'),
  before: Cursor('the page before the one whose `prev_before` it is.'),
}

/** The members of a page that the whole list does not have. */
const pageMembers = {
  total: Type.Optional(Type.Integer()),
  total_is_estimate: Type.Optional(
    Type.Boolean({
      description: `True: more than ${count(BOUNDS.countMax)} products match, and \`total\` is ${count(BOUNDS.countMax)}.`,
    }),
  ),
  limit: Type.Optional(Type.Integer()),
  next_after: Type.Optional(Nullable(Type.String())),
  prev_before: Type.Optional(Nullable(Type.String())),
  next: Type.Optional(
    Nullable(Type.String({ description: 'The path of the next page. Null: this is the last.' })),
  ),
  prev: Type.Optional(Nullable(Type.String())),
}

/** Variants that one request names: more than a cart has lines. */
const VARIANTS_MAX = 100
const RELATED_MAX = 20

/** As many parts as a sitemap index may name. */
const PART_MAX = 50_000

/** The ids in `variants`, without texts that cannot be an id. Null if it is absent. */
function readVariantIds(query: unknown): string[] | null {
  const text = readText(query, 'variants')
  return text === undefined ? null : text.split(',').filter(isUuid).slice(0, VARIANTS_MAX)
}

/** Stands in the configuration of every route of this file. */
const PUBLIC_READ = { withoutCacheControl: true }

type Find = (cache: LiveCache, tenant: string, slug: string) => ReturnType<LiveCache['find']>

export const liveReads = (cache: LiveCache): LiveRead[] => {
  const read = (route: string, kind: string, isOne: boolean, find: Find): LiveRead => ({
    route,
    isAddressKey: true,
    find: (url) => {
      const [, tenant, listed, slug] = PATH.exec(url) ?? []
      if (tenant === undefined || listed !== kind || (slug !== undefined) !== isOne) return null
      return find(cache, tenant, slug ?? '')
    },
  })
  return [
    read(PRODUCTS_URL, 'products', false, live.findProducts),
    read(PRODUCT_URL, 'products', true, (of, tenant, slug) => {
      const found = live.findProduct(of, tenant, slug)
      if (found !== null) return found
      return live.isUnknown(of, tenant, 'product', slug) ? ANSWERS.noProduct : null
    }),
    read(COLLECTIONS_URL, 'collections', false, live.findCollections),
    read(COLLECTION_URL, 'collections', true, (of, tenant, slug) => {
      const found = live.findCollection(of, tenant, slug)
      if (found !== null) return found
      return live.isUnknown(of, tenant, 'collection', slug) ? ANSWERS.noCollection : null
    }),
  ]
}

export const publicRoutes =
  (deps: Omit<live.LiveDeps, 'answers' | 'bounds' | 'slugs'>): Routes =>
  async (app) => {
    const { cache } = deps
    const reads = { ...deps, answers: ANSWERS, bounds: BOUNDS, slugs: new KnownSlugs(deps) }

    function readProducts(tenant: string, query: unknown) {
      const variantIds = readVariantIds(query)
      if (variantIds !== null) return live.readProductsOf(reads, tenant, variantIds)
      const text = readText(query, 'related_to')
      if (text === undefined) {
        return live.readProducts(reads, tenant, readListRequest(query, BOUNDS))
      }
      const { limit } = query as { limit?: unknown }
      const count = clamp(limit, { min: 1, max: RELATED_MAX, otherwise: 4 })
      return live.readRelatedProducts(reads, tenant, { text, limit: count })
    }

    app.get(
      PRODUCTS_URL,
      {
        config: {
          ...PUBLIC_READ,
          failures: ['unknown_tenant'],
          query: {
            ...PAGE_QUERY,
            variants: Type.String({
              description: `Ids of variants, separated by commas, at most ${VARIANTS_MAX}: only the products that sell them, in no order.`,
            }),
            related_to: Type.String({
              description: `The slug of a product: up to \`limit\` others to show beside it, those of its collections first (4 by default, at most ${RELATED_MAX}).`,
            }),
          },
        },
        schema: {
          operationId: 'listStorefrontProducts',
          tags: ['public'],
          summary: `List the active products of a live store, newest first. ${WHOLE_OR_PAGES}`,
          params: Params('tenant'),
          response: {
            200: Type.Object({ products: Type.Array(ref(StorefrontProduct)), ...pageMembers }),
          },
        },
      },
      async (request, reply) => {
        const { params, query } = request
        return sendCached(request, reply, cache, await readProducts(params.tenant, query))
      },
    )

    app.get(
      PRODUCT_URL,
      {
        config: { ...PUBLIC_READ, failures: ['unknown_tenant', 'product_not_found'] },
        schema: {
          operationId: 'readStorefrontProduct',
          tags: ['public'],
          summary:
            'Read one active product of a live store, with the first ten of its collections.',
          params: Params('tenant', 'slug'),
          response: {
            200: Type.Object({
              product: ref(StorefrontProduct),
              collections: Type.Array(ref(StorefrontCollection)),
            }),
          },
        },
      },
      async (request, reply) => {
        const { tenant, slug } = request.params
        return sendCached(request, reply, cache, await live.readProduct(reads, tenant, slug))
      },
    )

    app.get(
      SITEMAP_URL,
      {
        config: {
          ...PUBLIC_READ,
          failures: ['unknown_tenant'],
          query: { part: Type.Integer({ minimum: 1, maximum: PART_MAX, default: 1 }) },
        },
        schema: {
          operationId: 'readStorefrontSitemap',
          tags: ['public'],
          summary: `Read a part of the sitemap: the slugs of ${count(live.SITEMAP_PART)} active products of a live store, oldest first.`,
          params: Params('tenant'),
          response: {
            200: Type.Object({
              products: Type.Array(ref(SitemapProduct)),
              total: Type.Integer(),
              part: Type.Integer(),
              parts: Type.Integer(),
            }),
          },
        },
      },
      async (request, reply) => {
        const { part } = request.query as { part?: unknown }
        const number = clamp(part, { min: 1, max: PART_MAX, otherwise: 1 })
        const answer = await live.readSitemap(reads, request.params.tenant, number)
        return sendCached(request, reply, cache, answer)
      },
    )

    app.get(
      COLLECTIONS_URL,
      {
        config: { ...PUBLIC_READ, failures: ['unknown_tenant'] },
        schema: {
          operationId: 'listStorefrontCollections',
          tags: ['public'],
          summary: "List the collections of a live store, in the store's own order.",
          params: Params('tenant'),
          response: { 200: Type.Object({ collections: Type.Array(ref(StorefrontCollection)) }) },
        },
      },
      async (request, reply) =>
        sendCached(request, reply, cache, await live.readCollections(reads, request.params.tenant)),
    )

    app.get(
      COLLECTION_URL,
      {
        config: {
          ...PUBLIC_READ,
          failures: ['unknown_tenant', 'collection_not_found'],
          query: PAGE_QUERY,
        },
        schema: {
          operationId: 'readStorefrontCollection',
          tags: ['public'],
          summary: `Read a collection with its active products, in the collection's own order. ${WHOLE_OR_PAGES}`,
          params: Params('tenant', 'slug'),
          response: {
            200: Type.Object({
              collection: ref(StorefrontCollection),
              products: Type.Array(ref(StorefrontProduct)),
              ...pageMembers,
            }),
          },
        },
      },
      async (request, reply) => {
        const { tenant, slug } = request.params
        const page = readListRequest(request.query, BOUNDS)
        const answer = await live.readCollection(reads, tenant, slug, page)
        return sendCached(request, reply, cache, answer)
      },
    )
  }
