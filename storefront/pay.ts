import { type Answer, redirect } from './answer.ts'
import { type Cart, checkoutKey, type Shopper, setCoupon } from './cart.ts'
import type { Details } from './pages/checkout.ts'
import { PlatformError } from './platform.ts'
import { checkoutPage, clearCart, keepOrder, type TillVisit, withShopper } from './till.ts'
import type { Placed } from './types.ts'
import { cardFaults, explain } from './words.ts'

/** From a filled-in form to a paid order, or back to the form with one sentence about why not. */

const FIELDS = [
  'email',
  'name',
  'line1',
  'line2',
  'city',
  'state',
  'postal_code',
  'country',
] as const

export function readDetails(form: URLSearchParams): Details {
  const text = (name: string) => (form.get(name) ?? '').trim().slice(0, 200)
  const typed = Object.fromEntries(FIELDS.map((name) => [name, text(name)]))
  return { ...(typed as Omit<Details, 'expedited'>), expedited: form.get('speed') === 'expedited' }
}

/** What is not there. The rest is for the platform to judge. */
function findFaults(details: Details): Record<string, string> {
  const faults: Record<string, string> = {}
  for (const name of FIELDS) {
    if (name !== 'line2' && details[name] === '') faults[name] = 'Please fill this in.'
  }
  if (details.email !== '' && !/^[^@\s]{1,64}@[^@\s]+\.[^@\s]+$/.test(details.email)) {
    faults.email = 'Please check the address.'
  }
  return faults
}

/** `10/40`, `10 / 2040` and `1040` are the same month. */
export function readCard(form: URLSearchParams) {
  const text = (name: string) => (form.get(`card_${name}`) ?? '').trim()
  const number = text('number').replace(/[\s-]/g, '')
  if (number === '') return undefined
  const [, month = '', year = ''] = /^(\d{1,2})\s*\/?\s*(?:20)?(\d{2})$/.exec(text('expiry')) ?? []
  const cvv = text('cvv')
  return {
    ccnumber: number,
    ccexp: `${month.padStart(2, '0')}/${year}`,
    ...(cvv === '' ? {} : { cvv }),
  }
}

/** The form again with another speed or another code. Nothing is bought. */
export async function updateCheckout(visit: TillVisit, form: URLSearchParams): Promise<Answer> {
  const cart = setCoupon(visit.cart, form.get('coupon') ?? '')
  return checkoutPage({ ...visit, cart }, { details: readDetails(form) })
}

const CODE_TYPED = 'We have looked at your code. Please check the total, then pay.'
const CARD_AGAIN = 'Please enter a card to pay with.'

export async function pay(given: TillVisit, form: URLSearchParams): Promise<Answer> {
  const [key = '', quoteToken = ''] = (form.get('key') ?? '').split('|')
  const before = given.shopper?.orders.find((order) => order.key === key)
  if (before !== undefined) return redirect(`/orders/${before.id}`)
  if (given.cart.items.length === 0 || given.site.preview !== null) return redirect('/cart')
  const details = readDetails(form)
  const cart = setCoupon(given.cart, form.get('coupon') ?? given.cart.coupon ?? '')
  const visit = { ...given, cart }
  if (cart.coupon !== given.cart.coupon) return checkoutPage(visit, { details, notice: CODE_TYPED })
  const faults = findFaults(details)
  const card = readCard(form)
  if (card === undefined) faults.number = CARD_AGAIN
  if (Object.keys(faults).length > 0) {
    return checkoutPage(visit, { details, faults, notice: 'Please look at the marked fields.' })
  }
  return place(visit, details, { card, quote_token: quoteToken })
}

async function place(
  given: TillVisit,
  details: Details,
  paying: { card: ReturnType<typeof readCard>; quote_token: string },
): Promise<Answer> {
  const { visit, cookies } = withShopper(given)
  const { shop, site, cart, shopper, ip } = visit
  const { email, name, expedited, ...address } = details
  const key = checkoutKey(cart)
  const body = {
    customer_ref: shopper.ref,
    items: cart.items,
    coupon_code: cart.coupon,
    email,
    ip,
    shipping_address: { label: name, ...address, line2: address.line2 || null },
    expedited,
    ...paying,
    ...site.policies,
  }
  try {
    return ordered(visit, await shop.place(site, body, key), key)
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    const answer = await refused(visit, { error, details, key })
    return { ...answer, cookies: [...cookies, ...(answer.cookies ?? [])] }
  }
}

type Named = TillVisit & { shopper: Shopper }

const ordered = (visit: Named, { order }: Placed, key: string): Answer =>
  redirect(`/orders/${order.id}?new=1`, [
    ...keepOrder(visit, visit.shopper, { id: order.id, key }),
    clearCart(visit),
  ])

interface Refused {
  error: PlatformError
  details: Details
  key: string
}

const AGAIN =
  'This cart was sent a moment ago, perhaps from another tab. Please look at your orders.'
const REFUSED = 'The attempt before was refused, and nothing was charged. Please try again.'
const OLD_PRICE = 'You were away for a while. Please check the total once more, then pay.'

/** Refusals that say nothing about the order, so that the same attempt may be made again. */
const PASSING = ['invalid_body', 'velocity_exceeded', 'rate_limited', 'idempotency_in_progress']

async function refused(visit: Named, { error, details, key }: Refused): Promise<Answer> {
  const { code, body } = error
  if (code === 'payment_unconfirmed') {
    const { id } = Object(body.order) as { id?: string }
    // The cart stays until the bank has spoken: see the order's page.
    if (id !== undefined)
      return redirect(`/orders/${id}`, keepOrder(visit, visit.shopper, { id, key }))
  }
  if (code === 'idempotency_key_reused' || code === 'idempotency_in_progress') {
    return sentBefore(visit, { error, details, key })
  }
  if (error.status >= 500) throw error
  if (code === 'invalid_body') {
    const faults = cardFaults(error)
    const notice =
      Object.keys(faults).length === 0 ? OLD_PRICE : 'Please look at the marked fields.'
    return checkoutPage(visit, { details, faults, notice })
  }
  const cart = PASSING.includes(code) ? visit.cart : nextAttempt(visit.cart, code)
  return checkoutPage({ ...visit, cart }, { details, notice: explain(error) })
}

/** Its answer is kept by the platform for ever, so that another attempt needs another key. */
const nextAttempt = (cart: Cart, code: string): Cart => ({
  ...cart,
  refusals: cart.refusals + 1,
  coupon: code === 'coupon_invalid' ? null : cart.coupon,
})

/** The key was used with other words: find out what became of it before anything is tried again. */
async function sentBefore(visit: Named, { error, details, key }: Refused): Promise<Answer> {
  const attempt = await visit.shop.findAttempt(visit.site, key)
  const isRefused = attempt !== null && (attempt.status ?? 0) >= 400
  if (isRefused) {
    return checkoutPage(
      { ...visit, cart: nextAttempt(visit.cart, '') },
      { details, notice: REFUSED },
    )
  }
  const id = attempt?.resource_id
  if (id) return redirect(`/orders/${id}`, keepOrder(visit, visit.shopper, { id, key }))
  const notice = error.code === 'idempotency_in_progress' ? explain(error) : AGAIN
  return checkoutPage(visit, { details, notice })
}
