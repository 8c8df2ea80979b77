import { PlatformError } from './platform.ts'

/** Prices and dates as people of the store's language write them. */
export interface Words {
  language: string
  money(cents: number, currency: string): string
  day(iso: string): string
  moment(iso: string): string
}

const made = new Map<string, Words>()

/** Formatters are costly to make, and few: one set for each language and time zone. */
export function wordsOf(language: unknown, timeZone: unknown): Words {
  const tag = readLanguage(language)
  const zone = readZone(timeZone)
  const name = `${tag} ${zone}`
  const known = made.get(name)
  if (known !== undefined) return known
  const words = makeWords(tag, zone)
  made.set(name, words)
  return words
}

function makeWords(language: string, timeZone: string): Words {
  const currencies = new Map<string, { format: Intl.NumberFormat; minor: number }>()
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone })
  const moment = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone,
  })
  const currencyOf = (currency: string) => {
    const known = currencies.get(currency)
    if (known !== undefined) return known
    const format = new Intl.NumberFormat(language, { style: 'currency', currency })
    const minor = 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2)
    currencies.set(currency, { format, minor })
    return { format, minor }
  }
  return {
    language,
    money(cents, currency) {
      const { format, minor } = currencyOf(currency)
      return format.format(cents / minor)
    },
    day: (iso) => day.format(new Date(iso)),
    moment: (iso) => moment.format(new Date(iso)),
  }
}

function readLanguage(value: unknown): string {
  try {
    const [tag] = Intl.getCanonicalLocales(typeof value === 'string' ? value : 'en')
    return tag ?? 'en'
  } catch {
    return 'en'
  }
}

function readZone(value: unknown): string {
  const zone = typeof value === 'string' ? value : 'UTC'
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}

const DECLINES: Record<string, string> = {
  card_declined: 'Your bank declined the card.',
  insufficient_funds: 'The card does not have enough funds for this.',
  expired_card: 'The card has expired.',
  incorrect_cvv: 'The security code does not match the card.',
  processing_error: 'The bank could not process the card just now.',
}

const COUPONS: Record<string, string> = {
  unknown: 'We do not know this code.',
  expired: 'This code has expired.',
  not_started: 'This code is not valid yet.',
  exhausted: 'This code has been used up.',
  per_customer: 'You have used this code before.',
  min_subtotal: 'Your cart is below the amount this code asks for.',
  not_applicable: 'This code does not apply to anything in your cart.',
}

export const couponWords = (reason: unknown): string =>
  COUPONS[String(reason)] ?? 'This code cannot be used.'

const PLAIN: Record<string, string> = {
  card_required: 'Please enter a card to pay with.',
  fraud_rejected: 'We cannot take this order. Please contact the store.',
  insufficient_stock: 'Some of this is no longer in stock. Your cart shows what is left.',
  variant_not_found: 'Something in your cart is no longer sold. Please take it out.',
  price_changed: 'A price has changed since you looked. Please check the new total, then pay.',
  velocity_exceeded: 'That were many attempts in a short time. Please wait a minute.',
  rate_limited: 'That were many attempts in a short time. Please wait a minute.',
  currency_mismatch:
    'These things are priced in different currencies and cannot be bought at once.',
  gift_card_invalid: 'This gift card cannot be used.',
  feature_disabled: 'The store does not offer this.',
  invalid_transition: 'That is no longer possible for this order.',
  order_busy: 'Something else is being done to this order. Please try again in a moment.',
  idempotency_in_progress: 'Your order is already on its way to us. Please wait a moment.',
  not_refundable: 'There is nothing left to give back.',
}

const FAILED = 'Something went wrong on our side. Nothing was charged; please try again.'

/** A refusal of the platform, as a shopper can understand it. Never the platform's own words. */
export function explain(error: PlatformError): string {
  const { code, body } = error
  if (code === 'payment_declined') {
    const { reason } = Object(body.decline) as { reason?: unknown }
    const why = DECLINES[String(reason)] ?? 'The payment was declined.'
    return `${why} Nothing was charged. Please try another card.`
  }
  if (code === 'coupon_invalid') return couponWords(body.reason)
  return PLAIN[code] ?? FAILED
}

/** Whether a card, and which of its fields, is what a refusal is about. */
export function cardFaults(error: unknown): Record<string, string> {
  if (!(error instanceof PlatformError) || error.code !== 'invalid_body') return {}
  const { issues } = error.body as { issues?: { path?: unknown }[] }
  const paths = (issues ?? []).map(({ path }) => String(path).replaceAll('/', '.'))
  const faults: Record<string, string> = {}
  if (paths.some((path) => path.endsWith('ccnumber'))) {
    faults.number = 'Please check the card number.'
  }
  if (paths.some((path) => path.endsWith('ccexp'))) {
    faults.expiry = 'Please check the date: month and year, such as 10/40.'
  }
  if (paths.some((path) => path.endsWith('cvv'))) faults.cvv = 'Three or four digits.'
  if (paths.some((path) => path.endsWith('email'))) faults.email = 'Please check the address.'
  return faults
}
