import type { SearchResult } from '../api/types.ts'
import { cleanText } from '../http/forms.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { PAGE_MAX, PER_PAGE, pager, readPageNumber } from './pager.ts'
import { productGrid } from './product-cards.ts'

const SORTS = ['relevance', 'price_asc', 'price_desc', 'newest'] as const

/** As long as the search field. */
const QUERY_LENGTH_MAX = 200

/**
 * The query that a search page sends to the platform. Null where there is no word to search for.
 */
export function searchQuery(url: URL): URLSearchParams | null {
  const given = url.searchParams
  const q = cleanText(given.get('q'), QUERY_LENGTH_MAX)
  if (q === '') return null
  const [, min = '', max = ''] = /^(\d{0,12})-(\d{0,12})$/.exec(given.get('price') ?? '') ?? []
  const query = new URLSearchParams({ q, limit: String(PER_PAGE) })
  query.set('offset', String((readPageNumber(url) - 1) * PER_PAGE))
  if (min !== '') query.set('price_min_cents', min)
  if (max !== '') query.set('price_max_cents', max)
  const collection = cleanText(given.get('collection'), QUERY_LENGTH_MAX)
  if (collection) query.set('collection', collection)
  const sort = SORTS.find((value) => value === given.get('sort'))
  if (sort !== undefined) query.set('sort', sort)
  return query
}

/** The search page. The script replaces `#results` while a shopper types. */
export function searchMain(context: PageContext, result: SearchResult | null): Html {
  const { url, site } = context
  const query = url.searchParams.get('q') ?? ''
  const { texts } = site.locale
  return html`<div class="wrap list search"><header class="list-head"><h1>${texts.search}</h1>
<form class="search-form" action="/search" role="search" data-search><label class="hidden" for="q">${texts.searchPlaceholder}</label>
<input id="q" name="q" type="search" value="${query}" placeholder="${texts.searchPlaceholder}" maxlength="${QUERY_LENGTH_MAX}" autocomplete="off"><button class="button">${texts.search}</button></form></header>
<div id="results" aria-live="polite">${result === null ? html`<p class="empty">${texts.searchHint}</p>` : results(context, result)}</div>
${site.preview !== null && html`<p class="note">${texts.previewSearch}</p>`}</div>`
}

function results(context: PageContext, result: SearchResult): Html {
  const { results: products, result_count, query } = result
  const { texts } = context.site.locale
  const pages = Math.min(Math.ceil(result_count / PER_PAGE), PAGE_MAX)
  return html`<div class="search-row">${facetForm(context, result)}<div><p class="count" role="status">${texts.results(result_count, query)}</p>${
    products.length === 0
      ? html`<div class="empty"><p>${texts.noResults}</p><p><a class="more" href="/products">${texts.seeAllProducts}</a></p></div>`
      : productGrid(context, { products, columns: 3 })
  }${pager(context, readPageNumber(context.url), pages)}</div></div>`
}

function facetForm(context: PageContext, result: SearchResult): Html {
  const { texts } = context.site.locale
  const query = context.url.searchParams
  return html`<form class="facets" action="/search" data-facets><input type="hidden" name="q" value="${query.get('q')}">
<label class="field"><span>${texts.sortBy}</span><select name="sort">${SORTS.map(
    (value) =>
      html`<option value="${value}"${query.get('sort') === value && html` selected`}>${texts.sorts[value]}</option>`,
  )}</select></label>
${collectionFacet(context, result)}
${priceFacet(context, result)}
<button class="button button-quiet">${texts.apply}</button></form>`
}

function collectionFacet({ site }: PageContext, { facets, filters }: SearchResult): Html | null {
  if (facets.collections.length === 0) return null
  const { texts } = site.locale
  const chosen = filters.collectionSlug ?? ''
  return html`<fieldset><legend>${texts.collection}</legend>${radio('collection', '', texts.all, chosen === '')}${facets.collections.map(
    ({ slug, title, count }) => radio('collection', slug, `${title} (${count})`, chosen === slug),
  )}</fieldset>`
}

function priceFacet(
  { site }: PageContext,
  { facets, filters, results }: SearchResult,
): Html | null {
  if (facets.price_buckets.length === 0) return null
  const { texts, formatMoney } = site.locale
  const currency = results[0]?.variants[0]?.currency ?? 'USD'
  const money = (cents: number) => formatMoney(cents, currency)
  const range = (min: number, max: number | null) => `${min}-${max ?? ''}`
  const { priceMinCents, priceMaxCents } = filters
  const isAny = priceMinCents === null && priceMaxCents === null
  const chosen = isAny ? '' : range(priceMinCents ?? 0, priceMaxCents)
  return html`<fieldset><legend>${texts.price}</legend>${radio('price', '', texts.anyPrice, isAny)}${facets.price_buckets.map(
    ({ min_cents: min, max_cents: max, count }) => {
      const label = max === null ? texts.andUp(money(min)) : `${money(min)} – ${money(max)}`
      return radio('price', range(min, max), `${label} (${count})`, chosen === range(min, max))
    },
  )}</fieldset>`
}

const radio = (name: string, value: string, label: string, checked: boolean): Html =>
  html`<label class="radio"><input type="radio" name="${name}" value="${value}"${checked && html` checked`}><span>${label}</span></label>`
