import type { Tx } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { SYSTEM } from '../../platform/audit.ts'
import * as costQueries from './cost-queries.ts'
import type { VariantCost } from './cost-schema.ts'
import * as queries from './queries.ts'
import { type Move, QUANTITY_MAX } from './schema.ts'
import { requireLocations } from './service.ts'
import { moveStock } from './stock-queries.ts'

/**
 * The stock of purchase orders. Each function is called under the lock of the purchase order; it locks the levels
 * of the variants, at all locations and in the same order as every transaction, and changes them.
 */

/** A change of the units that are expected at a location, and of those that are there. */
export interface ArrivingUnits {
  variant_id: string
  incoming: number
  /** How many have arrived, and what they cost together. */
  received: number
  cost_cents: number
}

export interface Arrival {
  location_id: string
  purchase_order_id: string
  actor: string
  units: readonly ArrivingUnits[]
}

/** Changes the units that are expected at a location. Expected units never count as available. */
export async function expect(
  tx: Tx,
  location_id: string,
  units: readonly Pick<ArrivingUnits, 'variant_id' | 'incoming'>[],
): Promise<void> {
  const changed = units.filter(({ incoming }) => incoming !== 0)
  if (changed.length === 0) return
  await lock(tx, location_id, changed)
  const moves = changed.map(({ variant_id, incoming }) => ({
    ...still(variant_id, location_id),
    incoming,
  }))
  await moveStock(tx, moves, { actor: SYSTEM.name })
}

/**
 * Puts units that have arrived on hand. The level determines which orders they serve: the oldest order that waits
 * comes first (`parcel-queries.ts listWork`).
 */
export async function receive(
  tx: Tx,
  { location_id, purchase_order_id, actor, units }: Arrival,
): Promise<void> {
  const changed = units.filter(({ incoming, received }) => incoming !== 0 || received > 0)
  if (changed.length === 0) return
  const levels = await lock(tx, location_id, changed)
  requireRoom(
    levels.filter((level) => level.location_id === location_id),
    changed,
  )
  const moves = changed.map(({ variant_id, incoming, received, cost_cents }) => ({
    ...still(variant_id, location_id),
    incoming,
    ...(received > 0 && { kind: 'received' as const, on_hand: received, cost_cents }),
  }))
  await moveStock(tx, moves, { actor, purchase_order_id })
}

function requireRoom(
  levels: readonly queries.PlacedLevel[],
  units: readonly ArrivingUnits[],
): void {
  const arriving = new Map(units.map(({ variant_id, received }) => [variant_id, received]))
  const isFull = levels.some(
    ({ variant_id, on_hand }) => on_hand + (arriving.get(variant_id) ?? 0) > QUANTITY_MAX,
  )
  if (isFull) throw invalidBody('lines', `must leave at most ${QUANTITY_MAX} on hand`)
}

async function lock(tx: Tx, location_id: string, units: readonly { variant_id: string }[]) {
  await requireLocations(tx, location_id)
  await queries.ensureLevels(
    tx,
    units.map(({ variant_id }) => ({ variant_id, location_id })),
  )
  // Levels at all locations are locked: the first cost of a variant values all its units on hand.
  return queries.lockLevelsOf(
    tx,
    units.map(({ variant_id }) => variant_id),
  )
}

const still = (variant_id: string, location_id: string): Move => ({
  variant_id,
  location_id,
  kind: null,
  on_hand: 0,
  allocated: 0,
  reserved: 0,
})

/** Reads the costs of variants, and locks them until the transaction ends. */
export const lockCosts = (tx: Tx, variant_ids: readonly string[]): Promise<VariantCost[]> =>
  costQueries.lockCosts(tx, variant_ids)

/** A cost that became known after the units came: its shares for the units on hand and for those sold since. */
export interface LateCost {
  variant_id: string
  on_hand_cents: number
  sold_cents: number
}

/** Adds late costs to locked costs: a new entry each, and no old one changes. */
export const addCosts = (tx: Tx, purchase_order_id: string, costs: readonly LateCost[]) =>
  costQueries.addCosts(tx, purchase_order_id, costs)
