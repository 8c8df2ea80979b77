import type { OrderDetail } from '../api/types.ts'
import { applyOutcome } from '../checkout/pending-payment.ts'
import type { HttpResponse } from '../http/response.ts'
import { notFoundPage, pageTitle, renderPage } from '../layout/page.ts'
import type { PageContext, RequestContext } from '../request-context.ts'
import { findText } from '../translations/error-messages.ts'
import { newActionKey } from './action-keys.ts'
import { type OrderView, orderListMain, orderMain } from './order-view.ts'

/** The page of one order, and the list of a shopper's orders. */

export const orderListPage = (context: PageContext): Promise<HttpResponse> =>
  renderPage(context, {
    title: pageTitle(context, context.site.locale.texts.yourOrders),
    main: orderListMain(context),
  })

type Shown = Partial<Pick<OrderView, 'notice' | 'edit' | 'refund'>>

const NO_EDIT: OrderView['edit'] = { quantities: new Map(), needsCard: false, errors: {} }
const NO_REFUND: OrderView['refund'] = { charge: '', amount: null, reason: '', error: undefined }

/** Shows an order, with what was entered into its forms before and why it was refused. */
export async function orderPage(
  given: RequestContext,
  id: string,
  { notice = null, edit = NO_EDIT, refund = NO_REFUND }: Shown = {},
): Promise<HttpResponse> {
  const detail = await findOwnOrder(given, id)
  if (detail === null) return orderNotHere(given)
  const { context, cookies } = applyOutcome(given, id, detail)
  const { texts } = context.site.locale
  const query = context.url.searchParams
  const main = orderMain(context, {
    detail,
    notice,
    edit,
    refund,
    isNew: query.has('new') && detail.order.status !== 'cancelled',
    success: notice === null ? findText(texts.done, query.get('done')) : null,
    actionKey: newActionKey(),
  })
  const title = pageTitle(context, texts.order(detail.order.order_number))
  // The page has a name and an address. A browser that several people use must not keep it.
  const headers = { 'cache-control': 'no-store' }
  return { ...(await renderPage(context, { title, main })), headers, cookies }
}

/** Null for an order of another browser, and for a browser that has ordered nothing. */
export async function findOwnOrder(
  { api, site, shopper }: RequestContext,
  id: string,
): Promise<OrderDetail | null> {
  return shopper === null ? null : api.findOrder(site, id, shopper.ref)
}

export const orderNotHere = (context: RequestContext): Promise<HttpResponse> =>
  notFoundPage(context, context.site.locale.texts.orderNotHere)
