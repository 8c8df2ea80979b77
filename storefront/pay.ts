import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, redirect } from './answer.ts'
import { type Cart, checkoutKey, markOf, nextAttempt, type Shopper, setCoupon } from './cart.ts'
import { cardFaults, explain, isAbout } from './explain.ts'
import { clearCart, keepOrder, type TillVisit } from './kept.ts'
import type { Details } from './pages/checkout.ts'
import { PlatformError } from './platform.ts'
import type { Attempt } from './shop.ts'
import type { Site } from './site.ts'
import { checkoutPage, withShopper } from './till.ts'
import { readTyped } from './typed.ts'
import type { Placed } from './types.ts'

/** From a filled-in form to a paid order, or back to the form with one sentence about why not. */

/** How long a form waits for what another tab has sent, and how often it asks. */
const WAIT_MS = 10_000
const PAUSE_MS = 100

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

type Typed = Pick<Details, (typeof FIELDS)[number]>

export function readDetails(form: URLSearchParams): Details {
  const text = (name: string) => readTyped(form.get(name), 200)
  const typed = Object.fromEntries(FIELDS.map((name) => [name, text(name)]))
  return {
    ...(typed as Typed),
    gift: text('gift'),
    expedited: form.get('speed') === 'expedited',
    credit: form.has('credit'),
    subscribe: form.has('subscribe'),
    attested: (form.get('attested') ?? '').trim().slice(0, 200),
  }
}

/** Not every address has them. */
const OPTIONAL: readonly string[] = ['line2', 'state', 'postal_code']

/** What is not there. The rest is for the platform to judge. */
function findFaults({ words, offers }: Site, details: Details): Record<string, string> {
  const { say } = words
  const faults: Record<string, string> = {}
  for (const name of FIELDS) {
    if (!OPTIONAL.includes(name) && details[name] === '') faults[name] = say.fillIn
  }
  if (details.email !== '' && !/^[^@\s]{1,64}@[^@\s]+\.[^@\s]+$/.test(details.email)) {
    faults.email = say.checkAddress
  }
  if (offers.statement !== null && details.attested === '') faults.attested = say.confirmThis
  return faults
}

/** `10/40`, `10 / 2040` and `1040` are the same month. */
export function readCard(form: URLSearchParams) {
  const text = (name: string) => readTyped(form.get(`card_${name}`), 200)
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

export async function pay(given: TillVisit, form: URLSearchParams): Promise<Answer> {
  const [key = '', quoteToken = '', mark = ''] = (form.get('key') ?? '').split('|')
  const before = given.shopper?.orders.find((order) => order.key === key)
  if (before !== undefined) return redirect(`/orders/${before.id}`)
  if (given.cart.items.length === 0 || given.site.preview !== null) return redirect('/cart')
  const details = readDetails(form)
  const cart = setCoupon(given.cart, form.get('coupon') ?? given.cart.coupon ?? '')
  const visit = { ...given, cart }
  const { say } = given.site.words
  if (cart.coupon !== given.cart.coupon) {
    return checkoutPage(visit, { details, notice: say.codeTyped })
  }
  const faults = findFaults(given.site, details)
  const card = readCard(form)
  // The form that was seen may ask for no card, and then the platform has the last word on it.
  if (card === undefined && form.get('due') !== '0') faults.number = say.enterCard
  if (Object.keys(faults).length > 0) {
    return checkoutPage(visit, { details, faults, notice: say.markedFields })
  }
  if (mark !== markOf(cart) && !(await isSent(visit))) {
    return checkoutPage(visit, { details, notice: say.cartChanged })
  }
  return place(visit, details, { card, quote_token: quoteToken })
}

/** Whether the cart was sent before, so that another attempt finds out what became of it. */
const isSent = async ({ shop, site, cart }: TillVisit): Promise<boolean> =>
  (await shop.findAttempt(site, 'checkout', checkoutKey(cart))) !== null

/**
 * The wording that was accepted, and when it was shown: a form that is sent twice must say the same
 * twice. The platform holds the wording against the store's own.
 */
function readAttested(value: string) {
  const [, shown = '', version = ''] = /^(\S+) (.*)$/.exec(value) ?? []
  const at = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(shown) && !Number.isNaN(Date.parse(shown))
  return { statement_version: version, accepted_at: at ? shown : new Date().toISOString() }
}

async function place(
  given: TillVisit,
  details: Details,
  paying: { card: ReturnType<typeof readCard>; quote_token: string },
): Promise<Answer> {
  const { visit, cookies } = withShopper(given)
  const { shop, site, cart, shopper, ip } = visit
  const { email, name, expedited, gift, credit, subscribe, attested, ...address } = details
  const key = checkoutKey(cart)
  const body = {
    customer_ref: shopper.ref,
    items: cart.items,
    coupon_code: cart.coupon,
    email,
    ip,
    shipping_address: { label: name, ...address, line2: address.line2 || null },
    expedited,
    ...(subscribe ? { subscribe } : {}),
    ...(credit ? { apply_store_credit: true } : {}),
    ...(gift === '' ? {} : { gift_card_code: gift }),
    ...(attested === '' ? {} : { attestation: readAttested(attested) }),
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
    keepOrder(visit, visit.shopper, { id: order.id, key, waiting: false }),
    clearCart(visit),
  ])

interface Refused {
  error: PlatformError
  details: Details
  key: string
}

/** Refusals that say nothing about the order, so that the same attempt may be made again. */
const PASSING = ['invalid_body', 'velocity_exceeded', 'rate_limited', 'idempotency_in_progress']

async function refused(visit: Named, { error, details, key }: Refused): Promise<Answer> {
  const { code, body } = error
  const { words } = visit.site
  if (code === 'payment_unconfirmed') {
    const { id } = Object(body.order) as { id?: string }
    // The cart stays until the bank has spoken: see waiting.ts.
    if (id !== undefined) return toOrder(visit, { id, key, waiting: true })
  }
  if (code === 'idempotency_key_reused' || code === 'idempotency_in_progress') {
    return sentBefore(visit, { error, details, key })
  }
  if (error.status >= 500) throw error
  if (code === 'invalid_body') {
    const faults = cardFaults(words, error)
    const isMarked = Object.keys(faults).length > 0
    const unmarked = isAbout(error, 'quote_token') ? words.say.oldPrice : words.say.failed
    const notice = isMarked ? words.say.markedFields : unmarked
    return checkoutPage(visit, { details, faults, notice })
  }
  const cart = PASSING.includes(code) ? visit.cart : afterRefusal(visit.cart, code)
  const left = withoutRefused(details, error)
  return checkoutPage({ ...visit, cart }, { details: left, notice: explain(words, error) })
}

/** What the store no longer offers is not asked for again. */
function withoutRefused(details: Details, { code, body }: PlatformError): Details {
  if (code === 'attestation_required') return { ...details, attested: '' }
  if (code !== 'feature_disabled') return details
  const { feature_key: feature } = body
  if (feature === 'subscriptions') return { ...details, subscribe: false }
  return feature === 'store_credit' ? { ...details, credit: false } : { ...details, gift: '' }
}

const afterRefusal = (cart: Cart, code: string): Cart =>
  nextAttempt(code === 'coupon_invalid' ? { ...cart, coupon: null } : cart)

const toOrder = (visit: Named, order: Shopper['orders'][number]): Answer =>
  redirect(`/orders/${order.id}`, [keepOrder(visit, visit.shopper, order)])

/** The key was used with other words: find out what became of it before anything is tried again. */
async function sentBefore(visit: Named, { error, details, key }: Refused): Promise<Answer> {
  const { words } = visit.site
  const attempt = await awaitAttempt(visit, key)
  const isRefused = attempt !== null && (attempt.status ?? 0) >= 400
  if (isRefused) {
    return checkoutPage(
      { ...visit, cart: nextAttempt(visit.cart) },
      { details, notice: words.say.refusedBefore },
    )
  }
  const id = attempt?.resource_id
  if (id) return toOrder(visit, { id, key, waiting: attempt.state === 'running' })
  const isRunning = error.code === 'idempotency_in_progress'
  const notice = isRunning ? explain(words, error) : words.say.sentAgain
  // An order that is so old that nothing else is known of its key has had its cart.
  const cart = attempt === null && !isRunning ? nextAttempt(visit.cart) : visit.cart
  return checkoutPage({ ...visit, cart }, { details, notice })
}

/** The other tab may still be at it, and only its answer says whether to pay again. */
async function awaitAttempt(visit: Named, key: string): Promise<Attempt | null> {
  const until = performance.now() + WAIT_MS
  for (;;) {
    const attempt = await visit.shop.findAttempt(visit.site, 'checkout', key)
    if (attempt?.state !== 'running' || performance.now() > until) return attempt
    if (await isWithBank(visit, attempt)) return attempt
    await sleep(PAUSE_MS)
  }
}

/** Whether the other tab has its answer, which is that nobody knows: that takes longer than anybody waits. */
async function isWithBank({ shop, site, shopper }: Named, { resource_id: id }: Attempt) {
  const found = id === null ? null : await shop.findOrder(site, id, shopper.ref)
  return found?.order.payment_status === 'unknown'
}
