import { isUnknownStore } from '../api/platform-client.ts'
import type { Collection, CollectionPage, Product, SearchResult } from '../api/types.ts'
import { frameHeaders, type HttpResponse, redirect } from '../http/response.ts'
import { countKept } from '../kept-bytes.ts'
import { type Page, pageEnd, pageHeader, pageStart } from '../layout/layout.ts'
import { cachedPage, notFoundPage, pageHtml, pageTitle, renderPage } from '../layout/page.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'
import { homeSections } from './home-view.ts'
import {
  filterAddress,
  hasEmptyFields,
  isFiltered,
  type ListFilters,
  readFilters,
  searchQuery,
} from './list-filters.ts'
import { framesOf } from './manifest-sections.ts'
import { PER_PAGE, placeAddress, placeLinks, readPlace } from './pager.ts'
import { productGrid } from './product-cards.ts'
import {
  collectionMain,
  collectionsMain,
  filteredCollectionMain,
  productListMain,
} from './product-list-view.ts'
import { namedVariant, productMain } from './product-view.ts'
import { type FoundProducts, type SearchHelp, searchMain } from './search-view.ts'
import { llmsTxt, robotsTxt, sitemapIndexXml, sitemapXml } from './seo.ts'
import { breadcrumbData, productData, storeData } from './structured-data.ts'

/** The pages that show the catalog. They change nothing. */

/** How long rendered sections are cached: as long as the answers that they are made from. */
const HOME_FRESH_MS = 2_000

interface RenderedHome {
  last: { collections: readonly Collection[]; hash: string; text: string; at: number } | null
}

export async function homePage(context: PageContext): Promise<HttpResponse> {
  const { api, site } = context
  // Read before the first byte is sent, so that an outage is an error page and not half of a page.
  const [collections, products] = await Promise.all([
    api.listCollections(site),
    api.listProducts(site, { limit: PER_PAGE }),
  ])
  const headers = frameHeaders(context.assetBaseUrl, framesOf(site.sections))
  const start = () => {
    const title = site.seo.title ?? site.brand.name
    const structuredData = [storeData(context)]
    return (
      pageStart(context, { title, canonical: '/', structuredData }) +
      pageHeader(context, collections)
    )
  }
  const { hash } = site
  const rendered = memoize<RenderedHome>(products, 'home', () => ({ last: null }))
  const { last } = rendered
  const isKept = last?.collections === collections && last.hash === hash
  if (isKept && Date.now() - last.at < HOME_FRESH_MS) {
    const render = () => start() + last.text + pageEnd(context)
    return {
      status: 200,
      headers,
      body: cachedPage(context, [products, last, collections], render),
    }
  }
  async function* parts() {
    yield start()
    let text = ''
    for await (const section of homeSections(context, products.total > 0)) {
      text += section
      yield section
    }
    yield pageEnd(context)
    countKept(products, 2 * (text.length - (rendered.last?.text.length ?? 0)))
    rendered.last = { collections, hash, text, at: Date.now() }
  }
  return { status: 200, headers, body: parts() }
}

export async function productPage(context: PageContext, slug: string): Promise<HttpResponse> {
  const { api, site } = context
  const found = await api.findProduct(site, slug)
  if (found === null) return notFoundPage(context, site.locale.texts.noProduct)
  const { product } = found
  api.countEvent(site, { type: 'view', product_id: product.id })
  const [related, collections] = await Promise.all([
    api.listRelated(site, product),
    api.listCollections(site),
  ])
  const page = (): Page => ({
    title: pageTitle(context, product.name),
    description: product.description ?? site.seo.description,
    canonical: `/products/${product.slug}`,
    imageRef: product.image_asset_ref,
    ogType: 'product',
    structuredData: [productData(context, product), breadcrumbData(context, found)],
    main: productMain(context, found, related),
  })
  const render = () => pageHtml(context, page(), collections)
  // A page for each of up to 500 variants would push the other pages out of the cache.
  if (namedVariant(context, product) !== null) return { status: 200, body: render() }
  return { status: 200, body: cachedPage(context, [found, related, collections], render) }
}

/** The most products that are shown: one row and the next one. */
const SEEN_MAX = 8

/**
 * Renders the products that this browser has seen, as the script names them, as a part of a page. Products that are no
 * longer sold are left out.
 */
export async function seenProducts(context: PageContext): Promise<HttpResponse> {
  const { api, site, url } = context
  const parts = (url.searchParams.get('slugs') ?? '').split(',', SEEN_MAX)
  const slugs = new Set(parts.filter((slug) => slug !== ''))
  const found = await Promise.all([...slugs].map((slug) => api.findProduct(site, slug)))
  const products = found.flatMap((each) => (each === null ? [] : [each.product]))
  const body = products.length === 0 ? '' : productGrid(context, { products }).text
  return { status: 200, body, headers: { 'x-robots-tag': 'noindex' } }
}

export async function productsPage(context: PageContext): Promise<HttpResponse> {
  const { api, site, url } = context
  const page = await api.listProducts(site, readPlace(url))
  const collections = await api.listCollections(site)
  const title = site.locale.texts.allProducts
  return renderPage(context, {
    title: pageTitle(context, title),
    canonical: placeAddress('/products', url),
    links: placeLinks(url, page),
    main: productListMain(context, page, collections),
  })
}

export async function collectionsPage(context: PageContext): Promise<HttpResponse> {
  const collections = await context.api.listCollections(context.site)
  return renderPage(context, {
    title: pageTitle(context, context.site.locale.texts.collections),
    canonical: '/collections',
    main: collectionsMain(context, collections),
  })
}

export async function collectionPage(context: PageContext, slug: string): Promise<HttpResponse> {
  const { api, site, url } = context
  const path = `/collections/${encodeURIComponent(slug)}`
  const filters: ListFilters = { ...readFilters(url), q: null, collection: null }
  if (hasEmptyFields(url)) return redirect(filterAddress(path, filters))
  // The platform searches live stores only.
  const isSorted = isFiltered(filters) && site.preview === null
  const place = isSorted ? { limit: PER_PAGE } : readPlace(url)
  const found = await api.findCollection(site, slug, place)
  if (found === null) return notFoundPage(context, site.locale.texts.noCollection)
  const { collection, products } = found
  const head = {
    title: pageTitle(context, collection.title),
    description: collection.description ?? site.seo.description,
    imageRef: products[0]?.image_asset_ref ?? null,
  }
  if (isSorted) {
    const result = await api.search(site, searchQuery({ ...filters, collection: slug }))
    const shown = await listOf(context, { path, filters, result })
    return renderPage(context, {
      ...head,
      main: filteredCollectionMain(context, collection, shown),
    })
  }
  return renderPage(context, {
    ...head,
    canonical: placeAddress(`/collections/${collection.slug}`, url),
    links: placeLinks(url, found),
    main: collectionMain(context, found, await filtersOf(context, found, filters)),
  })
}

/** More than one product can be sorted; fewer need no form. */
const SORTABLE_MIN = 2

/**
 * Finds the filters of a collection. Returns null if they are not worth a form, and if the platform cannot search now:
 * the collection is shown all the same.
 */
async function filtersOf(context: PageContext, page: CollectionPage, filters: ListFilters) {
  const { api, site } = context
  const { slug } = page.collection
  if (page.total < SORTABLE_MIN || site.preview !== null) return null
  const query = searchQuery({ ...filters, collection: slug, page: 1 }, 1)
  const result = await api.search(site, query).catch((error: unknown) => {
    if (isUnknownStore(error)) throw error
    return null
  })
  if (result === null) return null
  const path = `/collections/${encodeURIComponent(slug)}`
  return (await listOf(context, { path, filters: { ...filters, page: 1 }, result })).list
}

interface FoundInput {
  path: string
  filters: ListFilters
  result: SearchResult
}

async function listOf(
  context: PageContext,
  { path, filters, result }: FoundInput,
): Promise<FoundProducts> {
  const currency = await findCurrency(context, result.results)
  const { facets, result_count: count } = result
  return { result, list: { path, filters, facets, count, currency } }
}

/** Finds the store's one currency, from any product. The price filters need it even if nothing is found. */
async function findCurrency({ api, site }: PageContext, products: readonly Product[]) {
  const first = (list: readonly Product[]) => list.find(({ variants }) => variants.length > 0)
  const known =
    first(products) ?? first((await api.listProducts(site, { limit: PER_PAGE })).products)
  return known?.variants[0]?.currency ?? 'USD'
}

export async function searchPage(context: PageContext): Promise<HttpResponse> {
  const { api, site, url } = context
  const filters = readFilters(url)
  if (hasEmptyFields(url)) return redirect(filterAddress('/search', filters))
  // The platform searches live stores only.
  const canSearch = filters.q !== null && site.preview === null
  const result = canSearch ? await api.search(site, searchQuery(filters)) : null
  if (canSearch) api.countEvent(site, { type: 'search' })
  const found = result && (await listOf(context, { path: '/search', filters, result }))
  const help = result?.result_count === 0 ? await readHelp(context) : undefined
  return renderPage(context, {
    title: pageTitle(context, site.locale.texts.search),
    main: searchMain(context, found && { ...found, help }),
  })
}

/**
 * The collections that are offered to a shopper whose search has found nothing. As many as fit without scrolling far.
 */
const HELP_COLLECTIONS = 6
const HELP_PRODUCTS = 3

async function readHelp({ api, site }: PageContext): Promise<SearchHelp> {
  const [collections, { products }] = await Promise.all([
    api.listCollections(site),
    api.listProducts(site, { limit: HELP_PRODUCTS }),
  ])
  return { collections: collections.slice(0, HELP_COLLECTIONS), products }
}

/** The sitemap: of all products, or an index of its parts if there are many. */
export async function sitemap(context: PageContext): Promise<HttpResponse> {
  const { parts } = await context.api.readSitemap(context.site, 1)
  if (parts === 1) return sitemapPart(context, 1)
  return xml(sitemapIndexXml(context, parts))
}

/** One part of the sitemap. The first also has the pages that are not products. */
export async function sitemapPart(context: PageContext, part: number): Promise<HttpResponse> {
  const { api, site } = context
  const [{ products, parts }, collections] = await Promise.all([
    api.readSitemap(site, part),
    part === 1 ? api.listCollections(site) : null,
  ])
  if (part > parts) return notFoundPage(context)
  return xml(sitemapXml(context, products, collections))
}

const xml = (body: string): HttpResponse => ({
  status: 200,
  body,
  type: 'application/xml; charset=utf-8',
})

const plainText = (body: string): HttpResponse => ({
  status: 200,
  body,
  type: 'text/plain; charset=utf-8',
})

export const robots = async (context: PageContext): Promise<HttpResponse> =>
  plainText(robotsTxt(context))

export async function llms(context: PageContext): Promise<HttpResponse> {
  const collections = await context.api.listCollections(context.site)
  return plainText(llmsTxt(context, collections))
}
