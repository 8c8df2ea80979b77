import { allowedActions } from '../allowed-actions.ts'
import { QUANTITY_MAX } from '../cart.ts'
import { findName } from '../explain.ts'
import { type Html, html } from '../html.ts'
import type { Charge, OrderDetail, OrderItem, Refund } from '../types.ts'
import type { Visit } from '../visit.ts'
import type { Phrases } from '../words/en.ts'
import { cardFields } from './fields.ts'
import { type RefundForm, refundForm } from './order-refund.ts'
import { sums, tenderName } from './totals.ts'

export interface OrderView {
  detail: OrderDetail
  /** Right after it was placed. */
  isNew: boolean
  notice: string | null
  good: string | null
  /** An edit that costs more than was paid needs a card. */
  edit: {
    quantities: ReadonlyMap<string, string>
    needsCard: boolean
    faults: Record<string, string>
  }
  refund: RefundForm
  /** Changes with each thing that was done, so that a form sent twice is one deed. */
  deed: string
}

export function orderMain(visit: Visit, view: OrderView): Html {
  const { order, items, charges, refunds } = view.detail
  const { say, moment } = visit.site.words
  const status = findName(say.statuses, order.status) ?? order.status
  const isPending = order.status === 'pending_payment'
  const allowed = allowedActions(view.detail)
  return html`<div class="wrap narrow order"${isPending && html` data-refresh`}>
<header class="order-head"><p class="eyebrow">${say.order(order.order_number)}</p><h1>${view.isNew && !isPending ? say.thanks : status}</h1>
<p class="lead">${findName(say.leads, order.status) ?? say.leadOther}</p></header>
${view.notice !== null && html`<p class="fault fault-box" role="alert" tabindex="-1" data-focus>${view.notice}</p>`}
${view.good !== null && html`<p class="ok ok-box" role="status">${view.good}</p>`}
<dl class="facts"><div><dt>${say.status}</dt><dd data-status="${order.status}">${status}</dd></div><div><dt>${say.ordered}</dt><dd>${moment(order.placed_at ?? order.created_at)}</dd></div>${paidBy(say, charges)}${address(say, view)}</dl>
<section><h2>${say.whatYouOrdered}</h2>${allowed.edit ? editForm(visit, view) : plainLines(visit, items, order.currency)}
${sums(visit, order, order.coupon_code)}</section>
${refunds.length > 0 && refundList(visit, refunds)}
${allowed.cancel && cancelForm(say, order.id, view.deed)}
${refundForm(visit, view)}
<p class="order-end"><a class="more" href="/products">${say.backToStore}</a></p></div>`
}

function paidBy(say: Phrases, charges: readonly Charge[]): Html | null {
  const paid = charges.filter(({ status }) => status === 'captured' || status === 'authorized')
  if (paid.length === 0) return null
  const names = new Set(paid.map((charge) => tenderName(say, charge)))
  return html`<div><dt>${say.paidBy}</dt><dd>${[...names].join(', ')}</dd></div>`
}

function address(say: Phrases, { detail: { order } }: OrderView): Html | null {
  if (order.ship_to === null) return null
  const { label, line1, line2, city, state, postal_code, country } = order.ship_to
  const town = `${postal_code} ${city}`.trim()
  const lines = [label, line1, line2, town, [state, country].filter(Boolean).join(', ')]
  return html`<div><dt>${say.goesTo}</dt><dd>${lines.filter(Boolean).map((each) => html`<span class="address-line">${each}</span>`)}</dd></div>`
}

const lineText = ({ product_name, label }: OrderItem): Html =>
  html`<div class="line-text"><span class="line-name">${product_name}</span>${label && html`<span class="line-label">${label}</span>`}</div>`

const plainLines = ({ site }: Visit, items: readonly OrderItem[], currency: string): Html =>
  html`<ul class="lines lines-plain">${items.map(
    (item) =>
      html`<li class="line">${lineText(item)}<span class="line-label">× ${item.quantity}</span><span class="line-total">${site.words.money(item.line_total_cents, currency)}</span></li>`,
  )}</ul>`

function editForm({ site }: Visit, { detail, edit, deed }: OrderView): Html {
  const { order, items } = detail
  const { say, money } = site.words
  return html`<form method="post" action="/orders/${order.id}/edit"><input type="hidden" name="deed" value="${deed}">
<ul class="lines lines-plain">${items.map(
    (item) =>
      html`<li class="line">${lineText(item)}<label class="quantity"><span class="hidden">${say.quantityOf(item.product_name)}</span><input type="number" name="q:${item.id}" value="${edit.quantities.get(item.id) ?? item.quantity}" min="0" max="${QUANTITY_MAX}" inputmode="numeric"></label><span class="line-total">${money(item.line_total_cents, order.currency)}</span></li>`,
  )}</ul>
${edit.needsCard && html`<div class="panel"><p>${say.cardForDifference}</p>${cardFields(say, edit.faults)}</div>`}
<button class="button button-quiet">${say.saveQuantities}</button></form>`
}

const cancelForm = (say: Phrases, id: string, deed: string): Html =>
  html`<details class="cancel"><summary>${say.cancelOrder}</summary><form method="post" action="/orders/${id}/cancel"><input type="hidden" name="deed" value="${deed}"><p>${say.cancelWords}</p><button class="button button-danger">${say.cancelNow}</button></form></details>`

const refundList = ({ site }: Visit, refunds: readonly Refund[]): Html =>
  html`<section><h2>${site.words.say.moneyBack}</h2><ul class="refunds">${refunds.map(
    ({ amount_cents, currency, created_at, status = 'succeeded' }) =>
      html`<li><span>${site.words.money(amount_cents, currency)} ${findName(site.words.say.refundStates, status) ?? status}</span><time datetime="${created_at}">${site.words.moment(created_at)}</time></li>`,
  )}</ul></section>`

export function ordersMain(visit: Visit): Html {
  const orders = visit.shopper?.orders ?? []
  const { say } = visit.site.words
  return html`<div class="wrap narrow center"><h1>${say.yourOrders}</h1>${
    orders.length === 0
      ? html`<div class="empty"><p>${say.noOrders}</p><p><a class="button" href="/products">${say.startLooking}</a></p></div>`
      : html`<ul class="order-list">${orders.map(({ id }, at) => html`<li><a href="/orders/${id}">${at === 0 ? say.latestOrder : say.earlierOrder(id.slice(0, 8))}</a></li>`)}</ul>`
  }</div>`
}
