import type { PageRequest } from '../api/catalog-api.ts'
import type { ProductPage } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'

export const PER_PAGE = 24

/** The platform's search skips at most 10,000 products: that is 400 pages. */
export const PAGE_MAX = 400

/** The number in `?page=`; 1 without one. */
export function readPageNumber(url: URL): number {
  const page = Number.parseInt(url.searchParams.get('page') ?? '1', 10)
  return Number.isNaN(page) ? 1 : Math.min(Math.max(page, 1), PAGE_MAX)
}

/** The addresses of the pages beside one; null where there is no such page. */
export interface PageLinks {
  prev: string | null
  next: string | null
}

/** Links to the previous and the next page of a list, with the number of this page between them. */
const pagerNav = ({ site }: PageContext, { prev, next }: PageLinks, label: string): Html | null => {
  if (prev === null && next === null) return null
  const { texts } = site.locale
  return html`<nav class="pager" aria-label="${texts.pages}">${prev !== null && html`<a class="more" rel="prev" href="${prev}">${texts.previous}</a>`}<span>${label}</span>${next !== null && html`<a class="more" rel="next" href="${next}">${texts.next}</a>`}</nav>`
}

/** The pager of a list whose pages are numbers: that of a search. */
export function pager(context: PageContext, page: number, pages: number): Html | null {
  const { url, site } = context
  const to = (number: number) => {
    const query = new URLSearchParams(url.searchParams)
    query.set('page', String(number))
    return `${url.pathname}?${query}`
  }
  const links = { prev: page > 1 ? to(page - 1) : null, next: page < pages ? to(page + 1) : null }
  return pagerNav(context, links, site.locale.texts.pageOf({ page, pages }))
}

/** The form of a cursor. It may be longer than any real one. */
const CURSOR = /^[A-Za-z0-9_-]{1,200}$/

/**
 * Reads the page of a list of products from an address. Its place is the cursor: it reaches the end of the list, at the
 * same cost for each page, and products that are added or removed move nothing. The number beside it is only shown.
 */
export function readPlace({ searchParams }: URL): PageRequest {
  const read = (name: string) => {
    const text = searchParams.get(name)
    return text !== null && CURSOR.test(text) ? text : null
  }
  const after = read('after')
  return { limit: PER_PAGE, after, before: after === null ? read('before') : null }
}

/** The number of a page of products: 1 unless the address has a cursor as well. */
function placeNumber(url: URL): number {
  const { after, before } = readPlace(url)
  if (!after && !before) return 1
  const number = Number.parseInt(url.searchParams.get('page') ?? '', 10)
  return number > 1 && number < 1e6 ? number : 2
}

/** Returns the one address of a page of a list, without parameters that do not belong to it. */
export function placeAddress(path: string, url: URL): string {
  const { after, before } = readPlace(url)
  const cursor = Object.entries({ after, before }).find(([, text]) => text)
  if (cursor === undefined) return path
  const [name, text] = cursor
  return `${path}?${new URLSearchParams({ page: String(placeNumber(url)), [name]: String(text) })}`
}

/** The addresses beside a page of products. The first page is always the address without a cursor. */
export function placeLinks(url: URL, { next_after, prev_before }: ProductPage): PageLinks {
  const page = placeNumber(url)
  const to = (number: number, cursor: Record<string, string>) =>
    `${url.pathname}?${new URLSearchParams({ page: String(number), ...cursor })}`
  const isSecond = page === 2 || prev_before === null
  const prev = isSecond ? url.pathname : to(page - 1, { before: prev_before })
  return {
    prev: page === 1 ? null : prev,
    next: next_after === null ? null : to(page + 1, { after: next_after }),
  }
}

/** The pager of a list of products. It shows the number of pages if that is known. */
export function placePager(context: PageContext, page: ProductPage): Html | null {
  const { url, site } = context
  const { texts } = site.locale
  const number = placeNumber(url)
  const pages = Math.ceil(page.total / PER_PAGE)
  const isKnown = !page.total_is_estimate && number <= pages
  const label = isKnown ? texts.pageOf({ page: number, pages }) : texts.pageNumber({ page: number })
  return pagerNav(context, placeLinks(url, page), label)
}
