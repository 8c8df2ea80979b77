import type { Order, Quote, Variant } from '../api/types.ts'
import { giftNote } from '../layout/gift-note.ts'
import { type Html, html } from '../layout/html.ts'
import { image, variantImage } from '../layout/images.ts'
import { measurePriceText } from '../layout/measure-price.ts'
import { couponNote, freeShippingNote, totalsList } from '../layout/totals.ts'
import type { PageContext } from '../request-context.ts'
import type { Texts } from '../translations/texts.ts'
import { QUANTITY_MAX } from './cart.ts'
import { type CartLine, variantPath } from './cart-lines.ts'
import { planNote, planSwitch } from './plan-note.ts'

export interface CartView {
  lines: readonly CartLine[]
  quote: Quote | null
  /** A message above the cart. */
  notice: string | null
  /** An order whose payment is not confirmed. Until it is, the cart cannot be paid for. */
  pendingOrder: Order | null
}

/** The enter key presses the first button of a form: it must not be one that removes a line. */
const ENTER_BUTTON = html`<button class="hidden" tabindex="-1" aria-hidden="true"></button>`

/** Sends the cart's form, so that quantities that were typed a moment ago are paid for. */
const checkOutButton = ({ checkOut }: Texts): Html =>
  html`<button form="lines" class="button button-wide" name="checkout" value="1">${checkOut}</button>`

export function cartMain(context: PageContext, view: CartView): Html {
  const { lines } = view
  const { texts } = context.site.locale
  const messages = html`${view.notice !== null && html`<p class="error" role="alert">${view.notice}</p>`}${pendingNote(texts, view)}`
  if (lines.length === 0) {
    return html`<div class="wrap narrow center"><h1>${texts.yourCart}</h1>${messages}<div class="empty"><p>${texts.cartEmpty}</p><p><a class="button" href="/products">${texts.startShopping}</a></p></div></div>`
  }
  return html`<div class="wrap cart"><h1>${texts.yourCart}</h1>${messages}
<div class="cart-row"><form id="lines" method="post" action="/cart" data-live>${ENTER_BUTTON}
<ul class="lines">${lines.map((line) => cartLine(context, line))}</ul>
<button class="button button-quiet" data-update>${texts.updateQuantities}</button></form>
${summary(context, view)}</div></div>`
}

export const pendingNote = (texts: Texts, { pendingOrder: order }: CartView): Html | null =>
  order === null
    ? null
    : html`<p class="panel" role="status">${texts.paymentPending({ number: order.order_number })} <a href="/orders/${order.id}">${texts.viewOrder}</a></p>`

function summary(context: PageContext, view: CartView): Html {
  const { quote, pendingOrder } = view
  const { texts } = context.site.locale
  const canCheckOut = quote !== null && pendingOrder === null
  return html`<aside class="summary" aria-label="${texts.summary}">${quote !== null && html`${totalsList(context, quote, quote.coupon.code)}${freeShippingNote(context, quote)}`}
<div class="coupon"><label class="field"><span>${texts.discountCode}</span><input form="lines" name="coupon" value="${context.cart.coupon}" maxlength="64" autocomplete="off" autocapitalize="characters"></label><button form="lines" class="button button-quiet">${texts.apply}</button></div>
${quote !== null && couponNote(texts, quote)}
${
  isShort(view)
    ? html`<p class="error" role="alert">${texts.lowerQuantity}</p>`
    : canCheckOut && checkOutButton(texts)
}</aside>`
}

/** Whether fewer units of a line are available than the cart has. */
export const isShort = ({ lines }: CartView): boolean =>
  lines.some(({ quoted }) => quoted?.available === false)

/** Says that a variant is sold out, or that too few units are left; then a button lowers the line to them. */
export const shortage = (texts: Texts, { id, available }: Variant): Html =>
  available
    ? html`<span class="error">${texts.notEnoughStock}</span><button class="link-button" name="lower" value="${id}">${texts.lowerToStock}</button>`
    : html`<span class="error">${texts.soldOutRemove}</span>`

function cartLine(context: PageContext, line: CartLine): Html {
  const { product, variant, quantity, quoted, key } = line
  const { texts, formatMoney } = context.site.locale
  const { name } = product
  const path = variantPath(line)
  const shown = image(context, { ...variantImage(product, variant), sizes: '6rem', name })
  const total = quoted?.line_total_cents ?? quantity * variant.price_cents
  const unit = quoted?.unit_price_cents ?? variant.price_cents
  return html`<li class="line"><a class="line-image" href="${path}" tabindex="-1" aria-hidden="true">${shown}</a>
<div class="line-text"><a class="line-name" href="${path}">${name}</a>${variant.label && html`<span class="line-label">${variant.label}</span>`}
<span class="line-unit">${texts.priceEach({ price: formatMoney(unit, variant.currency) })}</span>${measurePriceText(context, variant, unit)}${planNote(context, line)}${planSwitch(context, line)}${
    variant.gift_card && giftNote(context, line.gift)
  }${quoted?.available === false && shortage(texts, variant)}</div>
<label class="quantity"><span class="hidden">${texts.quantityOf({ name })}</span><input type="number" name="q:${key}" value="${quantity}" min="0" max="${QUANTITY_MAX}" inputmode="numeric"></label>
<span class="line-total">${formatMoney(total, variant.currency)}</span>
<button class="line-remove" name="remove" value="${key}" aria-label="${texts.removeItem({ name })}">${texts.remove}</button></li>`
}
