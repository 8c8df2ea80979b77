import type { Order, OrderDetail } from '../api/types.ts'
import { checkoutKey, countRefusal, removeOrdered } from '../cart/cart.ts'
import { type HttpResponse, redirect, withCookies } from '../http/response.ts'
import type { RequestContext } from '../request-context.ts'
import { endPending } from '../shopper/shopper.ts'
import { cartCookie, shopperCookie } from '../shopper/shopper-cookies.ts'

/**
 * Orders whose payment has an unknown outcome: the bank may have charged the card or not. While a
 * browser has such an order, it cannot pay for anything else, whatever is in its cart.
 */

/** The context with the shopper and the cart as they are now, and the cookies that store both. */
interface Updated {
  context: RequestContext
  cookies: readonly string[]
}

interface PendingCheck extends Updated {
  /** An order that is still pending. */
  pendingOrder: Order | null
}

/**
 * Asks the platform about the shopper's pending orders. Most shoppers have none; then it sends no
 * request.
 */
export async function checkPendingOrders(given: RequestContext): Promise<PendingCheck> {
  let { context, cookies }: Updated = { context: given, cookies: [] }
  for (const { id, isPending } of given.shopper?.orders ?? []) {
    if (!isPending) continue
    const detail = await given.api.findOrder(given.site, id, given.shopper?.ref ?? '')
    if (detail?.order.status === 'pending_payment') {
      return { context, cookies, pendingOrder: detail.order }
    }
    const updated = applyOutcome(context, id, detail)
    context = updated.context
    cookies = [...cookies, ...updated.cookies]
  }
  return { context, cookies, pendingOrder: null }
}

/**
 * Updates shopper and cart once the outcome of an order's payment is known. Paid: the ordered items
 * leave the cart, and items that were added meanwhile stay. Failed: the cart can be paid for again.
 */
export function applyOutcome(
  context: RequestContext,
  id: string,
  detail: OrderDetail | null,
): Updated {
  const { cart, shopper } = context
  const own = shopper?.orders.find((order) => order.id === id)
  if (shopper === null || own === undefined) return { context, cookies: [] }
  if (detail?.order.status === 'pending_payment') return { context, cookies: [] }
  const updated = own.isPending ? endPending(shopper, id) : shopper
  const isOfCart = detail !== null && own.key === checkoutKey(cart)
  const isFailed = detail?.order.status === 'payment_failed'
  const remaining = isFailed ? countRefusal(cart) : removeOrdered(cart, detail?.items ?? [])
  return {
    context: { ...context, shopper: updated, cart: isOfCart ? remaining : cart },
    cookies: [
      ...(own.isPending ? [shopperCookie(context, updated)] : []),
      ...(isOfCart ? [cartCookie(context, remaining)] : []),
    ],
  }
}

/**
 * Wraps a handler of the checkout: while an order is pending, the shopper is sent to its page
 * instead.
 */
export const unlessPending =
  <Rest extends unknown[]>(
    handler: (context: RequestContext, ...rest: Rest) => Promise<HttpResponse>,
  ) =>
  async (given: RequestContext, ...rest: Rest): Promise<HttpResponse> => {
    const { context, cookies, pendingOrder } = await checkPendingOrders(given)
    if (pendingOrder !== null) return redirect(`/orders/${pendingOrder.id}`, cookies)
    return withCookies(await handler(context, ...rest), cookies)
  }
