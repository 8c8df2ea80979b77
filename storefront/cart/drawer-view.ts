import { giftNote } from '../layout/gift-note.ts'
import { cartLink } from '../layout/header.ts'
import { type Html, html } from '../layout/html.ts'
import { CLOSE_ICON, MINUS_ICON, PLUS_ICON } from '../layout/icons.ts'
import { image, variantImage } from '../layout/images.ts'
import { freeShippingNote } from '../layout/totals.ts'
import type { PageContext } from '../request-context.ts'
import { QUANTITY_MAX } from './cart.ts'
import { type CartLine, variantPath } from './cart-lines.ts'
import { type CartView, isShort, pendingNote, shortage } from './cart-view.ts'
import { planNote } from './plan-note.ts'

/**
 * Renders the cart as the script shows it beside a page, after an item was added, with the cart link
 * of the header, which the script replaces. `said` is the message about what was done.
 */
export function cartDrawer(context: PageContext, view: CartView, said: string | null): Html {
  const { texts } = context.site.locale
  const { lines, notice } = view
  return html`${cartLink(context)}<div id="drawer"><div class="drawer-head"><h2 id="drawer-title">${texts.yourCart}</h2><button type="button" class="tool" data-close aria-label="${texts.close}">${CLOSE_ICON}</button></div>
<p class="drawer-said" data-said>${said}</p>${notice !== null && html`<p class="error" data-said>${notice}</p>`}${pendingNote(texts, view)}
${
  lines.length === 0
    ? html`<p class="empty">${texts.cartEmpty}</p><p><button type="button" class="button button-wide" data-close>${texts.startShopping}</button></p>`
    : html`<form class="drawer-form" method="post" action="/cart" data-drawer><input type="hidden" name="view" value="drawer"><button class="hidden" tabindex="-1" aria-hidden="true"></button>
<ul class="drawer-lines">${lines.map((line) => drawerLine(context, line))}</ul>${drawerEnd(context, view)}</form>`
}</div>`
}

function drawerLine(context: PageContext, line: CartLine): Html {
  const { product, variant, quantity, quoted, key: id } = line
  const { texts, formatMoney } = context.site.locale
  const { name } = product
  const { label, currency } = variant
  const path = variantPath(line)
  const { ref } = variantImage(product, variant)
  const shown = image(context, { ref, alt: '', sizes: '5rem', name })
  const total = quoted?.line_total_cents ?? quantity * variant.price_cents
  const step = (by: number, icon: Html, text: string) =>
    html`<button type="button" class="tool" id="${by > 0 ? 'more' : 'less'}-${id}" data-step="${by}" aria-label="${text}">${icon}</button>`
  return html`<li class="drawer-line"><a class="line-image" href="${path}" tabindex="-1" aria-hidden="true">${shown}</a>
<div class="line-text"><a class="line-name" href="${path}">${name}</a>${label && html`<span class="line-label">${label}</span>`}${planNote(context, line)}${variant.gift_card && giftNote(context, line.gift)}${quoted?.available === false && shortage(texts, variant)}</div>
<span class="line-total">${formatMoney(total, currency)}</span>
<div class="stepper">${step(-1, MINUS_ICON, texts.lessOf({ name }))}<input type="number" id="quantity-${id}" name="q:${id}" value="${quantity}" min="1" max="${QUANTITY_MAX}" inputmode="numeric" aria-label="${texts.quantityOf({ name })}">${step(1, PLUS_ICON, texts.moreOf({ name }))}</div>
<button class="line-remove" name="remove" value="${id}" aria-label="${texts.removeItem({ name })}">${texts.remove}</button></li>`
}

function drawerEnd(context: PageContext, view: CartView): Html {
  const { texts, formatMoney } = context.site.locale
  const { quote, pendingOrder } = view
  const canCheckOut = quote !== null && pendingOrder === null && !isShort(view)
  return html`<div class="drawer-end">${
    quote !== null &&
    html`<p class="drawer-sum"><span>${texts.subtotal}</span><strong>${formatMoney(quote.subtotal_cents, quote.currency)}</strong></p>${freeShippingNote(context, quote)}`
  }${isShort(view) && html`<p class="error" data-said>${texts.lowerQuantity}</p>`}
${canCheckOut && html`<button class="button button-wide" name="checkout" value="1">${texts.checkOut}</button>`}
<a class="button button-quiet button-wide" href="/cart">${texts.viewCart}</a></div>`
}
