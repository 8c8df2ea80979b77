import { type Answer, redirect } from './answer.ts'
import { deedOf, explainDeed, isRefusal } from './deeds.ts'
import type { TillVisit } from './kept.ts'
import { elsewhere, find, orderPage } from './orders.ts'
import { refundableCharges } from './pages/order-refund.ts'
import { readTyped } from './typed.ts'
import { minorOf } from './words.ts'

/** Money back on request, where the store lets its shoppers ask for it here. */
export async function refundOrder(
  visit: TillVisit,
  id: string,
  form: URLSearchParams,
): Promise<Answer> {
  const { shop, site } = visit
  const detail = await find(visit, id)
  if (detail === null) return elsewhere(visit)
  const text = (name: string) => readTyped(form.get(name), 500)
  const [charge, amount, reason] = [text('charge'), text('amount'), text('reason')]
  const charges = refundableCharges(visit, detail)
  const chosen = charges.find(({ charge_id }) => charge_id === charge) ?? charges[0]
  if (chosen === undefined) {
    return orderPage(visit, id, { notice: site.words.say.refusals.not_refundable })
  }
  const cents = readAmount(amount, chosen.currency)
  const back = { charge, amount, reason, fault: site.words.say.refundAmountWrong }
  if (cents === null) return orderPage(visit, id, { notice: back.fault, refund: back })
  const wish = { charge_id: chosen.charge_id, amount_cents: cents, reason: reason || null }
  const key = `shop-refund-${deedOf(form)}`
  try {
    await shop.refund(site, id, wish, key)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const notice = await explainDeed(visit, error, { operation: 'refund', key })
    return orderPage(visit, id, { notice, refund: { ...back, fault: null } })
  }
  return redirect(`/orders/${id}?done=refunded`)
}

/** `12`, `12.5` and `12,50` in the currency's own digits, without a fraction's rounding. Null for the rest. */
export function readAmount(text: string, currency: string): number | null {
  const digits = String(minorOf(currency)).length - 1
  const [, whole = '', part = ''] = /^(\d{1,9})(?:[.,](\d{1,4}))?$/.exec(text) ?? []
  if (whole === '' || part.length > digits) return null
  const cents = Number(whole + part.padEnd(digits, '0'))
  return cents > 0 ? cents : null
}
