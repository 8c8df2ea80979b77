import type { Db, Tx } from '../../db/database.ts'
import * as queries from './return-queries.ts'
import type { PlacedUnits, ReturnedStock } from './schema.ts'
import { requireLocations } from './service.ts'

/** The stock of returns: units that are restocked. The functions are called under the lock of their order. */

/**
 * Returns those of the variants whose stock is counted now. No units of the others are put on hand, even if their
 * stock was counted when they were sold.
 */
export async function trackedOf(db: Db, variant_ids: readonly string[]): Promise<Set<string>> {
  const found = await queries.listTracked(db, [...new Set(variant_ids)])
  return new Set(found.map(({ variant_id }) => variant_id))
}

/**
 * Puts returned units of tracked variants on hand. Returns the ids of the movements. From then on, orders that wait
 * for stock can use the units. `named` is a location that must exist even if nothing is put there.
 */
export async function restock(
  tx: Tx,
  { order_id, return_id, units }: ReturnedStock,
  { actor, named }: { actor: string; named: string | undefined },
): Promise<string[]> {
  const placed = sumByLevel(units)
  const places = new Set(placed.map(({ location_id }) => location_id))
  if (named !== undefined) places.add(named)
  await requireLocations(tx, ...places)
  if (placed.length === 0) return []
  await queries.ensureLevels(tx, placed)
  await queries.lockLevels(tx, placed)
  const moved = await queries.putOnHand(tx, placed, {
    order_id,
    return_id,
    actor,
    reason: RETURNED,
  })
  if (moved.length !== placed.length) throw new Error('returned units have no level to be put on')
  return moved.map(({ id }) => id)
}

/** The reason of the movements. */
const RETURNED = 'returned'

/** Adds up units by level, because a statement changes a level once and two lines may have units of one variant. */
function sumByLevel(units: readonly PlacedUnits[]): PlacedUnits[] {
  const byLevel = Map.groupBy(
    units.filter(({ quantity }) => quantity > 0),
    ({ variant_id, location_id }) => `${variant_id} ${location_id}`,
  )
  return [...byLevel.values()].map((same) => ({
    ...(same[0] as PlacedUnits),
    quantity: same.reduce((sum, { quantity }) => sum + quantity, 0),
  }))
}
