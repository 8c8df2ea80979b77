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

/** While an order can be cancelled as a whole that is the way; before it is paid there is none. */
const CLOSED = ['pending_payment', 'payment_failed', 'cancelled', 'refunded', 'on_hold']

const leftOn = ({ captured_cents, refunded_cents }: Charge): number =>
  captured_cents - refunded_cents

export function refundableCharges({ site }: Visit, { order, charges }: OrderDetail) {
  if (!site.offers.refunds || CLOSED.includes(order.status)) return []
  return charges.filter((charge) => leftOn(charge) > 0)
}

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
  const left = leftOn(chosen)
  const options = charges.map(
    (each) =>
      html`<option value="${each.charge_id}"${each === chosen && html` selected`}>${tenderName(say, each)} (${money(leftOn(each), each.currency)})</option>`,
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
