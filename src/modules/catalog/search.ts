import type { Database, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { clamp, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import { SLUG_TYPED_MAX } from './input.ts'
import { PRICE_MAX } from './schema.ts'
import * as queries from './search-queries.ts'
import { type SearchAnswer, SORTS } from './search-schema.ts'
import { type AssetBase, showPublic } from './show.ts'

/** Longer than anybody types, and short enough that no text makes a search expensive. */
export const QUERY_LENGTH_MAX = 200

export const SEARCH_PAGE = { limitDefault: 20, limitMax: 50, offsetMax: 10_000 }

/** Reads what is searched for. Nothing is refused: what makes no sense is not there. */
export function readSearch(query: unknown): queries.Wanted {
  return {
    query: plainText(query, 'q', QUERY_LENGTH_MAX) ?? '',
    filters: {
      priceMinCents: readPrice(query, 'price_min_cents') ?? readPrice(query, 'priceMinCents'),
      priceMaxCents: readPrice(query, 'price_max_cents') ?? readPrice(query, 'priceMaxCents'),
      collectionSlug: readSlug(query, 'collection') ?? readSlug(query, 'collectionSlug') ?? null,
    },
    sort: readOneOf(query, 'sort', SORTS) ?? 'relevance',
    ...readPage(query, SEARCH_PAGE),
  }
}

/** Words and spaces that PostgreSQL can hold: no control characters, no half of a pair. */
function plainText(query: unknown, name: string, lengthMax: number): string | undefined {
  const text = readText(query, name)
  if (text === undefined) return undefined
  const cut = text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, lengthMax)
  return cut.toWellFormed().normalize('NFC').trim() || undefined
}

const readSlug = (query: unknown, name: string) => plainText(query, name, SLUG_TYPED_MAX)

function readPrice(query: unknown, name: string): number | null {
  const value = clamp(readText(query, name), { min: 0, max: PRICE_MAX, otherwise: -1 })
  return value < 0 ? null : value
}

/**
 * Searching is public and costs the database far more than any other read: it takes half of the
 * connections at most and leaves the rest to those who buy. No queue is longer than its last can
 * wait.
 */
export const openSearches = (connections: number) =>
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
  searches: WorkQueue
  assetBase(): AssetBase
}

/** Active products of a live store that match. Those of any other store are as unknown as it is. */
export async function search(
  { database, searches, assetBase }: SearchDeps,
  tenant: string,
  wanted: queries.Wanted,
): Promise<SearchAnswer> {
  if (!isTenantRef(tenant)) throw new ApiError('unknown_tenant')
  const found = await searches.run(() => queries.search(database.tenant(tenant), wanted), tenant)
  if (found === null) throw new ApiError('unknown_tenant')
  const { query, filters, limit, offset } = wanted
  const { products, result_count, price_buckets, collections } = found
  const base = assetBase()
  return {
    query,
    results: products.map((each) => showPublic(base, each)),
    filters,
    facets: { price_buckets, collections },
    result_count,
    limit,
    offset,
  }
}

/** A bite takes some tenths of a second, far less than a statement may. */
const BITE = 200

const FIRST = '00000000-0000-0000-0000-000000000000'

/** Makes a store's words anew when its language has changed. Begins anew should it be cut short. */
export async function refreshAll(db: TenantDb, signal: AbortSignal): Promise<void> {
  let after: string | null = FIRST
  while (after !== null && !signal.aborted) {
    after = (await queries.refreshNext(db, after, BITE)).last
  }
  signal.throwIfAborted()
}
