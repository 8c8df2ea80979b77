import { clamp } from '../../kernel/page.ts'
import { readText } from '../../kernel/query.ts'
import { type ListPlace, readPlace, writePlace } from './list-schema.ts'
import type { LoadedFragments, ProductFragments, ProductVersion } from './product-fragments.ts'
import type { PageRange } from './public-queries.ts'

const MIB = 1_024 * 1_024

/** The bounds of the public lists of products. */
export interface ListBounds {
  /** A list of at most this many products and bytes is answered whole, unless a page is asked for. */
  wholeMax: number
  wholeBytes: number
  limitDefault: number
  limitMax: number
  /** A page ends before its limit where its products are larger than this. It has at least one. */
  pageBytes: number
  /** Products are counted up to this number. */
  countMax: number
}

/**
 * A list of 5,000 usual products is 3 MiB. The bytes allow for long texts, and let the answer be kept in a live cache
 * of 64 MiB or more. Why longer lists have pages: decision 0023.
 */
export const LIST_BOUNDS: ListBounds = {
  wholeMax: 5_000,
  wholeBytes: 8 * MIB,
  limitDefault: 100,
  limitMax: 500,
  pageBytes: 2 * MIB,
  countMax: 10_000,
}

/** What a caller asks of a list. Without a limit it is the whole list. */
export interface ListRequest {
  limit: number | null
  after: ListPlace | null
  before: ListPlace | null
}

/**
 * Reads `after`, `before` and `limit`. The list has pages if one of the first two is sent, also an empty one; a bare
 * `limit` asks for no page. Nothing is refused: an unreadable cursor counts as absent, and `after` overrides `before`.
 */
export function readListRequest(query: unknown, bounds: ListBounds): ListRequest {
  const after = readPlace(readText(query, 'after'))
  const before = after === null ? readPlace(readText(query, 'before')) : null
  const isPaged = ['after', 'before'].some((name) => Object.hasOwn(Object(query), name))
  const limit = (query as { limit?: unknown }).limit
  return {
    after,
    before,
    limit: isPaged
      ? clamp(limit, { min: 1, max: bounds.limitMax, otherwise: bounds.limitDefault })
      : null,
  }
}

/** A text that is the same for all spellings of a request; empty for the whole list. */
export function canonicalQuery({ limit, after, before }: ListRequest): string {
  if (limit === null) return ''
  const place = before === null ? after : before
  const name = before === null ? 'after' : 'before'
  return `?${new URLSearchParams({ limit: String(limit), [name]: place === null ? '' : writePlace(place) })}`
}

export const rangeOf = ({ limit, after, before }: ListRequest, bounds: ListBounds): PageRange => ({
  after,
  before,
  limit: (limit ?? bounds.limitDefault) + 1,
  wholeUpTo: limit === null ? bounds.wholeMax : 0,
  countUpTo: bounds.countMax + 1,
})

/** A row of a list, as the database chose it. */
export type ChosenRow = ProductVersion & ListPlace

/** A page of a list: its products, and where the pages beside it begin. */
export interface ListPage {
  products: string[]
  isStockBound: boolean
  next: ListPlace | null
  prev: ListPlace | null
}

/** The whole list, or null if it must have pages. */
export async function loadWhole(
  rows: readonly ChosenRow[],
  total: number,
  bounds: ListBounds,
  load: Load,
): Promise<Pick<ListPage, 'products' | 'isStockBound'> | null> {
  if (total > bounds.wholeMax) return null
  const { parts, isWhole, isStockBound } = await load(rows, bounds.wholeBytes)
  return isWhole ? { products: parts.map(({ json }) => json), isStockBound } : null
}

export type Load = (
  rows: readonly ChosenRow[],
  bytesMax: number,
) => Promise<LoadedFragments<ChosenRow>>

/** Binds what every load of one answer has in common. */
export const loadWith =
  (
    fragments: ProductFragments,
    db: Parameters<ProductFragments['load']>[0],
    base: string | null,
  ): Load =>
  (rows, bytesMax) =>
    fragments.load(db, rows, { base, bytesMax })

/**
 * Loads a page of the rows, which have one row more than the page if another page follows. If the page exceeds its
 * bytes, it ends earlier: at the end that is farther from its cursor.
 */
export async function loadPage(
  rows: readonly ChosenRow[],
  { limit, after, before }: ListRequest,
  bounds: ListBounds,
  load: Load,
): Promise<ListPage> {
  const isBackwards = before !== null
  // Rows that follow the page in its own direction are cut off at the end of this list.
  const outwards = isBackwards ? rows.toReversed() : rows
  const page = outwards.slice(0, limit ?? bounds.limitDefault)
  const { parts, isWhole, isStockBound } = await load(page, bounds.pageBytes)
  const shown = isBackwards ? parts.toReversed() : parts
  const hasMore = !isWhole || page.length < outwards.length
  const first = shown[0]?.row ?? null
  const last = shown.at(-1)?.row ?? null
  return {
    products: shown.map(({ json }) => json),
    isStockBound,
    next: isBackwards || hasMore ? last : null,
    prev: (isBackwards ? hasMore : after !== null) ? first : null,
  }
}
