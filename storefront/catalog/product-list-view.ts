import type { Collection, CollectionPage, ProductPage } from '../api/types.ts'
import { type Html, html, paragraphs } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { type FilteredList, filteredList } from './filter-view.ts'
import { placePager } from './pager.ts'
import { productGrid } from './product-cards.ts'
import { type FoundProducts, foundProducts } from './search-view.ts'

interface ProductList {
  title: string
  description?: string | null
  count: string
  /** Links to collections, above the products. */
  collections?: readonly Collection[]
  /** The products, in any form. */
  shown: Html
}

function listMain({ site }: PageContext, list: ProductList): Html {
  const { title, description, count, collections = [], shown } = list
  const { texts } = site.locale
  return html`<div class="wrap list"><header class="list-head"><h1>${title}</h1>${
    description && html`<div class="lead">${paragraphs(description)}</div>`
  }<p class="count" id="count" role="status">${count}</p></header>
${
  collections.length > 0 &&
  html`<ul class="chips" aria-label="${texts.collections}">${collections.map(
    (each) => html`<li><a class="chip" href="/collections/${each.slug}">${each.title}</a></li>`,
  )}</ul>`
}
${shown}</div>`
}

const countOf = ({ site }: PageContext, { total, total_is_estimate }: ProductPage): string => {
  const { texts } = site.locale
  return total_is_estimate ? texts.moreProducts({ count: total }) : texts.products({ count: total })
}

/** A page of products in the list's own order. */
function plainProducts(context: PageContext, page: ProductPage, columns: number): Html {
  const { products } = page
  const { texts } = context.site.locale
  if (products.length === 0) return html`<p class="empty">${texts.noProducts}</p>`
  return html`${productGrid(context, { products, columns })}${placePager(context, page)}`
}

/** All products of the store. */
export function productListMain(
  context: PageContext,
  page: ProductPage,
  collections: readonly Collection[],
): Html {
  const title = context.site.locale.texts.allProducts
  const shown = plainProducts(context, page, 4)
  return listMain(context, { title, count: countOf(context, page), collections, shown })
}

/** A collection. `list` is null if there is nothing to sort, or if the platform cannot search. */
export function collectionMain(
  context: PageContext,
  page: CollectionPage,
  list: FilteredList | null,
): Html {
  const { title, description } = page.collection
  const count = countOf(context, page)
  if (list === null) {
    return listMain(context, { title, description, count, shown: plainProducts(context, page, 4) })
  }
  const shown = filteredList(context, list, plainProducts(context, page, 3))
  return listMain(context, { title, description, count, shown })
}

/** A collection that a shopper has sorted or filtered. */
export function filteredCollectionMain(
  context: PageContext,
  { title, description }: Collection,
  found: FoundProducts,
): Html {
  const count = context.site.locale.texts.products({ count: found.result.result_count })
  const shown = filteredList(context, found.list, foundProducts(context, found))
  return listMain(context, { title, description, count, shown })
}

export function collectionsMain({ site }: PageContext, collections: readonly Collection[]): Html {
  const { texts } = site.locale
  const tiles = collections.map(
    ({ slug, title, description }) =>
      html`<li class="tile tile-plain"><a href="/collections/${slug}"><span class="tile-text"><span class="tile-title">${title}</span>${description && html`<span class="tile-description">${description}</span>`}</span></a></li>`,
  )
  return html`<div class="wrap list"><header class="list-head"><h1>${texts.collections}</h1></header>${
    tiles.length === 0
      ? html`<p class="empty">${texts.noCollections}</p>`
      : html`<ul class="tiles">${tiles}</ul>`
  }</div>`
}
