/** Arithmetic on integer cents. Products of two amounts leave the safe integers, so they are BigInt. */

const BPS_WHOLE = 10_000n

/** So many hundredths of a percent of an amount, half a cent up. */
export const bpsOf = (cents: number, bps: number): number =>
  Number((BigInt(cents) * BigInt(bps) + BPS_WHOLE / 2n) / BPS_WHOLE)

export const sum = (amounts: readonly number[]): number =>
  amounts.reduce((total, amount) => total + amount, 0)

/**
 * Splits an amount by weights, to the cent: each gets its share rounded down, and the cents that are
 * left go to the largest remainders, the earlier first where they tie. A share of no weight is 0, and
 * none is more than its weight as long as the amount is not more than all weights together.
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
  const luckier = new Set(byRemainder.slice(0, cents - sum(shares)).map(({ index }) => index))
  return shares.map((share, index) => (luckier.has(index) ? share + 1 : share))
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * What units of a whole are worth when it is given back in parts: its even share, rounded down, and
 * to the last unit whatever is left. Parts in any sequence add up to exactly the whole.
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

const digits = new Map<string, number>()

/** How many digits of an amount are coins: two of USD, none of JPY, three of KWD. */
export function coinDigits(currency: string): number {
  const known = digits.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const found = format.resolvedOptions().maximumFractionDigits ?? 2
  digits.set(currency, found)
  return found
}
