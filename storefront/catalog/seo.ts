import type { Collection, FoundProduct, Product, SitemapPart, Variant } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import { assetUrl } from '../layout/images.ts'
import { measureData } from '../layout/measure-price.ts'
import type { PageContext } from '../request-context.ts'
import { pagePath } from '../site/pages.ts'
import { decimalAmount } from '../translations/locale.ts'

/** What search engines read: structured data, the sitemap and robots.txt. */

/** A product as an object of schema.org. */
export function productData(context: PageContext, product: Product): unknown {
  const { site, origin } = context
  const url = `${origin}/products/${product.slug}`
  const images = product.images.flatMap(({ asset_ref }) => {
    const source = assetUrl(context, asset_ref)
    if (source === null) return []
    return [`${source.startsWith('/') ? origin : ''}${source}?w=1280`]
  })
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: product.name,
    url,
    ...(product.description === null ? {} : { description: product.description }),
    ...(images.length === 0 ? {} : { image: images }),
    ...(product.variants[0] === undefined ? {} : { sku: product.variants[0].sku }),
    brand: { '@type': 'Brand', name: site.brand.name },
    offers: product.variants.map((variant) => ({
      ...offerData(variant),
      url: product.variants.length === 1 ? url : `${url}?variant=${variant.id}`,
      seller: { '@type': 'Organization', name: site.brand.name },
    })),
  }
}

function offerData(variant: Variant): object {
  const { sku, label, price_cents, currency, available } = variant
  const price = decimalAmount(price_cents, currency)
  return {
    '@type': 'Offer',
    sku,
    ...(label === null ? {} : { name: label }),
    price,
    priceCurrency: currency,
    ...measureData(variant, price),
    availability: `https://schema.org/${available ? 'InStock' : 'OutOfStock'}`,
  }
}

/** The way to a product: through its first collection, or through the list of all products. */
export function productTrail(context: PageContext, { product, collections }: FoundProduct) {
  const { texts } = context.site.locale
  const [first] = collections
  return [
    { name: texts.home, path: '/' },
    first === undefined
      ? { name: texts.all, path: '/products' }
      : { name: first.title, path: `/collections/${first.slug}` },
    { name: product.name, path: `/products/${product.slug}` },
  ]
}

export const breadcrumbData = (context: PageContext, found: FoundProduct): unknown => ({
  '@context': 'https://schema.org',
  '@type': 'BreadcrumbList',
  itemListElement: productTrail(context, found).map(({ name, path }, at) => ({
    '@type': 'ListItem',
    position: at + 1,
    name,
    item: context.origin + path,
  })),
})

/** The store as an object of schema.org. */
export const storeData = ({ site, origin }: PageContext): unknown => ({
  '@context': 'https://schema.org',
  '@type': 'OnlineStore',
  name: site.brand.name,
  url: `${origin}/`,
  ...(site.seo.description === null ? {} : { description: site.seo.description }),
})

const SITEMAP_SCHEMA = 'http://www.sitemaps.org/schemas/sitemap/0.9'

const location = ({ origin }: PageContext, path: string): Html =>
  html`<loc>${new URL(path, origin).href}</loc>`

/** The first part names the store's other pages too; later parts have no collections. */
export function sitemapXml(
  context: PageContext,
  products: SitemapPart['products'],
  collections: readonly Collection[] | null,
): string {
  const pages =
    collections === null
      ? []
      : [
          ...['/', '/products', '/collections'],
          ...collections.map(({ slug }) => `/collections/${slug}`),
          ...context.site.pages.map(pagePath),
        ]
  const list = [
    ...pages.map((path) => html`<url>${location(context, path)}</url>`),
    ...products.map(
      ({ slug, updated_at }) =>
        html`<url>${location(context, `/products/${slug}`)}<lastmod>${updated_at}</lastmod></url>`,
    ),
  ]
  return html`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="${SITEMAP_SCHEMA}">${list}</urlset>
`.text
}

export function sitemapIndexXml(context: PageContext, parts: number): string {
  const list = Array.from(
    { length: parts },
    (_, at) => html`<sitemap>${location(context, `/sitemap-${at + 1}.xml`)}</sitemap>`,
  )
  return html`<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="${SITEMAP_SCHEMA}">${list}</sitemapindex>
`.text
}

export const robotsTxt = ({ origin, site }: PageContext): string =>
  site.preview === null
    ? `User-agent: *\nDisallow: /cart\nDisallow: /checkout\nDisallow: /orders\nDisallow: /search\nDisallow: /recently-seen\n\nSitemap: ${origin}/sitemap.xml\n`
    : 'User-agent: *\nDisallow: /\n'
