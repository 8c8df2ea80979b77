import type { Subscription } from '../api/types.ts'
import { QUANTITY_MAX } from '../cart/cart.ts'
import { type Address, defaultCountry } from '../checkout/address.ts'
import { addressFields } from '../checkout/address-view.ts'
import { type HostedFields, hostedCardFields } from '../checkout/hosted-fields.ts'
import { cardFields, selectField, textField } from '../layout/fields.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'

/** The forms that change a subscription. They work without script. */

const COUNT_MAX = 1_000

const open = (subscription: Subscription, verb: string): Html =>
  html`<form method="post" action="/subscriptions/${subscription.id}/${verb}">`

export function pauseForm({ site }: PageContext, subscription: Subscription): Html {
  const words = site.locale.texts.subscriptions
  const until = { name: 'until', label: words.pauseUntil, autocomplete: 'off', type: 'date' }
  return html`<details class="order-action"><summary>${words.pause}</summary>${open(subscription, 'pause')}<p>${words.notes.paused}</p><div class="fields">${textField({ ...until, optional: true }, '')}</div><button class="button button-quiet">${words.pauseNow}</button></form></details>`
}

/** The form that ends a pause, or keeps a subscription that would end with its period. */
export function resumeForm({ site }: PageContext, subscription: Subscription): Html {
  const words = site.locale.texts.subscriptions
  if (subscription.status !== 'paused')
    return html`<div class="order-action">${open(subscription, 'resume')}<button class="button">${words.keep}</button></form></div>`
  return html`<div class="order-action">${open(subscription, 'resume')}<p>${words.resumeNote}</p><p class="buttons"><button class="button">${words.resumeNow}</button> <button class="button button-quiet" name="charge_now" value="1">${words.resumeAndCharge}</button></p></form></div>`
}

/** The form that changes a subscription. By its version, a form of another tab cannot undo these changes. */
export function changeForm({ site }: PageContext, subscription: Subscription): Html {
  const { texts, dateValue } = site.locale
  const words = texts.subscriptions
  const { quantity, interval, interval_count, next_charge_at, status, version } = subscription
  const number = (name: string, label: string, value: number, max: number) =>
    html`<label class="field field-half"><span>${label}</span><input type="number" name="${name}" value="${value}" min="1" max="${max}" inputmode="numeric" required></label>`
  const choices = (['day', 'week', 'month', 'year'] as const).map((value) => ({
    value,
    label: words.units[value],
  }))
  const unit = { name: 'interval', label: words.rhythm, autocomplete: 'off', pair: true, choices }
  const date = { name: 'next_date', label: words.nextDate, autocomplete: 'off', type: 'date' }
  const shown = next_charge_at === null ? '' : dateValue(next_charge_at)
  return html`<details class="order-action"><summary>${words.change}</summary>${open(subscription, 'change')}<input type="hidden" name="version" value="${version}"><input type="hidden" name="shown_date" value="${shown}"><div class="fields">
${number('quantity', texts.quantity, quantity, Math.max(quantity, QUANTITY_MAX))}
${number('interval_count', words.every, interval_count, COUNT_MAX)}${selectField(unit, interval)}
${status === 'active' && textField({ ...date, optional: true }, shown)}</div>
<button class="button button-quiet">${words.save}</button></form></details>`
}

export function cancelForm({ site }: PageContext, subscription: Subscription): Html {
  const words = site.locale.texts.subscriptions
  const canWait = subscription.status === 'active' && !subscription.cancel_at_period_end
  const radio = (value: string, label: string, isFirst: boolean) =>
    html`<label class="choice"><input type="radio" name="when" value="${value}"${isFirst && html` checked`}><span class="choice-box"><span>${label}</span></span></label>`
  return html`<details class="order-action"><summary>${words.cancel}</summary>${open(subscription, 'cancel')}<p>${words.cancelNote}</p>
${canWait && html`<fieldset class="choices"><legend>${words.cancelWhen}</legend>${radio('period_end', words.cancelAtEnd, true)}${radio('now', words.cancelNow, false)}</fieldset>`}
<label class="field"><span>${words.cancelReason}</span><input name="reason" maxlength="500" autocomplete="off"></label>
<button class="button button-danger">${words.confirmCancel}</button></form></details>`
}

export interface FormView {
  subscription: Subscription
  /** The faults of the form, by field. */
  errors: Record<string, string>
  notice: string | null
  /** The entered address, for when the form is shown again. */
  address?: Address | undefined
}

function frame({ site }: PageContext, view: FormView, title: string, form: Html): Html {
  const words = site.locale.texts.subscriptions
  const { subscription, notice } = view
  return html`<div class="wrap narrow order"><header class="order-head"><p class="eyebrow">${words.title({ number: subscription.subscription_number })}</p><h1>${title}</h1></header>
<div id="notices">${notice !== null && html`<p class="error error-box" role="alert" tabindex="-1" data-focus>${notice}</p>`}</div>
${form}
<p class="order-end"><a class="more" href="/subscriptions/${subscription.id}">${words.back}</a></p></div>`
}

/** The page of the card form. The card goes to the gateway in one call, and is never shown again. */
export function cardMain(
  context: PageContext,
  view: FormView & { hosted: HostedFields | null },
): Html {
  const { texts } = context.site.locale
  const words = texts.subscriptions
  const { subscription, errors, hosted } = view
  const fields =
    hosted === null
      ? html`<div id="card-fields">${cardFields(texts, errors)}</div>`
      : hostedCardFields(texts, hosted)
  const error =
    errors.card !== undefined &&
    html`<p class="error error-box" id="card-error" role="alert" tabindex="-1" data-focus>${errors.card}</p>`
  const isDue = subscription.status === 'past_due'
  const form = html`<form method="post" action="/subscriptions/${subscription.id}/card" data-checkout><p>${words.cardNote}${isDue && ` ${words.cardRetry}`}</p>
<fieldset id="card"><legend class="hidden">${texts.payment}</legend><div id="card-notice">${error}</div>${fields}</fieldset>
<p class="note">${hosted === null ? texts.cardSeen : texts.cardUnseen}</p>
<button class="button button-wide" data-pay data-wait="${texts.processing}">${words.saveCard}</button></form>`
  return frame(context, view, words.changeCard, form)
}

export function addressMain(context: PageContext, view: FormView): Html {
  const words = context.site.locale.texts.subscriptions
  const { subscription, errors } = view
  const address = view.address ?? addressOf(context, subscription)
  const form = html`<form method="post" action="/subscriptions/${subscription.id}/address">${addressFields(context.site, address, errors)}<button class="button button-wide">${words.saveAddress}</button></form>`
  return frame(context, view, words.newAddress, form)
}

function addressOf({ site }: PageContext, { ship_to: to }: Subscription): Address {
  return {
    name: to?.name ?? to?.label ?? '',
    line1: to?.line1 ?? '',
    line2: to?.line2 ?? '',
    city: to?.city ?? '',
    state: to?.state ?? '',
    postal_code: to?.postal_code ?? '',
    country: to?.country ?? defaultCountry(site),
  }
}
