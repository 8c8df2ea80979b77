import type { Charge, OrderDetail } from '../api/types.ts'
import { errorAttributes, errorText } from '../layout/fields.ts'
import { type Html, html } from '../layout/html.ts'
import { tenderName } from '../layout/totals.ts'
import type { PageContext } from '../request-context.ts'
import { allowedActions, refundableCents } from './allowed-actions.ts'

/** The entries of the refund form, for when it is shown again. */
export interface RefundInput {
  charge: string
  /** The typed amount; null if the form was not sent yet. */
  amount: string | null
  reason: string
  error: string | undefined
}

/** The charges that a shopper may refund. Empty if the store does not let shoppers refund orders. */
export const refundableCharges = ({ site }: PageContext, detail: OrderDetail): readonly Charge[] =>
  site.offers.refunds ? allowedActions(detail).refund : []

interface RefundView {
  detail: OrderDetail
  refund: RefundInput
  actionKey: string
}

export function refundForm(context: PageContext, view: RefundView): Html | null {
  const { locale } = context.site
  const { texts, formatMoney } = locale
  const { detail, refund, actionKey } = view
  const charges = refundableCharges(context, detail)
  const [first] = charges
  if (first === undefined) return null
  const { amount, charge, reason, error } = refund
  const chosen = charges.find(({ charge_id }) => charge_id === charge) ?? first
  const left = refundableCents(chosen)
  const options = charges.map(
    (each) =>
      html`<option value="${each.charge_id}"${each === chosen && html` selected`}>${tenderName(texts, each)} (${formatMoney(refundableCents(each), each.currency)})</option>`,
  )
  const label = texts.refundAmount({ left: formatMoney(left, chosen.currency) })
  return html`<details class="order-action"${amount !== null && html` open`}><summary>${texts.requestRefund}</summary><form method="post" action="/orders/${detail.order.id}/refund"><input type="hidden" name="action_key" value="${actionKey}"><div class="fields">
<label class="field"><span>${texts.refundTo}</span><select name="charge">${options}</select></label>
<label class="field"><span>${label}</span><input name="amount" inputmode="decimal" value="${amount ?? ''}" maxlength="14" required autocomplete="off"${errorAttributes('amount', error)}>${errorText('amount', error)}</label>
<label class="field"><span>${texts.refundReason}</span><input name="reason" value="${reason}" maxlength="500" autocomplete="off"></label></div>
<button class="button button-danger">${texts.refundNow}</button></form></details>`
}
