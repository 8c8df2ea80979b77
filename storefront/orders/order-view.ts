import type { OrderDetail, OrderItem, Product, Refund } from '../api/types.ts'
import { QUANTITY_MAX } from '../cart/cart.ts'
import type { HostedFields } from '../checkout/hosted-fields.ts'
import { cardFields } from '../layout/fields.ts'
import { giftNote } from '../layout/gift-note.ts'
import { type Html, html } from '../layout/html.ts'
import { image, variantImage } from '../layout/images.ts'
import { tenderName, totalsList } from '../layout/totals.ts'
import { writtenAddress } from '../layout/written-address.ts'
import type { PageContext } from '../request-context.ts'
import { findText } from '../translations/error-messages.ts'
import type { Locale } from '../translations/locale.ts'
import type { Texts } from '../translations/texts.ts'
import { allowedActions } from './allowed-actions.ts'
import { type ConfirmationView, confirmation } from './confirmation.ts'
import {
  arrivalOf,
  hasOnlyGiftCards,
  parcelToTrack,
  refundedCents,
  statusText,
  storyOf,
} from './order-story.ts'
import { parcels, progress } from './parcel-view.ts'
import { paymentForm } from './payment-view.ts'
import { type RefundInput, refundForm } from './refund-view.ts'
import { type ReturnInput, returnForm, returnList } from './return-view.ts'

export interface OrderView {
  detail: OrderDetail
  /** The products of the order that are still sold: they have the images. */
  products: readonly Product[]
  /** Whether the order was placed a moment ago. */
  isNew: boolean
  /** Why an action was refused. */
  notice: string | null
  /** Which action succeeded. */
  success: string | null
  /** The entries of the edit form, for when it is shown again. */
  edit: {
    quantities: ReadonlyMap<string, string>
    /** Whether the edit costs more than was paid. */
    needsCard: boolean
    errors: Record<string, string>
  }
  refund: RefundInput
  return: ReturnInput
  /** What is wrong with the card of a payment, by field. */
  payErrors: Record<string, string>
  /** The gateway's own card fields; null where the form has fields of its own. */
  hosted: HostedFields | null
  actionKey: string
  confirmation: ConfirmationView
}

export function orderMain(context: PageContext, view: OrderView): Html {
  const { detail, notice, success } = view
  const { order } = detail
  const { texts } = context.site.locale
  // The script loads the page again while the payment is pending.
  const isPending = order.status === 'pending_payment'
  return html`<div class="wrap narrow order"${isPending && html` data-refresh`}>
${head(context, view, isPending)}
${notice !== null && html`<p class="error error-box" role="alert" tabindex="-1" data-focus>${notice}</p>`}
${success !== null && html`<p class="success success-box" role="status">${success}</p>`}
${confirmation(context, view.confirmation)}
${paymentForm(context, view)}
${progress(context, detail)}
${parcels(context, detail)}
${returnList(context, detail)}
<section><h2>${texts.orderItems}</h2>${lineList(context, view)}${totalsList(context, order, order.coupon_code)}</section>
${detail.refunds.length > 0 && refundList(context, detail.refunds)}
${facts(context, detail)}
${actions(context, view)}
<p class="order-end"><a class="more" href="/products">${texts.backToStore}</a></p></div>`
}

/** Says where the goods are and what happens next. The parcel comes before the money. */
function head({ site }: PageContext, { detail, isNew }: OrderView, isPending: boolean): Html {
  const { texts } = site.locale
  const { title, next } = storyOf(site.locale, detail)
  const isThanked = isNew && !isPending
  const parcel = parcelToTrack(detail)
  const arrival = arrivalOf(site, detail)
  return html`<header class="order-head"><p class="eyebrow">${texts.order({ number: detail.order.order_number })}</p><h1>${isThanked ? texts.thankYou : title}</h1>
<p class="lead">${isThanked ? `${title}. ${next}` : next}</p>${arrival !== null && html`<p data-arrival>${arrival}</p>`}${parcel !== null && html`<p><a class="button" href="${parcel.tracking_url}" rel="noreferrer">${texts.trackParcel}</a></p>`}</header>`
}

/** The actions that a shopper can take with the order: changes first, money last. */
function actions(context: PageContext, view: OrderView): Html | null {
  const { site } = context
  const { texts } = site.locale
  const allowed = allowedActions(view.detail)
  const forms = [
    allowed.edit && editForm(context, view),
    // The cancellation of a refunded order would return nothing.
    allowed.cancel &&
      view.detail.order.status !== 'refunded' &&
      cancelForm(texts, view.detail.order.id, view.actionKey),
    returnForm(context, view),
    refundForm(context, view),
  ].filter((form) => form !== false && form !== null)
  return forms.length === 0
    ? null
    : html`<section class="order-actions"><h2>${texts.story.change}</h2>${forms}</section>`
}

function facts({ site }: PageContext, detail: OrderDetail): Html {
  const { order } = detail
  const { texts, formatTime } = site.locale
  return html`<dl class="facts"><div><dt>${texts.status}</dt><dd data-status="${order.status}">${statusText(site.locale, detail)}</dd></div><div><dt>${texts.orderedOn}</dt><dd>${formatTime(order.placed_at ?? order.created_at)}</dd></div>${paidWith(site.locale, detail)}${shippingAddress(site.locale, detail)}</dl>`
}

/** The tenders of the order, and the refunded amount of each. */
function paidWith({ texts, formatMoney }: Locale, detail: OrderDetail): Html | null {
  const { charges, order } = detail
  const paid = charges.filter(({ status, captured_cents: cents }) => {
    return status === 'captured' || status === 'authorized' || cents > 0
  })
  if (paid.length === 0) return null
  const names = new Set(paid.map((charge) => tenderName(texts, charge)))
  const cents = refundedCents(detail)
  const amount = formatMoney(cents, order.currency)
  const refunded =
    cents < order.total_cents
      ? texts.story.refundedOf({ amount, total: formatMoney(order.total_cents, order.currency) })
      : texts.story.refundedAll({ amount })
  return html`<div><dt>${texts.paidWith}</dt><dd>${[...names].join(', ')}${cents > 0 && html`<span class="fact-note">${refunded}</span>`}</dd></div>`
}

/** Gift cards come by e-mail, whatever address the order has. */
const shippingAddress = (locale: Locale, detail: OrderDetail): Html | null => {
  const to = detail.order.ship_to
  if (to === null || hasOnlyGiftCards(detail)) return null
  return html`<div><dt>${locale.texts.shipsTo}</dt><dd>${writtenAddress(locale, to)}</dd></div>`
}

const lineText = ({ product_name, label }: OrderItem, note: Html | null = null): Html =>
  html`<div class="line-text"><span class="line-name">${product_name}</span>${label && html`<span class="line-label">${label}</span>`}${note}</div>`

/** The recipients of a line's gift cards. Null for goods. */
function giftOf(context: PageContext, { gift_cards }: OrderDetail, item: OrderItem): Html | null {
  const gift = gift_cards.find(({ order_item_id }) => order_item_id === item.id)
  if (!item.gift_card || !gift?.recipient_email) return null
  const { recipient_email, recipient_name, message, send_at } = gift
  return giftNote(context, {
    recipient_email,
    ...(recipient_name !== null && { recipient_name }),
    ...(message !== null && { message }),
    ...(send_at !== null && { send_on: send_at }),
  })
}

/** The lines that are shown: all except those that an edit has removed. */
const keptItems = ({ items }: OrderDetail): readonly OrderItem[] =>
  items.filter(({ quantity }) => quantity > 0)

function lineList(context: PageContext, { detail, products }: OrderView): Html {
  const { formatMoney, formatNumber } = context.site.locale
  const lines = keptItems(detail).map(
    (item) =>
      html`<li class="line">${lineImage(context, item, products)}${lineText(item, giftOf(context, detail, item))}<span class="line-label">× ${formatNumber(item.quantity)}</span><span class="line-total">${formatMoney(item.line_total_cents, detail.order.currency)}</span></li>`,
  )
  return html`<ul class="lines lines-plain lines-pictured">${lines}</ul>`
}

/** The image of a line's variant; an empty box if the product is no longer sold. */
export function lineImage(
  context: PageContext,
  { product_id, variant_id }: Pick<OrderItem, 'product_id' | 'variant_id'>,
  products: readonly Product[],
): Html {
  const product = products.find(({ id }) => id === product_id)
  const variant = product?.variants.find(({ id }) => id === variant_id)
  const ref = product === undefined ? null : variantImage(product, variant).ref
  return html`<span class="line-image" aria-hidden="true">${image(context, { ref, alt: '', sizes: '6rem' })}</span>`
}

function editForm({ site }: PageContext, { detail, edit, actionKey }: OrderView): Html {
  const { order } = detail
  const { texts, formatMoney } = site.locale
  const goods = keptItems(detail).filter(({ gift_card }) => !gift_card)
  const lines = goods.map((item) => {
    const quantity = edit.quantities.get(item.id) ?? item.quantity
    return html`<li class="line">${lineText(item)}<label class="quantity"><span class="hidden">${texts.quantityOf({ name: item.product_name })}</span><input type="number" name="q:${item.id}" value="${quantity}" min="0" max="${QUANTITY_MAX}" inputmode="numeric"></label><span class="line-total">${formatMoney(item.line_total_cents, order.currency)}</span></li>`
  })
  const isRefused = edit.quantities.size > 0
  return html`<details class="order-action"${isRefused && html` open`}><summary>${texts.changeQuantities}</summary><form method="post" action="/orders/${order.id}/edit"><input type="hidden" name="action_key" value="${actionKey}">
<ul class="lines lines-plain">${lines}</ul>
${edit.needsCard && html`<div class="panel"><p>${texts.cardForDifference}</p>${cardFields(texts, edit.errors)}</div>`}
<button class="button button-quiet">${texts.saveQuantities}</button></form></details>`
}

const cancelForm = (texts: Texts, id: string, actionKey: string): Html =>
  html`<details class="order-action"><summary>${texts.cancelOrder}</summary><form method="post" action="/orders/${id}/cancel"><input type="hidden" name="action_key" value="${actionKey}"><p>${texts.cancelNote}</p><button class="button button-danger">${texts.confirmCancel}</button></form></details>`

function refundList({ site }: PageContext, refunds: readonly Refund[]): Html {
  const { texts, formatMoney, formatTime } = site.locale
  const entries = refunds.map(({ amount_cents, currency, created_at, status }) => {
    const state = findText(texts.refundStates, status) ?? status
    return html`<li><span>${formatMoney(amount_cents, currency)} ${state}</span><time datetime="${created_at}">${formatTime(created_at)}</time></li>`
  })
  return html`<section><h2>${texts.refunds}</h2><ul class="refunds">${entries}</ul></section>`
}
