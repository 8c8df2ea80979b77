import type { Collection } from '../api/types.ts'
import { frameHeaders, type HttpResponse } from '../http/response.ts'
import { type Page, pageEnd, pageHeader, pageStart } from '../layout/layout.ts'
import { cachedPage, notFoundPage, pageHtml, pageTitle, renderPage } from '../layout/page.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'
import { homeSections } from './home-view.ts'
import { framesOf } from './manifest-sections.ts'
import { PER_PAGE, placeAddress, placeLinks, readPlace } from './pager.ts'
import { productGrid } from './product-cards.ts'
import { collectionMain, collectionsMain, productListMain } from './product-list-view.ts'
import { namedVariant, productMain } from './product-view.ts'
import { searchMain, searchQuery } from './search-view.ts'
import {
  breadcrumbData,
  productData,
  robotsTxt,
  sitemapIndexXml,
  sitemapXml,
  storeData,
} from './seo.ts'

/** The pages that show the catalog. They change nothing. */

/** As long as the answers that the sections are made from. */
const HOME_FRESH_MS = 2_000

interface RenderedHome {
  last: { collections: readonly Collection[]; text: string; at: number } | null
}

export async function homePage(context: PageContext): Promise<HttpResponse> {
  const { api, site } = context
  const page = {
    title: site.seo.title ?? site.brand.name,
    canonical: '/',
    structuredData: [storeData(context)],
  }
  // Read before the first byte is sent, so that an outage is an error page and not half of a page.
  const [collections, products] = await Promise.all([
    api.listCollections(site),
    api.listProducts(site, { limit: PER_PAGE }),
  ])
  const headers = frameHeaders(context.assetBaseUrl, framesOf(site.sections))
  const start = () => pageStart(context, page) + pageHeader(context, collections)
  const rendered = memoize<RenderedHome>(products, 'home', () => ({ last: null }), site.hash)
  const { last } = rendered
  if (last?.collections === collections && Date.now() - last.at < HOME_FRESH_MS) {
    const render = () => start() + last.text + pageEnd(context)
    return { status: 200, headers, body: cachedPage(context, [last, collections], render) }
  }
  async function* parts() {
    yield start()
    let text = ''
    for await (const section of homeSections(context, products.total > 0)) {
      text += section
      yield section
    }
    yield pageEnd(context)
    rendered.last = { collections, text, at: Date.now() }
  }
  return { status: 200, headers, body: parts() }
}

export async function productPage(context: PageContext, slug: string): Promise<HttpResponse> {
  const { api, site } = context
  const found = await api.findProduct(site, slug)
  if (found === null) return notFoundPage(context, site.locale.texts.noProduct)
  const { product } = found
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
  // One page for each of up to 500 variants would drive the others from the cache.
  if (namedVariant(context, product) !== null) return { status: 200, body: render() }
  return { status: 200, body: cachedPage(context, [found, related, collections], render) }
}

/** As many as one row and the next one. */
const SEEN_MAX = 8

/**
 * The products that the script says this browser has seen, as a part of a page. Those that are no
 * longer sold are left out.
 */
export async function seenProducts(context: PageContext): Promise<HttpResponse> {
  const { api, site, url } = context
  const asked = (url.searchParams.get('slugs') ?? '').split(',', SEEN_MAX)
  const slugs = new Set(asked.filter((slug) => slug !== ''))
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
    main: productListMain(context, { title, page, collections }),
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
  const found = await api.findCollection(site, slug, readPlace(url))
  if (found === null) return notFoundPage(context, site.locale.texts.noCollection)
  const { collection, products } = found
  return renderPage(context, {
    title: pageTitle(context, collection.title),
    description: collection.description ?? site.seo.description,
    canonical: placeAddress(`/collections/${collection.slug}`, url),
    links: placeLinks(url, found),
    imageRef: products[0]?.image_asset_ref ?? null,
    main: collectionMain(context, found),
  })
}

export async function searchPage(context: PageContext): Promise<HttpResponse> {
  const { api, site, url } = context
  const query = searchQuery(url)
  // The platform searches live stores only.
  const result = query === null || site.preview !== null ? null : await api.search(site, query)
  return renderPage(context, {
    title: pageTitle(context, site.locale.texts.search),
    main: searchMain(context, result),
  })
}

/** The sitemap: of all products, or an index of its parts where there are many. */
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

export const robots = async (context: PageContext): Promise<HttpResponse> => ({
  status: 200,
  body: robotsTxt(context),
  type: 'text/plain; charset=utf-8',
})
