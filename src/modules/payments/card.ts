import { invalidBody, invalidBodyOf } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { passesLuhn } from '../../kernel/luhn.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import { type Card, makeCard } from './adapters/card.ts'
import type { CardInput, TypedCard } from './card-schema.ts'

/** Digits in groups, as the card shows them. */
const NUMBER = /^[0-9](?:[ -]?[0-9])*$/
const EXPIRY = /^(0[1-9]|1[0-2])\/([0-9]{2})$/
const CVV = /^[0-9]{3,4}$/

/** The shortest and the longest card numbers that the networks issue. */
const DIGITS_MIN = 13
const DIGITS_MAX = 19

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
