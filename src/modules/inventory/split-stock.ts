import { DEFAULT_LOCATION, type LockedLevel, type StockLine } from './schema.ts'

/** Units of a variant at one location. */
export interface Share extends StockLine {
  location_id: string
}

export interface Shortage {
  variant_id: string
  available: number
}

/** Sums the lines by variant: an order may name a variant on several lines. */
export function sumLines(lines: readonly StockLine[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { variant_id, quantity } of lines) {
    sums.set(variant_id, (sums.get(variant_id) ?? 0) + quantity)
  }
  return sums
}

/** Divides the wanted units among the locations, and lists the variants that have too few. */
export function splitReservation(
  levels: readonly LockedLevel[],
  needed: ReadonlyMap<string, number>,
) {
  const shares: Share[] = []
  const short: Shortage[] = []
  for (const [variant_id, all] of Map.groupBy(levels, (level) => level.variant_id)) {
    const quantity = needed.get(variant_id) ?? 0
    if (quantity <= 0) continue
    const available = Math.max(0, sum(all.map(({ free }) => free)))
    if (quantity <= available || all[0]?.allow_backorder) shares.push(...spread(all, quantity))
    else short.push({ variant_id, available })
  }
  return { shares, short }
}

/**
 * Divides units among locations: all from one location if it has them, otherwise from one after the other. Units
 * that no location has are backordered at the first.
 */
function spread(levels: readonly LockedLevel[], quantity: number): Share[] {
  const sorted = defaultFirst(levels)
  const whole = sorted.find(({ free }) => free >= quantity)
  if (whole !== undefined) return [share(whole, quantity)]
  let left = quantity
  const shares = sorted.map((level) => {
    const part = Math.min(left, Math.max(0, level.free))
    left -= part
    return share(level, part)
  })
  const [first] = shares
  if (first !== undefined) first.quantity += left
  return shares.filter((each) => each.quantity > 0)
}

/**
 * Lists the allocated units of an order beyond the wanted quantity of each variant. The default
 * location comes first, since backordered units are allocated there. Packed units stay.
 */
export function splitRelease(
  levels: readonly LockedLevel[],
  needed: ReadonlyMap<string, number>,
): Share[] {
  const excess: Share[] = []
  for (const [variant_id, all] of Map.groupBy(levels, (level) => level.variant_id)) {
    let left = sum(all.map(({ allocated }) => allocated)) - (needed.get(variant_id) ?? Infinity)
    for (const level of defaultFirst(all)) {
      const part = Math.min(left, level.allocated - level.packed)
      if (part <= 0) continue
      excess.push(share(level, part))
      left -= part
    }
  }
  return excess
}

const share = ({ variant_id, location_id }: LockedLevel, quantity: number): Share => ({
  variant_id,
  location_id,
  quantity,
})

/** Sorts levels: the default location first, then the others by their id. */
const defaultFirst = (levels: readonly LockedLevel[]) =>
  levels.toSorted((a, b) => rank(a) - rank(b) || (a.location_id < b.location_id ? -1 : 1))

const rank = ({ location_id }: LockedLevel) => (location_id === DEFAULT_LOCATION ? 0 : 1)

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
