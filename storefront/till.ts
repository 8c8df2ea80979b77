import { type Answer, redirect } from './answer.ts'
import {
  addItem,
  type Cart,
  checkoutKey,
  countOf,
  markOf,
  newShopper,
  readItem,
  readQuantity,
  type Shopper,
  setCoupon,
  setQuantities,
} from './cart.ts'
import { explain, findName } from './explain.ts'
import { keepCart, keepShopper, type TillVisit } from './kept.ts'
import { cartMain } from './pages/cart.ts'
import { type CheckoutView, checkoutMain, NO_DETAILS } from './pages/checkout.ts'
import { isSold, linesOf } from './pages/totals.ts'
import { PlatformError } from './platform.ts'
import { show } from './reads.ts'
import { tendersOf } from './tenders.ts'
import type { Item, Quote } from './types.ts'
import { hear } from './waiting.ts'

/** The cart, and the way to the checkout. What is bought with it is in pay.ts. */

interface Priced {
  visit: TillVisit
  quote: Quote | null
  view: { lines: ReturnType<typeof linesOf> }
  /** Something was taken out because it is no longer sold. */
  lost: boolean
  /** Why what is in it has no price together. */
  refusal: string | null
}

const NO_WISH = { expedited: false, subscribe: false }

/** The cart with today's prices. What is no longer sold is left out, once it is certain that it is not. */
export async function price(given: TillVisit, wish = NO_WISH, anew = false): Promise<Priced> {
  const { shop, site, shopper, cart } = given
  const products = await shop.products(site, anew)
  const items = cart.items.filter(({ variant_id }) => isSold(products, variant_id))
  const lost = items.length < cart.items.length
  if (lost && !anew) return price(given, wish, true)
  const visit = lost ? { ...given, cart: { ...cart, items } } : given
  if (items.length === 0) return { visit, quote: null, view: { lines: [] }, lost, refusal: null }
  const wanted = { items, coupon: cart.coupon, ...wish, customerRef: shopper?.ref ?? '' }
  try {
    const quote = await shop.quote(site, wanted)
    return { visit, quote, view: { lines: linesOf(visit, products, quote) }, lost, refusal: null }
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'variant_not_found' && !anew) return price(given, wish, true)
    if (!UNPRICED.includes(error.status)) throw error
    visit.note({ tenant: site.tenant, code: error.code }, 'a cart has no price')
    const refusal = explain(site.words, error)
    return { visit, quote: null, view: { lines: linesOf(visit, products, null) }, lost, refusal }
  }
}

/** It is about what is in the cart, and whoever filled it must be able to take it out again. */
const UNPRICED = [400, 409, 422]

export async function cartPage(given: TillVisit): Promise<Answer> {
  const heard = await hear(given)
  const { visit, quote, view, lost, refusal } = await price(heard.visit)
  const { say } = visit.site.words
  const unsaid = findName(
    { gone: say.noProduct, full: say.cartFull },
    visit.url.searchParams.get('not'),
  )
  const notice = refusal ?? (lost ? say.lost : unsaid)
  const main = cartMain(visit, { ...view, quote, notice, waiting: heard.waiting })
  const answer = await show(visit, { title: `${say.cart} · ${visit.site.brand.name}`, main })
  return { ...answer, cookies: [...heard.cookies, ...(lost ? [keepCart(visit, visit.cart)] : [])] }
}

export async function addToCart(visit: TillVisit, form: URLSearchParams): Promise<Answer> {
  const item = readItem(form.get('variant'), form.get('quantity'))
  const line = item === null ? undefined : await findLine(visit, item)
  const { say } = visit.site.words
  if (item === null || line === undefined) {
    return added(visit, { cart: visit.cart, said: say.noProduct, not: 'gone' })
  }
  const { cart, fits } = addItem(visit.cart, item)
  if (!fits) return added(visit, { cart, said: say.cartFull, not: 'full' })
  return added(visit, { cart, said: say.inCart(line.product.name) })
}

/** What was put up for sale a moment ago may not be in what is kept. */
async function findLine(visit: TillVisit, item: Item) {
  const { shop, site, cart } = visit
  const wanted = { ...visit, cart: { ...cart, items: [item] } }
  const [known] = linesOf(wanted, await shop.products(site), null)
  return known ?? linesOf(wanted, await shop.products(site, true), null)[0]
}

interface Added {
  cart: Cart
  said: string
  /** Why it was not: the cart's page says so to who has no script. */
  not?: 'gone' | 'full'
}

function added(visit: TillVisit, { cart, said, not }: Added): Answer {
  const cookies = [keepCart(visit, cart)]
  if (!visit.isQuiet) return redirect(not === undefined ? '/cart' : `/cart?not=${not}`, cookies)
  const { say } = visit.site.words
  const count = countOf(cart)
  const body = JSON.stringify({ count, said, label: say.cartItems(count), link: say.seeCart })
  return { status: 200, body, type: 'application/json', cookies }
}

export async function updateCart(visit: TillVisit, form: URLSearchParams): Promise<Answer> {
  const wanted = new Map<string, number>()
  for (const [name, value] of form) {
    if (name.startsWith('q:')) wanted.set(name.slice(2), readQuantity(value, 0))
  }
  const removed = form.get('remove')
  if (removed !== null) wanted.set(removed, 0)
  const counted = setQuantities(visit.cart, wanted)
  const code = form.get('coupon')
  const cart = code === null ? counted : setCoupon(counted, code)
  return form.has('checkout')
    ? redirect('/checkout', [keepCart(visit, cart)])
    : changed(visit, cart)
}

/** Our script takes the page at once; a browser is sent to it, so that going back asks nothing. */
async function changed(visit: TillVisit, cart: Cart): Promise<Answer> {
  const cookies = [keepCart(visit, cart)]
  if (!visit.isQuiet) return redirect('/cart', cookies)
  const answer = await cartPage({ ...visit, cart })
  return { ...answer, cookies: [...cookies, ...(answer.cookies ?? [])] }
}

/** Whoever comes to the checkout gets a name to order under, before anything is ordered. */
export function withShopper(visit: TillVisit): {
  visit: TillVisit & { shopper: Shopper }
  cookies: string[]
} {
  if (visit.shopper !== null) return { visit: { ...visit, shopper: visit.shopper }, cookies: [] }
  const shopper = newShopper()
  return { visit: { ...visit, shopper }, cookies: [keepShopper(visit, shopper)] }
}

type Shown = Partial<Pick<CheckoutView, 'details' | 'faults' | 'notice'>>

/** The form, with what was typed and what is wrong with it. */
export async function checkoutPage(given: TillVisit, shown: Shown = {}): Promise<Answer> {
  const named = withShopper(given)
  const { details = NO_DETAILS, faults = {}, notice = null } = shown
  const { expedited } = details
  const subscribe = details.subscribe && given.site.offers.subscriptions
  const { visit, quote, view, lost } = await price(named.visit, { expedited, subscribe })
  const isShort = quote?.items.some(({ available }) => !available)
  // The cart says what cannot be had. Who has typed an address already keeps it, and hears it here.
  if (quote === null || (isShort && shown.details === undefined) || visit.site.preview !== null) {
    return redirect('/cart', named.cookies)
  }
  const key = `${checkoutKey(visit.cart)}|${quote.quote_token}|${markOf(visit.cart)}`
  const { say } = visit.site.words
  const said = notice ?? (lost ? say.lost : null)
  const tenders = await tendersOf(visit, quote, details)
  const main = checkoutMain(visit, { ...view, quote, tenders, details, faults, notice: said, key })
  const answer = await show(visit, { title: `${say.checkout} · ${visit.site.brand.name}`, main })
  return { ...answer, cookies: [...named.cookies, keepCart(visit, visit.cart)] }
}
