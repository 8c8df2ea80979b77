import type { Collection } from '../api/types.ts'
import { cartCount } from '../cart/cart.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'
import type { MenuItem } from '../site/pages.ts'
import { type Html, html } from './html.ts'
import { CART_ICON, CLOSE_ICON, MENU_ICON, SEARCH_ICON } from './icons.ts'
import { assetUrl } from './images.ts'

/** The most collections in the row: as many as a desktop has room for, if the manifest has no menu. */
const NAV_MAX = 6
/** More would be a list to scroll; the last entry leads to all of them. */
const PANEL_MAX = 12

/**
 * The header of every page. Menu and search box are written once: a desktop shows them in the row,
 * a phone as popovers that the browser itself opens, so that they work without the script.
 */
export function header(context: PageContext, collections: readonly Collection[]): Html {
  const { site } = context
  return html`<header class="page-header"><div class="wrap page-header-row">
${memoize(collections, 'header menu', () => menu(context, collections), site.hash)}
<div class="page-header-tools">${site.hasSearch && searchBox(context)}
${cartLink(context)}</div>
</div></header>`
}

/** The link to the cart. The script replaces it when the cart changes. */
export function cartLink({ site, cart }: PageContext): Html {
  const count = cartCount(cart)
  const { texts, formatNumber } = site.locale
  return html`<a class="tool cart-link" href="/cart" data-cart aria-label="${texts.cartItems({ count })}">${CART_ICON}<span class="cart-count" data-count="${count}">${formatNumber(count)}</span></a>`
}

function brand(context: PageContext): Html {
  const { name, logoRef } = context.site.brand
  const logo = assetUrl(context, logoRef)
  return html`<a class="brand" href="/">${logo === null ? html`<span>${name}</span>` : html`<img src="${logo}" alt="${name}">`}</a>`
}

function menu(context: PageContext, collections: readonly Collection[]): Html {
  const { site } = context
  const { texts } = site.locale
  return html`<button type="button" class="tool menu-button" popovertarget="menu" aria-label="${texts.menu}">${MENU_ICON}</button>
${brand(context)}
<div class="menu" id="menu" popover>${closeButton(context, 'menu')}<nav class="nav" aria-label="${texts.shop}"><ul>${menuLinks(site.menus.header ?? ownMenu(context, collections))}</ul></nav>
${panelLinks(context, collections)}</div>`
}

/** The links of the header if the manifest has no menu for it. */
const ownMenu = ({ site }: PageContext, collections: readonly Collection[]): MenuItem[] => [
  { label: site.locale.texts.all, href: '/products' },
  ...collections.slice(0, NAV_MAX).map(linkTo),
]

const linkTo = ({ slug, title }: Collection): MenuItem => ({
  label: title,
  href: `/collections/${slug}`,
})

/** The links that only the menu of a phone has: the collections that the row leaves out, and other pages. */
function panelLinks(context: PageContext, collections: readonly Collection[]): Html {
  const { site } = context
  const { texts } = site.locale
  const inRow = (site.menus.header ?? ownMenu(context, collections)).map(({ href }) => href)
  const isMissing = ({ href }: MenuItem) => !inRow.includes(href)
  const rest = collections.slice(0, PANEL_MAX).map(linkTo).filter(isMissing)
  const more = [
    ...(rest.length > 0 ? [{ label: texts.collections, href: '/collections' }] : []),
    { label: texts.allProducts, href: '/products' },
    ...(site.hasSearch ? [{ label: texts.search, href: '/search' }] : []),
    ...(site.hasAccounts ? [{ label: texts.yourOrders, href: '/orders' }] : []),
  ].filter(isMissing)
  return html`<nav class="menu-more" aria-label="${texts.menu}">${rest.length > 0 && html`<ul>${menuLinks(rest)}</ul>`}<ul>${menuLinks(more)}</ul></nav>`
}

export const menuLinks = (items: readonly MenuItem[]): Html[] =>
  items.map(({ label, href }) => html`<li><a href="${href}">${label}</a></li>`)

/** Closes a popover, on a phone. */
export const closeButton = ({ site }: PageContext, target: string): Html =>
  html`<button type="button" class="tool popover-close" popovertarget="${target}" popovertargetaction="hide" aria-label="${site.locale.texts.close}">${CLOSE_ICON}</button>`

function searchBox(context: PageContext): Html {
  const { url, site } = context
  const { texts } = site.locale
  const query = url.pathname === '/search' ? url.searchParams.get('q') : ''
  return html`<button type="button" class="tool search-button" popovertarget="find" aria-label="${texts.searchStore}">${SEARCH_ICON}</button>
<div class="find" id="find" popover><form class="search-box" action="/search" role="search" aria-label="${texts.searchStore}">
<label class="hidden" for="search-box">${texts.searchStore}</label>
<input id="search-box" name="q" type="search" placeholder="${texts.search}" autocomplete="off" maxlength="200" value="${query}" data-suggestions="${texts.suggestions}"><button aria-label="${texts.search}">${SEARCH_ICON}</button></form>${closeButton(context, 'find')}</div>`
}
