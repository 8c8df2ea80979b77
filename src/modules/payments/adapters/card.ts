import { hmac } from '../../../kernel/hmac.ts'
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

export interface Secrets {
  number: string
  cvv: string | null
}

/** Numbers and CVVs are kept outside of the card objects, and are collected with them. */
const secrets = new WeakMap<Card, Secrets>()

/** How many first digits identify an issuer. A ban may name as many. */
const BIN_LENGTH = 8

/** Makes a card of a number that was checked. */
export function makeCard(secret: Secrets, expiry: Pick<CardFacts, 'exp_month' | 'exp_year'>): Card {
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
