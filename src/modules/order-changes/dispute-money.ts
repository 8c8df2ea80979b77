import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import * as audit from '../../platform/audit.ts'
import { type ChainLink, cardMoneyOf, isSourceDisputed, lockChain } from '../orders/chain.ts'
import { disputeHoldAt, isHeldByDispute, tellHeld } from '../orders/dispute-hold.ts'
import { orderReleased } from '../orders/events.ts'
import type { MerchantOrder, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { forMerchant } from '../orders/show.ts'
import type { Attempt } from '../payments/schema.ts'
import { disputeOpened } from './events.ts'
import { bookLosses, type LossDeps, planLoss } from './lost-dispute-money.ts'
import type { DisputeChange } from './schema.ts'

/**
 * Disputes: a card holder asks the bank for the money of an order. Exchanges may have moved that money to other orders:
 * these are held with it, and lose it with it.
 */

/** Sets the state of a dispute, as an operator has learned it: gateways do not report how a dispute ends. */
export function setDispute(
  deps: LossDeps,
  db: TenantDb,
  actor: audit.Actor,
  { orderId, change: { outcome, amount_cents } }: { orderId: string; change: DisputeChange },
): Promise<MerchantOrder> {
  return db.transaction('orders: dispute', async (tx) => {
    const order = await orders.lock(tx, orderId)
    const chain = await lockChain(tx, order)
    // A lost dispute is a refund, so it waits for the same things as a refund.
    orders.requireFree(order, 'refund')
    const isDue =
      outcome === 'opened' ? isDisputable(order) && cardMoneyOf(chain) > 0 : order.disputed
    if (!isDue) throw invalidTransition(order)
    const by = actor.name
    const after =
      outcome === 'opened'
        ? await openDispute(tx, chain, { by })
        : outcome === 'won'
          ? await win(tx, chain, by)
          : await loseDispute(tx, deps, chain, { by, disputed: amount_cents })
    await audit.record(tx, actor, {
      action: `order.dispute_${outcome}`,
      entity: `order:${order.id}`,
      before: { status: order.status, payment_status: order.payment_status },
      after: { status: after.status, payment_status: after.payment_status },
    })
    return forMerchant(after)
  })
}

const isDisputable = (order: OrderRow): boolean => !order.disputed && order.captured_cents > 0

const invalidTransition = (order: OrderRow) =>
  new ApiError('invalid_transition', {
    body: { current_status: order.status, allowed: orders.allowedOf(order).allowed },
  })

/** The disputed order of a chain: its first one. */
function disputedOf([first]: readonly ChainLink[]): OrderRow {
  if (first === undefined) throw new Error('a chain has no order')
  return first.order
}

/**
 * Opens a dispute: the order shows it, and is held if units are still to be shipped. So are the orders to which
 * exchanges have moved its money. No money moves: the bank decides later who gets it.
 */
async function openDispute(
  tx: Tx,
  chain: readonly ChainLink[],
  { by, ...data }: { by: string; attempt_id?: string; txn_id?: string | null },
): Promise<OrderRow> {
  const order = disputedOf(chain)
  const { id: order_id, order_number } = order
  const at = isoNow(tx.clock)
  const held = isHoldable(order)
  const after = await orders.change(tx, order, { disputed_at: at, ...(held && holdAt(at)) }, at)
  await Promise.all([
    orders.addToTimeline(tx, order_id, { type: 'disputed', actor: by, data }),
    disputeOpened.emit(tx, { order_id, order_number, txn_id: data.txn_id ?? null }, { order_id }),
    held && tellHeld(tx, after),
  ])
  for (const { order: later } of chain.slice(1).filter((each) => isHoldable(each.order))) {
    await tellHeld(tx, await orders.change(tx, later, holdAt(at)))
  }
  return after
}

/** Units are still to be shipped, and the order is not held already. */
function isHoldable(order: OrderRow): boolean {
  const open = order.q_ordered - order.q_cancelled
  return order.cancelled_at === null && order.hold === null && order.q_shipped < open
}

const holdAt = (at: string) => ({ hold: disputeHoldAt(at) })

/** Records that the dispute is won: the orders are as they were before. */
async function win(tx: Tx, chain: readonly ChainLink[], by: string): Promise<OrderRow> {
  const order = disputedOf(chain)
  const ended = await endDispute(tx, chain)
  await orders.addToTimeline(tx, order.id, { type: 'dispute_won', actor: by })
  await emitReleased(tx, chain, ended)
  return ended[0] ?? order
}

/**
 * Ends the dispute of the first order of a chain, and the holds that it caused, unless another dispute is open.
 * Returns the orders in their places.
 */
async function endDispute(tx: Tx, chain: readonly ChainLink[]): Promise<OrderRow[]> {
  const ended: OrderRow[] = []
  for (const [place, link] of chain.entries()) {
    const { order } = link
    const isHeld = (place > 0 && order.disputed) || (await isSourceDisputed(tx, link))
    const facts = {
      ...(place === 0 && { disputed_at: null }),
      // A hold by a person does not end with the dispute.
      ...(isHeldByDispute(order) && !isHeld && { hold: null }),
    }
    const isChanged = Object.keys(facts).length > 0
    ended.push(isChanged ? await orders.change(tx, order, facts) : order)
  }
  return ended
}

/** Writes which holds ended with the dispute, and emits them. An order that is refunded does not go on. */
async function emitReleased(
  tx: Tx,
  chain: readonly ChainLink[],
  after: readonly OrderRow[],
): Promise<void> {
  for (const [place, { order: before }] of chain.entries()) {
    const order = after[place]
    if (order === undefined || before.hold === null || order.hold !== null) continue
    if (order.status === 'refunded') continue
    await orders.addToTimeline(tx, order.id, { type: 'released', actor: audit.SYSTEM.name })
    await orderReleased.emit(tx, order, {})
  }
}

/** Records that the dispute is lost: the bank has taken the money. */
async function loseDispute(
  tx: Tx,
  deps: LossDeps,
  chain: readonly ChainLink[],
  loss: { by: string; disputed: number | undefined },
): Promise<OrderRow> {
  const planned = await planLoss(tx, deps, chain, loss.disputed)
  const ended = await endDispute(tx, chain)
  const after = await bookLosses(tx, planned, { ended, by: loss.by })
  await emitReleased(tx, chain, after)
  return after[0] ?? disputedOf(chain)
}

/**
 * Records a dispute that the gateway's record of an attempt shows. Returns false if the order cannot show it, since
 * nothing was captured, or if this dispute is over and its event came late.
 */
export function recordDispute(db: TenantDb, { id, order_id, txn_id }: Attempt): Promise<boolean> {
  return db.transaction('dispute: record', async (tx) => {
    const order = await orders.lock(tx, order_id)
    if (order.disputed) return true
    if (!isDisputable(order)) return false
    if (await orders.wasDisputed(tx, order_id, id)) return false
    const chain = await lockChain(tx, order)
    await openDispute(tx, chain, { by: audit.SYSTEM.name, attempt_id: id, txn_id })
    return true
  })
}
