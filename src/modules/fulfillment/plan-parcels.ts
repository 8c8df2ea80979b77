import { DEFAULT_LOCATION, type WorkUnits } from '../inventory/schema.ts'
import type { Work } from '../orders/parcel-schema.ts'
import type { OrderItem } from '../orders/schema.ts'

/**
 * Which units of an order are open, where they lie, and which parcels they make. Pure functions: the
 * caller reads lines and stock under their locks.
 */

export type Line = Pick<
  OrderItem,
  | 'id'
  | 'variant_id'
  | 'sku'
  | 'product_name'
  | 'label'
  | 'quantity'
  | 'packed_quantity'
  | 'shipped_quantity'
  | 'restocked_quantity'
  | 'gift_card'
>

/** Open units of one line at one location. */
export interface OpenUnits {
  line: Line
  location_id: string
  quantity: number
  /** Of these, the units that can be packed now. */
  ready: number
  /** They are allocated from stock. The others are of a variant that is not tracked. */
  isStock: boolean
}

/** Gift cards are never open: they are mailed, and not shipped. */
const openOf = (line: Line): number =>
  line.gift_card
    ? 0
    : line.quantity - line.packed_quantity - line.shipped_quantity - line.restocked_quantity

/**
 * The open units of an order, line by line. The allocations of a variant serve its lines in their
 * order. Units that are allocated nowhere are at the default location, and are always there.
 */
export function listOpen(lines: readonly Line[], work: readonly WorkUnits[]): OpenUnits[] {
  const left = work.map((units) => ({ ...units }))
  return lines.flatMap((line) => {
    let open = openOf(line)
    const found: OpenUnits[] = []
    for (const units of left.filter(({ variant_id }) => variant_id === line.variant_id)) {
      const quantity = Math.min(open, units.open)
      if (quantity <= 0) continue
      const ready = Math.min(quantity, units.ready)
      found.push({ line, location_id: units.location_id, quantity, ready, isStock: true })
      units.open -= quantity
      units.ready -= ready
      open -= quantity
    }
    if (open > 0) {
      const untracked = { quantity: open, ready: open, isStock: false }
      found.push({ line, location_id: DEFAULT_LOCATION, ...untracked })
    }
    return found
  })
}

/** The open units by location, as the pick queue shows them. */
export function toWork(open: readonly OpenUnits[]): Work[] {
  return [...Map.groupBy(open, ({ location_id }) => location_id)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([location_id, units]) => ({
      location_id,
      items: [...Map.groupBy(units, ({ line }) => line.id).values()].map((parts) => {
        const { line } = parts[0] as OpenUnits
        return {
          order_item_id: line.id,
          variant_id: line.variant_id,
          sku: line.sku,
          product_name: line.product_name,
          label: line.label,
          quantity: total(parts, 'quantity'),
          ready: total(parts, 'ready'),
        }
      }),
    }))
}

const total = (units: readonly OpenUnits[], of: 'quantity' | 'ready') =>
  units.reduce((sum, each) => sum + each[of], 0)

export interface PlannedItem {
  line: Line
  quantity: number
  stock_quantity: number
}

export interface PlannedParcel {
  location_id: string
  items: PlannedItem[]
}

export interface Excess {
  order_item_id: string
  requested: number
  open: number
  ready: number
}

/** Units of lines that are to be packed; null for all that are ready. */
export type RequestedUnits = ReadonlyMap<string, number> | null

/**
 * Divides the wanted units into parcels, one for each location, as few as a simple rule finds: the
 * location that has most of them goes first. `excess` lists the lines of which too few are ready.
 */
export function planParcels(
  open: readonly OpenUnits[],
  request: RequestedUnits,
  location: string | null,
): { parcels: PlannedParcel[]; excess: Excess[] } {
  const usable = open.filter(({ location_id }) => location === null || location_id === location)
  const quantities = request ?? sumReady(usable)
  const excess = [...quantities].flatMap(([order_item_id, requested]) => {
    const units = usable.filter(({ line }) => line.id === order_item_id)
    const ready = total(units, 'ready')
    return requested <= ready
      ? []
      : [{ order_item_id, requested, open: total(units, 'quantity'), ready }]
  })
  return { parcels: excess.length > 0 ? [] : takeUnits(usable, quantities), excess }
}

function sumReady(open: readonly OpenUnits[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { line, ready } of open) {
    if (ready > 0) sums.set(line.id, (sums.get(line.id) ?? 0) + ready)
  }
  return sums
}

function takeUnits(open: readonly OpenUnits[], quantities: ReadonlyMap<string, number>) {
  const left = new Map(quantities)
  const parcels: PlannedParcel[] = []
  for (const [location_id, units] of byUsefulness(open, quantities)) {
    const items = new Map<string, PlannedItem>()
    for (const { line, ready, isStock } of units) {
      const quantity = Math.min(ready, left.get(line.id) ?? 0)
      if (quantity <= 0) continue
      left.set(line.id, (left.get(line.id) ?? 0) - quantity)
      const item = items.get(line.id) ?? { line, quantity: 0, stock_quantity: 0 }
      item.quantity += quantity
      if (isStock) item.stock_quantity += quantity
      items.set(line.id, item)
    }
    if (items.size > 0) parcels.push({ location_id, items: [...items.values()] })
  }
  return parcels
}

/** The locations with their units: the one that can serve most goes first, then by name. */
function byUsefulness(open: readonly OpenUnits[], quantities: ReadonlyMap<string, number>) {
  const served = (units: readonly OpenUnits[]) =>
    [...Map.groupBy(units, ({ line }) => line.id)].reduce(
      (sum, [id, parts]) => sum + Math.min(quantities.get(id) ?? 0, total(parts, 'ready')),
      0,
    )
  return [...Map.groupBy(open, ({ location_id }) => location_id)].toSorted(
    ([a, of], [b, others]) => served(others) - served(of) || (a < b ? -1 : 1),
  )
}
