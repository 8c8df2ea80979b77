import type { Db, Tx } from '../../db/database.ts'
import * as queries from './return-queries.ts'
import type { ReturnedStock } from './schema.ts'
import { requireLocation } from './service.ts'
import { sumLines } from './split-stock.ts'

/** The stock of returns: units that come back to the shelf. Called under the lock of their order. */

/**
 * Those of the variants whose stock is counted now. Of the others nothing is put on hand, whatever was
 * counted when they were sold.
 */
export async function trackedOf(db: Db, variant_ids: readonly string[]): Promise<Set<string>> {
  const found = await queries.listTracked(db, [...new Set(variant_ids)])
  return new Set(found.map(({ variant_id }) => variant_id))
}

/** Refuses a location that does not exist, also where nothing is put on hand there. */
export const requirePlace = (tx: Tx, location_id: string): Promise<void> =>
  requireLocation(tx, location_id)

/**
 * Puts returned units of tracked variants on hand, at a location that `requirePlace` has checked.
 * Answers the ids of the movements. Orders that wait for stock count on them from now on.
 */
export async function restock(
  tx: Tx,
  { lines, ...returned }: ReturnedStock,
  cause: { actor: string; reason: string },
): Promise<string[]> {
  const units = [...sumLines(lines)]
    .filter(([, quantity]) => quantity > 0)
    .map(([variant_id, quantity]) => ({ variant_id, quantity }))
  if (units.length === 0) return []
  const variants = units.map(({ variant_id }) => variant_id)
  await queries.ensureLevels(tx, returned.location_id, variants)
  await queries.lockLevels(tx, returned.location_id, variants)
  const moved = await queries.putOnHand(tx, returned, units, cause)
  if (moved.length !== units.length) throw new Error('returned units have no level to be put on')
  return moved.map(({ id }) => id)
}
