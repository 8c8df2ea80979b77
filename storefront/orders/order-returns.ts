import { readQuantity } from '../cart/cart.ts'
import { cleanText } from '../http/forms.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { RequestContext } from '../request-context.ts'
import { errorMessage } from '../translations/error-messages.ts'
import { readActionKey } from './action-keys.ts'
import { isExplained } from './order-actions.ts'
import { findOwnOrder, orderNotHere, orderPage } from './order-pages.ts'

const REASON_LENGTH_MAX = 500

/** Asks the store to accept the return of units, from the form of the order page. */
export async function returnOrder(
  context: RequestContext,
  id: string,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site } = context
  const { texts } = site.locale
  const detail = await findOwnOrder(context, id)
  if (detail === null) return orderNotHere(context)
  const quantities = new Map(detail.items.map((item) => [item.id, form.get(`r:${item.id}`) ?? '0']))
  const reason = cleanText(form.get('reason'), REASON_LENGTH_MAX)
  const lines = detail.items.flatMap((item) => {
    const quantity = readQuantity(quantities.get(item.id) ?? '0', 0)
    if (quantity === 0) return []
    return [{ order_item_id: item.id, quantity, ...(reason !== '' && { reason }) }]
  })
  const entered = { quantities, reason }
  if (lines.length === 0) {
    return orderPage(context, id, { notice: texts.chooseReturn, return: entered })
  }
  const body = { customer_ref: detail.order.customer_ref, lines }
  try {
    await api.returnOrder(site, id, body, `shop-return-${readActionKey(form)}`)
  } catch (error) {
    if (!isExplained(error)) throw error
    return orderPage(context, id, { notice: errorMessage(texts, error), return: entered })
  }
  return redirect(`/orders/${id}?done=returned`)
}
