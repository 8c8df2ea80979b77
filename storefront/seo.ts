import { html } from './html.ts'
import { sourceOf } from './pictures.ts'
import type { Collection, Product } from './types.ts'
import type { Visit } from './visit.ts'
import { minorOf } from './words.ts'

/** What search engines are told: facts about a product, the list of pages, what not to look at. */

/** Schema.org wants the price as a decimal with a point, whatever the language of the store. */
const decimal = (cents: number, currency: string): string =>
  (cents / minorOf(currency)).toFixed(String(minorOf(currency)).length - 1)

export function productFacts(visit: Visit, product: Product): unknown {
  const { site, origin, cdn } = visit
  const url = `${origin}/products/${product.slug}`
  const pictures = product.images.flatMap(({ asset_ref }) => {
    const source = sourceOf(asset_ref, site.tenant, cdn)
    if (source === null) return []
    return [`${source.startsWith('/') ? origin : ''}${source}?w=1280`]
  })
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: product.name,
    url,
    ...(product.description === null ? {} : { description: product.description }),
    ...(pictures.length === 0 ? {} : { image: pictures }),
    ...(product.variants[0] === undefined ? {} : { sku: product.variants[0].sku }),
    brand: { '@type': 'Brand', name: site.brand.name },
    offers: product.variants.map(({ sku, label, price_cents, currency }) => ({
      '@type': 'Offer',
      sku,
      ...(label === null ? {} : { name: label }),
      price: decimal(price_cents, currency),
      priceCurrency: currency,
      url,
      seller: { '@type': 'Organization', name: site.brand.name },
    })),
  }
}

export const storeFacts = ({ site, origin }: Visit): unknown => ({
  '@context': 'https://schema.org',
  '@type': 'OnlineStore',
  name: site.brand.name,
  url: `${origin}/`,
  ...(site.seo.description === null ? {} : { description: site.seo.description }),
})

/** As many addresses as one file may hold. */
const ADDRESSES_MAX = 50_000

export function sitemap(
  { origin }: Visit,
  products: readonly Product[],
  collections: readonly Collection[],
): string {
  const paths = [
    '/',
    '/products',
    '/collections',
    ...collections.map(({ slug }) => `/collections/${slug}`),
    ...products.map(({ slug }) => `/products/${slug}`),
  ].slice(0, ADDRESSES_MAX)
  const list = paths.map((path) => html`<url><loc>${new URL(path, origin).href}</loc></url>`)
  return html`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${list}</urlset>
`.text
}

export const robots = ({ origin, site }: Visit): string =>
  site.preview === null
    ? `User-agent: *\nDisallow: /cart\nDisallow: /checkout\nDisallow: /orders\nDisallow: /search\n\nSitemap: ${origin}/sitemap.xml\n`
    : 'User-agent: *\nDisallow: /\n'
