import { countOf } from '../cart.ts'
import { type Html, html, jsonScript, trusted } from '../html.ts'
import { sourceOf } from '../pictures.ts'
import type { Collection } from '../types.ts'
import { remember, type Visit } from '../visit.ts'
import { announcement, footer } from './sections-text.ts'

/** A page before it is written: what stands in its head, and what it shows. */
export interface Page {
  title: string
  description?: string | null
  /** Its one address, without the host. Left out for pages that no search engine should keep. */
  canonical?: string
  /** Of a picture, for whoever shares the page. */
  imageRef?: string | null
  facts?: readonly unknown[]
  kind?: 'website' | 'product'
  main: Html
  status?: number
}

const NAV_MAX = 6

/** Everything before the page's own part: it depends on nothing that has to be waited for. */
export function opening(visit: Visit, page: Omit<Page, 'main'>): string {
  const { site } = visit
  const attributes = Object.entries(site.look.layout).map(([name, value]) => `${name}="${value}"`)
  return html`<!doctype html>
<html lang="${site.words.language}" ${trusted(attributes.join(' '))}>
${head(visit, page)}
<body>
<a class="skip" href="#main">${site.words.say.skip}</a>
${ribbon(visit)}`.text
}

export const middle = (visit: Visit, collections: readonly Collection[]): string =>
  html`${announcement(visit)}${header(visit, collections)}
<main id="main" tabindex="-1">`.text

export const ending = (visit: Visit): string =>
  html`</main>
${footer(visit)}
<div id="said" role="status" aria-live="polite"></div>
</body>
</html>
`.text

function head({ site, files, origin, cdn }: Visit, page: Omit<Page, 'main'>): Html {
  const { title, description = site.seo.description, canonical, facts = [], kind } = page
  const isHidden = canonical === undefined || site.preview !== null
  const address = `${origin}${canonical ?? ''}`
  const source = sourceOf(page.imageRef ?? site.brand.ogImageRef, site.tenant, cdn)
  const image = source?.startsWith('/') ? origin + source : source
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${description && html`<meta name="description" content="${description.slice(0, 300)}">`}
${isHidden ? html`<meta name="robots" content="noindex">` : html`<link rel="canonical" href="${address}">`}
<meta name="theme-color" content="${site.look.themeColour}">
<meta name="color-scheme" content="${site.look.scheme}">
<meta property="og:site_name" content="${site.brand.name}">
<meta property="og:title" content="${title}">
<meta property="og:type" content="${kind ?? 'website'}">
${description && html`<meta property="og:description" content="${description.slice(0, 300)}">`}
${!isHidden && html`<meta property="og:url" content="${address}">`}
${image && html`<meta property="og:image" content="${image}?w=1280">`}
<link rel="icon" href="${files.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${files.sheet}">
<script type="module" src="${files.script}"></script>
${facts.map((fact) => html`<script type="application/ld+json">${jsonScript(fact)}</script>`)}
</head>`
}

function ribbon({ site }: Visit): Html | null {
  if (site.preview === null) return null
  const { say, moment } = site.words
  return html`<aside class="ribbon" aria-label="${say.preview}"><strong>${say.preview}</strong> <span>${say.previewWords(moment(site.preview.expiresAt))}</span> <a href="/?preview=">${say.leavePreview}</a></aside>`
}

function header(visit: Visit, collections: readonly Collection[]): Html {
  const { site, cart } = visit
  const count = countOf(cart)
  const { say } = site.words
  return html`<header class="top"><div class="wrap top-row">
${brand(visit)}
${remember(collections, 'nav', () => navigation(visit, collections), site.hash)}
<div class="top-tools">${site.hasSearch && searchBox(visit)}
<a class="tool" href="/cart" data-cart aria-label="${say.cartItems(count)}">${CART}<span class="badge" data-count="${count}">${count}</span></a></div>
</div></header>`
}

function brand({ site, cdn }: Visit): Html {
  const { name, logoRef } = site.brand
  const logo = sourceOf(logoRef, site.tenant, cdn)
  return html`<a class="brand" href="/">${logo === null ? name : html`<img src="${logo}" alt="${name}">`}</a>`
}

const navigation = ({ site }: Visit, collections: readonly Collection[]): Html =>
  html`<nav class="nav" aria-label="${site.words.say.shop}"><ul><li><a href="/products">${site.words.say.all}</a></li>${collections
    .slice(0, NAV_MAX)
    .map(
      ({ slug, title }) => html`<li><a href="/collections/${slug}">${title}</a></li>`,
    )}</ul></nav>`

const searchBox = ({
  url,
  site: {
    words: { say },
  },
}: Visit): Html => html`<form class="find" action="/search" role="search">
<label class="hidden" for="find">${say.searchStore}</label>
<input id="find" name="q" type="search" placeholder="${say.search}" autocomplete="off" maxlength="200" value="${
  url.pathname === '/search' ? url.searchParams.get('q') : ''
}"><button aria-label="${say.search}">${LENS}</button></form>`

const LENS = trusted(
  '<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.7" aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5"/><path d="m15.5 15.5 5 5" stroke-linecap="round"/></svg>',
)
const CART = trusted(
  '<svg viewBox="0 0 24 24" width="22" height="22" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true"><path d="M5.5 8h13l1 12.5h-15z" stroke-linejoin="round"/><path d="M8.5 10.500V7a3.500 3.500 0 0 1 7 0v3.500" stroke-linecap="round"/></svg>',
)
