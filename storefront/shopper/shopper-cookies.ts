import { type Cart, emptyCart, packCart } from '../cart/cart.ts'
import type { RequestContext } from '../request-context.ts'
import {
  addOrder,
  newShopper,
  type OpenedOrder,
  packOpened,
  packShopper,
  type Shopper,
  type ShopperOrder,
} from './shopper.ts'

/**
 * The cookies of a shopper: the cart, who the shopper is, and the orders that a mailed link has
 * opened. Each function gives a `set-cookie` value.
 */

const CART_DAYS = 60
const SHOPPER_DAYS = 400
/** The life of an opened order: that of its mailed link, since the browser may not be the shopper's own. */
const OPENED_DAYS = 7

export const cartCookie = ({ cookies, site }: RequestContext, cart: Cart): string =>
  cookies.write('cart', site.tenant, packCart(cart), CART_DAYS)

export const emptyCartCookie = (context: RequestContext): string => cartCookie(context, emptyCart())

export const shopperCookie = ({ cookies, site }: RequestContext, shopper: Shopper): string =>
  cookies.write('shopper', site.tenant, packShopper(shopper), SHOPPER_DAYS)

/** The shopper's cookie with one order more. */
export const orderCookie = (
  context: RequestContext,
  shopper: Shopper,
  order: ShopperOrder,
): string => shopperCookie(context, addOrder(shopper, order))

/** The cookie with one more order that a link has opened. */
export const openedCookie = (
  { cookies, site, opened }: RequestContext,
  order: OpenedOrder,
): string => {
  const others = opened.filter(({ id }) => id !== order.id)
  return cookies.write('opened', site.tenant, packOpened([order, ...others]), OPENED_DAYS)
}

export type ShopperContext = RequestContext & { shopper: Shopper }

/** Gives the shopper a `customer_ref`, if the browser has none yet: orders are placed under it. */
export function ensureShopper(context: RequestContext): {
  context: ShopperContext
  cookies: string[]
} {
  const { shopper } = context
  if (shopper !== null) return { context: { ...context, shopper }, cookies: [] }
  const created = newShopper()
  return {
    context: { ...context, shopper: created },
    cookies: [shopperCookie(context, created)],
  }
}
