import type { SearchResult } from '../api/types.ts'
import { closeButton } from '../layout/header.ts'
import { type Html, html } from '../layout/html.ts'
import { CLOSE_ICON, FILTER_ICON } from '../layout/icons.ts'
import type { PageContext } from '../request-context.ts'
import { filterAddress, type ListFilters, SORTS } from './list-filters.ts'

/** A list that a shopper can sort and filter. */
export interface FilteredList {
  /** The path of its form: `/search`, or that of a collection. */
  path: string
  filters: ListFilters
  facets: SearchResult['facets']
  /** How many products there are, with the filters. */
  count: number
  currency: string
}

/**
 * Filters and order beside a list. On a phone the form is a sheet, which the browser itself opens;
 * it is a plain form that works without the script. The script replaces `#facets` and `#found`.
 */
export function filteredList(context: PageContext, list: FilteredList, found: Html): Html {
  const { texts } = context.site.locale
  const chosen = chosenFilters(context, list)
  return html`<div class="filtered"><button type="button" class="button button-quiet filter-button" popovertarget="filters">${FILTER_ICON}<span>${texts.filterAndSort}</span><span class="filter-count" id="filter-count">${chosen.length > 0 && chosen.length}</span></button>
<form class="filters" id="filters" popover action="${list.path}" data-facets>${filterForm(context, list)}</form>
<div id="found">${chips(context, list, chosen)}${found}</div></div>`
}

interface ChosenFilter {
  label: string
  /** The address of the list without this filter. */
  without: string
}

function chosenFilters(context: PageContext, list: FilteredList): ChosenFilter[] {
  const { path, filters, facets } = list
  const chosen: ChosenFilter[] = []
  const without = (change: Partial<ListFilters>) =>
    filterAddress(path, { ...filters, page: 1, ...change })
  if (filters.collection !== null) {
    const known = facets.collections.find(({ slug }) => slug === filters.collection)
    const label = known?.title ?? filters.collection
    chosen.push({ label, without: without({ collection: null }) })
  }
  if (filters.price !== null) {
    const [min = '', max = ''] = filters.price.split('-')
    const label = priceRange(context, list, Number(min), max === '' ? null : Number(max))
    chosen.push({ label, without: without({ price: null }) })
  }
  return chosen
}

function priceRange({ site }: PageContext, list: FilteredList, min: number, max: number | null) {
  const { texts, formatMoney } = site.locale
  const money = (cents: number) => formatMoney(cents, list.currency)
  return max === null ? texts.andUp({ price: money(min) }) : `${money(min)} – ${money(max)}`
}

/** Links that each remove one of the chosen filters. */
function chips(
  { site }: PageContext,
  { path, filters }: FilteredList,
  chosen: readonly ChosenFilter[],
): Html | null {
  if (chosen.length === 0) return null
  const { texts } = site.locale
  const none = filterAddress(path, { ...filters, collection: null, price: null, page: 1 })
  return html`<ul class="chips" aria-label="${texts.chosenFilters}">${chosen.map(
    ({ label, without }) =>
      html`<li><a class="chip chip-remove" href="${without}"><span class="hidden">${texts.removeFilter} </span>${label}${CLOSE_ICON}</a></li>`,
  )}${chosen.length > 1 && html`<li><a class="chip chip-plain" href="${none}">${texts.removeFilters}</a></li>`}</ul>`
}

function filterForm(context: PageContext, list: FilteredList): Html {
  const { texts } = context.site.locale
  const { q, sort } = list.filters
  const isSearch = q !== null
  return html`<div class="sheet-head"><h2>${texts.filterAndSort}</h2>${closeButton(context, 'filters')}</div>
<div class="facets" id="facets">${isSearch && html`<input type="hidden" name="q" value="${q}">`}
<label class="field"><span>${texts.sortBy}</span><select name="sort">${SORTS.map((value) => {
    const label = value === 'relevance' && !isSearch ? texts.featured : texts.sorts[value]
    return html`<option value="${value}"${sort === value && html` selected`}>${label}</option>`
  })}</select></label>
${isSearch && collectionFacet(context, list)}
${priceFacet(context, list)}
<button class="button button-wide apply">${texts.showProducts({ count: list.count })}</button></div>`
}

function collectionFacet({ site }: PageContext, { facets, filters }: FilteredList): Html | null {
  if (facets.collections.length === 0) return null
  const { texts, formatNumber } = site.locale
  const chosen = filters.collection ?? ''
  return html`<fieldset><legend>${texts.collection}</legend>${radio('collection', '', texts.all, chosen === '')}${facets.collections.map(
    ({ slug, title, count }) =>
      radio('collection', slug, `${title} (${formatNumber(count)})`, chosen === slug),
  )}</fieldset>`
}

function priceFacet(context: PageContext, list: FilteredList): Html | null {
  const { facets, filters } = list
  if (facets.price_buckets.length === 0) return null
  const { texts, formatNumber } = context.site.locale
  return html`<fieldset><legend>${texts.price}</legend>${radio('price', '', texts.anyPrice, filters.price === null)}${facets.price_buckets.map(
    ({ min_cents: min, max_cents: max, count }) => {
      const value = `${min}-${max ?? ''}`
      const label = priceRange(context, list, min, max)
      return radio('price', value, `${label} (${formatNumber(count)})`, filters.price === value)
    },
  )}</fieldset>`
}

const radio = (name: string, value: string, label: string, checked: boolean): Html =>
  html`<label class="radio"><input type="radio" name="${name}" value="${value}"${checked && html` checked`}><span>${label}</span></label>`
