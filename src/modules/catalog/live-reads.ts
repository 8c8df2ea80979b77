import type { Database } from '../../db/database.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import type { CachedResponse } from '../../platform/cached-response.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import { type AssetBase, toStorefrontProduct } from './product-json.ts'
import * as queries from './public-queries.ts'
import { parseSlug } from './validate.ts'

/** The answers of public reads as bytes. The routes provide them, since only they know HTTP. */
export interface PublicAnswers {
  found(body: Buffer): CachedResponse
  unknownTenant: CachedResponse
  noProduct: CachedResponse
  noCollection: CachedResponse
}

export interface LiveDeps {
  database: Database
  cache: LiveCache
  answers: PublicAnswers
  assetBase(): AssetBase
}

const PRODUCTS = 'catalog/products'
const COLLECTIONS = 'catalog/collections'

/** The cache key of a slug. All invalid slugs share the empty one, which no product has. */
const keyOf = (list: string, slug: string) => `${list}/${slug}`

export const findProducts = (cache: LiveCache, tenant: string) => cache.find(tenant, PRODUCTS)

export const findProduct = (cache: LiveCache, tenant: string, slug: string) =>
  cache.find(tenant, keyOf(PRODUCTS, slug))

export const findCollections = (cache: LiveCache, tenant: string) => cache.find(tenant, COLLECTIONS)

export const findCollection = (cache: LiveCache, tenant: string, slug: string) =>
  cache.find(tenant, keyOf(COLLECTIONS, slug))

/** Every active product of a live store. */
export const readProducts = (deps: LiveDeps, tenant: string): Promise<CachedResponse> =>
  read(deps, tenant, PRODUCTS, async () => {
    const found = await queries.listPublicProducts(deps.database.tenant(tenant))
    if (found === null) return deps.answers.unknownTenant
    const base = deps.assetBase()
    return toAnswer(deps, {
      products: found.products.map((each) => toStorefrontProduct(base, each)),
    })
  })

export function readProduct(deps: LiveDeps, tenant: string, text: string): Promise<CachedResponse> {
  const slug = parseSlug(text) ?? ''
  return read(deps, tenant, keyOf(PRODUCTS, slug), async () => {
    const found = await queries.findPublicProduct(deps.database.tenant(tenant), slug)
    if (found === null) return deps.answers.unknownTenant
    if (found.product === null) return deps.answers.noProduct
    return toAnswer(deps, { product: toStorefrontProduct(deps.assetBase(), found.product) })
  })
}

export const readCollections = (deps: LiveDeps, tenant: string): Promise<CachedResponse> =>
  read(deps, tenant, COLLECTIONS, async () => {
    const found = await queries.listPublicCollections(deps.database.tenant(tenant))
    return found === null ? deps.answers.unknownTenant : toAnswer(deps, found)
  })

/** A collection with its active products, in its own order. */
export function readCollection(
  deps: LiveDeps,
  tenant: string,
  text: string,
): Promise<CachedResponse> {
  const slug = parseSlug(text) ?? ''
  return read(deps, tenant, keyOf(COLLECTIONS, slug), async () => {
    const row = await queries.findPublicCollection(deps.database.tenant(tenant), slug)
    if (row === null) return deps.answers.unknownTenant
    if (row.found === null) return deps.answers.noCollection
    const { collection, products } = row.found
    const base = deps.assetBase()
    return toAnswer(deps, {
      collection,
      products: products.map((each) => toStorefrontProduct(base, each)),
    })
  })
}

/** Reads through the cache. A text that no store can have as its name is an unknown store. */
const read = (deps: LiveDeps, tenant: string, key: string, load: () => Promise<CachedResponse>) =>
  isTenantRef(tenant)
    ? deps.cache.read(tenant, key, load)
    : Promise.resolve(deps.answers.unknownTenant)

const toAnswer = ({ answers }: LiveDeps, body: unknown): CachedResponse =>
  answers.found(Buffer.from(JSON.stringify(body)))
