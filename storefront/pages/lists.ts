import { type Html, html, paragraphs } from '../html.ts'
import { readTyped } from '../typed.ts'
import type { Collection, CollectionDetail, Found, Product } from '../types.ts'
import type { Visit } from '../visit.ts'
import { productGrid } from './cards.ts'

/** Pages that show many products. */

export const PER_PAGE = 24

export function readPage(url: URL): number {
  const page = Number.parseInt(url.searchParams.get('page') ?? '1', 10)
  return Number.isNaN(page) ? 1 : Math.min(Math.max(page, 1), 400)
}

interface Listing {
  title: string
  description?: string | null
  products: readonly Product[]
  collections?: readonly Collection[]
}

export function listMain(
  visit: Visit,
  { title, description, products, collections = [] }: Listing,
) {
  const pages = Math.ceil(products.length / PER_PAGE)
  const page = Math.max(1, Math.min(readPage(visit.url), pages))
  const { say } = visit.site.words
  const shown = products.slice((page - 1) * PER_PAGE, page * PER_PAGE)
  return html`<div class="wrap list"><header class="list-head"><h1>${title}</h1>${
    description && html`<div class="lead">${paragraphs(description)}</div>`
  }<p class="count">${say.products(products.length)}</p></header>
${
  collections.length > 0 &&
  html`<ul class="chips" aria-label="${say.collections}">${collections.map(
    (each) => html`<li><a class="chip" href="/collections/${each.slug}">${each.title}</a></li>`,
  )}</ul>`
}
${shown.length === 0 ? html`<p class="empty">${say.emptyShelf}</p>` : productGrid(visit, { products: shown })}
${pager(visit, page, pages)}</div>`
}

export const collectionMain = (visit: Visit, { collection, products }: CollectionDetail): Html =>
  listMain(visit, { title: collection.title, description: collection.description, products })

function pager({ url, site }: Visit, page: number, pages: number): Html | null {
  if (pages <= 1) return null
  const { say } = site.words
  const to = (number: number) => {
    const query = new URLSearchParams(url.searchParams)
    query.set('page', String(number))
    return `${url.pathname}?${query}`
  }
  return html`<nav class="pager" aria-label="${say.pages}">${page > 1 && html`<a class="more" rel="prev" href="${to(page - 1)}">${say.previous}</a>`}<span>${say.pageOf(page, pages)}</span>${page < pages && html`<a class="more" rel="next" href="${to(page + 1)}">${say.next}</a>`}</nav>`
}

const SORTS = ['relevance', 'price_asc', 'price_desc', 'newest'] as const

/** The part of a search page that changes as somebody types. */
export function searchMain(visit: Visit, found: Found | null): Html {
  const { url, site } = visit
  const query = url.searchParams.get('q') ?? ''
  const { say } = site.words
  return html`<div class="wrap list search"><header class="list-head"><h1>${say.search}</h1>
<form class="search-form" action="/search" role="search" data-search><label class="hidden" for="q">${say.lookingFor}</label>
<input id="q" name="q" type="search" value="${query}" placeholder="${say.lookingFor}" maxlength="200" autocomplete="off"><button class="button">${say.search}</button></form></header>
<div id="results" aria-live="polite">${found === null ? html`<p class="empty">${say.typeAWord}</p>` : results(visit, found)}</div>
${site.preview !== null && html`<p class="note">${say.previewSearch}</p>`}</div>`
}

function results(visit: Visit, found: Found): Html {
  const { results: products, result_count, query } = found
  const { say } = visit.site.words
  const pages = Math.ceil(Math.min(result_count, 9_600) / PER_PAGE)
  return html`<div class="search-row">${facets(visit, found)}<div><p class="count" role="status">${say.results(result_count, query)}</p>${
    products.length === 0
      ? html`<div class="empty"><p>${say.noMatch}</p><p><a class="more" href="/products">${say.seeEverything}</a></p></div>`
      : productGrid(visit, { products, columns: 3 })
  }${pager(visit, readPage(visit.url), pages)}</div></div>`
}

function facets({ site, url }: Visit, { facets, filters, results }: Found): Html {
  const currency = results[0]?.variants[0]?.currency ?? 'USD'
  const { say } = site.words
  const query = url.searchParams
  const cents = (value: number) => site.words.money(value, currency)
  const hidden = html`<input type="hidden" name="q" value="${query.get('q')}">`
  const price = (min: number, max: number | null) => `${min}-${max ?? ''}`
  const chosen =
    filters.priceMinCents === null && filters.priceMaxCents === null
      ? ''
      : price(filters.priceMinCents ?? 0, filters.priceMaxCents)
  return html`<form class="facets" action="/search" data-facets>${hidden}
<label class="field"><span>${say.sortBy}</span><select name="sort">${SORTS.map(
    (value) =>
      html`<option value="${value}"${query.get('sort') === value && html` selected`}>${say.sorts[value]}</option>`,
  )}</select></label>
${
  facets.collections.length > 0 &&
  html`<fieldset><legend>${say.collection}</legend>${radio('collection', '', say.all, (filters.collectionSlug ?? '') === '')}${facets.collections.map(
    ({ slug, title, count }) =>
      radio('collection', slug, `${title} (${count})`, filters.collectionSlug === slug),
  )}</fieldset>`
}
${
  facets.price_buckets.length > 0 &&
  html`<fieldset><legend>${say.price}</legend>${radio('price', '', say.any, chosen === '')}${facets.price_buckets.map(
    ({ min_cents: min, max_cents: max, count }) => {
      const label = max === null ? say.andUp(cents(min)) : `${cents(min)} – ${cents(max)}`
      return radio('price', price(min, max), `${label} (${count})`, chosen === price(min, max))
    },
  )}</fieldset>`
}
<button class="button button-quiet">${say.apply}</button></form>`
}

const radio = (name: string, value: string, label: string, checked: boolean): Html =>
  html`<label class="radio"><input type="radio" name="${name}" value="${value}"${checked && html` checked`}><span>${label}</span></label>`

/** As long as the field is. */
const QUERY_LENGTH_MAX = 200

/** What a search page asks the platform for. Null while nothing is looked for. */
export function searchQuery(url: URL): URLSearchParams | null {
  const given = url.searchParams
  const q = readTyped(given.get('q'), QUERY_LENGTH_MAX)
  if (q === '') return null
  const [, min = '', max = ''] = /^(\d{0,12})-(\d{0,12})$/.exec(given.get('price') ?? '') ?? []
  const query = new URLSearchParams({ q, limit: String(PER_PAGE) })
  query.set('offset', String((readPage(url) - 1) * PER_PAGE))
  if (min !== '') query.set('price_min_cents', min)
  if (max !== '') query.set('price_max_cents', max)
  const collection = readTyped(given.get('collection'), QUERY_LENGTH_MAX)
  if (collection) query.set('collection', collection)
  const sort = SORTS.find((value) => value === given.get('sort'))
  if (sort !== undefined) query.set('sort', sort)
  return query
}
