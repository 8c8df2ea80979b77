import type { OrderDetail, Product } from '../api/types.ts'
import { textField } from '../layout/fields.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { statusText } from './order-story.ts'
import { lineImage } from './order-view.ts'

/** The entries of the form that finds an order, for when it is shown again. */
export interface FindForm {
  number: string
  email: string
  error: string | undefined
}

export interface OrderListView {
  orders: readonly OrderDetail[]
  /** The ordered products that are still sold. */
  products: readonly Product[]
  entered: FindForm
  /** Whether a link was requested a moment ago. */
  isSent: boolean
}

const IMAGES_SHOWN = 4

/** The orders that this browser has placed or opened, and the form that finds others. */
export function orderListMain(context: PageContext, view: OrderListView): Html {
  const { texts } = context.site.locale
  const { orders } = view
  return html`<div class="wrap narrow orders"><h1>${texts.yourOrders}</h1>${
    orders.length === 0
      ? html`<p>${texts.noOrders}</p>`
      : html`<ul class="order-list">${orders.map((detail) => orderCard(context, detail, view.products))}</ul>`
  }${context.site.offers.subscriptions && html`<p><a class="more" href="/subscriptions">${texts.subscriptions.yours}</a></p>`}${findForm(context, view)}</div>`
}

function orderCard(context: PageContext, detail: OrderDetail, products: readonly Product[]): Html {
  const { order, items } = detail
  const { texts, formatMoney, formatTime } = context.site.locale
  const shown = items.filter(({ quantity }) => quantity > 0).slice(0, IMAGES_SHOWN)
  return html`<li><a href="/orders/${order.id}"><span class="order-card-text"><strong>${texts.order({ number: order.order_number })}</strong><span>${formatTime(order.placed_at ?? order.created_at)}</span></span>
<span class="order-card-text"><span>${statusText(context.site.locale, detail)}</span><span>${formatMoney(order.total_cents, order.currency)}</span></span>
<span class="order-card-images">${shown.map((item) => lineImage(context, item, products))}</span></a></li>`
}

function findForm({ site }: PageContext, { entered, isSent }: OrderListView): Html {
  const { texts } = site.locale
  const { number, email, error } = entered
  const numberField = { name: 'order_number', label: texts.orderNumber, autocomplete: 'off' }
  const emailField = { name: 'email', label: texts.email, autocomplete: 'email', type: 'email' }
  return html`<section class="find-order"><h2>${texts.findOrder}</h2><p>${texts.findOrderNote}</p>
${isSent && html`<p class="success success-box" role="status">${texts.linkSent}</p>`}
${error !== undefined && html`<p class="error error-box" role="alert" tabindex="-1" data-focus>${error}</p>`}
<form method="post" action="/orders/find"><div class="fields">${textField({ ...numberField, pair: true }, number)}${textField({ ...emailField, pair: true }, email)}</div><button class="button">${texts.mailLink}</button></form></section>`
}
