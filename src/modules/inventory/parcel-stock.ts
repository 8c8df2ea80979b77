import type { Db, Tx } from '../../db/database.ts'
import * as queries from './parcel-queries.ts'
import type { ParcelMove, ParcelStock, WorkUnits } from './schema.ts'
import { sumLines } from './split-stock.ts'

/**
 * The stock of parcels. A parcel takes units that its own order has allocated, at their own location:
 * never those of another order, and never "the variant's". Every function is called under the locks
 * of the orders and of their stock (`lockWork`, `lockParcels`).
 */

/** Lists the units that these orders have allocated and not packed. */
export const listWork = (db: Db, order_ids: readonly string[]): Promise<WorkUnits[]> =>
  queries.listWork(db, order_ids)

/** Lists the same units as `listWork`, and locks them: no other transaction can change them until this one ends. */
export async function lockWork(tx: Tx, order_ids: readonly string[]): Promise<WorkUnits[]> {
  await queries.lockReserved(tx, order_ids)
  return queries.listWork(tx, order_ids)
}

/** Locks the stock of parcels, before it is moved. */
export const lockParcels = (tx: Tx, parcels: readonly ParcelStock[]) =>
  queries.lockReserved(tx, [...new Set(parcels.map(({ order_id }) => order_id))])

/** Packs units into parcels. They stay on hand and allocated until they are shipped. */
export const pack = (tx: Tx, parcels: readonly ParcelStock[], actor: string) =>
  move(tx, parcels, actor, (quantity) => [{ ...STILL, packed: quantity }])

/** Unpacks the units of cancelled parcels: their orders can pack them again. */
export const unpack = (tx: Tx, parcels: readonly ParcelStock[], actor: string) =>
  move(tx, parcels, actor, (quantity) => [{ ...STILL, packed: -quantity }])

/** Ships packed units. It is never refused: where the count was too low, the level falls below zero. */
export const ship = (tx: Tx, parcels: readonly ParcelStock[], actor: string) =>
  move(tx, parcels, actor, (quantity) => [
    { ...STILL, kind: 'shipped', on_hand: -quantity, allocated: -quantity, packed: -quantity },
  ])

/**
 * Allocates shipped units to their order again. Unless they are lost, they are on hand again; lost
 * ones wait for stock like a backorder.
 */
export const recall = (tx: Tx, parcel: ParcelStock, actor: string, reason: string) =>
  move(tx, [parcel], actor, (quantity) => [
    { ...STILL, kind: 'allocated', allocated: quantity, reason },
    ...(reason === 'lost'
      ? []
      : [{ ...STILL, kind: 'received' as const, on_hand: quantity, reason }]),
  ])

type Change = Pick<ParcelMove, 'kind' | 'on_hand' | 'allocated' | 'packed' | 'reason'>

const STILL: Change = { kind: null, on_hand: 0, allocated: 0, packed: 0, reason: null }

async function move(
  tx: Tx,
  parcels: readonly ParcelStock[],
  actor: string,
  changesOf: (quantity: number) => Change[],
): Promise<void> {
  const moves = parcels.flatMap(({ lines, ...parcel }) =>
    [...sumLines(lines)]
      .filter(([, quantity]) => quantity > 0)
      .flatMap(([variant_id, quantity]) =>
        changesOf(quantity).map((change) => ({ ...parcel, variant_id, ...change })),
      ),
  )
  if (moves.length === 0) return
  // Sorted by variant, since each movement locks the costs of its variant.
  const sorted = moves.toSorted((a, b) => compare(a.variant_id, b.variant_id))
  const moved = await queries.moveParcels(tx, sorted, actor)
  const distinct = (keyOf: (move: ParcelMove) => string) => new Set(moves.map(keyOf)).size
  const level = ({ variant_id, location_id }: ParcelMove) => `${variant_id} ${location_id}`
  const isWhole =
    moved.levels === distinct(level) &&
    moved.reservations === distinct((each) => `${each.order_id} ${level(each)}`)
  if (!isWhole) throw new Error('stock of a parcel was to be moved that its order does not have')
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
