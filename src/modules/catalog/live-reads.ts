import type { Database, Db } from '../../db/database.ts'
import { forHeavyRead } from '../../db/list.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import type { CachedResponse } from '../../platform/cached-response.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import { isUnknownSlug, type KnownSlugs } from './known-slugs.ts'
import { writePlace } from './list-schema.ts'
import type { ProductFragments } from './product-fragments.ts'
import { type AssetBase, toStorefrontProduct } from './product-json.ts'
import {
  type ChosenRow,
  canonicalQuery,
  type ListBounds,
  type ListRequest,
  loadPage,
  loadWhole,
  loadWith,
  rangeOf,
} from './public-list.ts'
import * as queries from './public-queries.ts'
import { NO_STOCK, type ReadStock, readStockOf } from './public-stock.ts'
import { parseSlug } from './validate.ts'

/** The answers of public reads as bytes. The routes provide them, since only they know HTTP. */
export interface PublicAnswers {
  found(body: Buffer, links?: PageLinks | null, freshMs?: number): CachedResponse
  unknownTenant: CachedResponse
  noProduct: CachedResponse
  noCollection: CachedResponse
}

/** The addresses of the pages beside one, relative to the host. */
export interface PageLinks {
  next: string | null
  prev: string | null
}

export interface LiveDeps {
  database: Database
  cache: LiveCache
  fragments: ProductFragments
  answers: PublicAnswers
  bounds: ListBounds
  assetBase(): AssetBase
  readStock: ReadStock
  slugs: KnownSlugs
}

/**
 * How old an answer that depends on stock may be. Orders do not notify the live caches, because a commit that notifies
 * takes a lock of the whole installation; so the answer is read again after this time. The cart refuses shoppers who
 * saw it too late.
 */
export const STOCK_FRESH_MS = 5_000

const freshness = (isStockBound: boolean) => (isStockBound ? STOCK_FRESH_MS : undefined)

const PRODUCTS = 'catalog/products'
const COLLECTIONS = 'catalog/collections'

/** The cache key of a slug. All invalid slugs share the empty one, which no product has. */
const keyOf = (list: string, slug: string) => `${list}/${slug}`

export const findProducts = (cache: LiveCache, tenant: string) => cache.find(tenant, PRODUCTS)

export const findProduct = (cache: LiveCache, tenant: string, slug: string) =>
  cache.find(tenant, keyOf(PRODUCTS, slug))

/** Whether a live store certainly has no such product, or collection. */
export const isUnknown = isUnknownSlug

export const findCollections = (cache: LiveCache, tenant: string) => cache.find(tenant, COLLECTIONS)

export const findCollection = (cache: LiveCache, tenant: string, slug: string) =>
  cache.find(tenant, keyOf(COLLECTIONS, slug))

/** The active products of a live store: all of them, or a page. */
export function readProducts(
  deps: LiveDeps,
  tenant: string,
  request: ListRequest,
): Promise<CachedResponse> {
  const path = `/v1/tenants/${tenant}/${PRODUCTS}`
  return read(deps, tenant, `${PRODUCTS}${canonicalQuery(request)}`, async () => {
    const db = deps.database.tenant(tenant)
    const found = await queries.choosePublicProducts(
      forHeavyRead(db),
      rangeOf(request, deps.bounds),
    )
    const [first] = found
    if (first === undefined) return null
    return toListAnswer(deps, { db, path, request, found, total: first.total, head: '{' })
  })
}

/** Reads the active products that sell these variants. Not cached: each cart is another list. */
export const readProductsOf = (
  deps: LiveDeps,
  tenant: string,
  variantIds: readonly string[],
): Promise<CachedResponse> =>
  loadSome(deps, tenant, (db) => queries.choosePublicProductsOf(db, variantIds))

/** Reads the products to be shown beside a product: those of its collections first. An unknown product has none. */
export function readRelatedProducts(
  deps: LiveDeps,
  tenant: string,
  { text, limit }: { text: string; limit: number },
): Promise<CachedResponse> {
  const slug = parseSlug(text) ?? ''
  return read(deps, tenant, `${PRODUCTS}?related_to=${slug}&limit=${limit}`, () =>
    loadSome(deps, tenant, (db) => queries.chooseRelatedProducts(db, slug, limit)),
  )
}

async function loadSome(
  deps: LiveDeps,
  tenant: string,
  choose: (db: Db) => Promise<ChosenRows>,
): Promise<CachedResponse> {
  if (!isTenantRef(tenant)) return deps.answers.unknownTenant
  const db = deps.database.tenant(tenant)
  const found = await choose(db)
  if (found.length === 0) return hidden(deps, tenant)
  const load = loaderOf(deps, db)
  const { parts, isStockBound } = await load(rowsOf(found), deps.bounds.wholeBytes)
  const products = parts.map(({ json }) => json)
  return deps.answers.found(listBody('{', products), null, freshness(isStockBound))
}

type ChosenRows = Awaited<ReturnType<typeof queries.choosePublicProducts>>

const loaderOf = ({ fragments, assetBase }: LiveDeps, db: Db) =>
  loadWith(fragments, db, assetBase())

/** Drops the row that only says that there are no products. */
const rowsOf = (found: ChosenRows): ChosenRow[] =>
  found.flatMap(({ id, version, at }) =>
    id === null || version === null ? [] : [{ id, version, at: at ?? 0 }],
  )

const listBody = (head: string, products: readonly string[], tail = ''): Buffer =>
  Buffer.from(`${head}"products":[${products.join(',')}]${tail}}`)

interface FoundList {
  db: Db
  /** The address of the list, without a query. */
  path: string
  request: ListRequest
  found: ChosenRows
  total: number
  /** The answer up to its products. */
  head: string
}

async function toListAnswer(deps: LiveDeps, list: FoundList): Promise<CachedResponse> {
  const { bounds, answers } = deps
  const { db, path, request, total, head } = list
  const load = loaderOf(deps, db)
  const rows = rowsOf(list.found)
  if (request.limit === null) {
    const whole = await loadWhole(rows, total, bounds, load)
    if (whole !== null) {
      return answers.found(listBody(head, whole.products), null, freshness(whole.isStockBound))
    }
  }
  const page = await loadPage(rows, request, bounds, load)
  const limit = request.limit ?? bounds.limitDefault
  const linkTo = (place: Partial<ListRequest>) =>
    path + canonicalQuery({ limit, after: null, before: null, ...place })
  const links = {
    next: page.next && linkTo({ after: page.next }),
    prev: page.prev && linkTo({ before: page.prev }),
  }
  const members = JSON.stringify({
    total: Math.min(total, bounds.countMax),
    total_is_estimate: total > bounds.countMax,
    limit,
    next_after: page.next && writePlace(page.next),
    prev_before: page.prev && writePlace(page.prev),
    ...links,
  })
  const body = listBody(head, page.products, `,${members.slice(1, -1)}`)
  return answers.found(body, links, freshness(page.isStockBound))
}

export function readProduct(deps: LiveDeps, tenant: string, text: string): Promise<CachedResponse> {
  const slug = parseSlug(text) ?? ''
  if (isUnknownSlug(deps.cache, tenant, 'product', slug)) {
    return Promise.resolve(deps.answers.noProduct)
  }
  return read(deps, tenant, keyOf(PRODUCTS, slug), async () => {
    const db = deps.database.tenant(tenant)
    const found = await queries.findPublicProduct(db, slug)
    if (found === null) return null
    if (found.product === null) {
      deps.slugs.addMiss(tenant)
      return deps.answers.noProduct
    }
    const { id } = found.product
    const stock = (await readStockOf(deps.readStock, db, [id])).get(id)
    const product = toStorefrontProduct(deps.assetBase(), found.product, stock ?? NO_STOCK)
    const { collections } = found
    return toAnswer(deps, { product, collections }, freshness(stock !== undefined))
  })
}

/** The products in one part of a sitemap. Large enough for most stores to have one part. */
export const SITEMAP_PART = 5_000

/** The addresses of the active products of a live store, in numbered parts. */
export const readSitemap = (
  deps: LiveDeps,
  tenant: string,
  part: number,
): Promise<CachedResponse> =>
  read(deps, tenant, `catalog/sitemap/${part}`, async () => {
    const page = { limit: SITEMAP_PART, offset: (part - 1) * SITEMAP_PART }
    const found = await queries.listSitemapProducts(deps.database.tenant(tenant), page)
    if (found === null) return null
    const { total, products } = found
    const parts = Math.max(1, Math.ceil(total / SITEMAP_PART))
    return toAnswer(deps, { products, total, part, parts })
  })

export const readCollections = (deps: LiveDeps, tenant: string): Promise<CachedResponse> =>
  read(deps, tenant, COLLECTIONS, async () => {
    const found = await queries.listPublicCollections(deps.database.tenant(tenant))
    return found === null ? null : toAnswer(deps, found)
  })

/** A collection with its active products, in its own order: all of them, or a page. */
export function readCollection(
  deps: LiveDeps,
  tenant: string,
  text: string,
  request: ListRequest,
): Promise<CachedResponse> {
  const slug = parseSlug(text) ?? ''
  if (isUnknownSlug(deps.cache, tenant, 'collection', slug)) {
    return Promise.resolve(deps.answers.noCollection)
  }
  const key = keyOf(COLLECTIONS, slug)
  return read(deps, tenant, `${key}${canonicalQuery(request)}`, async () => {
    const db = deps.database.tenant(tenant)
    const range = rangeOf(request, deps.bounds)
    const found = await queries.chooseCollectionProducts(forHeavyRead(db), slug, range)
    const [first] = found
    if (first === undefined) return null
    const { collection, total } = first
    if (collection === null) {
      deps.slugs.addMiss(tenant)
      return deps.answers.noCollection
    }
    const path = `/v1/tenants/${tenant}/${COLLECTIONS}/${encodeURIComponent(slug)}`
    const head = `{"collection":${JSON.stringify(collection)},`
    return toListAnswer(deps, { db, path, request, found, total, head })
  })
}

/**
 * Reads through the cache; null means that the store is not live. A text that cannot be the name of a store counts as
 * an unknown store.
 */
const read = (
  deps: LiveDeps,
  tenant: string,
  key: string,
  load: () => Promise<CachedResponse | null>,
) =>
  isTenantRef(tenant)
    ? deps.cache.read(tenant, key, async () => (await load()) ?? hidden(deps, tenant))
    : Promise.resolve(deps.answers.unknownTenant)

/** Answers for a store that is not live, whose reads then wait with names that no store has. */
function hidden({ database, answers }: LiveDeps, tenant: string): CachedResponse {
  database.forget(tenant)
  return answers.unknownTenant
}

const toAnswer = ({ answers }: LiveDeps, body: unknown, freshMs?: number): CachedResponse =>
  answers.found(Buffer.from(JSON.stringify(body)), null, freshMs)
