import { type Html, html } from '../html.ts'
import { altOf, picture } from '../pictures.ts'
import type { Quote } from '../types.ts'
import type { Visit } from '../visit.ts'
import { couponNote, freeDeliveryNote, type Line, sums } from './totals.ts'

/** What a shopper types at the checkout. Never a card: that is not shown again. */
export interface Details {
  email: string
  name: string
  line1: string
  line2: string
  city: string
  state: string
  postal_code: string
  country: string
  expedited: boolean
}

export const NO_DETAILS: Details = {
  email: '',
  name: '',
  line1: '',
  line2: '',
  city: '',
  state: '',
  postal_code: '',
  country: '',
  expedited: false,
}

export interface CheckoutView {
  lines: readonly Line[]
  quote: Quote
  details: Details
  /** By field. */
  faults: Record<string, string>
  notice: string | null
  /** Of the attempt this form makes; sent back, it finds the order it may have made. */
  key: string
}

interface Field {
  name: keyof Details
  label: string
  complete: string
  type?: string
  optional?: boolean
  half?: boolean
}

const ADDRESS: readonly Field[] = [
  { name: 'name', label: 'Full name', complete: 'name' },
  { name: 'line1', label: 'Address', complete: 'address-line1' },
  { name: 'line2', label: 'Flat, floor (optional)', complete: 'address-line2', optional: true },
  { name: 'postal_code', label: 'Postcode', complete: 'postal-code', half: true },
  { name: 'city', label: 'Town', complete: 'address-level2', half: true },
  { name: 'state', label: 'State or region', complete: 'address-level1', half: true },
  { name: 'country', label: 'Country', complete: 'country-name', half: true },
]

export function checkoutMain(visit: Visit, view: CheckoutView): Html {
  const { details, faults, notice, key } = view
  const text = (field: Field) => textField(field, String(details[field.name]), faults[field.name])
  return html`<div class="wrap checkout"><h1>Checkout</h1>
${notice !== null && html`<p class="fault fault-box" role="alert" tabindex="-1" data-focus>${notice}</p>`}
<form class="checkout-row" method="post" action="/checkout" data-checkout>
<input type="hidden" name="key" value="${key}">
<div class="checkout-fields">
<section><h2>Contact</h2>${text({ name: 'email', label: 'E-mail', complete: 'email', type: 'email' })}</section>
<section><h2>Delivery</h2><div class="fields">${ADDRESS.map(text)}</div>${speed(visit, view)}</section>
<section><h2>Payment</h2>${cardFields(faults)}</section>
<button class="button button-wide" data-pay>Pay ${visit.site.words.money(view.quote.total_cents, view.quote.currency)}</button>
<p class="note">Your card goes straight to the bank. We do not keep its number.</p>
</div>
${summary(visit, view)}
</form></div>`
}

function textField(
  { name, label, complete, type = 'text', optional, half }: Field,
  value: string,
  fault?: string,
) {
  const described =
    fault !== undefined && html` aria-invalid="true" aria-describedby="${name}-fault"`
  return html`<label class="field${half && ' field-half'}"><span>${label}</span><input name="${name}" type="${type}" value="${value}" autocomplete="${complete}" maxlength="200"${!optional && html` required`}${described}>${
    fault !== undefined && html`<span class="fault" id="${name}-fault">${fault}</span>`
  }</label>`
}

/** Always empty: what was typed here before is never sent back. */
export function cardFields(faults: Record<string, string>): Html {
  const one = (name: string, label: string, more: Html, complete: string, style = '') => {
    const fault = faults[name]
    return html`<label class="field ${style}"><span>${label}</span><input name="card_${name}" inputmode="numeric" autocomplete="${complete}" required ${more}${
      fault !== undefined && html` aria-invalid="true" aria-describedby="${name}-fault"`
    }>${fault !== undefined && html`<span class="fault" id="${name}-fault">${fault}</span>`}</label>`
  }
  return html`<div class="fields">${one('number', 'Card number', html`maxlength="23" placeholder="1234 1234 1234 1234"`, 'cc-number')}
${one('expiry', 'Valid until', html`maxlength="7" placeholder="MM/YY"`, 'cc-exp', 'field-half')}
${one('cvv', 'Security code', html`maxlength="4" placeholder="123"`, 'cc-csc', 'field-half')}</div>`
}

function speed({ site }: Visit, { details, quote }: CheckoutView): Html | null {
  const { shipping } = site.policies
  if (shipping === null || shipping.expedited_rate_cents === shipping.flat_rate_cents) return null
  const radio = (value: string, label: string, checked: boolean) =>
    html`<label class="choice"><input type="radio" name="speed" value="${value}"${checked && html` checked`} data-reprice><span class="choice-box"><span>${label}</span></span></label>`
  const price = Math.min(shipping.expedited_rate_cents, shipping.max_cents)
  return html`<fieldset class="choices"><legend>How fast?</legend>${radio('standard', 'Standard', !details.expedited)}${radio(
    'expedited',
    `Express, ${site.words.money(price, quote.currency)}`,
    details.expedited,
  )}</fieldset>`
}

function summary(visit: Visit, { lines, quote }: CheckoutView): Html {
  const { site, cdn, cart } = visit
  return html`<aside class="summary" id="summary" aria-label="Your order"><h2>Your order</h2><ul class="lines lines-small">${lines.map(
    ({ product, variant, quantity, quoted }) => {
      const shown = picture(
        { tenant: site.tenant, cdn },
        { ref: product.image_asset_ref, alt: altOf(product), sizes: '4rem' },
      )
      const total = quoted?.line_total_cents ?? quantity * variant.price_cents
      return html`<li class="line"><span class="line-picture">${shown}</span><div class="line-text"><span class="line-name">${product.name}</span><span class="line-label">${variant.label && `${variant.label} · `}${quantity} ×</span></div><span class="line-total">${site.words.money(total, variant.currency)}</span></li>`
    },
  )}</ul>
<div class="coupon"><label class="field"><span>Discount code</span><input name="coupon" value="${cart.coupon}" maxlength="64" autocomplete="off" autocapitalize="characters"></label><button class="button button-quiet" formaction="/checkout/update" formnovalidate data-reprice>Apply</button></div>
${couponNote(quote)}${sums(visit, quote, quote.coupon.code)}${freeDeliveryNote(visit, quote)}
<noscript><button class="button button-quiet" formaction="/checkout/update" formnovalidate>Update the total</button></noscript></aside>`
}
