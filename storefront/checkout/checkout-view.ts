import { LEGAL_KINDS } from '../../manifest/page-props.ts'
import type { Quote } from '../api/types.ts'
import type { CartLine } from '../cart/cart-lines.ts'
import { cardFields, checkbox, type Field, fieldId, textField } from '../layout/fields.ts'
import { type Html, html } from '../layout/html.ts'
import { image, imageAlt } from '../layout/images.ts'
import { couponNote, freeShippingNote, totalsList } from '../layout/totals.ts'
import type { PageContext } from '../request-context.ts'
import { pagePath } from '../site/pages.ts'
import type { Texts } from '../translations/en.ts'
import { addressFields } from './address-view.ts'
import type { CheckoutDetails } from './checkout-form.ts'
import type { TenderSplit } from './tenders.ts'

export interface CheckoutView {
  lines: readonly CartLine[]
  quote: Quote
  tenders: TenderSplit
  details: CheckoutDetails
  /** By field. */
  errors: Record<string, string>
  /** A message above the form. */
  notice: string | null
  /** The value of the hidden field `key`: see `FormKey`. */
  key: string
}

export function checkoutMain(context: PageContext, view: CheckoutView): Html {
  const { details, errors, key } = view
  const { texts } = context.site.locale
  const email: Field = { name: 'email', label: texts.email, autocomplete: 'email', type: 'email' }
  return html`<div class="wrap checkout"><h1>${texts.checkout}</h1>
${errorSummary(context, view)}
<form class="checkout-row" method="post" action="/checkout" data-checkout>
<input type="hidden" name="key" value="${key}">
<div class="checkout-fields">
<section><h2>${texts.contact}</h2>${textField(email, details.email, errors.email)}</section>
<section><h2>${texts.shipping}</h2>${addressFields(context.site, details, errors)}${shippingMethod(context, view)}${subscription(context, view)}</section>
<section><h2>${texts.payment}</h2>${tenderFields(context, view)}
<fieldset id="card"${errors.card !== undefined && html` aria-describedby="card-error"`}${view.tenders.due_cents === 0 && html` disabled hidden`}><legend class="hidden">${texts.payment}</legend>${cardError(view)}${cardFields(texts, errors)}</fieldset></section>
${statement(context, view)}
<div class="checkout-end">${payButton(context, view)}
<p class="note">${texts.cardNote}</p>${legalLinks(context)}</div>
</div>
${summary(context, view)}
</form></div>`
}

/** Whether a refusal of the card can be shown at the card: else it stands above the form. */
const showsCard = ({ tenders }: CheckoutView): boolean => tenders.due_cents > 0

/** Says why the card was refused, at the card. Everything else of the form is still filled in. */
const cardError = (view: CheckoutView): Html | false =>
  view.errors.card !== undefined &&
  html`<p class="error error-box" id="card-error" role="alert" tabindex="-1" data-focus>${view.errors.card}</p>`

/** The fields of the form in their order, with the names that a list of errors has for them. */
const fieldNames = (texts: Texts): readonly (readonly [field: string, label: string | null])[] => [
  ['email', texts.email],
  ['country', texts.country],
  ['name', texts.fullName],
  ['line1', texts.address],
  ['postal_code', texts.postcodeKinds.postcode],
  ['city', texts.city],
  ['state', texts.regionKinds.region],
  ['subscribe', null],
  ['gift', texts.giftCardCode],
  ['number', texts.cardNumber],
  ['expiry', texts.expiryDate],
  ['cvv', texts.securityCode],
  ['attested', null],
]

/** What is wrong, above the form: a message, and a link to each field. */
function errorSummary({ site }: PageContext, view: CheckoutView): Html | null {
  const { texts } = site.locale
  const { errors, notice } = view
  const links = fieldNames(texts).flatMap(([field, label]) => {
    const error = errors[field]
    if (error === undefined) return []
    const text = label === null ? error : `${label}: ${error}`
    return [html`<li><a href="#${fieldId(field)}">${text}</a></li>`]
  })
  const hidden = showsCard(view) ? null : (errors.card ?? null)
  const message = notice ?? hidden ?? (links.length > 0 ? texts.checkMarkedFields : null)
  if (message === null) return null
  return html`<div class="error error-box" role="alert" tabindex="-1" data-focus><p>${message}</p>${links.length > 0 && html`<ul>${links}</ul>`}</div>`
}

/** The store's terms and the like, to be read before the shopper pays. */
function legalLinks({ site }: PageContext): Html | null {
  const pages = LEGAL_KINDS.flatMap((kind) => site.pages.find((page) => page.kind === kind) ?? [])
  if (pages.length === 0) return null
  const links = pages.map(
    (page) => html`<li><a href="${pagePath(page)}" target="_blank">${page.title}</a></li>`,
  )
  return html`<nav class="legal" aria-label="${site.locale.texts.legal}"><ul>${links}</ul></nav>`
}

function payButton({ site }: PageContext, { tenders, quote }: CheckoutView): Html {
  const { texts, formatMoney } = site.locale
  const { due_cents: due } = tenders
  return html`<button class="button button-wide" data-pay data-wait="${texts.processing}">${
    due === 0 ? texts.placeOrder : texts.pay(formatMoney(due, quote.currency))
  }</button>`
}

function shippingMethod({ site }: PageContext, { details, quote }: CheckoutView): Html | null {
  const { shipping } = site.policies
  const { texts, formatMoney } = site.locale
  if (shipping === null || shipping.expedited_rate_cents === shipping.flat_rate_cents) return null
  const radio = (value: string, label: string, checked: boolean) =>
    html`<label class="choice"><input type="radio" name="speed" value="${value}"${checked && html` checked`} data-reprice><span class="choice-box"><span>${label}</span></span></label>`
  const cents = Math.min(shipping.expedited_rate_cents, shipping.max_cents)
  const express = texts.express(formatMoney(cents, quote.currency))
  return html`<fieldset class="choices"><legend>${texts.shippingMethod}</legend>${radio('standard', texts.standard, !details.expedited)}${radio('expedited', express, details.expedited)}</fieldset>`
}

const subscribableLines = ({ offers }: PageContext['site'], lines: readonly CartLine[]) =>
  offers.subscriptions ? lines.filter(({ product }) => product.is_subscription) : []

/**
 * One switch for the whole order, as in the API: it covers each product that can be subscribed to.
 */
function subscription(
  { site }: PageContext,
  { lines, details, errors }: CheckoutView,
): Html | null {
  const { texts, formatList } = site.locale
  const eligible = subscribableLines(site, lines)
  if (eligible.length === 0) return null
  const products = eligible.map(({ product }) => {
    const { name, subscription_interval: unit, subscription_interval_count: count } = product
    return unit === null ? name : `${name} ${texts.every(count ?? 1, unit)}`
  })
  return checkbox({
    name: 'subscribe',
    label: texts.subscribe(formatList([...new Set(products)])),
    note: texts.subscribeNote,
    checked: details.subscribe,
    reprice: true,
    error: errors.subscribe,
  })
}

function tenderFields({ site }: PageContext, view: CheckoutView): Html {
  const { details, quote, tenders, errors } = view
  const { offers, locale } = site
  const { texts, formatMoney } = locale
  const available = quote.store_credit_available_cents
  const giftCard: Field = {
    name: 'gift',
    label: texts.giftCardCode,
    autocomplete: 'off',
    optional: true,
  }
  const giftCardError = errors.gift ?? tenders.giftCardError ?? undefined
  return html`<div id="tenders" class="tenders">${
    offers.storeCredit &&
    available > 0 &&
    checkbox({
      name: 'credit',
      label: texts.useStoreCredit(formatMoney(available, quote.currency)),
      checked: details.credit,
      reprice: true,
    })
  }${
    offers.giftCards &&
    html`<div class="coupon">${textField(giftCard, details.gift, giftCardError)}<button class="button button-quiet" formaction="/checkout/update" formnovalidate data-reprice>${texts.apply}</button></div>`
  }${tenders.due_cents === 0 && coveredNote(site, view)}</div>`
}

/**
 * Nothing is left to pay by card. The platform refuses a subscription then, since no card would be
 * stored for its later charges: the shopper learns it here, before the order is sent.
 */
function coveredNote(site: PageContext['site'], { details, lines }: CheckoutView): Html {
  const { texts } = site.locale
  const needsCard = details.subscribe && subscribableLines(site, lines).length > 0
  if (!needsCard) return html`<p class="success" role="status">${texts.nothingDue}</p>`
  return html`<p class="error" role="alert">${texts.refusals.subscription_card_required}</p>`
}

/** The store's statement, with the time when it is shown: see `readAttestation`. */
function statement({ site }: PageContext, { details, errors }: CheckoutView): Html | null {
  const required = site.offers.statement
  if (required === null) return null
  return checkbox({
    name: 'attested',
    value: details.attested || `${new Date().toISOString()} ${required.version}`,
    label: required.text,
    checked: details.attested !== '',
    required: true,
    error: errors.attested,
  })
}

function summary(context: PageContext, view: CheckoutView): Html {
  const { lines, quote, tenders } = view
  const { texts } = context.site.locale
  return html`<aside class="summary" id="summary" aria-label="${texts.yourOrder}"><h2>${texts.yourOrder}</h2><input type="hidden" name="due" value="${tenders.due_cents}"><ul class="lines lines-small">${lines.map((line) => summaryLine(context, line))}</ul>
<div class="coupon"><label class="field"><span>${texts.discountCode}</span><input name="coupon" value="${context.cart.coupon}" maxlength="64" autocomplete="off" autocapitalize="characters"></label><button class="button button-quiet" formaction="/checkout/update" formnovalidate data-reprice>${texts.apply}</button></div>
${couponNote(texts, quote)}${totalsList(context, quote, quote.coupon.code)}${tenderTotals(context, view)}${freeShippingNote(context, quote)}
<noscript><button class="button button-quiet" formaction="/checkout/update" formnovalidate>${texts.updateTotal}</button></noscript></aside>`
}

function summaryLine(context: PageContext, { product, variant, quantity, quoted }: CartLine): Html {
  const { formatMoney } = context.site.locale
  const shown = image(context, {
    ref: product.image_asset_ref,
    alt: imageAlt(product),
    sizes: '4rem',
  })
  const total = quoted?.line_total_cents ?? quantity * variant.price_cents
  return html`<li class="line"><span class="line-image">${shown}</span><div class="line-text"><span class="line-name">${product.name}</span><span class="line-label">${variant.label && `${variant.label} · `}${quantity} ×</span></div><span class="line-total">${formatMoney(total, variant.currency)}</span></li>`
}

/** What store credit and a gift card pay, and what is left for a card. */
function tenderTotals({ site }: PageContext, { tenders, quote }: CheckoutView): Html | null {
  const { store_credit_cents, giftCard, due_cents } = tenders
  if (store_credit_cents === 0 && giftCard === null) return null
  const { texts, formatMoney } = site.locale
  const money = (cents: number) => formatMoney(cents, quote.currency)
  return html`<dl class="totals">${store_credit_cents > 0 && html`<div><dt>${texts.storeCredit}</dt><dd>−${money(store_credit_cents)}</dd></div>`}${
    giftCard !== null &&
    html`<div><dt>${texts.giftCardEnding(giftCard.last4)}</dt><dd>−${money(giftCard.cents)}</dd></div>`
  }<div class="totals-final"><dt>${texts.dueByCard}</dt><dd data-due>${money(due_cents)}</dd></div></dl>`
}
