import { allowedActions, refundableCents } from '../allowed-actions.ts'
import { type Html, html } from '../html.ts'
import type { Charge, OrderDetail } from '../types.ts'
import type { Visit } from '../visit.ts'
import { tenderName } from './totals.ts'

/** What was typed into the form, where it is shown again. */
export interface RefundForm {
  charge: string
  amount: string | null
  reason: string
  fault: string | null
}

/** What a shopper may take back. The store says whether that is possible at all. */
export const refundableCharges = ({ site }: Visit, detail: OrderDetail): readonly Charge[] =>
  site.offers.refunds ? allowedActions(detail).refund : []

interface Asked {
  detail: OrderDetail
  refund: RefundForm
  deed: string
}

export function refundForm(visit: Visit, { detail, refund, deed }: Asked): Html | null {
  const { words } = visit.site
  const { say, money } = words
  const charges = refundableCharges(visit, detail)
  const [first] = charges
  if (first === undefined) return null
  const { amount, charge, reason, fault } = refund
  const chosen = charges.find(({ charge_id }) => charge_id === charge) ?? first
  const left = refundableCents(chosen)
  const options = charges.map(
    (each) =>
      html`<option value="${each.charge_id}"${each === chosen && html` selected`}>${tenderName(say, each)} (${money(refundableCents(each), each.currency)})</option>`,
  )
  const value = amount ?? words.amount(left, chosen.currency)
  return html`<details class="cancel"${amount !== null && html` open`}><summary>${say.askRefund}</summary><form method="post" action="/orders/${detail.order.id}/refund"><input type="hidden" name="deed" value="${deed}"><div class="fields">
<label class="field"><span>${say.refundFrom}</span><select name="charge">${options}</select></label>
<label class="field"><span>${say.refundAmount(money(left, chosen.currency))}</span><input name="amount" inputmode="decimal" value="${value}" maxlength="14" required autocomplete="off"${
    fault !== null && html` aria-invalid="true" aria-describedby="amount-fault"`
  }>${fault !== null && html`<span class="fault" id="amount-fault">${fault}</span>`}</label>
<label class="field"><span>${say.refundReason}</span><input name="reason" value="${reason}" maxlength="500" autocomplete="off"></label></div>
<button class="button button-danger">${say.refundNow}</button></form></details>`
}
