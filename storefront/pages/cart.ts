import { QUANTITY_MAX } from '../cart.ts'
import { type Html, html } from '../html.ts'
import { altOf, picture } from '../pictures.ts'
import type { Order, Quote } from '../types.ts'
import type { Visit } from '../visit.ts'
import type { Phrases } from '../words/en.ts'
import { couponNote, freeDeliveryNote, type Line, sums } from './totals.ts'

export interface CartView {
  lines: readonly Line[]
  quote: Quote | null
  /** Something to be said first. */
  notice: string | null
  /** Until its bank has spoken nothing else is paid. */
  waiting: Order | null
}

/** What the enter key presses: the first button of a form, which must not be one that removes. */
const ENTER = html`<button class="hidden" tabindex="-1" aria-hidden="true"></button>`

/** Sends the form, so that what was typed a moment ago is what is paid for. */
const checkOutButton = ({ checkOut }: Phrases): Html =>
  html`<button form="lines" class="button button-wide" name="checkout" value="1">${checkOut}</button>`

export function cartMain(visit: Visit, { lines, quote, notice, waiting }: CartView): Html {
  const { words } = visit.site
  const { say } = words
  const said = html`${notice !== null && html`<p class="fault" role="alert">${notice}</p>`}${
    waiting !== null &&
    html`<p class="panel" role="status">${say.waiting(waiting.order_number)} <a href="/orders/${waiting.id}">${say.seeOrder}</a></p>`
  }`
  if (lines.length === 0) {
    return html`<div class="wrap narrow center"><h1>${say.yourCart}</h1>${said}<div class="empty"><p>${say.cartEmpty}</p><p><a class="button" href="/products">${say.findSomething}</a></p></div></div>`
  }
  const isShort = lines.some(({ quoted }) => quoted?.available === false)
  return html`<div class="wrap cart"><h1>${say.yourCart}</h1>${said}
<div class="cart-row"><form id="lines" method="post" action="/cart" data-live>${ENTER}
<ul class="lines">${lines.map((line) => cartLine(visit, line))}</ul>
<button class="button button-quiet" data-update>${say.updateQuantities}</button></form>
<aside class="summary" aria-label="${say.summary}">${quote !== null && html`${sums(visit, quote, quote.coupon.code)}${freeDeliveryNote(visit, quote)}`}
<div class="coupon"><label class="field"><span>${say.discountCode}</span><input form="lines" name="coupon" value="${visit.cart.coupon}" maxlength="64" autocomplete="off" autocapitalize="characters"></label><button form="lines" class="button button-quiet">${say.apply}</button></div>
${quote !== null && couponNote(words, quote)}
${
  isShort
    ? html`<p class="fault" role="alert">${say.lowerIt}</p>`
    : waiting === null && quote !== null && checkOutButton(say)
}</aside></div></div>`
}

function cartLine({ site, cdn }: Visit, { product, variant, quantity, quoted }: Line): Html {
  const { say, money } = site.words
  const { name, slug, image_asset_ref: ref } = product
  const shown = picture({ tenant: site.tenant, cdn }, { ref, alt: altOf(product), sizes: '6rem' })
  const total = quoted?.line_total_cents ?? quantity * variant.price_cents
  const unit = quoted?.unit_price_cents ?? variant.price_cents
  return html`<li class="line"><a class="line-picture" href="/products/${slug}" tabindex="-1" aria-hidden="true">${shown}</a>
<div class="line-text"><a class="line-name" href="/products/${slug}">${name}</a>${variant.label && html`<span class="line-label">${variant.label}</span>`}
<span class="line-unit">${say.each(money(unit, variant.currency))}</span>${
    quoted?.available === false && html`<span class="fault">${say.notSoMany}</span>`
  }</div>
<label class="quantity"><span class="hidden">${say.quantityOf(name)}</span><input type="number" name="q:${variant.id}" value="${quantity}" min="0" max="${QUANTITY_MAX}" inputmode="numeric"></label>
<span class="line-total">${money(total, variant.currency)}</span>
<button class="line-remove" name="remove" value="${variant.id}" aria-label="${say.removeItem(name)}">${say.remove}</button></li>`
}
