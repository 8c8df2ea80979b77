import type { OrderDetail, OrderItem, Return, Returnable } from '../api/types.ts'
import { type Html, html, paragraphs } from '../layout/html.ts'
import { webLink } from '../layout/web-link.ts'
import type { PageContext } from '../request-context.ts'
import type { Locale } from '../translations/locale.ts'
import { unitsText } from './parcel-view.ts'

/** The returns of an order: the form that requests one, and the state of each. */

/** The entries of the form, for when it is shown again. */
export interface ReturnInput {
  /** The quantities by line; null if the form was not sent yet. */
  quantities: ReadonlyMap<string, string> | null
  reason: string
}

interface ReturnView {
  detail: OrderDetail
  return: ReturnInput
  actionKey: string
}

/** Renders the form; null if nothing has shipped. Lines that cannot be sent back say why. */
export function returnForm({ site }: PageContext, view: ReturnView): Html | null {
  const { texts } = site.locale
  const { detail, return: entered, actionKey } = view
  const lines = detail.returnable.flatMap((returnable) => {
    const item = detail.items.find(({ id }) => id === returnable.order_item_id)
    const isGone = item === undefined || item.gift_card || returnable.reason === 'not_shipped'
    return isGone ? [] : [{ item, returnable }]
  })
  if (lines.length === 0 || detail.order.status === 'cancelled') return null
  const rows = lines.map(({ item, returnable }) =>
    lineRow(site.locale, item, returnable, entered.quantities?.get(item.id) ?? '0'),
  )
  const canSend = lines.some(({ returnable }) => returnable.quantity > 0)
  const button = html`<label class="field"><span>${texts.returnReason}</span><input name="reason" value="${entered.reason}" maxlength="500" autocomplete="off"></label>
<button class="button button-quiet">${texts.requestReturn}</button>`
  return html`<details class="order-action"${entered.quantities !== null && html` open`}><summary>${texts.sendBack}</summary><form method="post" action="/orders/${detail.order.id}/return"><input type="hidden" name="action_key" value="${actionKey}">
<ul class="lines lines-plain">${rows}</ul>${canSend && button}</form></details>`
}

function lineRow(
  { texts, formatTime }: Locale,
  { id, product_name, label }: OrderItem,
  { quantity, until, reason }: Returnable,
  entered: string,
): Html {
  const name = html`<div class="line-text"><span class="line-name">${product_name}</span>${label && html`<span class="line-label">${label}</span>`}${
    quantity > 0 &&
    until !== null &&
    html`<span class="line-label">${texts.returnUntil({ time: formatTime(until) })}</span>`
  }${reason !== null && html`<span class="line-label">${texts.notReturnable[reason]}</span>`}</div>`
  if (quantity === 0) return html`<li class="line">${name}</li>`
  return html`<li class="line">${name}<label class="quantity"><span class="hidden">${texts.quantityOf({ name: product_name })}</span><input type="number" name="r:${id}" value="${entered}" min="0" max="${quantity}" inputmode="numeric"></label></li>`
}

export function returnList({ site }: PageContext, { returns }: OrderDetail): Html | null {
  if (returns.length === 0) return null
  const { texts } = site.locale
  return html`<section><h2>${texts.returns}</h2><ul class="parcels">${returns.map((each) => returnEntry(site.locale, each))}</ul></section>`
}

function returnEntry(locale: Locale, given: Return): Html {
  const { texts } = locale
  const { return_number, status, lines, instructions, decline_reason } = given
  const isOpen = status === 'approved' || status === 'partially_received'
  return html`<li class="parcel" data-return="${status}"><p class="parcel-head"><strong>${return_number}</strong> <span>${texts.returnStates[status]}</span></p>
<p>${unitsText(locale, lines)}</p>
${isOpen && instructions !== null && html`<div class="prose">${paragraphs(instructions)}</div>`}
${status === 'declined' && decline_reason !== null && html`<div class="prose">${paragraphs(decline_reason)}</div>`}
${isOpen && webLink(texts.printLabel, given.label_url)}</li>`
}
