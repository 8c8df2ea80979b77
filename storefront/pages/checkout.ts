import { type Html, html } from '../html.ts'
import { altOf, picture } from '../pictures.ts'
import type { Tenders } from '../tenders.ts'
import type { Quote } from '../types.ts'
import type { Visit } from '../visit.ts'
import type { Phrases } from '../words/en.ts'
import { cardFields, checkField, type Field, textField } from './fields.ts'
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
  /** The code of a gift card. */
  gift: string
  expedited: boolean
  credit: boolean
  subscribe: boolean
  /** The store's statement that was accepted, and when it was shown. */
  attested: string
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
  gift: '',
  expedited: false,
  credit: false,
  subscribe: false,
  attested: '',
}

export interface CheckoutView {
  lines: readonly Line[]
  quote: Quote
  tenders: Tenders
  details: Details
  /** By field. */
  faults: Record<string, string>
  notice: string | null
  /** Of the attempt this form makes; sent back, it finds the order it may have made. */
  key: string
}

const addressFields = (say: Phrases): readonly Field[] => [
  { name: 'name', label: say.fullName, complete: 'name' },
  { name: 'line1', label: say.address, complete: 'address-line1' },
  { name: 'line2', label: say.addressMore, complete: 'address-line2', optional: true },
  { name: 'postal_code', label: say.postcode, complete: 'postal-code', pair: true, optional: true },
  { name: 'city', label: say.town, complete: 'address-level2', pair: true },
  { name: 'state', label: say.region, complete: 'address-level1', pair: true, optional: true },
  { name: 'country', label: say.country, complete: 'country-name', pair: true },
]

export function checkoutMain(visit: Visit, view: CheckoutView): Html {
  const { details, faults, notice, key } = view
  const { say } = visit.site.words
  const typed: Partial<Record<string, unknown>> = { ...details }
  const text = (field: Field) => textField(field, String(typed[field.name]), faults[field.name])
  return html`<div class="wrap checkout"><h1>${say.checkout}</h1>
${notice !== null && html`<p class="fault fault-box" role="alert" tabindex="-1" data-focus>${notice}</p>`}
<form class="checkout-row" method="post" action="/checkout" data-checkout>
<input type="hidden" name="key" value="${key}">
<div class="checkout-fields">
<section><h2>${say.contact}</h2>${text({ name: 'email', label: say.email, complete: 'email', type: 'email' })}</section>
<section><h2>${say.delivery}</h2><div class="fields">${addressFields(say).map(text)}</div>${speed(visit, view)}${subscription(visit, view)}</section>
<section><h2>${say.payment}</h2>${tenderFields(visit, view)}
<fieldset id="card"${view.tenders.due_cents === 0 && html` disabled hidden`}><legend class="hidden">${say.payment}</legend>${cardFields(say, faults)}</fieldset></section>
${statement(visit, view)}
<div class="checkout-end">${payButton(visit, view)}
<p class="note">${say.cardPromise}</p></div>
</div>
${summary(visit, view)}
</form></div>`
}

function payButton({ site }: Visit, { tenders, quote }: CheckoutView): Html {
  const { say, money } = site.words
  const { due_cents: due } = tenders
  return html`<button class="button button-wide" data-pay data-wait="${say.oneMoment}">${
    due === 0 ? say.placeOrder : say.pay(money(due, quote.currency))
  }</button>`
}

function speed({ site }: Visit, { details, quote }: CheckoutView): Html | null {
  const { shipping } = site.policies
  const { say, money } = site.words
  if (shipping === null || shipping.expedited_rate_cents === shipping.flat_rate_cents) return null
  const radio = (value: string, label: string, checked: boolean) =>
    html`<label class="choice"><input type="radio" name="speed" value="${value}"${checked && html` checked`} data-reprice><span class="choice-box"><span>${label}</span></span></label>`
  const price = Math.min(shipping.expedited_rate_cents, shipping.max_cents)
  return html`<fieldset class="choices"><legend>${say.howFast}</legend>${radio('standard', say.standard, !details.expedited)}${radio(
    'expedited',
    say.express(money(price, quote.currency)),
    details.expedited,
  )}</fieldset>`
}

/** The contract has one switch for the whole order: it covers each thing that can be subscribed to. */
function subscription({ site }: Visit, { lines, details }: CheckoutView): Html | null {
  const { say, list } = site.words
  const eligible = lines.filter(({ product }) => product.is_subscription)
  if (!site.offers.subscriptions || eligible.length === 0) return null
  const things = eligible.map(({ product }) => {
    const { name, subscription_interval: unit, subscription_interval_count: count } = product
    return unit === null ? name : `${name} ${say.every(count ?? 1, unit)}`
  })
  const label = say.subscribe(list([...new Set(things)]))
  return checkField({
    name: 'subscribe',
    label,
    note: say.subscribeNote,
    checked: details.subscribe,
    reprice: true,
  })
}

function tenderFields({ site }: Visit, { details, quote, tenders, faults }: CheckoutView): Html {
  const { offers, words } = site
  const { say, money } = words
  const available = quote.store_credit_available_cents
  const fault = faults.gift ?? tenders.giftFault
  return html`<div id="tenders" class="tenders">${
    offers.storeCredit &&
    available > 0 &&
    checkField({
      name: 'credit',
      label: say.useCredit(money(available, quote.currency)),
      checked: details.credit,
      reprice: true,
    })
  }${
    offers.giftCards &&
    html`<div class="coupon">${textField({ name: 'gift', label: say.giftCard, complete: 'off', optional: true }, details.gift, fault ?? undefined)}<button class="button button-quiet" formaction="/checkout/update" formnovalidate data-reprice>${say.apply}</button></div>`
  }${tenders.due_cents === 0 && html`<p class="ok" role="status">${say.nothingToPay}</p>`}</div>`
}

function statement({ site }: Visit, { details, faults }: CheckoutView): Html | null {
  const asked = site.offers.statement
  if (asked === null) return null
  const { attested } = faults
  return checkField({
    name: 'attested',
    value: details.attested || `${new Date().toISOString()} ${asked.version}`,
    label: asked.text,
    checked: details.attested !== '',
    required: true,
    ...(attested === undefined ? {} : { fault: attested }),
  })
}

function summary(visit: Visit, view: CheckoutView): Html {
  const { lines, quote, tenders } = view
  const { site, cdn, cart } = visit
  const { words } = site
  const { say, money } = words
  return html`<aside class="summary" id="summary" aria-label="${say.yourOrder}"><h2>${say.yourOrder}</h2><input type="hidden" name="due" value="${tenders.due_cents}"><ul class="lines lines-small">${lines.map(
    ({ product, variant, quantity, quoted }) => {
      const shown = picture(
        { tenant: site.tenant, cdn },
        { ref: product.image_asset_ref, alt: altOf(product), sizes: '4rem' },
      )
      const total = quoted?.line_total_cents ?? quantity * variant.price_cents
      return html`<li class="line"><span class="line-picture">${shown}</span><div class="line-text"><span class="line-name">${product.name}</span><span class="line-label">${variant.label && `${variant.label} · `}${quantity} ×</span></div><span class="line-total">${money(total, variant.currency)}</span></li>`
    },
  )}</ul>
<div class="coupon"><label class="field"><span>${say.discountCode}</span><input name="coupon" value="${cart.coupon}" maxlength="64" autocomplete="off" autocapitalize="characters"></label><button class="button button-quiet" formaction="/checkout/update" formnovalidate data-reprice>${say.apply}</button></div>
${couponNote(words, quote)}${sums(visit, quote, quote.coupon.code)}${tenderSums(visit, view)}${freeDeliveryNote(visit, quote)}
<noscript><button class="button button-quiet" formaction="/checkout/update" formnovalidate>${say.updateTotal}</button></noscript></aside>`
}

function tenderSums({ site }: Visit, { tenders, quote }: CheckoutView): Html | null {
  const { credit_cents, gift, due_cents } = tenders
  if (credit_cents === 0 && gift === null) return null
  const { say, money } = site.words
  const cents = (value: number) => money(value, quote.currency)
  return html`<dl class="sums">${credit_cents > 0 && html`<div><dt>${say.storeCredit}</dt><dd>−${cents(credit_cents)}</dd></div>`}${
    gift !== null &&
    html`<div><dt>${say.giftCardEnding(gift.last4)}</dt><dd>−${cents(gift.cents)}</dd></div>`
  }<div class="sums-total"><dt>${say.toPay}</dt><dd data-due>${cents(due_cents)}</dd></div></dl>`
}
