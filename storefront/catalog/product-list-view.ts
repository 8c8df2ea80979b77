import type { Collection, CollectionPage, ProductPage } from '../api/types.ts'
import { type Html, html, paragraphs } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { placePager } from './pager.ts'
import { productGrid } from './product-cards.ts'

interface ProductList {
  title: string
  description?: string | null
  page: ProductPage
  /** Links to collections, above the products. */
  collections?: readonly Collection[]
}

export function productListMain(
  context: PageContext,
  { title, description, page, collections = [] }: ProductList,
): Html {
  const { texts } = context.site.locale
  const { products, total } = page
  return html`<div class="wrap list"><header class="list-head"><h1>${title}</h1>${
    description && html`<div class="lead">${paragraphs(description)}</div>`
  }<p class="count">${page.total_is_estimate ? texts.moreProducts(total) : texts.products(total)}</p></header>
${
  collections.length > 0 &&
  html`<ul class="chips" aria-label="${texts.collections}">${collections.map(
    (each) => html`<li><a class="chip" href="/collections/${each.slug}">${each.title}</a></li>`,
  )}</ul>`
}
${products.length === 0 ? html`<p class="empty">${texts.noProducts}</p>` : productGrid(context, { products })}
${placePager(context, page)}</div>`
}

export const collectionMain = (context: PageContext, page: CollectionPage): Html =>
  productListMain(context, {
    title: page.collection.title,
    description: page.collection.description,
    page,
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
