import { LEGAL_KINDS } from '../../manifest/page-props.ts'
import { offersExpedited, shippingRate } from '../../manifest/shipping.ts'
import type { Item } from '../api/types.ts'
import { REPEATED } from '../cart/cart.ts'
import { type CartLine, needsAddress } from '../cart/cart-lines.ts'
import { rhythmOf } from '../catalog/purchase-plan.ts'
import { arrivalNote } from '../layout/arrival.ts'
import {
  cardFields,
  checkbox,
  errorText,
  type Field,
  fieldId,
  textField,
} from '../layout/fields.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { pagePath } from '../site/pages.ts'
import type { Site } from '../site/site.ts'
import type { Texts } from '../translations/texts.ts'
import { addressRuleOf, cityLabel } from './address.ts'
import { addressFields } from './address-view.ts'
import type { CheckoutDetails } from './checkout-form.ts'
import { type HostedFields, hostedCardFields } from './hosted-fields.ts'
import { renewalsNote } from './renewals-view.ts'
import { orderSummary, type SummaryView } from './summary-view.ts'

export interface CheckoutView extends SummaryView {
  details: CheckoutDetails
  /** The one product of an express checkout. */
  item: Item | null
  /** The gateway's own card fields; null if the form has fields of its own. */
  hosted: HostedFields | null
  /** Whether this browser remembers an address. */
  isRemembered: boolean
  /** What is wrong with the form, by field. */
  errors: Record<string, string>
  /** A message above the form. */
  notice: string | null
  /** Whether the total depends on the address. */
  isByAddress: boolean
  /** Whether the total is not final, because the address is missing. */
  awaitsAddress: boolean
  /** The value of the hidden field `key`: see `FormKey`. */
  key: string
}

export function checkoutMain(context: PageContext, view: CheckoutView): Html {
  const { details, errors, key } = view
  const { texts } = context.site.locale
  const email: Field = { name: 'email', label: texts.email, autocomplete: 'email', type: 'email' }
  return html`<div class="wrap checkout"><h1>${texts.checkout}</h1>
<div id="notices">${errorSummary(context, view)}</div>
<form class="checkout-row${view.awaitsAddress && ' awaits-address'}" method="post" action="${view.path}" data-checkout>
<input type="hidden" name="key" value="${key}"${view.isByAddress && html` data-by-address`}>${expressFields(view)}
<div class="checkout-fields">
<section id="contact"><h2>${texts.contact}</h2>${textField(email, details.email, errors.email)}</section>
${shippingSection(context, view)}
<section><h2>${texts.payment}</h2>${tenderFields(context, view)}
<fieldset id="card"${errors.card !== undefined && html` aria-describedby="card-error"`}${view.tenders.due_cents === 0 && html` disabled hidden`}><legend class="hidden">${texts.payment}</legend><div id="card-notice">${cardError(view)}</div>${cardInputs(texts, view)}</fieldset></section>
<div id="statement">${statement(context, view)}</div>
<div class="checkout-end">${renewalsNote(context, view)}${payButton(context, view)}
${cardNote(context, view)}${legalLinks(context)}</div>
</div>
${orderSummary(context, view)}
</form>${view.isRemembered && html`<form id="forget" method="post" action="${view.path}/forget">${expressFields(view)}</form>`}</div>`
}

/** The address and the way of shipping. Gift cards are mailed, and ask for no address. */
function shippingSection(context: PageContext, view: CheckoutView): Html | null {
  if (!needsAddress(view.lines)) return null
  const { details, errors } = view
  const { texts } = context.site.locale
  return html`<section id="shipping"><h2>${texts.shipping}</h2>${rememberedNote(texts, view)}${addressFields(context.site, details, errors)}${context.site.hasAccounts && remember(texts, details)}${shippingMethod(context, view)}${subscription(context, view)}</section>`
}

/** The product of an express checkout: the form names it, because another tab may buy another. */
const expressFields = ({ item }: CheckoutView): Html | null =>
  item === null
    ? null
    : html`<input type="hidden" name="variant" value="${item.variant_id}"><input type="hidden" name="quantity" value="${item.quantity}">${item.subscribe && html`<input type="hidden" name="plan" value="${REPEATED}">`}`

/** Says that the address is remembered. The button has a form of its own: the enter key would press it in this one. */
const rememberedNote = (texts: Texts, { isRemembered }: CheckoutView): Html | false =>
  isRemembered &&
  html`<p class="note remembered">${texts.addressRemembered} <button form="forget" class="link-button">${texts.forgetAddress}</button></p>`

const remember = (texts: Texts, { remember: checked }: CheckoutDetails): Html =>
  checkbox({ name: 'remember', label: texts.rememberAddress, note: texts.rememberNote, checked })

/** Says when the card is charged, and who sees its number. */
function cardNote({ site }: PageContext, view: CheckoutView): Html {
  const { texts } = site.locale
  const isSubscribed = repeatedLines(site, view).length > 0
  const seen = view.hosted === null ? texts.cardSeen : texts.cardUnseen
  const notes = [texts.cardCharged, seen, isSubscribed && texts.cardStored]
  return html`<p class="note" id="card-note"${view.tenders.due_cents === 0 && html` hidden`}>${notes.filter(Boolean).join(' ')}</p>`
}

/** Whether a refusal of the card can be shown at the card: otherwise it is shown above the form. */
const showsCard = ({ tenders }: CheckoutView): boolean => tenders.due_cents > 0

/** Says why the card was refused, at the card. Everything else of the form is still filled in. */
const cardError = (view: CheckoutView): Html | false =>
  view.errors.card !== undefined &&
  html`<p class="error error-box" id="card-error" role="alert" tabindex="-1" data-focus>${view.errors.card}</p>`

/** The fields of the form in their order, with the names that a list of errors has for them. */
function fieldNames(
  texts: Texts,
  country: string,
): readonly [field: string, label: string | null][] {
  const { order, postcode, region } = addressRuleOf(country)
  const locality = {
    postal_code: texts.postcodeKinds[postcode?.kind ?? 'postcode'],
    city: cityLabel(texts, country),
    state: texts.regionKinds[region?.kind ?? 'region'],
  }
  return [
    ['email', texts.email],
    ['country', texts.country],
    ['name', texts.fullName],
    ['line1', texts.address],
    ...order.map((part): [string, string] => [part, locality[part]]),
    ['subscribe', null],
    ['gift', texts.giftCardCode],
    ['number', texts.cardNumber],
    ['expiry', texts.expiryDate],
    ['cvv', texts.securityCode],
    ['attested', null],
  ]
}

/** The faults, above the form: a message, and a link to each field. */
function errorSummary({ site }: PageContext, view: CheckoutView): Html | null {
  const { texts } = site.locale
  const { errors, notice } = view
  const links = fieldNames(texts, view.details.country).flatMap(([field, label]) => {
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

/** The fields of the card: the gateway's, or our own. */
const cardInputs = (texts: Texts, { hosted, errors }: CheckoutView): Html =>
  hosted === null
    ? html`<div id="card-fields">${cardFields(texts, errors)}</div>`
    : hostedCardFields(texts, hosted)

/** The store's terms and the like, to be read before the shopper pays. */
function legalLinks({ site }: PageContext): Html | null {
  const pages = LEGAL_KINDS.flatMap((kind) => site.pages.find((page) => page.kind === kind) ?? [])
  if (pages.length === 0) return null
  const links = pages.map(
    (page) => html`<li><a href="${pagePath(page)}" target="_blank">${page.title}</a></li>`,
  )
  return html`<nav class="legal" aria-label="${site.locale.texts.legal}"><ul>${links}</ul></nav>`
}

function payButton({ site }: PageContext, { awaitsAddress, tenders, quote }: CheckoutView): Html {
  const { texts, formatMoney } = site.locale
  const { due_cents: due } = tenders
  // The shopper pays a total that they have seen. The store checks the form, which asks for no card yet.
  if (awaitsAddress) {
    return html`<button class="button button-wide" data-pay data-wait="${texts.processing}" data-awaits-address formnovalidate>${texts.seeTotal}</button>`
  }
  return html`<button class="button button-wide" data-pay data-wait="${texts.processing}">${
    due === 0 ? texts.placeOrder : texts.pay({ amount: formatMoney(due, quote.currency) })
  }</button>`
}

/** The ways of shipping, each with its dates; if the store has only one, its dates alone. */
function shippingMethod({ site }: PageContext, { details, quote }: CheckoutView): Html | null {
  const { shipping } = site.policies
  const { texts, formatMoney } = site.locale
  const arrival = arrivalNote(site, 'standard')
  if (shipping === null || !offersExpedited(shipping)) {
    return arrival === null ? null : html`<p class="note">${arrival}</p>`
  }
  const radio = (value: 'standard' | 'expedited', label: string, checked: boolean) => {
    const note = arrivalNote(site, value)
    return html`<label class="choice"><input type="radio" name="speed" value="${value}"${checked && html` checked`} data-reprice><span class="choice-box"><span>${label}${note !== null && html`<br><small class="choice-note">${note}</small>`}</span></span></label>`
  }
  const express = texts.express({
    price: formatMoney(shippingRate(shipping, true), quote.currency),
  })
  return html`<fieldset class="choices"><legend>${texts.shippingMethod}</legend>${radio('standard', texts.standard, !details.expedited)}${radio('expedited', express, details.expedited)}</fieldset>`
}

const canRepeat = (site: Site, { product, variant }: CartLine): boolean =>
  rhythmOf(site, product, variant) !== null

/** The lines that are subscribed to: by the choice on their product's page, or by the choice on this form. */
const repeatedLines = (site: Site, { lines, details }: Pick<CheckoutView, 'lines' | 'details'>) =>
  lines.filter((line) => line.isRepeated || (details.subscribe && canRepeat(site, line)))

/** The names of lines with their rhythm, each once: "House Coffee (every month)". */
const namesOf = (site: Site, lines: readonly CartLine[]): string => {
  const names = lines.map(({ product, variant }) => {
    const rhythm = rhythmOf(site, product, variant)
    return rhythm === null ? product.name : `${product.name} (${rhythm})`
  })
  return site.locale.formatList([...new Set(names)])
}

/**
 * The lines that are subscribed to, and one switch for all other products that can be: it covers each of them, as in
 * the API.
 */
function subscription(
  { site }: PageContext,
  { lines, details, errors }: CheckoutView,
): Html | null {
  const { texts } = site.locale
  const chosen = lines.filter(({ isRepeated }) => isRepeated)
  const others = lines.filter((line) => !line.isRepeated && canRepeat(site, line))
  if (chosen.length + others.length === 0) return null
  const agreed =
    chosen.length > 0 &&
    html`<p class="panel" id="agreed">${texts.buying.agreed({ what: namesOf(site, chosen) })}</p>${others.length === 0 && errorText('subscribe', errors.subscribe)}`
  if (others.length === 0) return html`${agreed}`
  return html`${agreed}${checkbox({
    name: 'subscribe',
    label: texts.subscribe({ what: namesOf(site, others) }),
    note: texts.subscribeNote,
    checked: details.subscribe,
    reprice: true,
    error: errors.subscribe,
  })}`
}

function tenderFields({ site }: PageContext, view: CheckoutView): Html {
  const { details, quote, tenders, errors } = view
  const { offers, locale } = site
  const { texts, formatMoney } = locale
  const available = quote.store_credit_available_cents
  // No balance pays for a gift card, so that a cart of gift cards alone does not ask for one.
  if (quote.gift_card_cents > 0 && quote.gift_card_cents === quote.total_cents) {
    const isOffered = offers.giftCards || (offers.storeCredit && available > 0)
    return html`<div id="tenders" class="tenders">${isOffered && html`<p class="note">${texts.buying.giftCardsPayNone}</p>`}</div>`
  }
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
      label: texts.useStoreCredit({ amount: formatMoney(available, quote.currency) }),
      checked: details.credit,
      reprice: true,
    })
  }${
    offers.giftCards &&
    html`<div class="coupon">${textField(giftCard, details.gift, giftCardError)}<button class="button button-quiet" formaction="${view.path}/update" formnovalidate data-reprice>${texts.apply}</button></div>`
  }${tenders.due_cents === 0 && coveredNote(site, view)}</div>`
}

/**
 * Says that nothing is left to pay by card. The platform then refuses a subscription, since no card
 * would be stored for its later charges: the shopper learns it here, before the order is sent.
 */
function coveredNote(site: Site, view: CheckoutView): Html {
  const { texts } = site.locale
  if (repeatedLines(site, view).length === 0)
    return html`<p class="success" role="status">${texts.nothingDue}</p>`
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
