import type { OrderDetail } from '../api/types.ts'
import { findHostedFields, hostedHeaders } from '../checkout/hosted-fields.ts'
import { applyOutcome } from '../checkout/pending-payment.ts'
import type { HttpResponse } from '../http/response.ts'
import { notFoundPage, pageTitle, renderPage } from '../layout/page.ts'
import type { PageContext, RequestContext } from '../request-context.ts'
import { findText } from '../translations/error-messages.ts'
import { newActionKey } from './action-keys.ts'
import { readConfirmation } from './confirmation.ts'
import { type FindForm, orderListMain } from './order-list-view.ts'
import { type OrderView, orderMain } from './order-view.ts'
import { isAsked } from './payment-view.ts'

/** The page of one order, and the list of a shopper's orders. */

/** The orders of this browser, and the form that finds others. */
export async function orderListPage(
  context: PageContext,
  entered: FindForm = NOTHING_ENTERED,
): Promise<HttpResponse> {
  const orders = await listOwnOrders(context)
  const variants = orders.flatMap(({ items }) => items.map(({ variant_id }) => variant_id))
  const products = await context.api.listProductsOf(context.site, variants)
  const title = pageTitle(context, context.site.locale.texts.yourOrders)
  const isSent = context.url.searchParams.has('sent')
  const main = orderListMain(context, { orders, products, entered, isSent })
  return { ...(await renderPage(context, { title, main })), headers: NOT_KEPT }
}

/** Lists the orders in the order of this browser's cookies: newest first. One that was erased is left out. */
async function listOwnOrders(context: PageContext): Promise<OrderDetail[]> {
  const { shopper, opened } = context
  const ids = new Set([...(shopper?.orders ?? []), ...opened].map(({ id }) => id))
  const found = await Promise.all([...ids].map((id) => findOwnOrder(context, id)))
  return found.filter((detail) => detail !== null)
}

/** The page has a name and an address. A browser that several people use must not keep it. */
const NOT_KEPT = { 'cache-control': 'no-store' }
const NOTHING_ENTERED: FindForm = { number: '', email: '', error: undefined }

type Shown = Partial<Pick<OrderView, 'notice' | 'edit' | 'refund' | 'return' | 'payErrors'>>

const NO_EDIT: OrderView['edit'] = { quantities: new Map(), needsCard: false, errors: {} }
const NO_REFUND: OrderView['refund'] = { charge: '', amount: null, reason: '', error: undefined }

const NO_RETURN: OrderView['return'] = { quantities: null, reason: '' }

/** Shows an order, with the earlier entries of its forms and the reason of their refusal. */
export async function orderPage(
  given: RequestContext,
  id: string,
  shown: Shown = {},
): Promise<HttpResponse> {
  const { notice = null, edit = NO_EDIT, refund = NO_REFUND, payErrors = {} } = shown
  const detail = await findOwnOrder(given, id)
  if (detail === null) return orderNotHere(given)
  const { context, cookies } = applyOutcome(given, id, detail)
  const { texts } = context.site.locale
  const query = context.url.searchParams
  const variants = detail.items.map(({ variant_id }) => variant_id)
  const hosted = isAsked(detail) ? await findHostedFields(context) : null
  const main = orderMain(context, {
    detail,
    products: await context.api.listProductsOf(context.site, variants),
    notice,
    edit,
    refund,
    return: shown.return ?? NO_RETURN,
    payErrors,
    hosted,
    isNew: query.has('new') && detail.order.status !== 'cancelled',
    success: notice === null ? findText(texts.done, query.get('done')) : null,
    actionKey: newActionKey(),
    confirmation: await readConfirmation(context, detail),
  })
  const title = pageTitle(context, texts.order({ number: detail.order.order_number }))
  const headers = { ...NOT_KEPT, ...hostedHeaders(context.assetBaseUrl, hosted) }
  return { ...(await renderPage(context, { title, main })), headers, cookies }
}

/** Finds an order. Returns null for one that this browser neither placed nor opened by a mailed link. */
export async function findOwnOrder(
  { api, site, shopper, opened }: PageContext,
  id: string,
): Promise<OrderDetail | null> {
  const customerRef = opened.find((each) => each.id === id)?.customerRef ?? shopper?.ref
  return customerRef === undefined ? null : api.findOrder(site, id, customerRef)
}

export const orderNotHere = (context: RequestContext): Promise<HttpResponse> =>
  notFoundPage(context, context.site.locale.texts.orderNotHere, true)
