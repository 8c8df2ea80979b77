import type { Collection, Product, Suggestions } from '../api/types.ts'
import type { HttpResponse } from '../http/response.ts'
import { type Html, html } from '../layout/html.ts'
import { image } from '../layout/images.ts'
import type { PageContext } from '../request-context.ts'
import { filterAddress, readFilters } from './list-filters.ts'
import { leastPriceBefore, priceOf } from './product-cards.ts'

/** The suggestions fit on a phone above its keyboard. */
const PRODUCTS_MAX = 5
const COLLECTIONS_MAX = 2
/** The shortest query: one letter would find a third of the store. */
const QUERY_LENGTH_MIN = 2

/** How long a browser may show the same suggestions for a word that is typed again. */
const FRESH_SECONDS = 30

/**
 * The suggestions of the header's search box while a shopper types: options of a list, which the script shows below the
 * box. Empty if there is nothing to suggest.
 */
export async function suggestionList(context: PageContext): Promise<HttpResponse> {
  const { api, site, url } = context
  const q = readFilters(url).q ?? ''
  // The platform searches live stores only.
  if ([...q].length < QUERY_LENGTH_MIN || !site.hasSearch || site.preview !== null) {
    return answer(html`<div></div>`)
  }
  const [result, collections] = await Promise.all([
    api.suggest(site, q, PRODUCTS_MAX),
    api.listCollections(site),
  ])
  const named = collections.filter(({ title }) => folded(title).includes(folded(q)))
  return answer(options(context, result, named.slice(0, COLLECTIONS_MAX)))
}

const answer = (body: Html): HttpResponse => ({
  status: 200,
  body: body.text,
  headers: { 'cache-control': `private, max-age=${FRESH_SECONDS}`, 'x-robots-tag': 'noindex' },
})

/** Returns a text without accents and capital letters. */
const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

function options(
  context: PageContext,
  { query, results, result_count, result_count_is_least }: Suggestions,
  collections: readonly Collection[],
): Html {
  const { texts } = context.site.locale
  const count = collections.length + results.length
  if (count === 0) return html`<div data-status="${texts.noSuggestions}"></div>`
  const all = filterAddress('/search', { ...NO_FILTERS, q: query })
  return html`<div data-status="${texts.suggestionCount({ count })}">${collections.map(
    ({ slug, title }) =>
      option(
        `/collections/${encodeURIComponent(slug)}`,
        html`<span class="suggestion-text"><span class="suggestion-kind">${texts.collection}</span>${title}</span>`,
      ),
  )}${results.map((product) => option(`/products/${product.slug}`, productOption(context, product)))}${
    result_count > 0 &&
    option(
      all,
      html`<span class="more">${result_count_is_least ? texts.allResults : texts.allResultsCounted({ count: result_count })}</span>`,
    )
  }</div>`
}

const NO_FILTERS = { q: null, collection: null, price: null, sort: 'relevance', page: 1 } as const

/** A link that is an option of the list: the keys of the search box choose it. */
const option = (href: string, content: Html): Html =>
  html`<a class="suggestion" role="option" aria-selected="false" tabindex="-1" href="${href}">${content}</a>`

function productOption(context: PageContext, product: Product): Html {
  const { name, image_asset_ref: ref } = product
  const shown = image(context, { ref, alt: '', sizes: '3.5rem', name })
  return html`<span class="suggestion-image">${shown}</span><span class="suggestion-text">${name}<span class="suggestion-price">${leastPriceBefore(product, context)}${priceOf(product, context)}</span></span>`
}
