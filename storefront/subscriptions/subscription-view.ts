import type { Product, Subscription } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import { writtenAddress } from '../layout/written-address.ts'
import { lineImage } from '../orders/order-view.ts'
import type { PageContext } from '../request-context.ts'
import { findText } from '../translations/error-messages.ts'
import { cancelForm, changeForm, pauseForm, resumeForm } from './subscription-forms.ts'

export interface SubscriptionView {
  subscription: Subscription
  /** Its product, if it is still sold: it has the image. */
  products: readonly Product[]
  /** Why a change was refused. */
  notice: string | null
  /** Which change succeeded. */
  success: string | null
}

export function subscriptionMain(context: PageContext, view: SubscriptionView): Html {
  const { subscription, notice, success } = view
  const { texts } = context.site.locale
  const words = texts.subscriptions
  const may = (action: Subscription['allowed'][number]) => subscription.allowed.includes(action)
  const path = `/subscriptions/${subscription.id}`
  return html`<div class="wrap narrow order">
<header class="order-head"><p class="eyebrow">${words.title({ number: subscription.subscription_number })}</p><h1>${subscription.product_name ?? words.title({ number: subscription.subscription_number })}</h1>
<p class="lead">${noteOf(context, subscription)}</p></header>
${notice !== null && html`<p class="error error-box" role="alert" tabindex="-1" data-focus>${notice}</p>`}
${success !== null && html`<p class="success success-box" role="status">${success}</p>`}
${facts(context, view)}
${charges(context, subscription)}
${skipped(context, subscription)}
${may('resume') && resumeForm(context, subscription)}
${may('change') && changeForm(context, subscription)}
${may('change') && html`<p class="order-action"><a class="more" href="${path}/address">${words.changeAddress}</a></p>`}
${may('change_card') && html`<p class="order-action"><a class="more" href="${path}/card">${words.changeCard}</a></p>`}
${may('pause') && pauseForm(context, subscription)}
${may('cancel') && cancelForm(context, subscription)}
<p class="order-end"><a class="more" href="/subscriptions">${words.yours}</a></p></div>`
}

/** Describes the state of a subscription; if nothing can be changed now, it says why. */
function noteOf({ site }: PageContext, subscription: Subscription): string {
  const { texts, formatDate } = site.locale
  const words = texts.subscriptions
  const { status, paused_until, cancel_at_period_end, allowed } = subscription
  const isRunning = ['active', 'paused', 'past_due'].includes(status)
  if (isRunning && allowed.length === 0) return words.chargeUnderWay
  if (status === 'paused' && paused_until !== null)
    return `${words.pausedUntil({ date: formatDate(paused_until) })}. ${words.notes.paused}`
  if (cancel_at_period_end) return words.endsWithPeriod
  return findText(words.notes, status) ?? ''
}

export const statusText = ({ site }: PageContext, { status }: Subscription): string =>
  findText(site.locale.texts.subscriptions.statuses, status) ?? status

function facts(context: PageContext, { subscription, products }: SubscriptionView): Html {
  const { texts, formatNumber } = context.site.locale
  const words = texts.subscriptions
  const { status, label, quantity, interval, interval_count, ship_to } = subscription
  const fact = (name: string, value: string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`
  return html`<dl class="facts"><div><dt>${texts.status}</dt><dd data-status="${status}">${statusText(context, subscription)}</dd></div>
<div><dt>${words.product}</dt><dd class="order-card-images">${lineImage(context, subscription, products)}<span>${formatNumber(quantity)} × ${subscription.product_name ?? ''}${label === null ? '' : ` (${label})`}</span></dd></div>
${fact(words.rhythm, texts.every[interval]({ count: interval_count }))}
${fact(words.card, cardName(context, subscription))}
${ship_to && html`<div><dt>${texts.shipsTo}</dt><dd>${writtenAddress(context.site.locale, ship_to)}</dd></div>`}</dl>`
}

function cardName({ site }: PageContext, { payment_method: card }: Subscription): string {
  const { texts } = site.locale
  if (card === null) return texts.subscriptions.noCard
  const brand = card.brand
    ? card.brand.charAt(0).toUpperCase() + card.brand.slice(1)
    : texts.tenders.card
  const name = card.last4 ? texts.endingIn({ what: brand, last4: card.last4 }) : brand
  if (card.exp_month === null || card.exp_year === null) return name
  return `${name}, ${String(card.exp_month).padStart(2, '0')}/${card.exp_year % 100}`
}

/** A button that acts on one cycle: sent twice, it acts once. */
function cycleButton(
  { id }: Subscription,
  { verb, cycle, text, label }: { verb: string; cycle: number; text: string; label: string },
): Html {
  return html`<form method="post" action="/subscriptions/${id}/${verb}"><input type="hidden" name="cycle" value="${cycle}"><button class="link-button" aria-label="${label}">${text}</button></form>`
}

function charges({ site }: PageContext, subscription: Subscription): Html {
  const { texts, formatMoney, formatDate } = site.locale
  const words = texts.subscriptions
  const { next_charges, currency, allowed } = subscription
  const entries = next_charges.map(({ cycle, at, amount_cents }) => {
    const date = formatDate(at)
    const button = { verb: 'skip', cycle, text: words.skip, label: words.skipOn({ date }) }
    return html`<li class="line" data-cycle="${cycle}"><time datetime="${at}">${date}</time><span class="line-total">${formatMoney(amount_cents, currency)}</span>${allowed.includes('skip') && cycleButton(subscription, button)}</li>`
  })
  return html`<section><h2>${words.nextCharges}</h2>${
    entries.length === 0
      ? html`<p>${words.noCharges}</p>`
      : html`<ul class="lines lines-plain">${entries}</ul>`
  }</section>`
}

function skipped({ site }: PageContext, subscription: Subscription): Html | null {
  const { texts, formatDate } = site.locale
  const words = texts.subscriptions
  if (subscription.skipped.length === 0) return null
  const entries = subscription.skipped.map(({ cycle, at }) => {
    const date = formatDate(at)
    const button = { verb: 'unskip', cycle, text: words.unskip, label: words.unskipOn({ date }) }
    return html`<li class="line" data-skipped="${cycle}"><time datetime="${at}">${date}</time>${subscription.allowed.includes('unskip') && cycleButton(subscription, button)}</li>`
  })
  return html`<section><h2>${words.skippedCharges}</h2><ul class="lines lines-plain">${entries}</ul></section>`
}

export function subscriptionListMain(
  context: PageContext,
  subscriptions: readonly Subscription[],
  products: readonly Product[],
): Html {
  const { texts } = context.site.locale
  const words = texts.subscriptions
  return html`<div class="wrap narrow orders"><h1>${words.yours}</h1>${
    subscriptions.length === 0
      ? html`<p>${words.none}</p><p><a class="more" href="/products">${texts.seeAllProducts}</a></p>`
      : html`<ul class="order-list">${subscriptions.map((each) => card(context, each, products))}</ul>`
  }</div>`
}

function card(
  context: PageContext,
  subscription: Subscription,
  products: readonly Product[],
): Html {
  const { texts, formatMoney, formatDate } = context.site.locale
  const { id, interval, interval_count, currency } = subscription
  const [next] = subscription.next_charges
  return html`<li><a href="/subscriptions/${id}"><span class="order-card-text"><strong>${subscription.product_name}</strong><span>${texts.every[interval]({ count: interval_count })}</span></span>
<span class="order-card-text"><span>${statusText(context, subscription)}</span>${next !== undefined && html`<span>${formatDate(next.at)}, ${formatMoney(next.amount_cents, currency)}</span>`}</span>
<span class="order-card-images">${lineImage(context, subscription, products)}</span></a></li>`
}
