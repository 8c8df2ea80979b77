import { type Cart, emptyCart, packCart } from '../cart/cart.ts'
import type { RequestContext } from '../request-context.ts'
import { addOrder, newShopper, packShopper, type Shopper, type ShopperOrder } from './shopper.ts'

/**
 * The two cookies of a shopper: the cart, and who the shopper is. Each function gives a
 * `set-cookie` value.
 */

const CART_DAYS = 60
const SHOPPER_DAYS = 400

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

export type ShopperContext = RequestContext & { shopper: Shopper }

/**
 * Gives the shopper a `customer_ref`, where the browser has none yet: orders are placed under it.
 */
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
