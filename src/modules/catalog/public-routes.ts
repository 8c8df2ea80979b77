import { Type } from 'typebox'
import { ApiError } from '../../errors.ts'
import { type LiveRead, plainJsonResponse, refusalResponse, sendCached } from '../../http/live.ts'
import type { Routes } from '../../http/route.ts'
import { Params, ref } from '../../kernel/schema.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import * as live from './live.ts'
import { StorefrontCollection, StorefrontProduct } from './schema.ts'

const WORDING: live.Wording = {
  found: plainJsonResponse,
  unknownTenant: refusalResponse(new ApiError('unknown_tenant')),
  noProduct: refusalResponse(new ApiError('product_not_found')),
  noCollection: refusalResponse(new ApiError('collection_not_found')),
}

const PRODUCTS_URL = '/v1/tenants/:tenant/catalog/products'
const PRODUCT_URL = `${PRODUCTS_URL}/:slug`
const COLLECTIONS_URL = '/v1/tenants/:tenant/catalog/collections'
const COLLECTION_URL = `${COLLECTIONS_URL}/:slug`

/** The spellings of an address that are answered from memory. Any other goes to its route. */
const PATH =
  /^\/v1\/tenants\/([a-z0-9-]{3,63})\/catalog\/(products|collections)(?:\/([a-z0-9_-]{1,200}))?$/

type Find = (cache: LiveCache, tenant: string, slug: string) => ReturnType<LiveCache['find']>

export const liveReads = (cache: LiveCache): LiveRead[] => {
  const read = (route: string, kind: string, isOne: boolean, find: Find): LiveRead => ({
    route,
    isAddressKey: true,
    find: (url) => {
      const [, tenant, named, slug] = PATH.exec(url) ?? []
      if (tenant === undefined || named !== kind || (slug !== undefined) !== isOne) return null
      return find(cache, tenant, slug ?? '')
    },
  })
  return [
    read(PRODUCTS_URL, 'products', false, live.findProducts),
    read(PRODUCT_URL, 'products', true, live.findProduct),
    read(COLLECTIONS_URL, 'collections', false, live.findCollections),
    read(COLLECTION_URL, 'collections', true, live.findCollection),
  ]
}

export const publicRoutes =
  (deps: Omit<live.LiveDeps, 'wording'>): Routes =>
  async (app) => {
    const { cache } = deps
    const reads = { ...deps, wording: WORDING }

    app.get(
      PRODUCTS_URL,
      {
        config: { failures: ['unknown_tenant'] },
        schema: {
          operationId: 'listStorefrontProducts',
          tags: ['public'],
          summary:
            'List every active product of a live store, newest first. The list has no pages.',
          params: Params('tenant'),
          response: { 200: Type.Object({ products: Type.Array(ref(StorefrontProduct)) }) },
        },
      },
      async (request, reply) =>
        sendCached(request, reply, cache, await live.readProducts(reads, request.params.tenant)),
    )

    app.get(
      PRODUCT_URL,
      {
        config: { failures: ['unknown_tenant', 'product_not_found'] },
        schema: {
          operationId: 'readStorefrontProduct',
          tags: ['public'],
          summary: 'Read one active product of a live store.',
          params: Params('tenant', 'slug'),
          response: { 200: Type.Object({ product: ref(StorefrontProduct) }) },
        },
      },
      async (request, reply) => {
        const { tenant, slug } = request.params
        return sendCached(request, reply, cache, await live.readProduct(reads, tenant, slug))
      },
    )

    app.get(
      COLLECTIONS_URL,
      {
        config: { failures: ['unknown_tenant'] },
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
        config: { failures: ['unknown_tenant', 'collection_not_found'] },
        schema: {
          operationId: 'readStorefrontCollection',
          tags: ['public'],
          summary: "Read a collection with its active products, in the collection's own order.",
          params: Params('tenant', 'slug'),
          response: {
            200: Type.Object({
              collection: ref(StorefrontCollection),
              products: Type.Array(ref(StorefrontProduct)),
            }),
          },
        },
      },
      async (request, reply) => {
        const { tenant, slug } = request.params
        return sendCached(request, reply, cache, await live.readCollection(reads, tenant, slug))
      },
    )
  }
