import { isRefusal, PlatformError } from '../api/platform-client.ts'
import type { OrderItem, Refund } from '../api/types.ts'
import { readQuantity } from '../cart/cart.ts'
import { cardErrors, readCard } from '../checkout/card.ts'
import { findHostedFields } from '../checkout/hosted-fields.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { PageContext, RequestContext } from '../request-context.ts'
import { errorMessage, fieldErrors } from '../translations/error-messages.ts'
import { readActionKey } from './action-keys.ts'
import { findOwnOrder, orderNotHere, orderPage } from './order-pages.ts'

/** Cancels and edits orders, from the forms of the order page. `order-refunds.ts` refunds them. */

export async function cancelOrder(
  context: RequestContext,
  id: string,
  form: URLSearchParams,
): Promise<HttpResponse> {
  if ((await findOwnOrder(context, id)) === null) return orderNotHere(context)
  try {
    await context.api.cancelOrder(context.site, id, `shop-cancel-${readActionKey(form)}`)
  } catch (error) {
    if (!isExplained(error)) throw error
    return orderPage(context, id, { notice: errorMessage(context.site.locale.texts, error) })
  }
  return redirect(`/orders/${id}?done=cancelled`)
}

export async function editOrder(
  context: RequestContext,
  id: string,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site } = context
  const detail = await findOwnOrder(context, id)
  if (detail === null) return orderNotHere(context)
  const quantities = readQuantities(detail.items, form)
  const edits = changedQuantities(detail.items, quantities)
  if (edits.length === 0) return redirect(`/orders/${id}`)
  // A card number never passes through the server of a store whose gateway has fields of its own.
  const isHosted = (await findHostedFields(context)) !== null
  const card = isHosted ? undefined : readCard(form)
  const wrong = card === undefined ? {} : cardErrors(site.locale.texts, card)
  if (Object.keys(wrong).length > 0) {
    const edit = { quantities, needsCard: true, errors: wrong }
    return orderPage(context, id, { notice: site.locale.texts.checkCard, edit })
  }
  const body = { edits, actor: 'shopper', ...(card === undefined ? {} : { card }) }
  const key = `shop-edit-${readActionKey(form)}`
  try {
    await api.editOrder(site, id, body, key)
  } catch (error) {
    if (!isExplained(error)) throw error
    const { texts } = site.locale
    const errors = fieldErrors(texts, error)
    const isMarked = Object.keys(errors).length > 0
    const refusal = await actionRefusal(context, error, { operation: 'edit', key })
    const needsCard = card !== undefined || error.code === 'card_required'
    const notice = isHosted && needsCard ? texts.cardNotHere : refusal
    return orderPage(context, id, {
      notice: isMarked ? texts.checkCard : notice,
      edit: { quantities, needsCard: needsCard && !isHosted, errors },
    })
  }
  return redirect(`/orders/${id}?done=edited`)
}

/** The quantities as they were typed, by line. */
const readQuantities = (items: readonly OrderItem[], form: URLSearchParams) =>
  new Map(items.map(({ id }) => [id, form.get(`q:${id}`) ?? '']))

const changedQuantities = (items: readonly OrderItem[], quantities: ReadonlyMap<string, string>) =>
  items.flatMap((item) => {
    const quantity = readQuantity(quantities.get(item.id) || String(item.quantity), 0)
    return quantity === item.quantity ? [] : [{ order_item_id: item.id, quantity }]
  })

/** Whether the order page explains an error. Other errors are outages. */
export const isExplained = (error: unknown): error is PlatformError =>
  isRefusal(error) || (error instanceof PlatformError && error.code === 'payment_unconfirmed')

interface Action {
  operation: 'edit' | 'refund' | 'pay'
  key: string
}

/**
 * Why an action was refused. A form that a shopper goes back to, and sends with other values, has acted before under
 * the same key. The message says what it did then, because only that tells the shopper whether to send it again.
 */
export async function actionRefusal(
  { api, site }: PageContext,
  error: PlatformError,
  { operation, key }: Action,
): Promise<string> {
  const { texts, formatMoney } = site.locale
  if (error.code !== 'idempotency_key_reused') return errorMessage(texts, error)
  const before = await api.findOperation(site, operation, key)
  if (before?.state === 'running') return texts.refusals.order_busy
  if ((before?.status ?? 0) >= 400) return texts.refusedBefore
  const { refund } = Object(before?.answer) as { refund?: Refund | null }
  if (operation !== 'refund' || !refund) return texts.editedBefore
  return texts.refundedBefore({ amount: formatMoney(refund.amount_cents, refund.currency) })
}
