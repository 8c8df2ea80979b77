import { cleanText } from '../http/forms.ts'
import { PER_PAGE, readPageNumber } from './pager.ts'

/** How the platform sorts. The first is the default: it is in no address. */
export const SORTS = ['relevance', 'price_asc', 'price_desc', 'newest'] as const
export type Sort = (typeof SORTS)[number]

/** The longest query: as long as the search field allows. */
export const QUERY_LENGTH_MAX = 200

/** What a shopper chose for a list: the words, the filters and the order, as an address has them. */
export interface ListFilters {
  /** The words to search for; null without any. */
  q: string | null
  collection: string | null
  /** The range of prices in cents, both ends included: `1000-2499`, or `10000-` without an upper end. */
  price: string | null
  sort: Sort
  page: number
}

const PRICE = /^(\d{0,12})-(\d{0,12})$/

/** Reads an address. An impossible value is treated as missing. */
export function readFilters(url: URL): ListFilters {
  const given = url.searchParams
  const price = given.get('price') ?? ''
  return {
    q: cleanText(given.get('q'), QUERY_LENGTH_MAX) || null,
    collection: cleanText(given.get('collection'), QUERY_LENGTH_MAX) || null,
    price: PRICE.test(price) && price !== '-' ? price : null,
    sort: SORTS.find((value) => value === given.get('sort')) ?? SORTS[0],
    page: readPageNumber(url),
  }
}

/** Returns the one address of a filtered list: without empty values and defaults. */
export function filterAddress(path: string, filters: ListFilters): string {
  const { q, collection, price, sort, page } = filters
  const chosen = Object.entries({
    q,
    collection,
    price,
    sort: sort === SORTS[0] ? null : sort,
    page: page === 1 ? null : String(page),
  }).filter((each): each is [string, string] => each[1] !== null)
  return chosen.length === 0 ? path : `${path}?${new URLSearchParams(chosen)}`
}

/**
 * Whether a form without the script has sent its empty fields along. The shopper is then redirected to the address
 * without them, so that a shared or saved address is short.
 */
export const hasEmptyFields = ({ searchParams }: URL): boolean =>
  ['collection', 'price'].some((name) => searchParams.get(name) === '') ||
  searchParams.get('sort') === SORTS[0]

/** Whether a list is sorted or filtered: it has more than its words and its page. */
export const isFiltered = ({ collection, price, sort }: ListFilters): boolean =>
  collection !== null || price !== null || sort !== SORTS[0]

/** The query that is sent to the platform. */
export function searchQuery(filters: ListFilters, limit = PER_PAGE): URLSearchParams {
  const { q, collection, price, sort, page } = filters
  const [, min = '', max = ''] = PRICE.exec(price ?? '') ?? []
  const query = new URLSearchParams({ limit: String(limit), sort })
  query.set('offset', String((page - 1) * PER_PAGE))
  if (q !== null) query.set('q', q)
  if (min !== '') query.set('price_min_cents', min)
  if (max !== '') query.set('price_max_cents', max)
  if (collection !== null) query.set('collection', collection)
  return query
}
