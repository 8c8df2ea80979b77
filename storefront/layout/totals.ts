import type { Charge, Quote, Totals } from '../api/types.ts'
import type { PageContext } from '../request-context.ts'
import type { Site } from '../site/site.ts'
import { couponMessage } from '../translations/error-messages.ts'
import type { Texts } from '../translations/texts.ts'
import { type Html, html } from './html.ts'

/** The totals below a list of items: the same for a cart, a checkout and an order. */
export function totalsList(
  { site }: PageContext,
  totals: Totals & Partial<Pick<Quote, 'address_required'>>,
  coupon: string | null,
): Html {
  const { texts, formatMoney } = site.locale
  const money = (cents: number) => formatMoney(cents, totals.currency)
  const { subtotal_cents, discount_cents, shipping_cents, tax_cents, total_cents } = totals
  const isTaxInside = totals.prices_include_tax
  // A tax that may change with the address is not shown as if it were final.
  const isOpen = totals.address_required === true && !isTaxInside
  // Gift cards alone are mailed.
  const isShipped = totals.gift_card_cents < subtotal_cents || shipping_cents > 0
  return html`<dl class="totals"><div><dt>${texts.subtotal}</dt><dd>${money(subtotal_cents)}</dd></div>
${discount_cents > 0 && html`<div class="totals-discount"><dt>${texts.discount}${coupon && html` <span class="code">${coupon}</span>`}</dt><dd>−${money(discount_cents)}</dd></div>`}
${isShipped && html`<div><dt>${texts.shipping}</dt><dd>${shipping_cents === 0 ? texts.free : money(shipping_cents)}</dd></div>`}
${tax_cents > 0 && !isTaxInside && !isOpen && html`<div><dt>${texts.tax}</dt><dd>${money(tax_cents)}</dd></div>`}
${isOpen && html`<div><dt>${texts.tax}</dt><dd>${tax_cents > 0 ? texts.taxEstimated({ amount: money(tax_cents) }) : texts.taxByAddress}</dd></div>`}
<div class="totals-final"><dt>${texts.total}</dt><dd data-total>${money(total_cents)}</dd></div>${
    tax_cents > 0 &&
    isTaxInside &&
    html`<div class="totals-tax"><dt>${taxIncluded(site, totals.tax_rate_bps)}</dt><dd>${money(tax_cents)}</dd></div>`
  }</dl>`
}

const taxIncluded = ({ locale }: Site, rate_bps: number | null): string =>
  rate_bps === null
    ? locale.texts.taxIncluded
    : locale.texts.taxIncludedAt({ rate: locale.formatRate(rate_bps) })

/** Says beside a price that the tax is inside; null if the store adds it, or has none. */
export function taxNote(site: Site): string | null {
  const { tax } = site.policies
  if (!site.pricesIncludeTax || tax === null || tax.provider === 'null') return null
  if (tax.provider !== 'flat_rate') return taxIncluded(site, null)
  return tax.rate_bps === 0 ? null : taxIncluded(site, tax.rate_bps)
}

/** Says whether the discount code in the cart applies. */
export function couponNote(texts: Texts, { coupon }: Quote): Html | null {
  if (coupon.code === null) return null
  return coupon.applied
    ? html`<p class="success" role="status">${texts.codeApplied({ code: coupon.code })}</p>`
    : html`<p class="error" role="alert">${couponMessage(texts, coupon.reason)}</p>`
}

/** Says how much is missing for free shipping: of goods, since gift cards do not ship and do not count. */
export function freeShippingNote({ site }: PageContext, quote: Quote): Html | null {
  const left = quote.free_shipping_remaining_cents
  if (left === null || left === 0) return null
  const { texts, formatMoney } = site.locale
  const missing = texts.untilFreeShipping({ left: formatMoney(left, quote.currency) })
  const others = quote.gift_card_cents > 0 ? ` ${texts.buying.giftCardsAside}` : ''
  return html`<p class="note">${missing}${others}</p>`
}

/** The name of a charge's tender, as the shopper knows it: "Visa ending in 1111". */
export function tenderName(texts: Texts, { tender, card, gift_card_last4 }: Charge): string {
  const brand = card?.brand ? card.brand.charAt(0).toUpperCase() + card.brand.slice(1) : null
  const last4 = card?.last4 ?? gift_card_last4
  const name = brand ?? texts.tenders[tender]
  return last4 ? texts.endingIn({ what: name, last4 }) : name
}
