import type { Tx } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { isSourceDisputed } from './chain.ts'
import { orderHeld } from './events.ts'
import type { OrderRow } from './schema.ts'
import { addToTimeline, cardsOf, change, listCharges } from './service.ts'

/** The hold of an order whose money a bank may take: it lasts as long as the dispute. */

const DISPUTE = 'dispute'

export const disputeHoldAt = (at: string) => ({ reason: DISPUTE, by: SYSTEM.name, at })

/** Whether an order is held by its dispute alone, and so for as long as the dispute lasts. */
export const isHeldByDispute = ({ hold }: OrderRow): boolean =>
  hold?.reason === DISPUTE && hold.by === SYSTEM.name

/**
 * Returns the hold of an order whose other hold ends, or null if no dispute is open: a dispute that was opened
 * meanwhile has left the other hold in place. The dispute may be that of an order from which this order's money came.
 */
export async function disputeHoldOf(tx: Tx, order: OrderRow) {
  const cards = cardsOf(await listCharges(tx, order.id))
  const isHeld = order.disputed || (await isSourceDisputed(tx, { cards }))
  return isHeld ? disputeHoldAt(isoNow(tx.clock)) : null
}

/** Holds an order that is placed while a bank may take its money: the dispute was opened before its money had come. */
export async function holdIfDisputed(tx: Tx, order: OrderRow): Promise<OrderRow> {
  const hold = await disputeHoldOf(tx, order)
  if (hold === null) return order
  const held = await change(tx, order, { hold })
  await tellHeld(tx, held)
  return held
}

/** Writes a hold by a dispute to the timeline of its order, and emits it. */
export async function tellHeld(tx: Tx, held: OrderRow): Promise<void> {
  const entry = { type: 'held', actor: SYSTEM.name, data: { reason: DISPUTE } }
  await addToTimeline(tx, held.id, entry)
  await orderHeld.emit(tx, held, {})
}
