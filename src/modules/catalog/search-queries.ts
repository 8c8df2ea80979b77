import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import { type SearchFilters, SearchResult, type Sort, SuggestionResult } from './search-schema.ts'

export interface SearchRequest extends Page {
  query: string
  filters: SearchFilters
  sort: Sort
}

/** The versions of the active products that a function `f` has found, in its order. */
const foundProducts = (db: Db) => sql`
  (select coalesce(json_agg(json_build_object('id', p.id, 'version', p.xmin::text)
                            order by found.place), '[]')
     from unnest(f.ids) with ordinality found (id, place)
     join products p on p.tenant_ref = ${db.tenant} and p.id = found.id
    where p.status = 'active')`

/**
 * Searches the active products of a store. Returns null unless it is live. The database function searches
 * without row level security, and returns ids only; this statement reads the versions of the products under
 * it.
 */
export const search = (db: Db, { query, filters, sort, limit, offset }: SearchRequest) =>
  db.maybe(
    SearchResult,
    sql`
    select f.result_count, f.is_corrected as corrected, f.price_buckets, f.in_collections as collections,
           ${foundProducts(db)} as products
      from fd_search_products(${query}, ${filters.priceMinCents}, ${filters.priceMaxCents},
                              ${filters.collectionSlug}, ${sort}, ${limit}, ${offset}) f`,
  )

/**
 * Finds products to suggest for what was typed so far, and looks at `lookedAt` matches at most. Returns null unless the
 * store is live.
 */
export const suggest = (
  db: Db,
  { query, limit, lookedAt }: { query: string; limit: number; lookedAt: number },
) =>
  db.maybe(
    SuggestionResult,
    sql`
    select f.matches, f.is_corrected as corrected, ${foundProducts(db)} as products
      from fd_search_suggestions(${query}, ${limit}, ${lookedAt}) f`,
  )

/** Indexes the next products of the store after one again. Returns the last of them, null at the end. */
export const refreshNext = (db: Db, after: string, batchSize: number) =>
  db.one(
    Type.Object({ last: Nullable(Id) }),
    sql`select fd_search_refresh_next(${db.tenant}, ${after}, ${batchSize}) as last`,
  )

/** Reads the titles of the store's collections again, in the store's language. */
export const refreshTitles = (db: Db) => db.run(sql`select fd_search_refresh_titles(${db.tenant})`)
