import { type Cart, emptyCart, packCart, packShopper, type Shopper, withOrder } from './cart.ts'
import type { Cookies } from './cookies.ts'
import type { Visit } from './visit.ts'

/** What a shopper's browser keeps between one page and the next. */

/** A visit to a page that may change what the browser keeps. */
export interface TillVisit extends Visit {
  cookies: Cookies
  /** The caller's address, for the platform to count attempts by. */
  ip: string | null
  /** Sent by our own script, which wants to hear less. */
  isQuiet: boolean
}

const CART_DAYS = 60
const SHOPPER_DAYS = 400

export const keepCart = ({ cookies, site }: TillVisit, cart: Cart): string =>
  cookies.write('cart', site.tenant, packCart(cart), CART_DAYS)

export const keepShopper = ({ cookies, site }: TillVisit, shopper: Shopper): string =>
  cookies.write('shopper', site.tenant, packShopper(shopper), SHOPPER_DAYS)

/** After an order: an order more. */
export const keepOrder = (
  visit: TillVisit,
  shopper: Shopper,
  order: Shopper['orders'][number],
): string => keepShopper(visit, withOrder(shopper, order))

export const clearCart = (visit: TillVisit): string => keepCart(visit, emptyCart())
