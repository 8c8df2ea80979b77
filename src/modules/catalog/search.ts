import type { Database, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { clamp, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import { type AssetBase, toStorefrontProduct } from './product-json.ts'
import { PRICE_MAX } from './schema.ts'
import * as queries from './search-queries.ts'
import { type SearchAnswer, SORTS } from './search-schema.ts'
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
  assetBase(): AssetBase
}

/** Searches the active products of a live store. Any other store is answered as unknown. */
export async function search(
  { database, searchQueue, assetBase }: SearchDeps,
  tenant: string,
  request: queries.SearchRequest,
): Promise<SearchAnswer> {
  if (!isTenantRef(tenant)) throw new ApiError('unknown_tenant')
  const found = await searchQueue.run(
    () => queries.search(database.tenant(tenant), request),
    tenant,
  )
  if (found === null) throw new ApiError('unknown_tenant')
  const { query, filters, limit, offset } = request
  const { products, result_count, price_buckets, collections } = found
  const base = assetBase()
  return {
    query,
    results: products.map((each) => toStorefrontProduct(base, each)),
    filters,
    facets: { price_buckets, collections },
    result_count,
    limit,
    offset,
  }
}

/** A batch takes some tenths of a second, far less than the time limit of a statement. */
const BATCH = 200

/** Less than the id of any product. */
const FIRST = '00000000-0000-0000-0000-000000000000'

/**
 * Indexes all products of a store again, after its language changed. If it is interrupted, it
 * starts over.
 */
export async function refreshSearchIndex(db: TenantDb, signal: AbortSignal): Promise<void> {
  let after: string | null = FIRST
  while (after !== null && !signal.aborted) {
    after = (await queries.refreshNext(db, after, BATCH)).last
  }
  signal.throwIfAborted()
}
