import { cleanText } from '../http/forms.ts'
import type { Texts } from '../translations/texts.ts'

/** The card of a form. It is checked here and sent to the platform, and never shown again. */
export interface CardInput {
  ccnumber: string
  ccexp: string
  cvv?: string
}

const FIELD_LENGTH_MAX = 200

/** The card of a form; undefined if no number was typed. `10/40`, `10 / 2040` and `1040` are alike. */
export function readCard(form: URLSearchParams): CardInput | undefined {
  const text = (name: string) => cleanText(form.get(`card_${name}`), FIELD_LENGTH_MAX)
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

/**
 * The faults of a card, by field. The platform checks it, too; here a wrong card is reported before anything is sent,
 * and the security code is required, which is optional for the platform.
 */
export function cardErrors(texts: Texts, card: CardInput | undefined): Record<string, string> {
  if (card === undefined) return { number: texts.enterCard }
  const { ccnumber, ccexp, cvv = '' } = card
  const errors: Record<string, string> = {}
  if (!isCardNumber(ccnumber)) errors.number = texts.checkCardNumber
  const [, month, year] = /^(0[1-9]|1[0-2])\/(\d\d)$/.exec(ccexp) ?? []
  if (month === undefined) errors.expiry = texts.checkExpiry
  else if (hasExpired(Number(month), 2_000 + Number(year))) errors.expiry = texts.cardExpired
  if (!/^\d{3,4}$/.test(cvv)) errors.cvv = texts.checkSecurityCode
  return errors
}

/** Whether a text is the number of a card, which ends with a check digit, by the algorithm of Luhn. */
function isCardNumber(text: string): boolean {
  if (!/^\d{13,19}$/.test(text)) return false
  const digits = [...text].reverse().map(Number)
  const doubled = digits.map((digit, at) => (at % 2 === 0 ? digit : digit * 2))
  return doubled.reduce((sum, each) => sum + (each > 9 ? each - 9 : each), 0) % 10 === 0
}

const HALF_DAY_MS = 43_200_000

/** Whether a card has expired: its month has ended in every time zone. */
const hasExpired = (month: number, year: number): boolean =>
  Date.now() >= Date.UTC(year, month, 1) + HALF_DAY_MS
