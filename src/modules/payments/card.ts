import { invalidBody, invalidBodyOf } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { hmac } from '../../kernel/hmac.ts'
import { passesLuhn } from '../../kernel/luhn.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import type { CardInput, TypedCard } from './card-schema.ts'
import type { CardFacts } from './schema.ts'

/**
 * A card that a shopper sent. It has no enumerable members, so that code which prints, copies or
 * stores objects finds nothing in it. Only `reveal` returns the number, for the gateways' adapters.
 */
export interface Card extends Readonly<CardFacts> {
  /** The first digits, which identify the issuer. */
  readonly bin: string
  /** Equal for equal numbers. Without the key it reveals nothing about the number. */
  fingerprint(key: Buffer): string
}

interface Secrets {
  number: string
  cvv: string | null
}

/** Numbers and CVVs are kept outside of the card objects, and are collected with them. */
const secrets = new WeakMap<Card, Secrets>()

/** Digits in groups, as the card shows them. */
const NUMBER = /^[0-9](?:[ -]?[0-9])*$/
const EXPIRY = /^(0[1-9]|1[0-2])\/([0-9]{2})$/
const CVV = /^[0-9]{3,4}$/

/** The shortest and the longest card numbers that the networks issue. */
const DIGITS_MIN = 13
const DIGITS_MAX = 19

/** How many first digits identify an issuer. A ban may name as many. */
const BIN_LENGTH = 8

/** The longest text that is examined. A longer one is no card number, however it is grouped. */
const TEXT_MAX = 2 * DIGITS_MAX

/** How far the last time zone is behind UTC: twelve hours. A card expires when its month has ended everywhere. */
const LAST_ZONE_MS = 12 * HOUR_MS

interface Issue {
  path: string
  message: string
}

/** Reads a card, or throws 400 `invalid_body`, which names what is wrong and repeats nothing of the card. */
export function readCard(input: TypedCard, clock: Clock): Card {
  const issues: Issue[] = []
  const refuse = (member: string, message: string) => {
    issues.push({ path: `card.${member}`, message })
  }
  const number = readNumber(input.ccnumber)
  if (number === null) refuse('ccnumber', 'must be a valid card number of 13 to 19 digits')
  const expiry = EXPIRY.exec(input.ccexp)
  const [month, year] = [Number(expiry?.[1]), 2_000 + Number(expiry?.[2])]
  if (expiry === null) refuse('ccexp', 'must have the form MM/YY')
  else if (clock.now() >= Date.UTC(year, month, 1) + LAST_ZONE_MS) {
    refuse('ccexp', 'must not be in the past: the card has expired')
  }
  if (input.cvv !== undefined && !CVV.test(input.cvv)) refuse('cvv', 'must be 3 or 4 digits')
  if (number === null || issues.length > 0) throw invalidBodyOf(issues)
  return makeCard({ number, cvv: input.cvv ?? null }, { exp_month: month, exp_year: year })
}

/** A token of the gateway's own form in the shopper's browser: opaque, and of bounded length. */
const TOKEN = /^[\x21-\x7e]{1,255}$/

/** Reads the source of a shopper's payment. Returns null if none was sent. Refuses a card beside a token. */
export function readSource(
  input: { card?: CardInput | null | undefined; payment_token?: string | null | undefined },
  clock: Clock,
): { card: Card } | { payment_token: string } | null {
  const { card, payment_token } = input
  if (payment_token !== undefined && payment_token !== null) {
    return readToken('payment_token', payment_token, card ? 'when card is sent' : null)
  }
  if (!card) return null
  if (!('payment_token' in card)) return { card: readCard(card, clock) }
  const { payment_token: inside, ...typed } = card
  const isTyped = ['ccnumber', 'ccexp', 'cvv'].some((member) => member in typed)
  return readToken(
    'card.payment_token',
    inside,
    isTyped ? 'when ccnumber, ccexp or cvv is sent' : null,
  )
}

function readToken(path: string, payment_token: string, beside: string | null) {
  if (beside === null && TOKEN.test(payment_token)) return { payment_token }
  const message =
    beside === null ? 'must be 1 to 255 visible ASCII characters' : `must be left out ${beside}`
  throw invalidBody(path, message)
}

function readNumber(text: string): string | null {
  if (text.length > TEXT_MAX || !NUMBER.test(text)) return null
  const digits = text.replace(/[ -]/g, '')
  if (digits.length < DIGITS_MIN || digits.length > DIGITS_MAX) return null
  return passesLuhn(digits) ? digits : null
}

function makeCard(secret: Secrets, expiry: Pick<CardFacts, 'exp_month' | 'exp_year'>): Card {
  const { number } = secret
  const members = {
    brand: brandOf(number),
    last4: number.slice(-4),
    bin: number.slice(0, BIN_LENGTH),
    ...expiry,
    fingerprint: (key: Buffer) => hmac(key, [number], 'hex'),
  }
  const card: Card = Object.defineProperties(
    {},
    Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { value }])),
  ) as Card
  secrets.set(card, secret)
  return Object.freeze(card)
}

/** The number and the CVV of a card. Only the gateways' adapters may call it. */
export function reveal(card: Card): Secrets {
  const secret = secrets.get(card)
  if (secret === undefined) throw new Error('this is no card that was read here')
  return secret
}

/** The facts of a card that may be stored and shown. */
export const factsOf = ({ brand, last4, exp_month, exp_year }: CardFacts): CardFacts => ({
  brand,
  last4,
  exp_month,
  exp_year,
})

const BRANDS: readonly (readonly [name: string, numbers: RegExp])[] = [
  ['visa', /^4/],
  ['mastercard', /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/],
  ['amex', /^3[47]/],
  ['discover', /^(6011|64[4-9]|65)/],
  ['diners', /^3(0[0-5]|[689])/],
  ['jcb', /^35(2[89]|[3-8])/],
  ['unionpay', /^62/],
]

export const brandOf = (number: string): string =>
  BRANDS.find(([, numbers]) => numbers.test(number))?.[0] ?? 'unknown'
