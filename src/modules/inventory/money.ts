import { awaitAll } from '../../db/await-all.ts'
import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { SYSTEM } from '../../platform/audit.ts'
import * as webhooks from '../webhooks/service.ts'
import { planGivingBack, planTaking, type Share, sumLines } from './plan.ts'
import type { LockedLevel, LowStock, Move, StockLine } from './schema.ts'
import * as queries from './stock-queries.ts'

/**
 * Stock moves with money, in the transactions of the order it belongs to. Each verb locks what the
 * order holds, then the levels it needs in one order for everybody, so that orders wait for each
 * other and never in a circle; plans; and writes levels, holds and movements in one go. An order
 * without counted variants costs one statement and no lock.
 */

/** Holds stock for an order that is about to be paid. A repeated call changes nothing. */
export async function reserve(
  tx: Tx,
  order_id: string,
  lines: readonly StockLine[],
): Promise<void> {
  const wanted = sumLines(lines)
  const levels = await queries.lockStock(tx, order_id, [...wanted.keys()])
  if (levels.some(({ held }) => held)) return refuseReleased(order_id, levels)
  const taken = take(levels, wanted)
  if (taken.length === 0) return
  const holds = taken.map((share) => ({ ...share, reserved: share.quantity, allocated: 0 }))
  await Promise.all([
    queries.moveStock(tx, taken.map(reserving), cause(order_id)),
    queries.insertHolds(tx, order_id, holds),
  ])
}

/**
 * Turns what the order reserved into what it has bought. Answers the variants that came down to
 * their threshold by it: each sale that crosses is told once, by whoever made it.
 */
export async function allocate(tx: Tx, order_id: string): Promise<{ low: LowStock[] }> {
  const levels = await queries.lockStock(tx, order_id, [])
  const bought = levels.filter(({ reserved }) => reserved > 0)
  if (bought.length === 0) return { low: [] }
  const moves = bought.map((level) => allocating(level, level.reserved, -level.reserved))
  const changes = bought.map((level) => ({
    ...level,
    reserved: -level.reserved,
    allocated: level.reserved,
  }))
  const sold = sumLines(bought.map((level) => ({ ...level, quantity: level.reserved })))
  const [, , remaining] = await Promise.all([
    queries.moveStock(tx, moves, cause(order_id)),
    queries.changeHolds(tx, order_id, changes),
    queries.listRemaining(tx, [...sold.keys()]),
  ])
  return { low: remaining.filter((each) => hasCrossed(each, sold.get(each.variant_id) ?? 0)) }
}

/** The same, and the world hears what has become low by it. */
export async function sell(tx: Tx, order_id: string): Promise<void> {
  const { low } = await allocate(tx, order_id)
  await awaitAll(low.map((data) => webhooks.emit(tx, { type: 'commerce.inventory.low.v1', data })))
}

/** Gives back all that the order still holds, for good. */
export async function release(tx: Tx, order_id: string): Promise<void> {
  const levels = (await queries.lockStock(tx, order_id, [])).filter(({ held }) => held)
  const open = levels.filter(({ released }) => !released)
  if (open.length === 0) return
  const given = open.filter(({ reserved, allocated }) => reserved + allocated > 0)
  await Promise.all([
    queries.moveStock(
      tx,
      given.map((level) => releasing(level, level.reserved, level.allocated)),
      cause(order_id),
    ),
    queries.releaseHolds(tx, order_id),
  ])
}

/**
 * The same, of an order whose goods are not there to be sold again: nobody is owed them any more, and
 * as many are gone. What was owed before it had come cannot be gone.
 */
export async function writeOff(tx: Tx, order_id: string): Promise<void> {
  const levels = await queries.lockStock(tx, order_id, [])
  const gone = levels
    .map((level) => losing(level, Math.min(level.allocated, Math.max(0, level.on_hand))))
    .filter(({ on_hand }) => on_hand < 0)
  await release(tx, order_id)
  if (gone.length === 0) return
  await queries.moveStock(tx, gone, { ...cause(order_id), reason: NOT_RESTOCKED })
}

/** Why stock is gone that nobody was sent. */
const NOT_RESTOCKED = 'not restocked'

/**
 * Holds more for an order that is being edited. `sell` makes it bought, `letGo` gives it back. The
 * same change again takes nothing.
 */
export async function reserveMore(
  tx: Tx,
  order_id: string,
  lines: readonly StockLine[],
  change_id: string,
): Promise<void> {
  const wanted = sumLines(lines)
  const levels = await queries.lockStock(tx, order_id, [...wanted.keys()])
  if (levels.length === 0 || !(await queries.insertChange(tx, order_id, change_id))) return
  const taken = take(levels, wanted)
  if (taken.length === 0) return
  refuseReleased(order_id, levels)
  await move(tx, order_id, taken.map(reserving))
}

/** Gives back what the order has reserved and not bought. */
export async function letGo(tx: Tx, order_id: string): Promise<void> {
  const levels = await queries.lockStock(tx, order_id, [])
  const unpaid = levels.filter(({ reserved }) => reserved > 0)
  if (unpaid.length === 0) return
  await move(
    tx,
    order_id,
    unpaid.map((level) => releasing(level, level.reserved, 0)),
  )
}

/**
 * Gives back what a paid order holds beyond so many of each of these variants. What it wants and never
 * held, since it was bought while nobody counted, goes first.
 */
export async function keep(tx: Tx, order_id: string, lines: readonly StockLine[]): Promise<void> {
  const wanted = sumLines(lines)
  const levels = await queries.lockStock(tx, order_id, [])
  const given = planGivingBack(levels, wanted)
  if (given.length === 0) return
  await move(
    tx,
    order_id,
    given.map((share) => releasing(share, 0, share.quantity)),
  )
}

const move = (tx: Tx, order_id: string, moves: readonly Move[]) =>
  Promise.all([
    queries.moveStock(tx, moves, cause(order_id)),
    queries.changeHolds(tx, order_id, moves),
  ])

function take(levels: readonly LockedLevel[], wanted: ReadonlyMap<string, number>): Share[] {
  const tracked = levels.filter((level) => level.tracked)
  const { taken, short } = planTaking(tracked, wanted)
  if (short.length > 0) throw new ApiError('insufficient_stock', { body: { items: short } })
  return taken
}

type Place = Pick<Move, 'variant_id' | 'location_id'>

const reserving = ({ variant_id, location_id, quantity }: Share): Move => ({
  variant_id,
  location_id,
  kind: null,
  on_hand: 0,
  allocated: 0,
  reserved: quantity,
})

const allocating = (
  { variant_id, location_id }: Place,
  allocated: number,
  reserved: number,
): Move => ({ variant_id, location_id, kind: 'allocated', on_hand: 0, allocated, reserved })

/** What was only reserved never moved, so that giving it back is no movement. */
const releasing = (
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

const losing = ({ variant_id, location_id }: Place, quantity: number): Move => ({
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

/** Stock that was given back may be another's by now. Nobody may believe to hold it still. */
function refuseReleased(order_id: string, levels: readonly LockedLevel[]): void {
  if (!levels.some(({ released }) => released)) return
  throw new Error(`the stock of order ${order_id} was given back before`)
}
