import type { Collection, SitemapPart } from '../api/types.ts'
import { FEED_FILES } from '../http/feed-proxy.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { pagePath } from '../site/pages.ts'

/** What crawlers read first: the sitemap, robots.txt and llms.txt. */

const SITEMAP_SCHEMA = 'http://www.sitemaps.org/schemas/sitemap/0.9'

const location = ({ origin }: PageContext, path: string): Html =>
  html`<loc>${new URL(path, origin).href}</loc>`

/** Writes one part of the sitemap. The first names the store's other pages, too; later ones get no collections. */
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

/** Pages of one shopper, forms, and lists in an order of their own: of no use in a search engine. */
const UNLISTED = ['/cart', '/checkout', '/orders', '/search', '/recently-seen', '/newsletter']

export function robotsTxt({ origin, site }: PageContext): string {
  if (site.preview !== null) return 'User-agent: *\nDisallow: /\n'
  const rules = UNLISTED.map((path) => `Disallow: ${path}`)
  return ['User-agent: *', ...rules, '', `Sitemap: ${origin}/sitemap.xml`, ''].join('\n')
}

/** The most collections in llms.txt: few enough for a reader with little memory. The sitemap has all. */
const LLMS_COLLECTIONS_MAX = 100

/** A text of a merchant inside of Markdown: one line that begins no link and no markup. */
const plain = (text: string): string =>
  text
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim()
    .replace(/[\\`*_[\]()<>#|]/g, '\\$&')

interface Entry {
  name: string
  path: string
  about: string | null
}

/** A summary of the store for language models, in the form that llmstxt.org proposes. */
export function llmsTxt(context: PageContext, collections: readonly Collection[]): string {
  const { site, origin } = context
  const { texts } = site.locale
  const toLine = ({ name, path, about }: Entry) => {
    const link = `- [${plain(name)}](${new URL(path, origin).href})`
    return about === null ? link : `${link}: ${plain(about)}`
  }
  const about = site.seo.description ?? site.brand.tagline
  const sections: [string, Entry[]][] = [
    [
      texts.allProducts,
      [
        { name: texts.allProducts, path: '/products', about: null },
        ...collections.slice(0, LLMS_COLLECTIONS_MAX).map(({ slug, title, description }) => ({
          name: title,
          path: `/collections/${encodeURIComponent(slug)}`,
          about: description,
        })),
      ],
    ],
    [
      site.brand.name,
      site.pages.map((page) => ({
        name: page.title,
        path: pagePath(page),
        about: page.description,
      })),
    ],
    [
      'Data',
      [
        ...(site.preview === null ? FEED_FILES : []).map((file) => ({
          name: file,
          path: `/feeds/${file}`,
          about: 'Every product with price and availability, one line for each variant.',
        })),
        { name: 'sitemap.xml', path: '/sitemap.xml', about: 'The addresses of all pages.' },
      ],
    ],
  ]
  return [
    `# ${plain(site.brand.name)}`,
    ...(about === null ? [] : [`> ${plain(about)}`]),
    ...sections.flatMap(([title, entries]) =>
      entries.length === 0 ? [] : [`## ${plain(title)}\n\n${entries.map(toLine).join('\n')}`],
    ),
    '',
  ].join('\n\n')
}
