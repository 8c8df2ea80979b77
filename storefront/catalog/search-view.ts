import type { SearchResult } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { type FilteredList, filteredList } from './filter-view.ts'
import { QUERY_LENGTH_MAX } from './list-filters.ts'
import { PAGE_MAX, PER_PAGE, pager } from './pager.ts'
import { productGrid } from './product-cards.ts'

/** The result of a search, and the list with its filters. */
export interface FoundProducts {
  result: SearchResult
  list: FilteredList
}

/** The search page. The script replaces `#results` while a shopper types. */
export function searchMain(context: PageContext, found: FoundProducts | null): Html {
  const { url, site } = context
  const query = url.searchParams.get('q') ?? ''
  const { texts } = site.locale
  return html`<div class="wrap list search"><header class="list-head"><h1>${texts.search}</h1>
<form class="search-form" action="/search" role="search" aria-label="${texts.search}" data-search><label class="hidden" for="q">${texts.searchPlaceholder}</label>
<input id="q" name="q" type="search" value="${query}" placeholder="${texts.searchPlaceholder}" maxlength="${QUERY_LENGTH_MAX}" autocomplete="off"><button class="button">${texts.search}</button></form>
<p class="count" id="count" role="status">${found !== null && texts.results(found.result.result_count, found.result.query)}</p></header>
<div id="results">${found === null ? html`<p class="empty">${texts.searchHint}</p>` : filteredList(context, found.list, foundProducts(context, found))}</div>
${site.preview !== null && html`<p class="note">${texts.previewSearch}</p>`}</div>`
}

/** The products that match, with links to their other pages. */
export function foundProducts(context: PageContext, { result, list }: FoundProducts): Html {
  const { texts } = context.site.locale
  const { results: products, result_count } = result
  const pages = Math.min(Math.ceil(result_count / PER_PAGE), PAGE_MAX)
  if (products.length === 0) {
    const note = list.filters.q === null ? texts.noMatches : texts.noResults
    return html`<div class="empty"><p>${note}</p><p><a class="more" href="/products">${texts.seeAllProducts}</a></p></div>`
  }
  return html`${productGrid(context, { products, columns: 3 })}${pager(context, list.filters.page, pages)}`
}
