import { setTimeout as sleep } from 'node:timers/promises'
import { PlatformError } from '../api/platform-client.ts'
import type { OperationRecord, PlacedOrder } from '../api/types.ts'
import { type Cart, checkoutKey, countRefusal, itemsFingerprint, setCoupon } from '../cart/cart.ts'
import { cartLines, needsAddress } from '../cart/cart-lines.ts'
import { withoutPastDay } from '../cart/gift-recipient.ts'
import { type HttpResponse, redirect, withCookies } from '../http/response.ts'
import type { RequestContext } from '../request-context.ts'
import { confirmationCookies } from '../shopper/confirmed-order.ts'
import { addressCookies } from '../shopper/remembered-address.ts'
import type { ShopperOrder } from '../shopper/shopper.ts'
import { ensureShopper, orderCookie, type ShopperContext } from '../shopper/shopper-cookies.ts'
import { concernsField, errorMessage, fieldErrors } from '../translations/error-messages.ts'
import { type CardInput, cardErrors, readCard } from './card.ts'
import { type CheckoutDetails, findErrors, readAttestation, readDetails } from './checkout-form.ts'
import { checkoutPage } from './checkout-pages.ts'
import { paidCookie } from './express.ts'
import { isQuotedFor, NO_ADDRESS, readFormKey, shippingAddress } from './form-key.ts'
import { findHostedFields, readToken } from './hosted-fields.ts'

/** Places the order of a checkout form, or shows the form again and says why not. */

/** How long a form waits for the same checkout in another tab, and how often it asks. */
const WAIT_MS = 10_000
const PAUSE_MS = 100

export async function pay(given: RequestContext, form: URLSearchParams): Promise<HttpResponse> {
  const formKey = readFormKey(form)
  const { idempotencyKey, quoteToken, fingerprint } = formKey
  const placed = given.shopper?.orders.find((order) => order.key === idempotencyKey)
  if (placed !== undefined) return redirect(`/orders/${placed.id}`)
  if (given.cart.items.length === 0 || given.site.preview !== null) return redirect('/cart')
  const details = readDetails(form)
  const cart = setCoupon(given.cart, form.get('coupon') ?? given.cart.coupon ?? '')
  const context = { ...given, cart }
  const { texts } = given.site.locale
  if (cart.coupon !== given.cart.coupon) {
    return checkoutPage(context, { details, notice: texts.couponChanged })
  }
  const hasGoods = await needsAddressOf(given)
  const errors = findErrors(given.site, details, hasGoods)
  const { card, wrong } = await readTender(given, form)
  // A form that showed nothing to pay, or no final total, asks for no card. The platform decides whether that still
  // holds.
  const asksCard = form.get('due') !== '0' && !(hasGoods && formKey.quotedFor === NO_ADDRESS)
  if (card !== undefined || asksCard) Object.assign(errors, wrong)
  if (Object.keys(errors).length > 0) {
    return checkoutPage(context, { details, errors })
  }
  if (fingerprint !== itemsFingerprint(cart) && !(await wasSubmitted(context))) {
    return checkoutPage(context, { details, notice: texts.cartChanged })
  }
  if (hasGoods && !isQuotedFor(formKey, details) && !(await wasSubmitted(context))) {
    return checkoutPage(context, { details, notice: texts.totalOfAddress })
  }
  return placeOrder(context, details, { card, quote_token: quoteToken, hasGoods })
}

/** Whether an item of the cart is shipped to an address. An unknown variant counts as goods. */
async function needsAddressOf({ api, site, cart }: RequestContext): Promise<boolean> {
  const ids = cart.items.map(({ variant_id }) => variant_id)
  const lines = cartLines(cart, await api.listProductsOf(site, ids), null)
  return lines.length < cart.items.length || needsAddress(lines)
}

/**
 * Reads the card of a form, or the token of the gateway's fields, and finds its faults. If the gateway has fields, a
 * card number in the form is not read.
 */
export async function readTender(context: RequestContext, form: URLSearchParams) {
  const { texts } = context.site.locale
  if ((await findHostedFields(context)) === null) {
    const card = readCard(form)
    return { card, wrong: cardErrors(texts, card) }
  }
  const card = readToken(form)
  return { card, wrong: card === undefined ? { card: texts.enterCard } : {} }
}

/** Whether the cart was submitted before. If so, submitting it again finds the earlier outcome. */
const wasSubmitted = async ({ api, site, cart }: RequestContext): Promise<boolean> =>
  (await api.findOperation(site, 'checkout', checkoutKey(cart))) !== null

interface PaymentInput {
  card: CardInput | { payment_token: string } | undefined
  quote_token: string
  hasGoods: boolean
}

async function placeOrder(
  given: RequestContext,
  details: CheckoutDetails,
  payment: PaymentInput,
): Promise<HttpResponse> {
  const { context, cookies } = ensureShopper(given)
  const { api, site, cart } = context
  const key = checkoutKey(cart)
  try {
    const placed = await api.placeOrder(site, checkoutBody(context, details, payment), key)
    return placedResponse(context, placed, { details, key, hasGoods: payment.hasGoods })
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    return withCookies(await refusedResponse(context, { error, details, key }), cookies)
  }
}

function checkoutBody(
  { site, cart, shopper, ip, referral, device }: ShopperContext,
  details: CheckoutDetails,
  { hasGoods, ...payment }: PaymentInput,
): Record<string, unknown> {
  const { email, expedited, gift, credit, subscribe, attested } = details
  return {
    customer_ref: shopper.ref,
    items: cart.items.map(withoutPastDay),
    coupon_code: cart.coupon,
    email,
    ip,
    ...(hasGoods && { shipping_address: shippingAddress(details) }),
    expedited,
    ...(subscribe ? { subscribe } : {}),
    ...(credit ? { apply_store_credit: true } : {}),
    ...(gift === '' ? {} : { gift_card_code: gift }),
    ...(attested === '' ? {} : { attestation: readAttestation(attested) }),
    ...referral,
    ...(device !== null && { device_ref: device }),
    ...payment,
    ...site.policies,
  }
}

const placedResponse = (
  context: ShopperContext,
  { order }: PlacedOrder,
  { details, key, hasGoods }: { details: CheckoutDetails; key: string; hasGoods: boolean },
): HttpResponse =>
  redirect(`/orders/${order.id}?new=1`, [
    orderCookie(context, context.shopper, { id: order.id, key, isPending: false }),
    ...confirmationCookies(context, { id: order.id, email: details.email }),
    paidCookie(context),
    // A form without an address says nothing about the one that this browser remembers.
    ...(hasGoods ? addressCookies(context, details) : []),
  ])

/** Sends the shopper to the order. `pending-payment.ts` updates the cart once the outcome is known. */
const redirectToOrder = (context: ShopperContext, order: ShopperOrder): HttpResponse =>
  redirect(`/orders/${order.id}`, [orderCookie(context, context.shopper, order)])

interface RefusedCheckout {
  error: PlatformError
  details: CheckoutDetails
  key: string
}

/** Refusals that are not stored under the idempotency key: the same key may be used again. */
const NOT_STORED = ['invalid_body', 'velocity_exceeded', 'rate_limited', 'idempotency_in_progress']

async function refusedResponse(
  context: ShopperContext,
  refused: RefusedCheckout,
): Promise<HttpResponse> {
  const { error, details, key } = refused
  const { code, body } = error
  if (code === 'payment_unconfirmed') {
    const { id } = Object(body.order) as { id?: string }
    if (id !== undefined) {
      const told = confirmationCookies(context, { id, email: details.email })
      return withCookies(redirectToOrder(context, { id, key, isPending: true }), told)
    }
  }
  if (code === 'idempotency_key_reused' || code === 'idempotency_in_progress') {
    return usedKeyResponse(context, refused)
  }
  if (error.status >= 500) throw error
  if (code === 'invalid_body') return invalidResponse(context, refused)
  const cart = NOT_STORED.includes(code) ? context.cart : cartAfterRefusal(context.cart, code)
  const notice = errorMessage(context.site.locale.texts, error)
  const field = REFUSED_FIELDS[code]
  return checkoutPage(
    { ...context, cart },
    {
      details: withoutRefusedOption(details, error),
      ...(field === undefined ? { notice } : { errors: { [field]: notice } }),
    },
  )
}

/** The fields that a refusal is shown at. */
const REFUSED_FIELDS: Readonly<Record<string, string>> = {
  payment_declined: 'card',
  card_required: 'card',
  subscription_card_required: 'subscribe',
  country_not_served: 'country',
  gift_card_invalid: 'gift',
}

/** Marks the fields that the platform refused. An expired quote is replaced by a fresh one. */
function invalidResponse(
  context: ShopperContext,
  { error, details }: RefusedCheckout,
): Promise<HttpResponse> {
  const { texts } = context.site.locale
  const errors = fieldErrors(texts, error)
  const isMarked = Object.keys(errors).length > 0
  const other = concernsField(error, 'quote_token') ? texts.quoteExpired : texts.failed
  return checkoutPage(context, { details, errors, ...(isMarked ? {} : { notice: other }) })
}

/**
 * Clears the option that the store no longer offers, or the statement whose wording has changed.
 */
function withoutRefusedOption(
  details: CheckoutDetails,
  { code, body }: PlatformError,
): CheckoutDetails {
  if (code === 'attestation_required') return { ...details, attested: '' }
  if (code !== 'feature_disabled') return details
  const { feature_key: feature } = body
  if (feature === 'subscriptions') return { ...details, subscribe: false }
  return feature === 'store_credit' ? { ...details, credit: false } : { ...details, gift: '' }
}

const cartAfterRefusal = (cart: Cart, code: string): Cart =>
  countRefusal(code === 'coupon_invalid' ? { ...cart, coupon: null } : cart)

/**
 * Responds if the cart was submitted before with other details: finds the outcome of that checkout, and pays nothing
 * now.
 */
async function usedKeyResponse(
  context: ShopperContext,
  { error, details, key }: RefusedCheckout,
): Promise<HttpResponse> {
  const { texts } = context.site.locale
  const checkout = await awaitCheckout(context, key)
  const isRefused = checkout !== null && (checkout.status ?? 0) >= 400
  if (isRefused) {
    const cart = countRefusal(context.cart)
    return checkoutPage({ ...context, cart }, { details, notice: texts.previousAttemptRefused })
  }
  const id = checkout?.resource_id
  if (id) return redirectToOrder(context, { id, key, isPending: checkout.state === 'running' })
  const isRunning = error.code === 'idempotency_in_progress'
  const notice = isRunning ? errorMessage(texts, error) : texts.alreadySubmitted
  // The platform has deleted the answer of the key, so its order is long done: the next checkout needs another key.
  const cart = checkout === null && !isRunning ? countRefusal(context.cart) : context.cart
  return checkoutPage({ ...context, cart }, { details, notice })
}

/** Waits while another tab's checkout is running: only its outcome says whether to pay again. */
async function awaitCheckout(
  context: ShopperContext,
  key: string,
): Promise<OperationRecord | null> {
  const until = performance.now() + WAIT_MS
  for (;;) {
    const checkout = await context.api.findOperation(context.site, 'checkout', key)
    if (checkout?.state !== 'running' || performance.now() > until) return checkout
    if (await isPaymentUnknown(context, checkout)) return checkout
    await sleep(PAUSE_MS)
  }
}

/** Whether the payment's outcome is unknown. That takes longer to resolve than a shopper waits. */
async function isPaymentUnknown(
  { api, site, shopper }: ShopperContext,
  { resource_id: id }: OperationRecord,
): Promise<boolean> {
  const found = id === null ? null : await api.findOrder(site, id, shopper.ref)
  return found?.order.payment_status === 'unknown'
}
