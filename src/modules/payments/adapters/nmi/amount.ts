import { coinDigits } from '../../../../kernel/money.ts'

/**
 * NMI writes amounts as decimals. We count in the smallest coin of a currency; JPY has only one
 * coin.
 */

/** The fewest decimals: NMI wants at least two in every currency, `1500.00` in JPY, too. */
const DIGITS_MIN = 2

/** Writes 1234 as `12.34`, without floating point. */
export function toDecimal(cents: number, currency: string): string {
  const digits = coinDigits(currency)
  const text = String(cents).padStart(digits + 1, '0')
  const [whole, coins] = [text.slice(0, text.length - digits), text.slice(text.length - digits)]
  return `${whole}.${coins.padEnd(DIGITS_MIN, '0')}`
}

/** No currency has more than four decimals. */
const AMOUNT = /^-?(?=\.?\d)(\d{0,13})(?:\.(\d{1,4}))?$/

/**
 * Reads `12.34` as 1234. NMI may write a refund as a negative amount: the sign is ignored. Returns null for text
 * that is no amount, for fractions of a coin and for more than we can count. Without a currency two decimals are
 * assumed, and text with more is no amount: `1.500` is 1.50 in one currency and 1,500 coins in another.
 */
export function toCents(amount: string, currency: string | null): number | null {
  const [, whole, fraction = ''] = AMOUNT.exec(amount) ?? []
  if (whole === undefined) return null
  if (currency === null && fraction.length > DIGITS_MIN) return null
  const digits = currency === null ? DIGITS_MIN : coinDigits(currency)
  if (/[1-9]/.test(fraction.slice(digits))) return null
  const cents = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  return Number.isSafeInteger(cents) ? cents : null
}
