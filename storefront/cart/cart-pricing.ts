import { PlatformError } from '../api/platform-client.ts'
import type { Quote, ShippingAddress } from '../api/types.ts'
import type { RequestContext } from '../request-context.ts'
import { errorMessage } from '../translations/error-messages.ts'
import { type Cart, setQuantities } from './cart.ts'
import { type CartLine, cartLines, sellableItems } from './cart-lines.ts'

export interface PricedCart {
  /**
   * The context with the cart that was priced: variants that are no longer sold are removed from
   * it.
   */
  context: RequestContext
  lines: readonly CartLine[]
  /** The prices; null for an empty cart, and for one that the platform cannot price. */
  quote: Quote | null
  /** Whether variants were removed because they are no longer sold. */
  hasRemoved: boolean
  /** Why the platform cannot price the cart. */
  refusal: string | null
}

/** The choices at the checkout that change the price, and the shopper who makes them. */
interface PriceOptions {
  expedited: boolean
  subscribe: boolean
  email?: string
  address?: ShippingAddress
}

const NO_OPTIONS: PriceOptions = { expedited: false, subscribe: false }

/** Refusals that concern the items of the cart. The cart is still shown, so that the shopper can change it. */
const CART_REFUSALS = [400, 409, 422]

/**
 * Prices the cart with the current catalog. `reload` asks the platform for its products again: a
 * variant counts as no longer sold only if a fresh answer does not have it.
 */
export async function priceCart(
  given: RequestContext,
  options: PriceOptions = NO_OPTIONS,
  reload = false,
): Promise<PricedCart> {
  const { api, site, shopper, cart } = given
  const ids = cart.items.map(({ variant_id }) => variant_id)
  const products = await api.listProductsOf(site, ids, reload)
  const items = sellableItems(site, cart, products)
  const hasRemoved = items.length < cart.items.length
  if (hasRemoved && !reload) return priceCart(given, options, true)
  const isChanged = hasRemoved || items.some((item, at) => item !== cart.items[at])
  const context = isChanged ? { ...given, cart: { ...cart, items } } : given
  const priced = (quote: Quote | null, refusal: string | null = null): PricedCart => ({
    context,
    lines: cartLines(context.cart, products, quote),
    quote,
    hasRemoved,
    refusal,
  })
  if (items.length === 0) return priced(null)
  const customerRef = shopper?.ref ?? ''
  const request = { items, coupon: cart.coupon, ...options, customerRef, ip: given.ip }
  try {
    return priced(await api.previewCheckout(site, request))
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'variant_not_found' && !reload) return priceCart(given, options, true)
    const { address, ...others } = options
    const isRefused = CART_REFUSALS.includes(error.status) && address !== undefined
    // The address may be wrong, which the form says when it is sent.
    if (isRefused) return priceCart(given, others, reload)
    if (error.status === 429 && cart.coupon !== null) return priceWithoutCoupon(given, options)
    const isOfCart = CART_REFUSALS.includes(error.status) || error.code === 'feature_not_enabled'
    if (!isOfCart) throw error
    context.warn({ tenant: site.tenant, code: error.code }, 'a cart cannot be priced')
    return priced(null, errorMessage(site.locale.texts, error))
  }
}

/** Prices the cart without its code. The platform allows few wrong codes a minute, and refuses more. */
async function priceWithoutCoupon(given: RequestContext, options: PriceOptions) {
  const priced = await priceCart({ ...given, cart: { ...given.cart, coupon: null } }, options)
  return { ...priced, refusal: given.site.locale.texts.couponLater }
}

/**
 * Lowers the quantity of a variant in the cart to the units that can be bought. The platform says only whether a
 * quantity is available, so a binary search finds the largest one, with seven requests at most.
 */
export async function lowerToStock(
  { api, site, shopper, cart, ip }: RequestContext,
  variantId: string | null,
): Promise<Cart> {
  const item = cart.items.find(({ variant_id }) => variant_id === variantId)
  if (item === undefined) return cart
  const customerRef = shopper?.ref ?? ''
  const isThere = async (quantity: number) => {
    const items = [{ variant_id: item.variant_id, quantity }]
    const request = { items, coupon: null, ...NO_OPTIONS, customerRef, ip }
    const { items: quoted } = await api.previewCheckout(site, request)
    return quoted.every(({ available }) => available)
  }
  let [most, tooMany] = [0, item.quantity + 1]
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2)
    if (await isThere(middle)) most = middle
    else tooMany = middle
  }
  return setQuantities(cart, new Map([[item.variant_id, most]]))
}
