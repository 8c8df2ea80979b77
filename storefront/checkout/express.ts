import type { Item } from '../api/types.ts'
import {
  type Cart,
  checkoutKey,
  emptyCart,
  lineKey,
  packCart,
  REPEATED,
  readItem,
} from '../cart/cart.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { RequestContext } from '../request-context.ts'
import { cartCookie, emptyCartCookie } from '../shopper/shopper-cookies.ts'

/**
 * The express checkout of one product: it has a cart of its own, and leaves the shopper's cart as it is. The form names
 * the product and the cart's id, so that two tabs can buy two products. A cookie keeps the cart, too: a page that is
 * loaded again after a lost answer has the same idempotency key, and makes no second order.
 */
export const EXPRESS_PATH = '/checkout/now'

const COOKIE = 'express'
/** How long the cookie is kept: as long as a shopper may come back to a page that is still open. */
const DAYS = 2

/** Wraps a handler, whose cart is then the one product. Without a product, the shopper is sent to choose one. */
export const express =
  (handler: (context: RequestContext, form: URLSearchParams) => Promise<HttpResponse>) =>
  async (context: RequestContext, form = context.url.searchParams): Promise<HttpResponse> => {
    const item = readItem(form)
    if (item === null) return redirect('/products')
    const cart = expressCart(context, item, form.get('key'))
    return handler({ ...context, cart, otherCart: context.cart }, form)
  }

/** The id and the refusals in the key of a form. */
const KEY = /^shop-([A-Za-z0-9_-]{16})-(\d{1,4})(?:\||$)/

function expressCart(
  { express: kept, shopper }: RequestContext,
  item: Item,
  key: string | null,
): Cart {
  const [, id, refusals] = KEY.exec(key ?? '') ?? []
  const isOrdered = shopper?.orders.some(
    (order) => kept !== null && order.key === checkoutKey(kept),
  )
  const isKept =
    kept !== null && isSameItem(kept, item) && (id === undefined ? !isOrdered : id === kept.id)
  if (isKept) return kept
  const items = [item]
  return id === undefined
    ? { ...emptyCart(), items }
    : { id, items, coupon: null, refusals: Number(refusals) }
}

const isSameItem = ({ items: [first] }: Cart, item: Item): boolean =>
  first !== undefined && lineKey(first) === lineKey(item) && first.quantity === item.quantity

const isExpress = ({ otherCart }: RequestContext): boolean => otherCart !== null

/** The path that the checkout form is sent to. */
export const checkoutPath = (context: RequestContext): string =>
  isExpress(context) ? EXPRESS_PATH : '/checkout'

/** The page of a checkout. */
export function checkoutAddress(context: RequestContext): string {
  const [item] = context.cart.items
  if (!isExpress(context) || item === undefined) return '/checkout'
  const plan = item.subscribe ? `&plan=${REPEATED}` : ''
  return `${EXPRESS_PATH}?variant=${item.variant_id}&quantity=${item.quantity}${plan}`
}

/** The cookie of the cart that is being paid for. */
export const purchaseCookie = (context: RequestContext): string =>
  isExpress(context)
    ? context.cookies.write(COOKIE, context.site.tenant, packCart(context.cart), DAYS)
    : cartCookie(context, context.cart)

/** The cookie of the cart once it is paid for. */
export const paidCookie = (context: RequestContext): string =>
  isExpress(context) ? context.cookies.clear(COOKIE) : emptyCartCookie(context)
