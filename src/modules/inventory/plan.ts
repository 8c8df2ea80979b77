import { DEFAULT_LOCATION, type LockedLevel, type StockLine } from './schema.ts'

/** So many of a variant at one location. */
export interface Share extends StockLine {
  location_id: string
}

export interface Shortage {
  variant_id: string
  available: number
}

/** One sum for each variant: an order may name a variant on several lines. */
export function sumLines(lines: readonly StockLine[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { variant_id, quantity } of lines) {
    sums.set(variant_id, (sums.get(variant_id) ?? 0) + quantity)
  }
  return sums
}

/** Where the wanted stock is taken from, and which variants have too little of it. */
export function planTaking(levels: readonly LockedLevel[], wanted: ReadonlyMap<string, number>) {
  const taken: Share[] = []
  const short: Shortage[] = []
  for (const [variant_id, all] of Map.groupBy(levels, (level) => level.variant_id)) {
    const quantity = wanted.get(variant_id) ?? 0
    if (quantity <= 0) continue
    const available = Math.max(0, sum(all.map(({ free }) => free)))
    if (quantity <= available || all[0]?.allow_backorder) taken.push(...spread(all, quantity))
    else short.push({ variant_id, available })
  }
  return { taken, short }
}

/** From one place when one has it all, else place by place. What is nowhere is owed by the first. */
function spread(levels: readonly LockedLevel[], quantity: number): Share[] {
  const inTurn = defaultFirst(levels)
  const whole = inTurn.find(({ free }) => free >= quantity)
  if (whole !== undefined) return [share(whole, quantity)]
  let left = quantity
  const shares = inTurn.map((level) => {
    const part = Math.min(left, Math.max(0, level.free))
    left -= part
    return share(level, part)
  })
  const [first] = shares
  if (first !== undefined) first.quantity += left
  return shares.filter((each) => each.quantity > 0)
}

/** What an order has bought beyond what it wants of these variants: what was owed first. */
export function planGivingBack(
  levels: readonly LockedLevel[],
  wanted: ReadonlyMap<string, number>,
): Share[] {
  const given: Share[] = []
  for (const [variant_id, all] of Map.groupBy(levels, (level) => level.variant_id)) {
    let left = sum(all.map(({ allocated }) => allocated)) - (wanted.get(variant_id) ?? Infinity)
    for (const level of defaultFirst(all)) {
      const part = Math.min(left, level.allocated)
      if (part <= 0) continue
      given.push(share(level, part))
      left -= part
    }
  }
  return given
}

const share = ({ variant_id, location_id }: LockedLevel, quantity: number): Share => ({
  variant_id,
  location_id,
  quantity,
})

/** The others stand in the order of their names. */
const defaultFirst = (levels: readonly LockedLevel[]) =>
  levels.toSorted((a, b) => rank(a) - rank(b) || (a.location_id < b.location_id ? -1 : 1))

const rank = ({ location_id }: LockedLevel) => (location_id === DEFAULT_LOCATION ? 0 : 1)

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
