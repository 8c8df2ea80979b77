import type { Collection } from '../api/types.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'
import { pagePath } from '../site/pages.ts'
import { sectionsOf } from '../site/sections.ts'
import { header, menuLinks } from './header.ts'
import { type Html, html, jsonScript, trusted } from './html.ts'
import { assetUrl } from './images.ts'

/** A page before it is rendered: the contents of its head, and its main part. */
export interface Page {
  title: string
  description?: string | null
  /**
   * The page's one address, without the host. Left out for pages that search engines should not
   * keep.
   */
  canonical?: string
  /** The addresses of the previous and the next page, for a list with pages. */
  links?: { prev: string | null; next: string | null }
  /** The image that is shown where the page is shared. */
  imageRef?: string | null
  /** Objects of schema.org. */
  structuredData?: readonly unknown[]
  ogType?: 'website' | 'product'
  main: Html
  status?: number
}

/** The page up to its header. It needs no answer of the catalog, so it can be sent at once. */
export function pageStart(context: PageContext, page: Omit<Page, 'main'>): string {
  const { site } = context
  const attributes = Object.entries(site.theme.layout).map(([name, value]) => `${name}="${value}"`)
  return html`<!doctype html>
<html lang="${site.locale.language}" dir="${site.direction}"${site.locale.isRightToLeft && html` data-bidi`} ${trusted(attributes.join(' '))}>
${head(context, page)}
<body>
<a class="skip" href="#main">${site.locale.texts.skipToContent}</a>
${sandboxBar(context)}${previewRibbon(context)}`.text
}

/** The page from its header to the beginning of its main part. */
export const pageHeader = (context: PageContext, collections: readonly Collection[]): string =>
  html`${announcements(context)}${header(context, collections)}
<main id="main" tabindex="-1">`.text

/** The page from the end of its main part to its own end. */
export const pageEnd = (context: PageContext): string =>
  html`</main>
${footer(context)}
</body>
</html>
`.text

function head(context: PageContext, page: Omit<Page, 'main'>): Html {
  const { site, files, origin } = context
  const { title, description = site.seo.description, canonical, structuredData = [] } = page
  const isHidden = canonical === undefined || site.preview !== null || site.isSandbox
  const address = `${origin}${canonical ?? ''}`
  const url = assetUrl(context, page.imageRef ?? site.brand.ogImageRef)
  const image = url?.startsWith('/') ? origin + url : url
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${description && html`<meta name="description" content="${description.slice(0, 300)}">`}
${isHidden ? html`<meta name="robots" content="noindex">` : html`<link rel="canonical" href="${address}">`}
${page.links?.prev && html`<link rel="prev" href="${origin}${page.links.prev}">`}
${page.links?.next && html`<link rel="next" href="${origin}${page.links.next}">`}
<meta name="theme-color" content="${site.theme.backgroundColour}">
<meta name="color-scheme" content="${site.theme.scheme}">
<meta property="og:site_name" content="${site.brand.name}">
<meta property="og:title" content="${title}">
<meta property="og:type" content="${page.ogType ?? 'website'}">
${description && html`<meta property="og:description" content="${description.slice(0, 300)}">`}
${!isHidden && html`<meta property="og:url" content="${address}">`}
${image && html`<meta property="og:image" content="${image}?w=1280">`}
${favicon(context)}
${site.theme.bodyFont && html`<link rel="preload" href="${site.theme.bodyFont}" as="font" type="font/woff2" crossorigin>`}
<link rel="stylesheet" href="${files.styleSheet}">
<script type="module" src="${files.script}"></script>
${structuredData.map((each) => html`<script type="application/ld+json">${jsonScript(each)}</script>`)}
</head>`
}

/** The store's own icon; else the first letter of its name. */
function favicon(context: PageContext): Html {
  const own = assetUrl(context, context.site.brand.faviconRef)
  return own === null
    ? html`<link rel="icon" href="${context.files.icon}" type="image/svg+xml">`
    : html`<link rel="icon" href="${own}?w=160">`
}

/** Says on every page that the store is a sandbox: an order there must not be mistaken for a purchase. */
const sandboxBar = ({ site }: PageContext): Html | null =>
  site.isSandbox
    ? html`<aside class="sandbox-bar" aria-label="${site.locale.texts.sandbox}"><strong>${site.locale.texts.sandbox}</strong> <span>${site.locale.texts.sandboxNote}</span></aside>
`
    : null

function previewRibbon({ site }: PageContext): Html | null {
  if (site.preview === null) return null
  const { texts, formatTime } = site.locale
  return html`<aside class="ribbon" aria-label="${texts.preview}"><strong>${texts.preview}</strong> <span>${texts.previewNote({ until: formatTime(site.preview.expiresAt) })}</span> <a href="/?preview=">${texts.leavePreview}</a></aside>`
}

/** The `announcement` sections of the manifest, which stand above every page. */
const announcements = ({ site }: PageContext): Html | null =>
  memoize(site, 'announcements', () => {
    const shown = sectionsOf(site, 'announcement').flatMap(({ props: { text, href } }) => {
      if (text === null) return []
      return [
        html`<p class="announcement">${href === null ? text : html`<a href="${href}">${text}</a>`}</p>`,
      ]
    })
    if (shown.length === 0) return null
    return html`<aside aria-label="${site.locale.texts.announcements}">${shown}</aside>`
  })

/** The last `footer` section of the manifest, which stands below every page. It may be missing. */
const footer = ({ site }: PageContext): Html =>
  memoize(site, 'footer', () => {
    const { brand, locale } = site
    const { texts } = locale
    const { links = [], text = null } = sectionsOf(site, 'footer').at(-1)?.props ?? {}
    const own = links.flatMap(({ label, href }) =>
      href === null ? [] : [{ label: label ?? href, href }],
    )
    const pages = site.pages.map((page) => ({ label: page.title, href: pagePath(page) }))
    const items = menuLinks([
      ...own,
      ...(site.menus.footer ?? pages),
      { label: texts.allProducts, href: '/products' },
      ...(site.hasAccounts ? [{ label: texts.yourOrders, href: '/orders' }] : []),
    ])
    return html`<footer class="page-footer"><div class="wrap page-footer-row">
<div class="page-footer-brand"><p class="page-footer-name">${brand.name}</p>${brand.tagline && html`<p>${brand.tagline}</p>`}</div>
<nav aria-label="${texts.footer}"><ul>${items}</ul></nav>
${text && html`<p class="page-footer-text">${text}</p>`}
</div></footer>`
  })
