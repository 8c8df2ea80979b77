import { cleanText } from '../http/forms.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { RequestContext } from '../request-context.ts'
import { fractionDigits } from '../translations/locale.ts'
import { readActionKey } from './action-keys.ts'
import { actionRefusal, isExplained } from './order-actions.ts'
import { findOwnOrder, orderNotHere, orderPage } from './order-pages.ts'
import { refundableCharges } from './refund-view.ts'

const FIELD_LENGTH_MAX = 500

/** Refunds a part of an order to its shopper, if the store allows shoppers to do that themselves. */
export async function refundOrder(
  context: RequestContext,
  id: string,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site } = context
  const { texts } = site.locale
  const detail = await findOwnOrder(context, id)
  if (detail === null) return orderNotHere(context)
  const text = (name: string) => cleanText(form.get(name), FIELD_LENGTH_MAX)
  const entered = { charge: text('charge'), amount: text('amount'), reason: text('reason') }
  const charges = refundableCharges(context, detail)
  const chosen = charges.find(({ charge_id }) => charge_id === entered.charge) ?? charges[0]
  if (chosen === undefined) {
    return orderPage(context, id, { notice: texts.refusals.not_refundable })
  }
  const amount_cents = readAmount(entered.amount, chosen.currency)
  if (amount_cents === null) {
    const error = texts.checkAmount
    return orderPage(context, id, { notice: error, refund: { ...entered, error } })
  }
  const request = { charge_id: chosen.charge_id, amount_cents, reason: entered.reason || null }
  const key = `shop-refund-${readActionKey(form)}`
  try {
    await api.refundOrder(site, id, request, key)
  } catch (error) {
    if (!isExplained(error)) throw error
    const notice = await actionRefusal(context, error, { operation: 'refund', key })
    return orderPage(context, id, { notice, refund: { ...entered, error: undefined } })
  }
  return redirect(`/orders/${id}?done=refunded`)
}

/**
 * A typed amount in the smallest unit of its currency: `12`, `12.5` and `12,50` are alike. Computed
 * from the digits, so that nothing is rounded. Null for zero, and for a text that is no amount.
 */
export function readAmount(text: string, currency: string): number | null {
  const digits = fractionDigits(currency)
  const [, whole = '', part = ''] = /^(\d{1,9})(?:[.,](\d{1,4}))?$/.exec(text) ?? []
  if (whole === '' || part.length > digits) return null
  const cents = Number(whole + part.padEnd(digits, '0'))
  return cents > 0 ? cents : null
}
