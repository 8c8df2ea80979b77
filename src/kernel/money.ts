/**
 * Arithmetic on integer cents. Products of two amounts exceed the safe integers, so they are BigInt. A sum that exceeds
 * the safe integers is an error, and so is such a number from the database: an amount is exact to the cent or not shown
 * at all.
 */

const BPS_WHOLE = 10_000n

/** Computes basis points (hundredths of a percent) of an amount, rounding half a cent up. */
export const bpsOf = (cents: number, bps: number): number =>
  Number((BigInt(cents) * BigInt(bps) + BPS_WHOLE / 2n) / BPS_WHOLE)

/**
 * Computes the tax inside an amount, at a rate in basis points: `amount * rate / (10000 + rate)`, rounding half a
 * cent up like every tax.
 */
export function taxInside(cents: number, bps: number): number {
  const whole = BPS_WHOLE + BigInt(bps)
  return Number((2n * BigInt(cents) * BigInt(bps) + whole) / (2n * whole))
}

/** Computes the share of `part` that belongs to `some` of the `whole`, rounded down. */
export const shareOfPart = (part: number, some: number, whole: number): number =>
  whole === 0 ? 0 : Number((BigInt(part) * BigInt(some)) / BigInt(whole))

/** Adds up amounts. Throws where a sum, even an intermediate one, is beyond the safe integers. */
export const sum = (amounts: readonly number[]): number =>
  amounts.reduce((total, amount) => requireExact(total + amount), 0)

/** Converts an amount that was computed as BigInt. Throws where it is beyond the safe integers. */
export const exactCents = (cents: bigint): number => requireExact(Number(cents))

function requireExact(total: number): number {
  if (!Number.isSafeInteger(total)) throw new RangeError('a sum is beyond 2^53 - 1')
  return total
}

/**
 * Splits an amount by weights, to the cent. Each share is rounded down, and the cents left go to
 * the largest remainders, the earlier first where they tie. A share with weight 0 is 0, and no
 * share exceeds its weight as long as the amount does not exceed the sum of all weights.
 */
export function allocate(cents: number, weights: readonly number[]): number[] {
  const whole = weights.reduce((total, weight) => total + BigInt(weight), 0n)
  if (whole === 0n) {
    if (cents !== 0) throw new RangeError('an amount cannot be split over nothing')
    return weights.map(() => 0)
  }
  const exact = weights.map((weight) => BigInt(cents) * BigInt(weight))
  const shares = exact.map((product) => Number(product / whole))
  const byRemainder = exact
    .map((product, index) => ({ index, remainder: product % whole }))
    .sort((a, b) => compare(b.remainder, a.remainder) || a.index - b.index)
  const roundedUp = new Set(byRemainder.slice(0, cents - sum(shares)).map(({ index }) => index))
  return shares.map((share, index) => (roundedUp.has(index) ? share + 1 : share))
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Computes the part of an amount that belongs to some of its units, when it is refunded in parts: an even share,
 * rounded down, and the rest with the last unit. The parts, in any order, add up to exactly the whole.
 */
export function unitShare(
  cents: number,
  units: { all: number; before: number; now: number },
): number {
  const { all, before, now } = units
  if (all === 0) return 0
  const each = Math.floor(cents / all)
  return each * now + (before + now === all && now > 0 ? cents - each * all : 0)
}

/** Writes an amount with a decimal point, as programs read it: `12.50`. */
export function decimalAmount(cents: number, currency: string): string {
  const digits = coinDigits(currency)
  return (cents / 10 ** digits).toFixed(digits)
}

const digits = new Map<string, number>()

/** Returns the number of decimal digits of a currency: two for USD, none for JPY, three for KWD. */
export function coinDigits(currency: string): number {
  const known = digits.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const found = format.resolvedOptions().maximumFractionDigits ?? 2
  digits.set(currency, found)
  return found
}
