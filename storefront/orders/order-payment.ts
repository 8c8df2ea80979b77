import { readTender } from '../checkout/payment.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { RequestContext } from '../request-context.ts'
import { fieldErrors } from '../translations/error-messages.ts'
import { readActionKey } from './action-keys.ts'
import { actionRefusal, isExplained } from './order-actions.ts'
import { findOwnOrder, orderNotHere, orderPage } from './order-pages.ts'

/** Pays the payment request of an order, from the form of the order page. */
export async function payOrder(
  context: RequestContext,
  id: string,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site } = context
  const { texts } = site.locale
  const detail = await findOwnOrder(context, id)
  if (detail === null) return orderNotHere(context)
  const { card, wrong } = await readTender(context, form)
  if (Object.keys(wrong).length > 0) {
    return orderPage(context, id, { notice: texts.checkCard, payErrors: wrong })
  }
  const body = { customer_ref: detail.order.customer_ref, card }
  const key = `shop-pay-${readActionKey(form)}`
  try {
    await api.payOrder(site, id, body, key)
  } catch (error) {
    if (!isExplained(error)) throw error
    const payErrors = fieldErrors(texts, error)
    const isMarked = Object.keys(payErrors).length > 0
    const refusal = await actionRefusal(context, error, { operation: 'pay', key })
    return orderPage(context, id, { notice: isMarked ? texts.checkCard : refusal, payErrors })
  }
  return redirect(`/orders/${id}?done=paid`)
}
