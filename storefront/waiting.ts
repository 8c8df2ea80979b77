import { type Answer, redirect } from './answer.ts'
import { checkoutKey, nextAttempt, notWaiting, withoutBought } from './cart.ts'
import { keepCart, keepShopper, type TillVisit } from './kept.ts'
import type { Order, OrderDetail } from './types.ts'

/**
 * An order whose bank has not spoken: paid or not, nobody knows. As long as it waits, nothing else is
 * paid from this browser, whatever has become of the cart.
 */

interface Heard {
  visit: TillVisit
  cookies: readonly string[]
  /** The one that still waits. */
  waiting: Order | null
}

/** Asks about nothing where nothing waits, as is so for nearly everybody. */
export async function hear(given: TillVisit): Promise<Heard> {
  let { visit, cookies }: Omit<Heard, 'waiting'> = { visit: given, cookies: [] }
  for (const { id, waiting } of given.shopper?.orders ?? []) {
    if (!waiting) continue
    const detail = await given.shop.findOrder(given.site, id, given.shopper?.ref ?? '')
    if (detail?.order.status === 'pending_payment') return { visit, cookies, waiting: detail.order }
    const after = afterwards(visit, id, detail)
    visit = after.visit
    cookies = [...cookies, ...after.cookies]
  }
  return { visit, cookies, waiting: null }
}

/**
 * Takes in what has become of an order, which may have left its cart behind: what was bought leaves it,
 * and what was put in meanwhile stays. After a failure it may be paid for again.
 */
export function afterwards(
  visit: TillVisit,
  id: string,
  detail: OrderDetail | null,
): Omit<Heard, 'waiting'> {
  const { cart, shopper } = visit
  const own = shopper?.orders.find((order) => order.id === id)
  if (shopper === null || own === undefined) return { visit, cookies: [] }
  if (detail?.order.status === 'pending_payment') return { visit, cookies: [] }
  const known = own.waiting ? notWaiting(shopper, id) : shopper
  const isOfCart = detail !== null && own.key === checkoutKey(cart)
  const isFailed = detail?.order.status === 'payment_failed'
  const left = isFailed ? nextAttempt(cart) : withoutBought(cart, detail?.items ?? [])
  return {
    visit: { ...visit, shopper: known, cart: isOfCart ? left : cart },
    cookies: [
      ...(own.waiting ? [keepShopper(visit, known)] : []),
      ...(isOfCart ? [keepCart(visit, left)] : []),
    ],
  }
}

/** A page or a form of the way to a payment; while an order waits, its page instead. */
export const unlessWaiting =
  <Given extends unknown[]>(next: (visit: TillVisit, ...given: Given) => Promise<Answer>) =>
  async (asking: TillVisit, ...given: Given): Promise<Answer> => {
    const { visit, cookies, waiting } = await hear(asking)
    if (waiting !== null) return redirect(`/orders/${waiting.id}`, cookies)
    const answer = await next(visit, ...given)
    return { ...answer, cookies: [...cookies, ...(answer.cookies ?? [])] }
  }
