import { awaitAll } from '../../db/await-all.ts'
import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { stockLow } from './events.ts'
import type { LockedLevel, LowStock, Move, StockLine } from './schema.ts'
import { type Share, splitRelease, splitReservation, sumLines } from './split-stock.ts'
import * as queries from './stock-queries.ts'

/**
 * The stock of orders. It changes in the transactions that pay, edit and cancel an order. Each
 * function locks the order's reservations and then the levels it needs, always sorted alike, so
 * that orders wait for each other and never deadlock. It then decides on the locations, and writes
 * levels, reservations and movements together. An order without tracked variants costs one
 * statement and no lock.
 */

/**
 * Reserves stock for an order that is about to be paid. A repeated call changes nothing. Units that are not in stock
 * are backordered where the variant or the caller allows it.
 */
export async function reserve(
  tx: Tx,
  order_id: string,
  lines: readonly StockLine[],
  isBackordered = false,
): Promise<void> {
  const needed = sumLines(lines)
  const locked = await lockNeeded(tx, order_id, needed)
  const levels = isBackordered
    ? locked.map((level) => ({ ...level, allow_backorder: true }))
    : locked
  if (levels.some(({ has_reservation }) => has_reservation)) {
    return assertNotReleased(order_id, levels)
  }
  const shares = requireStock(levels, needed)
  if (shares.length === 0) return
  const reservations = shares.map((share) => ({ ...share, reserved: share.quantity, allocated: 0 }))
  await Promise.all([
    queries.moveStock(tx, shares.map(reserveMove), cause(order_id)),
    queries.insertReservations(tx, order_id, reservations),
  ])
}

/**
 * Allocates the units that the order has reserved: they are sold. Returns the variants that this sale brought down
 * to their threshold, so that each crossing is reported once, by the sale that caused it.
 */
export async function allocate(tx: Tx, order_id: string): Promise<{ low: LowStock[] }> {
  const levels = await queries.lockStock(tx, order_id, [])
  const bought = levels.filter(({ reserved }) => reserved > 0)
  if (bought.length === 0) return { low: [] }
  const moves = bought.map((level) => allocateMove(level, level.reserved, -level.reserved))
  const changes = bought.map((level) => ({
    ...level,
    reserved: -level.reserved,
    allocated: level.reserved,
  }))
  const sold = sumLines(bought.map((level) => ({ ...level, quantity: level.reserved })))
  const [, , remaining] = await Promise.all([
    queries.moveStock(tx, moves, cause(order_id)),
    queries.changeReservations(tx, order_id, changes),
    queries.listRemaining(tx, [...sold.keys()]),
  ])
  return { low: remaining.filter((each) => hasCrossed(each, sold.get(each.variant_id) ?? 0)) }
}

/** Allocates the order's reserved stock, and emits an event for each variant that became low. */
export async function sell(tx: Tx, order_id: string): Promise<void> {
  const { low } = await allocate(tx, order_id)
  await awaitAll(low.map((each) => stockLow.emit(tx, each)))
}

/** Releases all stock of an order for good: the order can reserve none again. */
export async function release(tx: Tx, order_id: string): Promise<void> {
  const levels = await queries.lockStock(tx, order_id, [])
  const open = levels.filter(({ has_reservation, released }) => has_reservation && !released)
  if (open.length === 0) return
  const nonZero = open.filter(({ reserved, allocated }) => reserved + allocated > 0)
  await Promise.all([
    queries.moveStock(
      tx,
      nonZero.map((level) => releaseMove(level, level.reserved, level.allocated)),
      cause(order_id),
    ),
    queries.releaseReservations(tx, order_id),
  ])
}

/**
 * Releases all stock of an order whose goods cannot be sold again, and takes the allocated units
 * off the level. It takes off no more units than are on hand: a backordered unit that has not
 * arrived cannot be lost.
 */
export async function writeOff(tx: Tx, order_id: string): Promise<void> {
  const levels = await queries.lockStock(tx, order_id, [])
  const losses = levels
    .map((level) => writeOffMove(level, Math.min(level.allocated, Math.max(0, level.on_hand))))
    .filter(({ on_hand }) => on_hand < 0)
  await release(tx, order_id)
  if (losses.length === 0) return
  await queries.moveStock(tx, losses, { ...cause(order_id), reason: NOT_RESTOCKED })
}

/** The reason of the movement that takes written-off units off the level. */
const NOT_RESTOCKED = 'not restocked'

/**
 * Reserves more stock for an order that is being edited. `sell` allocates it, `releaseReserved`
 * releases it. The same change again reserves nothing.
 */
export async function reserveMore(
  tx: Tx,
  order_id: string,
  lines: readonly StockLine[],
  change_id: string,
): Promise<void> {
  const needed = sumLines(lines)
  const levels = await lockNeeded(tx, order_id, needed)
  if (levels.length === 0 || !(await queries.insertChange(tx, order_id, change_id))) return
  const shares = requireStock(levels, needed)
  if (shares.length === 0) return
  assertNotReleased(order_id, levels)
  await move(tx, order_id, shares.map(reserveMove))
}

/** Releases the units that the order has reserved and not paid for. */
export async function releaseReserved(tx: Tx, order_id: string): Promise<void> {
  const levels = await queries.lockStock(tx, order_id, [])
  const unpaid = levels.filter(({ reserved }) => reserved > 0)
  if (unpaid.length === 0) return
  await move(
    tx,
    order_id,
    unpaid.map((level) => releaseMove(level, level.reserved, 0)),
  )
}

/**
 * Releases the units that a paid order has allocated beyond the quantities of these lines. Units
 * that were bought while the variant was not tracked are allocated nowhere: they count as removed
 * first.
 */
export async function releaseExcess(
  tx: Tx,
  order_id: string,
  lines: readonly StockLine[],
): Promise<void> {
  const levels = await queries.lockStock(tx, order_id, [])
  const excess = splitRelease(levels, sumLines(lines))
  if (excess.length === 0) return
  await move(
    tx,
    order_id,
    excess.map((share) => releaseMove(share, 0, share.quantity)),
  )
}

/**
 * Releases the excess units of an order like `releaseExcess`, for goods that cannot be sold again: those on hand
 * are also taken off the level.
 */
export async function writeOffExcess(
  tx: Tx,
  order_id: string,
  lines: readonly StockLine[],
): Promise<void> {
  const levels = await queries.lockStock(tx, order_id, [])
  const losses = splitRelease(levels, sumLines(lines)).flatMap((share) => {
    const { on_hand = 0 } = levels.find((level) => isAt(level, share)) ?? {}
    const lost = Math.min(share.quantity, Math.max(0, on_hand))
    return lost > 0 ? [writeOffMove(share, lost)] : []
  })
  await releaseExcess(tx, order_id, lines)
  if (losses.length === 0) return
  await queries.moveStock(tx, losses, { ...cause(order_id), reason: NOT_RESTOCKED })
}

const isAt = (level: Place, { variant_id, location_id }: Place): boolean =>
  level.variant_id === variant_id && level.location_id === location_id

const move = (tx: Tx, order_id: string, moves: readonly Move[]) =>
  Promise.all([
    queries.moveStock(tx, moves, cause(order_id)),
    queries.changeReservations(tx, order_id, moves),
  ])

/**
 * Locks the levels of the wanted variants. A statement that has waited for a lock does not see a level that was
 * created meanwhile, and the last units may have been transferred to that level. So if units are short, a second
 * statement reads the levels again.
 */
async function lockNeeded(
  tx: Tx,
  order_id: string,
  needed: ReadonlyMap<string, number>,
): Promise<LockedLevel[]> {
  const levels = await queries.lockStock(tx, order_id, [...needed.keys()])
  if (splitTracked(levels, needed).short.length === 0) return levels
  return queries.lockStock(tx, order_id, [...needed.keys()])
}

const splitTracked = (levels: readonly LockedLevel[], needed: ReadonlyMap<string, number>) =>
  splitReservation(
    levels.filter(({ tracked }) => tracked),
    needed,
  )

/** Divides the wanted units among the locations, or throws `insufficient_stock`. */
function requireStock(
  levels: readonly LockedLevel[],
  needed: ReadonlyMap<string, number>,
): Share[] {
  const { shares, short } = splitTracked(levels, needed)
  if (short.length > 0) throw new ApiError('insufficient_stock', { body: { items: short } })
  return shares
}

type Place = Pick<Move, 'variant_id' | 'location_id'>

const reserveMove = ({ variant_id, location_id, quantity }: Share): Move => ({
  variant_id,
  location_id,
  kind: null,
  on_hand: 0,
  allocated: 0,
  reserved: quantity,
})

const allocateMove = (
  { variant_id, location_id }: Place,
  allocated: number,
  reserved: number,
): Move => ({ variant_id, location_id, kind: 'allocated', on_hand: 0, allocated, reserved })

/** Returns the change that releases units. Reserving has no movement, so releasing reserved units has none either. */
const releaseMove = (
  { variant_id, location_id }: Place,
  reserved: number,
  allocated: number,
): Move => ({
  variant_id,
  location_id,
  kind: allocated > 0 ? 'released' : null,
  on_hand: 0,
  allocated: -allocated,
  reserved: -reserved,
})

const writeOffMove = ({ variant_id, location_id }: Place, quantity: number): Move => ({
  variant_id,
  location_id,
  kind: 'adjusted',
  on_hand: -quantity,
  allocated: 0,
  reserved: 0,
})

const cause = (order_id: string) => ({ actor: SYSTEM.name, order_id })

function hasCrossed({ remaining, low_stock_threshold }: LowStock, sold: number): boolean {
  return remaining <= low_stock_threshold && remaining + sold > low_stock_threshold
}

/**
 * Refuses levels whose stock the order has released. Another order may have it by now,
 * so this order must not use it.
 */
function assertNotReleased(order_id: string, levels: readonly LockedLevel[]): void {
  if (!levels.some(({ released }) => released)) return
  throw new Error(`the stock of order ${order_id} was given back before`)
}
