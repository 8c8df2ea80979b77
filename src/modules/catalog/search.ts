import { Type } from 'typebox'
import type { Database, Db, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { clamp, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import type { Topic } from '../../platform/outbox.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import type { ProductFragments, ProductVersion } from './product-fragments.ts'
import type { AssetBase } from './product-json.ts'
import { LIST_BOUNDS } from './public-list.ts'
import { PRICE_MAX } from './schema.ts'
import * as queries from './search-queries.ts'
import { SORTS } from './search-schema.ts'
import { SLUG_TYPED_MAX } from './validate.ts'

/** Longer than shoppers type, and short enough that no text makes a search expensive. */
export const QUERY_LENGTH_MAX = 200

export const SEARCH_PAGE = { limitDefault: 20, limitMax: 50, offsetMax: 10_000 }

/**
 * Reads a search from the query string. Nothing is refused: an invalid parameter counts as missing.
 */
export function readSearch(query: unknown): queries.SearchRequest {
  return {
    query: readPlainText(query, 'q', QUERY_LENGTH_MAX) ?? '',
    filters: {
      priceMinCents: readPrice(query, 'price_min_cents') ?? readPrice(query, 'priceMinCents'),
      priceMaxCents: readPrice(query, 'price_max_cents') ?? readPrice(query, 'priceMaxCents'),
      collectionSlug: readSlug(query, 'collection') ?? readSlug(query, 'collectionSlug') ?? null,
    },
    sort: readOneOf(query, 'sort', SORTS) ?? 'relevance',
    ...readPage(query, SEARCH_PAGE),
  }
}

/** Text that PostgreSQL can store: no control characters, no half of a surrogate pair. */
function readPlainText(query: unknown, name: string, lengthMax: number): string | undefined {
  const text = readText(query, name)
  if (text === undefined) return undefined
  const cut = text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, lengthMax)
  return cut.toWellFormed().normalize('NFC').trim() || undefined
}

const readSlug = (query: unknown, name: string) => readPlainText(query, name, SLUG_TYPED_MAX)

function readPrice(query: unknown, name: string): number | null {
  const value = clamp(readText(query, name), { min: 0, max: PRICE_MAX, otherwise: -1 })
  return value < 0 ? null : value
}

/**
 * The work queue of searches. A search is public and costs the database far more than any other
 * read: searches use half of the connections at most and leave the rest to checkouts. The queue is
 * short enough that its last search is still answered in time.
 */
export const createSearchQueue = (connections: number) =>
  new WorkQueue({
    running: Math.ceil(connections / 2),
    waiting: 8 * connections,
    waitingPerStore: 4 * connections,
    refuse: (cause) => {
      const headers = { 'retry-after': '1' }
      return new ApiError('service_unavailable', { cause, kind: 'overload', headers })
    },
  })

export interface SearchDeps {
  database: Database
  searchQueue: WorkQueue
  fragments: ProductFragments
  assetBase(): AssetBase
}

/**
 * Searches the active products of a live store, and returns the answer as JSON. Any other store is refused as unknown.
 * A page ends early if its products are large: its `limit` says how many it has.
 */
export async function search(
  deps: SearchDeps,
  tenant: string,
  request: queries.SearchRequest,
): Promise<string> {
  if (!isTenantRef(tenant)) throw new ApiError('unknown_tenant')
  const { query, filters, offset } = request
  const found = await deps.searchQueue.run(() => findPage(deps, tenant, request), tenant)
  const { products, result_count, corrected, price_buckets, collections } = found.result
  const { parts, isWhole } = found.page
  const head = JSON.stringify({ query, filters, facets: { price_buckets, collections } })
  // Products that are no longer active are left out, but count as read, so that the next page begins after
  // them.
  const limit = isWhole ? request.limit : indexAfter(products, parts.at(-1)?.row)
  const tail = JSON.stringify({ result_count, corrected, limit, offset })
  const results = parts.map(({ json }) => json).join(',')
  return `${head.slice(0, -1)},"results":[${results}],${tail.slice(1)}`
}

/** How many products are suggested, and how many matches are looked at: further matches cost time and show nothing. */
export const SUGGESTIONS = { limitDefault: 5, limitMax: 10, lookedAt: 500 }

/** Suggests products for what a shopper has typed so far, as JSON: a search of a few matches, without facets. */
export async function suggest(deps: SearchDeps, tenant: string, query: unknown): Promise<string> {
  if (!isTenantRef(tenant)) throw new ApiError('unknown_tenant')
  const { limitDefault: otherwise, limitMax: max, lookedAt } = SUGGESTIONS
  const limit = clamp(readText(query, 'limit'), { min: 1, max, otherwise })
  const q = readPlainText(query, 'q', QUERY_LENGTH_MAX) ?? ''
  const { result, page } = await deps.searchQueue.run(async () => {
    const db = deps.database.tenant(tenant)
    const result = await queries.suggest(db, { query: q, limit, lookedAt })
    if (result === null) throw new ApiError('unknown_tenant')
    return { result, page: await loadProducts(deps, db, result.products) }
  }, tenant)
  const { matches, corrected } = result
  const result_count_is_least = matches >= lookedAt
  const head = JSON.stringify({ query: q, result_count: matches, result_count_is_least, corrected })
  return `${head.slice(0, -1)},"results":[${page.parts.map(({ json }) => json).join(',')}]}`
}

const indexAfter = <T>(rows: readonly T[], row: T | undefined) =>
  row === undefined ? rows.length : rows.indexOf(row) + 1

async function findPage(deps: SearchDeps, tenant: string, request: queries.SearchRequest) {
  const db = deps.database.tenant(tenant)
  const result = await queries.search(db, request)
  if (result === null) throw new ApiError('unknown_tenant')
  return { result, page: await loadProducts(deps, db, result.products) }
}

const loadProducts = <T extends ProductVersion>(
  { fragments, assetBase }: SearchDeps,
  db: Db,
  found: readonly T[],
) => fragments.load(db, found, { base: assetBase(), bytesMax: LIST_BOUNDS.pageBytes })

/** A batch takes some tenths of a second, far less than the time limit of a statement. */
const BATCH = 200

/** Less than the id of any product. */
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Says that the language of a store changed. A trigger of `stores` writes it. */
export const LANGUAGE_CHANGED = {
  type: 'store.language_changed.v1',
  payload: Type.Object({ language: Type.String() }),
} satisfies Topic

/**
 * Indexes all products and collections of a store again, after its language changed. If it is
 * interrupted, it starts over.
 */
export async function refreshSearchIndex(db: TenantDb, signal: AbortSignal): Promise<void> {
  await queries.refreshTitles(db)
  let after: string | null = FIRST
  while (after !== null && !signal.aborted) {
    after = (await queries.refreshNext(db, after, BATCH)).last
  }
  signal.throwIfAborted()
}
