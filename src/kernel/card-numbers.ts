import { passesLuhn } from './luhn.ts'

/** A card network: its first digits, and how long its numbers are. */
interface Network {
  prefix: RegExp
  lengths: readonly number[]
}

const LONG = [16, 17, 18, 19]

/**
 * The networks by ISO/IEC 7812, as they issue cards. Only their numbers count: of all numbers with 13 to 19
 * digits every tenth passes the Luhn check, and ids, barcodes, times and parcels have such numbers too (decision 0027).
 */
const NETWORKS: readonly Network[] = [
  { prefix: /^4/, lengths: [16, 19] }, // Visa
  { prefix: /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] }, // Mastercard
  { prefix: /^3[47]/, lengths: [15] }, // American Express
  { prefix: /^3(0[0-5]|095|[689])/, lengths: [14] }, // Diners Club
  { prefix: /^35(2[89]|[3-8])/, lengths: LONG }, // JCB
  { prefix: /^(6011|64[4-9]|65)/, lengths: LONG }, // Discover, RuPay
  { prefix: /^(62|81)/, lengths: LONG }, // UnionPay
  { prefix: /^(5018|5020|5038|5612|5893|6304|6759|676[1-3])/, lengths: LONG }, // Maestro
  { prefix: /^(508[5-9]|60(69|7|8[0-5])|82)/, lengths: [16] }, // RuPay
  { prefix: /^220[0-4]/, lengths: LONG }, // Mir
  { prefix: /^9792/, lengths: [16] }, // Troy
]

/**
 * Visa once issued numbers of 13 digits. They count only if they are written in groups: a run of 13 digits is nearly
 * always an id, an EAN barcode or a phone number.
 */
const GROUPED_VISA = { prefix: /^4/, lengths: [13] }

const DIGITS_MIN = 13
const DIGITS_MAX = 19

/** Our ids, whose groups of digits and dashes would look like a card number. */
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi

/** A text that is one of our ids, as most texts with many digits are. */
const OWN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What people write between the groups of a card number. */
const SEPARATOR = '[\\s._\\-\\u2010-\\u2015]{1,2}'
const RUNS = new RegExp(`\\+?\\d(?:(?:${SEPARATOR})?\\d){${DIGITS_MIN - 1},}`, 'g')

/**
 * Whether a text has a card number in it: a run of digits, or of neighbouring groups of digits, that a network issues
 * and that passes the Luhn check. Other digits, such as an expiry, may stand around it.
 */
export function hasCardNumber(text: string): boolean {
  if (text.length < DIGITS_MIN || !mayHaveCardNumber(text)) return false
  // Full-width digits are read like other digits.
  const plain = text.normalize('NFKC').replace(UUID, 'id')
  return (plain.match(RUNS) ?? []).some(
    // A plus starts a phone number.
    (run) => !run.startsWith('+') && hasCardIn(run.match(/\d+/g) ?? []),
  )
}

const [ZERO, NINE, ASCII_MAX] = [0x30, 0x39, 0x7f]

/** Whether a text has enough digits at all. Nearly every text of a request ends here, at almost no cost. */
function mayHaveCardNumber(text: string): boolean {
  let digits = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // A character of another script may be a digit, too.
    if ((code >= ZERO && code <= NINE) || code > ASCII_MAX) digits += 1
    if (digits === DIGITS_MIN) return !OWN_ID.test(text)
  }
  return false
}

/** Whether one of the groups, or a row of neighbouring groups, is a card number. */
function hasCardIn(groups: readonly string[]): boolean {
  for (let from = 0; from < groups.length; from++) {
    let digits = ''
    for (let to = from; to < groups.length; to++) {
      digits += groups[to]
      if (digits.length > DIGITS_MAX) break
      if (isCardNumber(digits, to > from)) return true
    }
  }
  return false
}

function isCardNumber(digits: string, isGrouped: boolean): boolean {
  const networks = isGrouped ? [...NETWORKS, GROUPED_VISA] : NETWORKS
  const isIssued = networks.some(
    ({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits),
  )
  return isIssued && passesLuhn(digits)
}
