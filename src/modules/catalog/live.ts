import type { Database } from '../../db/database.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import type { CachedResponse } from '../../platform/cached-response.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import { readSlug } from './input.ts'
import * as queries from './public-queries.ts'
import { type AssetBase, showPublic } from './show.ts'

/** How a public read is put into bytes. Given by the edge, which knows HTTP. */
export interface Wording {
  found(body: Buffer): CachedResponse
  unknownTenant: CachedResponse
  noProduct: CachedResponse
  noCollection: CachedResponse
}

export interface LiveDeps {
  database: Database
  cache: LiveCache
  wording: Wording
  assetBase(): AssetBase
}

const PRODUCTS = 'catalog/products'
const COLLECTIONS = 'catalog/collections'

/** No product has an empty slug, so all that can be nobody's share this one place. */
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
    if (found === null) return deps.wording.unknownTenant
    const base = deps.assetBase()
    return toAnswer(deps, { products: found.products.map((each) => showPublic(base, each)) })
  })

export function readProduct(
  deps: LiveDeps,
  tenant: string,
  given: string,
): Promise<CachedResponse> {
  const slug = readSlug(given) ?? ''
  return read(deps, tenant, keyOf(PRODUCTS, slug), async () => {
    const found = await queries.findPublicProduct(deps.database.tenant(tenant), slug)
    if (found === null) return deps.wording.unknownTenant
    if (found.product === null) return deps.wording.noProduct
    return toAnswer(deps, { product: showPublic(deps.assetBase(), found.product) })
  })
}

export const readCollections = (deps: LiveDeps, tenant: string): Promise<CachedResponse> =>
  read(deps, tenant, COLLECTIONS, async () => {
    const found = await queries.listPublicCollections(deps.database.tenant(tenant))
    return found === null ? deps.wording.unknownTenant : toAnswer(deps, found)
  })

/** A collection with its active products, in its own order. */
export function readCollection(
  deps: LiveDeps,
  tenant: string,
  given: string,
): Promise<CachedResponse> {
  const slug = readSlug(given) ?? ''
  return read(deps, tenant, keyOf(COLLECTIONS, slug), async () => {
    const row = await queries.findPublicCollection(deps.database.tenant(tenant), slug)
    if (row === null) return deps.wording.unknownTenant
    if (row.found === null) return deps.wording.noCollection
    const { collection, products } = row.found
    const base = deps.assetBase()
    return toAnswer(deps, {
      collection,
      products: products.map((each) => showPublic(base, each)),
    })
  })
}

/** What can be no store's name is no store. */
const read = (deps: LiveDeps, tenant: string, key: string, load: () => Promise<CachedResponse>) =>
  isTenantRef(tenant)
    ? deps.cache.read(tenant, key, load)
    : Promise.resolve(deps.wording.unknownTenant)

const toAnswer = ({ wording }: LiveDeps, body: unknown): CachedResponse =>
  wording.found(Buffer.from(JSON.stringify(body)))
