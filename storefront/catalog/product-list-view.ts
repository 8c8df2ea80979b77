import type { Collection, CollectionDetail, Product } from '../api/types.ts'
import { type Html, html, paragraphs } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { PER_PAGE, pager, readPageNumber } from './pager.ts'
import { productGrid } from './product-cards.ts'

interface ProductList {
  title: string
  description?: string | null
  products: readonly Product[]
  /** Links to collections, above the products. */
  collections?: readonly Collection[]
}

export function productListMain(
  context: PageContext,
  { title, description, products, collections = [] }: ProductList,
): Html {
  const pages = Math.ceil(products.length / PER_PAGE)
  const page = Math.max(1, Math.min(readPageNumber(context.url), pages))
  const { texts } = context.site.locale
  const shown = products.slice((page - 1) * PER_PAGE, page * PER_PAGE)
  return html`<div class="wrap list"><header class="list-head"><h1>${title}</h1>${
    description && html`<div class="lead">${paragraphs(description)}</div>`
  }<p class="count">${texts.products(products.length)}</p></header>
${
  collections.length > 0 &&
  html`<ul class="chips" aria-label="${texts.collections}">${collections.map(
    (each) => html`<li><a class="chip" href="/collections/${each.slug}">${each.title}</a></li>`,
  )}</ul>`
}
${shown.length === 0 ? html`<p class="empty">${texts.noProducts}</p>` : productGrid(context, { products: shown })}
${pager(context, page, pages)}</div>`
}

export const collectionMain = (
  context: PageContext,
  { collection, products }: CollectionDetail,
): Html =>
  productListMain(context, {
    title: collection.title,
    description: collection.description,
    products,
  })

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
