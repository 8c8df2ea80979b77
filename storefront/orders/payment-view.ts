import type { OrderDetail } from '../api/types.ts'
import { type HostedFields, hostedCardFields } from '../checkout/hosted-fields.ts'
import { cardFields } from '../layout/fields.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'

/** The form that pays for an order whose shopper is asked to pay. */

/** Whether the shopper is asked to pay. The platform closes an expired request a little later. */
export const isAsked = ({ payment_request }: OrderDetail): boolean =>
  payment_request?.status === 'open'

interface PaymentView {
  detail: OrderDetail
  payErrors: Record<string, string>
  hosted: HostedFields | null
  actionKey: string
}

/** Renders the form; null if nothing is to be paid. */
export function paymentForm({ site }: PageContext, view: PaymentView): Html | null {
  const { detail, payErrors, hosted, actionKey } = view
  const { order, payment_request: request } = detail
  if (request === null || !isAsked(detail)) return null
  const { texts, formatMoney, formatTime } = site.locale
  const amount = formatMoney(request.amount_cents, request.currency)
  const fields = hosted === null ? cardFields(texts, payErrors) : hostedCardFields(texts, hosted)
  return html`<section class="panel" id="pay"><h2>${texts.toPay({ amount })}</h2><p>${texts.payUntil({ time: formatTime(request.expires_at) })}</p>
<form method="post" action="/orders/${order.id}/pay" data-payment><input type="hidden" name="action_key" value="${actionKey}">
<div id="card-notice"></div>${fields}
<button class="button button-wide" data-pay data-wait="${texts.processing}">${texts.pay({ amount })}</button></form></section>`
}
