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
  readItem,
  readQuantity,
  setCoupon,
  setQuantities,
  switchPlan,
} from './cart.ts'
import { cartLines } from './cart-lines.ts'
import { lowerToStock, priceCart } from './cart-pricing.ts'
import { type CartView, cartMain } from './cart-view.ts'
import { cartDrawer } from './drawer-view.ts'
import { readGift } from './gift-recipient.ts'

/** The cart page, and the forms that change the cart. */

export async function cartPage(given: RequestContext): Promise<HttpResponse> {
  const { context, view, cookies } = await readCart(given)
  const { texts } = context.site.locale
  const main = cartMain(context, view)
  const page = await renderPage(context, { title: pageTitle(context, texts.cart), main })
  return { ...page, cookies }
}

/** Renders the cart for the script, which shows it beside the page. */
async function drawerPart(given: RequestContext, said: string | null): Promise<HttpResponse> {
  const { context, view, cookies } = await readCart(given)
  return { status: 200, body: cartDrawer(context, view, said).text, cookies }
}

/** Reads the cart and its current prices, with the cookies of a cart that had to be changed. */
async function readCart(given: RequestContext) {
  const checked = await checkPendingOrders(given)
  const { context, hasRemoved, refusal, lines, quote } = await priceCart(checked.context)
  const { texts } = context.site.locale
  const addErrors = {
    unavailable: texts.noProduct,
    full: texts.cartFull,
    recipient: texts.giftCheck,
  }
  const addError = findText(addErrors, context.url.searchParams.get('error'))
  const notice = refusal ?? (hasRemoved ? texts.itemsRemoved : addError)
  const view: CartView = { lines, quote, notice, pendingOrder: checked.pendingOrder }
  const cookies = hasRemoved ? [cartCookie(context, context.cart)] : []
  return { context, view, cookies: [...checked.cookies, ...cookies] }
}

export async function addToCart(
  context: RequestContext,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const item = readItem(form)
  const line = item === null ? undefined : await findLine(context, item)
  const { texts } = context.site.locale
  if (item === null || line === undefined) {
    const message = texts.noProduct
    return addedResponse(context, { cart: context.cart, message, error: 'unavailable' })
  }
  const gift = line.variant.gift_card ? readGift(form) : null
  if (gift === 'wrong') {
    const message = texts.giftCheck
    return addedResponse(context, { cart: context.cart, message, error: 'recipient' })
  }
  const added = gift === null ? item : { ...item, gift_card: gift }
  const { cart, fits } = addItem(context.cart, added)
  if (!fits) return addedResponse(context, { cart, message: texts.cartFull, error: 'full' })
  context.api.countEvent(context.site, { type: 'add_to_cart', product_id: line.product.id })
  return addedResponse(context, { cart, message: texts.addedToCart({ name: line.product.name }) })
}

/** Finds the line of an item: in a cached answer first, and in a fresh one for a product that is new. */
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
  error?: 'unavailable' | 'full' | 'recipient'
}

/** Responds to an added item: our script gets the cart, to show it beside the page; a browser goes to its page. */
async function addedResponse(
  context: RequestContext,
  { cart, message, error }: Added,
): Promise<HttpResponse> {
  const cookies = [cartCookie(context, cart)]
  const query = error === undefined ? '' : `?error=${error}`
  if (!context.isFromScript) return redirect(`/cart${query}`, cookies)
  const url = new URL(`/cart${query}`, context.url)
  const said = error === undefined ? message : null
  return withCookies(await drawerPart({ ...context, cart, url }, said), cookies)
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
  const typed = switchPlan(setQuantities(context.cart, quantities), form.get('plan'))
  const counted = await lowerToStock({ ...context, cart: typed }, form.get('lower'))
  const code = form.get('coupon')
  const cart = code === null ? counted : setCoupon(counted, code)
  const cookies = [cartCookie(context, cart)]
  if (form.has('checkout')) return redirect('/checkout', cookies)
  // Our script gets the page at once; a browser is redirected, so that a reload sends no form again.
  if (!context.isFromScript) return redirect('/cart', cookies)
  const changed = { ...context, cart }
  const isDrawer = form.get('view') === 'drawer'
  return withCookies(await (isDrawer ? drawerPart(changed, null) : cartPage(changed)), cookies)
}
