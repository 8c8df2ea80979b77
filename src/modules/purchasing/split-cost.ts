import { allocate } from '../../kernel/money.ts'
import type { CostAllocation, LinePart, PurchaseLine, Split } from './schema.ts'

/**
 * Splits a late cost: over the lines of its purchase order, and of each line over the units that are
 * still on hand and those that have left. Pure functions; whole cents, by largest remainder, so that
 * all shares add up to the amount.
 */

/** Returns the weight of a line. A line without received units has none. */
function weightOf(line: PurchaseLine, split_by: Split): number {
  const { received_quantity: units, unit_cost_cents, unit_weight_grams } = line
  if (split_by === 'quantity') return units
  return units * (split_by === 'value' ? unit_cost_cents : (unit_weight_grams ?? 0))
}

/** Whether any line has a weight by which a cost can be split. */
export const canSplit = (lines: readonly PurchaseLine[], split_by: Split): boolean =>
  lines.some((line) => weightOf(line, split_by) > 0)

/** The counted units of a variant: how many are on hand, and how many have ever come. */
export interface Units {
  units: number
  arrived: number
}

/**
 * Returns how many units of a line are still on hand. The oldest units leave first, so units on hand that came
 * after a part of the line do not belong to that part.
 */
export function stillOnHand(parts: readonly LinePart[], { units, arrived }: Units): number {
  return parts.reduce((total, { added, arrived_after }) => {
    const cameLater = arrived - arrived_after
    return total + Math.min(added, Math.max(0, units - cameLater))
  }, 0)
}

export interface CostToSplit {
  amount_cents: number
  split_by: Split
  lines: readonly PurchaseLine[]
  parts: readonly LinePart[]
  /** The units of each variant, by its id. */
  known: ReadonlyMap<string, Units>
}

/** The shares of the lines that have units. */
export function splitCost(cost: CostToSplit): CostAllocation[] {
  const { amount_cents, split_by, lines, parts, known } = cost
  const received = lines.filter(({ received_quantity }) => received_quantity > 0)
  const shares = allocate(
    amount_cents,
    received.map((line) => weightOf(line, split_by)),
  )
  const partsOf = Map.groupBy(parts, ({ line_id }) => line_id)
  return received.map((line, at) => {
    const share = shares[at] as number
    const own = known.get(line.variant_id)
    const on_hand_units = own === undefined ? 0 : stillOnHand(partsOf.get(line.id) ?? [], own)
    const sold_units = line.received_quantity - on_hand_units
    const [on_hand_cents, sold_cents] = allocate(share, [on_hand_units, sold_units])
    return {
      line_id: line.id,
      variant_id: line.variant_id,
      amount_cents: share,
      on_hand_units,
      on_hand_cents: on_hand_cents as number,
      sold_units,
      sold_cents: sold_cents as number,
    }
  })
}
