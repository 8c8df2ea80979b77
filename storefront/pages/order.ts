import { QUANTITY_MAX } from '../cart.ts'
import { type Html, html } from '../html.ts'
import type { Charge, OrderDetail, OrderItem, Refund } from '../types.ts'
import type { Visit } from '../visit.ts'
import { cardFields } from './checkout.ts'
import { sums } from './totals.ts'

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
  /** Changes with each thing that was done, so that a form sent twice is one deed. */
  deed: string
}

const STATUSES: Record<string, string> = {
  pending_payment: 'Waiting for the payment to be confirmed',
  placed: 'Placed',
  processing: 'Being packed',
  on_hold: 'Being checked',
  shipped: 'On its way',
  partially_shipped: 'Partly on its way',
  delivered: 'Delivered',
  cancelled: 'Cancelled',
  refunded: 'Refunded',
  partially_refunded: 'Partly refunded',
  payment_failed: 'Payment failed: nothing was charged',
}

const CHANGEABLE = ['placed', 'processing', 'on_hold', 'partially_refunded']

export function orderMain(visit: Visit, view: OrderView): Html {
  const { order, items, charges, refunds } = view.detail
  const { site } = visit
  const isPending = order.status === 'pending_payment'
  const canChange =
    CHANGEABLE.includes(order.status) &&
    items.every(({ shipped_quantity }) => shipped_quantity === 0)
  return html`<div class="wrap narrow order"${isPending && html` data-refresh`}>
<header class="order-head"><p class="eyebrow">Order ${order.order_number}</p><h1>${view.isNew && !isPending ? 'Thank you!' : (STATUSES[order.status] ?? order.status)}</h1>
<p class="lead">${lead(view)}</p></header>
${view.notice !== null && html`<p class="fault fault-box" role="alert" tabindex="-1" data-focus>${view.notice}</p>`}
${view.good !== null && html`<p class="ok ok-box" role="status">${view.good}</p>`}
<dl class="facts"><div><dt>Status</dt><dd data-status="${order.status}">${STATUSES[order.status] ?? order.status}</dd></div><div><dt>Ordered</dt><dd>${site.words.moment(order.placed_at ?? order.created_at)}</dd></div>${paidBy(charges)}${address(view)}</dl>
<section><h2>What you ordered</h2>${canChange ? editForm(visit, view) : plainLines(visit, items, order.currency)}
${sums(visit, order, order.coupon_code)}</section>
${refunds.length > 0 && refundList(visit, refunds)}
${canChange && cancelForm(order.id, view.deed)}
<p class="order-end"><a class="more" href="/products">Back to the store</a></p></div>`
}

function lead({ detail: { order } }: OrderView): string {
  if (order.status === 'pending_payment') {
    return 'We are asking your bank. Please do not pay again; this page looks again by itself.'
  }
  if (order.status === 'payment_failed') return 'Nothing was charged. Your cart is still there.'
  if (order.status === 'cancelled') return 'What you paid goes back the way it came.'
  if (order.status === 'on_hold') return 'We have it, and look at it before we send it.'
  return 'We have your order. This page always shows how it stands.'
}

const TENDERS = { card: 'Card', gift_card: 'Gift card', store_credit: 'Store credit' }

function paidBy(charges: readonly Charge[]): Html | null {
  const paid = charges.filter(({ status }) => status === 'captured' || status === 'authorized')
  if (paid.length === 0) return null
  const words = paid.map(({ tender, card, gift_card_last4 }) => {
    const brand = card?.brand ? card.brand.charAt(0).toUpperCase() + card.brand.slice(1) : null
    const last4 = card?.last4 ?? gift_card_last4
    return `${brand ?? TENDERS[tender]}${last4 === null || last4 === undefined ? '' : ` ending in ${last4}`}`
  })
  return html`<div><dt>Paid by</dt><dd>${[...new Set(words)].join(', ')}</dd></div>`
}

function address({ detail: { order } }: OrderView): Html | null {
  if (order.ship_to === null) return null
  const { label, line1, line2, city, state, postal_code, country } = order.ship_to
  const lines = [label, line1, line2, `${postal_code} ${city}`, `${state}, ${country}`]
  return html`<div><dt>Goes to</dt><dd>${lines.filter(Boolean).map((each) => html`<span class="address-line">${each}</span>`)}</dd></div>`
}

const lineText = ({ product_name, label }: OrderItem): Html =>
  html`<div class="line-text"><span class="line-name">${product_name}</span>${label && html`<span class="line-label">${label}</span>`}</div>`

const plainLines = ({ site }: Visit, items: readonly OrderItem[], currency: string): Html =>
  html`<ul class="lines lines-plain">${items.map(
    (item) =>
      html`<li class="line">${lineText(item)}<span class="line-label">${item.quantity} ×</span><span class="line-total">${site.words.money(item.line_total_cents, currency)}</span></li>`,
  )}</ul>`

function editForm({ site }: Visit, { detail, edit, deed }: OrderView): Html {
  const { order, items } = detail
  return html`<form method="post" action="/orders/${order.id}/edit"><input type="hidden" name="deed" value="${deed}">
<ul class="lines lines-plain">${items.map(
    (item) =>
      html`<li class="line">${lineText(item)}<label class="quantity"><span class="hidden">Quantity of ${item.product_name}</span><input type="number" name="q:${item.id}" value="${edit.quantities.get(item.id) ?? item.quantity}" min="0" max="${QUANTITY_MAX}" inputmode="numeric"></label><span class="line-total">${site.words.money(item.line_total_cents, order.currency)}</span></li>`,
  )}</ul>
${edit.needsCard && html`<div class="panel"><p>The change costs more than you have paid. Please enter a card for the difference.</p>${cardFields(edit.faults)}</div>`}
<button class="button button-quiet">Save quantities</button></form>`
}

const cancelForm = (id: string, deed: string): Html =>
  html`<details class="cancel"><summary>Cancel this order</summary><form method="post" action="/orders/${id}/cancel"><input type="hidden" name="deed" value="${deed}"><p>All of it is cancelled, and what you paid goes back the way it came.</p><button class="button button-danger">Yes, cancel it</button></form></details>`

const REFUNDS: Record<string, string> = {
  pending: 'on its way',
  succeeded: 'given back',
  failed: 'could not be given back; please contact the store',
}

const refundList = ({ site }: Visit, refunds: readonly Refund[]): Html =>
  html`<section><h2>Money back</h2><ul class="refunds">${refunds.map(
    ({ amount_cents, currency, created_at, status = 'succeeded' }) =>
      html`<li><span>${site.words.money(amount_cents, currency)} ${REFUNDS[status] ?? status}</span><time datetime="${created_at}">${site.words.moment(created_at)}</time></li>`,
  )}</ul></section>`

export function ordersMain(visit: Visit): Html {
  const orders = visit.shopper?.orders ?? []
  return html`<div class="wrap narrow center"><h1>Your orders</h1>${
    orders.length === 0
      ? html`<div class="empty"><p>No order was placed from this browser yet.</p><p><a class="button" href="/products">Start looking</a></p></div>`
      : html`<ul class="order-list">${orders.map(({ id }, at) => html`<li><a href="/orders/${id}">${at === 0 ? 'Your latest order' : `An earlier order (${id.slice(0, 8)})`}</a></li>`)}</ul>`
  }</div>`
}
