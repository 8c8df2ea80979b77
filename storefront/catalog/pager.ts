import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'

export const PER_PAGE = 24

/** The platform's search skips at most 10,000 products: that is 400 pages. */
export const PAGE_MAX = 400

/** The number in `?page=`; 1 where there is none. */
export function readPageNumber(url: URL): number {
  const page = Number.parseInt(url.searchParams.get('page') ?? '1', 10)
  return Number.isNaN(page) ? 1 : Math.min(Math.max(page, 1), PAGE_MAX)
}

/** Links to the previous and the next page of a list. */
export function pager({ url, site }: PageContext, page: number, pages: number): Html | null {
  if (pages <= 1) return null
  const { texts } = site.locale
  const to = (number: number) => {
    const query = new URLSearchParams(url.searchParams)
    query.set('page', String(number))
    return `${url.pathname}?${query}`
  }
  return html`<nav class="pager" aria-label="${texts.pages}">${page > 1 && html`<a class="more" rel="prev" href="${to(page - 1)}">${texts.previous}</a>`}<span>${texts.pageOf(page, pages)}</span>${page < pages && html`<a class="more" rel="next" href="${to(page + 1)}">${texts.next}</a>`}</nav>`
}
