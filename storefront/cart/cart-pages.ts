import type { Item } from '../api/types.ts'
import { checkPendingOrders } from '../checkout/pending-payment.ts'
import { type HttpResponse, redirect, withCookies } from '../http/response.ts'
import { pageTitle, renderPage } from '../layout/page.ts'
import type { RequestContext } from '../request-context.ts'
import { cartCookie } from '../shopper/shopper-cookies.ts'
import { findText } from '../translations/error-messages.ts'
import {
  addItem,
  type Cart,
  cartCount,
  readItem,
  readQuantity,
  setCoupon,
  setQuantities,
} from './cart.ts'
import { cartLines } from './cart-lines.ts'
import { lowerToStock, priceCart } from './cart-pricing.ts'
import { cartMain } from './cart-view.ts'

/** The cart page, and the forms that change the cart. */

export async function cartPage(given: RequestContext): Promise<HttpResponse> {
  const checked = await checkPendingOrders(given)
  const { context, hasRemoved, refusal, lines, quote } = await priceCart(checked.context)
  const { texts } = context.site.locale
  const addErrors = { unavailable: texts.noProduct, full: texts.cartFull }
  const addError = findText(addErrors, context.url.searchParams.get('error'))
  const notice = refusal ?? (hasRemoved ? texts.itemsRemoved : addError)
  const main = cartMain(context, { lines, quote, notice, pendingOrder: checked.pendingOrder })
  const page = await renderPage(context, { title: pageTitle(context, texts.cart), main })
  const cookies = hasRemoved ? [cartCookie(context, context.cart)] : []
  return { ...page, cookies: [...checked.cookies, ...cookies] }
}

export async function addToCart(
  context: RequestContext,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const item = readItem(form.get('variant'), form.get('quantity'))
  const line = item === null ? undefined : await findLine(context, item)
  const { texts } = context.site.locale
  if (item === null || line === undefined) {
    const message = texts.noProduct
    return addedResponse(context, { cart: context.cart, message, error: 'unavailable' })
  }
  const { cart, fits } = addItem(context.cart, item)
  if (!fits) return addedResponse(context, { cart, message: texts.cartFull, error: 'full' })
  return addedResponse(context, { cart, message: texts.addedToCart(line.product.name) })
}

/** Looks in a kept answer first, and in a fresh one for a product that is new. */
async function findLine({ api, site }: RequestContext, item: Item) {
  const cart = { items: [item] }
  const ids = [item.variant_id]
  const [known] = cartLines(cart, await api.listProductsOf(site, ids), null)
  return known ?? cartLines(cart, await api.listProductsOf(site, ids, true), null)[0]
}

interface Added {
  cart: Cart
  message: string
  /** Why the item was not added. The cart page says so to shoppers without the script. */
  error?: 'unavailable' | 'full'
}

/** Our script gets the message as JSON; a browser is sent to the cart page. */
function addedResponse(context: RequestContext, { cart, message, error }: Added): HttpResponse {
  const cookies = [cartCookie(context, cart)]
  if (!context.isFromScript) {
    return redirect(error === undefined ? '/cart' : `/cart?error=${error}`, cookies)
  }
  const { texts } = context.site.locale
  const count = cartCount(cart)
  const label = texts.cartItems(count)
  const body = JSON.stringify({ count, message, label, link: texts.viewCart })
  return { status: 200, body, type: 'application/json', cookies }
}

export async function updateCart(
  context: RequestContext,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const quantities = new Map<string, number>()
  for (const [name, value] of form) {
    if (name.startsWith('q:')) quantities.set(name.slice(2), readQuantity(value, 0))
  }
  const removed = form.get('remove')
  if (removed !== null) quantities.set(removed, 0)
  const typed = setQuantities(context.cart, quantities)
  const counted = await lowerToStock({ ...context, cart: typed }, form.get('lower'))
  const code = form.get('coupon')
  const cart = code === null ? counted : setCoupon(counted, code)
  const cookies = [cartCookie(context, cart)]
  if (form.has('checkout')) return redirect('/checkout', cookies)
  // Our script takes the page at once; a browser is redirected, so that a reload sends no form
  // again.
  if (!context.isFromScript) return redirect('/cart', cookies)
  return withCookies(await cartPage({ ...context, cart }), cookies)
}
