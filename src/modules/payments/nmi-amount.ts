import { coinDigits } from '../../kernel/money.ts'

/** NMI writes amounts as decimals. Ours are counted in the smallest coin, of which JPY has no other. */

/** No currency is written with fewer: `1500.00` is what NMI asks for in JPY, too. */
const DIGITS_MIN = 2

/** `12.34`, without a float in between. */
export function toDecimal(cents: number, currency: string): string {
  const digits = coinDigits(currency)
  const text = String(cents).padStart(digits + 1, '0')
  const [whole, coins] = [text.slice(0, text.length - digits), text.slice(text.length - digits)]
  return `${whole}.${coins.padEnd(DIGITS_MIN, '0')}`
}

const AMOUNT = /^-?(\d{1,13})(?:\.(\d{1,3}))?$/

/**
 * `12.34` as 1234. A refund may be written as less than nothing. Null for what is no amount, and for
 * parts of a coin. A record that does not say its currency has one with cents, unless it shows more.
 */
export function toCents(amount: string, currency: string | null): number | null {
  const [, whole, fraction = ''] = AMOUNT.exec(amount) ?? []
  if (whole === undefined) return null
  const digits = currency === null ? Math.max(DIGITS_MIN, fraction.length) : coinDigits(currency)
  if (/[1-9]/.test(fraction.slice(digits))) return null
  return Number(whole + fraction.slice(0, digits).padEnd(digits, '0'))
}
