import { checkoutKey, itemsFingerprint, setCoupon } from '../cart/cart.ts'
import type { CartLine } from '../cart/cart-lines.ts'
import { priceCart } from '../cart/cart-pricing.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import { pageTitle, renderPage } from '../layout/page.ts'
import type { RequestContext } from '../request-context.ts'
import { forgetAddressCookie } from '../shopper/remembered-address.ts'
import { ensureShopper } from '../shopper/shopper-cookies.ts'
import { defaultCountry } from './address.ts'
import { type CheckoutDetails, NO_DETAILS, readDetails } from './checkout-form.ts'
import { type CheckoutView, checkoutMain } from './checkout-view.ts'
import { checkoutAddress, checkoutPath, purchaseCookie } from './express.ts'
import { completeAddress, NO_ADDRESS, quotedFor, writeFormKey } from './form-key.ts'
import { findHostedFields, hostedHeaders } from './hosted-fields.ts'
import { splitOverTenders } from './tenders.ts'

/** The checkout page. `payment.ts` has the form that pays. */

type Shown = Partial<Pick<CheckoutView, 'details' | 'errors' | 'notice'>>

/** Shows the checkout form, with the earlier entries and their faults. */
export async function checkoutPage(
  given: RequestContext,
  shown: Shown = {},
): Promise<HttpResponse> {
  const named = ensureShopper(given)
  const { details = newDetails(given), errors = {} } = shown
  const subscribe = details.subscribe && given.site.offers.newSubscriptions
  // Only an address entered here: an address that the browser remembers was not given for this cart.
  const entered = shown.details?.email ? { email: shown.details.email } : {}
  const address = completeAddress(given.site, details)
  const options = {
    expedited: details.expedited,
    subscribe,
    ...entered,
    ...(address !== null && { address }),
  }
  const { context, lines, quote, hasRemoved } = await priceCart(named.context, options)
  const isOutOfStock = quote?.items.some(({ available }) => !available)
  // The cart page says what is out of stock. A shopper who has entered an address is told here instead.
  const belongsInCart = quote === null || (isOutOfStock && shown.details === undefined)
  if (belongsInCart || context.site.preview !== null) {
    return redirect(pageBefore(context, lines), named.cookies)
  }
  // A form that is shown again with its entries has been counted before.
  if (shown.details === undefined) context.api.countEvent(context.site, { type: 'begin_checkout' })
  const { texts } = context.site.locale
  const [hosted, tenders] = await Promise.all([
    findHostedFields(context),
    splitOverTenders(context, quote, details),
  ])
  const totalFor = quotedFor(context.site, quote, address)
  const main = checkoutMain(context, {
    lines,
    quote,
    path: checkoutPath(context),
    item: context.otherCart === null ? null : (context.cart.items[0] ?? null),
    hosted,
    isRemembered: context.remembered !== null,
    tenders,
    details,
    errors,
    notice: shown.notice ?? (hasRemoved ? texts.itemsRemoved : null),
    isByAddress: totalFor !== '',
    awaitsAddress: totalFor === NO_ADDRESS,
    key: writeFormKey({
      idempotencyKey: checkoutKey(context.cart),
      quoteToken: quote.quote_token,
      fingerprint: itemsFingerprint(context.cart),
      quotedFor: totalFor,
    }),
  })
  const shownContext = { ...context, cart: context.otherCart ?? context.cart }
  const page = await renderPage(shownContext, { title: pageTitle(context, texts.checkout), main })
  return {
    ...page,
    headers: { ...page.headers, ...hostedHeaders(context.assetBaseUrl, hosted) },
    cookies: [...named.cookies, purchaseCookie(context)],
  }
}

/** The page that explains why an item cannot be bought: the cart, or the product itself. */
function pageBefore({ otherCart }: RequestContext, [line]: readonly CartLine[]): string {
  if (otherCart === null) return '/cart'
  return line === undefined ? '/products' : `/products/${encodeURIComponent(line.product.slug)}`
}

/** Forgets the address that this browser remembers, and shows an empty form. */
export const forgetAddress = async (context: RequestContext): Promise<HttpResponse> =>
  redirect(checkoutAddress(context), [forgetAddressCookie(context)])

/** A new form, with the address that this browser remembers, or the store's own country. */
const newDetails = ({ site, remembered }: RequestContext): CheckoutDetails =>
  remembered === null
    ? { ...NO_DETAILS, country: defaultCountry(site) }
    : { ...NO_DETAILS, ...remembered, remember: true }

/** Shows the checkout form again after a change of shipping, tenders or discount code. */
export async function updateCheckout(
  context: RequestContext,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const cart = setCoupon(context.cart, form.get('coupon') ?? '')
  return checkoutPage({ ...context, cart }, { details: readDetails(form) })
}
