import type { Collection, Product, SearchResult } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { type FilteredList, filteredList } from './filter-view.ts'
import { filterAddress, QUERY_LENGTH_MAX } from './list-filters.ts'
import { PAGE_MAX, PER_PAGE, pager } from './pager.ts'
import { productGrid } from './product-cards.ts'

/** The result of a search, and the list with its filters. */
export interface FoundProducts {
  result: SearchResult
  list: FilteredList
  /** The help that a search shows if it has found nothing. */
  help?: SearchHelp | undefined
}

export interface SearchHelp {
  collections: readonly Collection[]
  /** The newest products of the store. */
  products: readonly Product[]
}

/** The search page. The script replaces `#results` while a shopper types. */
export function searchMain(context: PageContext, found: FoundProducts | null): Html {
  const { url, site } = context
  const query = url.searchParams.get('q') ?? ''
  const { texts } = site.locale
  return html`<div class="wrap list search"><header class="list-head"><h1>${texts.search}</h1>
<form class="search-form" action="/search" role="search" aria-label="${texts.search}" data-search><label class="hidden" for="q">${texts.searchPlaceholder}</label>
<input id="q" name="q" type="search" value="${query}" placeholder="${texts.searchPlaceholder}" maxlength="${QUERY_LENGTH_MAX}" autocomplete="off"><button class="button">${texts.search}</button></form>
<p class="count" id="count" role="status">${found !== null && texts.results({ count: found.result.result_count, query: found.result.query })}</p></header>
<div id="results">${found === null ? html`<p class="empty">${texts.searchHint}</p>` : resultList(context, found)}</div>
${site.preview !== null && html`<p class="note">${texts.previewSearch}</p>`}</div>`
}

/** The products with their filters. If the words alone have found nothing, there is nothing to sort or to filter. */
function resultList(context: PageContext, found: FoundProducts): Html {
  const { list, result } = found
  const shown = foundProducts(context, found)
  return result.result_count === 0 && !isNarrowed(list)
    ? html`<div id="found">${shown}</div>`
    : filteredList(context, list, shown)
}

const isNarrowed = ({ filters: { collection, price } }: FilteredList): boolean =>
  collection !== null || price !== null

/** The products that match, with links to their other pages. */
export function foundProducts(context: PageContext, found: FoundProducts): Html {
  const { result, list } = found
  const { texts } = context.site.locale
  const { results: products, result_count, corrected, query } = result
  const pages = Math.min(Math.ceil(result_count / PER_PAGE), PAGE_MAX)
  if (products.length === 0) {
    const { q } = list.filters
    const note = q === null || isNarrowed(list) ? texts.noMatches : texts.noResults
    return html`<div class="empty"><p>${note}</p>${oneWord(context, list.filters.q ?? '')}<p><a class="more" href="/products">${texts.seeAllProducts}</a></p></div>${found.help !== undefined && searchHelp(context, found.help)}`
  }
  return html`${corrected && html`<p class="note">${texts.closestResults({ query })}</p>`}${productGrid(context, { products, columns: 3 })}${pager(context, list.filters.page, pages)}`
}

const WORDS_MAX = 4

/** Links to each word of a search whose words no product has together. */
function oneWord(context: PageContext, q: string): Html | false {
  const words = [...new Set(q.split(/\s+/))].slice(0, WORDS_MAX)
  if (words.length < 2) return false
  const { texts } = context.site.locale
  const links = words.map((word) => {
    const href = filterAddress('/search', { ...NO_FILTERS, q: word })
    return html` <a href="${href}">${word}</a>`
  })
  return html`<p>${texts.searchOneWord}${links}</p>`
}

const NO_FILTERS = { collection: null, price: null, sort: 'relevance', page: 1 } as const

/** The collections and the newest products, for a search that has found nothing. */
function searchHelp(context: PageContext, { collections, products }: SearchHelp): Html {
  const { texts } = context.site.locale
  const links = collections.map(
    ({ slug, title }) =>
      html`<li><a class="chip" href="/collections/${encodeURIComponent(slug)}">${title}</a></li>`,
  )
  return html`<section class="search-help">${links.length > 0 && html`<p>${texts.lookAround}</p><ul class="chips">${links}</ul>`}
${products.length > 0 && html`<h2>${texts.newInStore}</h2>${productGrid(context, { products, columns: 3 })}`}</section>`
}
