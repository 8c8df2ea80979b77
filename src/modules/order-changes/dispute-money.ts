import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import { sum } from '../../kernel/money.ts'
import * as audit from '../../platform/audit.ts'
import * as ledger from '../ledger/money.ts'
import { emitOrderEvent } from '../orders/events.ts'
import type { ChargeRow, MerchantOrder, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { forMerchant } from '../orders/show.ts'
import type { Attempt } from '../payments/schema.ts'
import * as webhooks from '../webhooks/service.ts'
import { takeBackLeft } from './bought-cards.ts'
import { DISPUTE, isHeldByDispute } from './dispute-hold.ts'
import { partsOf, splitAmount, splitOverTenders, subtractParts } from './refund-parts.ts'
import { sumReserved } from './refund-queries.ts'
import { NO_REPLIES } from './refund-replies.ts'
import type { DisputeChange, Parts } from './schema.ts'
import { exceeds, reserveRefund, settleRefund } from './settle-refund-money.ts'

/** Disputes: a card holder asks the bank for the money of an order. */

/** Sets the state of a dispute, as an operator has learned it: gateways do not report how a dispute ends. */
export function setDispute(
  db: TenantDb,
  actor: audit.Actor,
  orderId: string,
  { outcome, amount_cents }: DisputeChange,
): Promise<MerchantOrder> {
  return db.transaction('orders: dispute', async (tx) => {
    const order = await orders.lock(tx, orderId)
    // A lost dispute is a refund, so it waits for the same things as a refund.
    orders.requireFree(order, 'refund')
    const isDue =
      outcome === 'opened' ? isDisputable(order) && (await hasCard(tx, order)) : order.disputed
    if (!isDue) throw invalidTransition(order)
    const by = actor.name
    const after =
      outcome === 'opened'
        ? await openDispute(tx, order, { by })
        : outcome === 'won'
          ? await win(tx, order, by)
          : await lose(tx, order, by, amount_cents)
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

const hasCard = async (tx: Tx, { id }: OrderRow): Promise<boolean> =>
  capturedOf(orders.cardsOf(await orders.listCharges(tx, id))) > 0

const capturedOf = (charges: readonly ChargeRow[]): number =>
  sum(charges.map(({ captured_cents }) => captured_cents))

const invalidTransition = (order: OrderRow) =>
  new ApiError('invalid_transition', {
    body: { current_status: order.status, allowed: orders.allowedOf(order).allowed },
  })

/**
 * Opens a dispute: the order shows it, and is held if units are still to be shipped. No money moves: the
 * bank decides later who gets it.
 */
async function openDispute(
  tx: Tx,
  order: OrderRow,
  { by, ...data }: { by: string; attempt_id?: string; txn_id?: string | null },
): Promise<OrderRow> {
  const { id: order_id, order_number } = order
  const at = isoNow(tx.clock)
  const held = isHoldable(order)
  const hold = { hold: { reason: DISPUTE, by: audit.SYSTEM.name, at } }
  const after = await orders.change(tx, order, { disputed_at: at, ...(held && hold) }, at)
  await Promise.all([
    orders.addToTimeline(tx, order_id, { type: 'disputed', actor: by, data }),
    webhooks.emit(tx, {
      type: 'commerce.dispute.opened.v1',
      order_id,
      data: { order_id, order_number, txn_id: data.txn_id ?? null },
    }),
    held && emitOrderEvent(tx, 'commerce.order.held.v1', after),
  ])
  return after
}

/** Units are still to be shipped, and the order is not held already. */
function isHoldable(order: OrderRow): boolean {
  const open = order.q_ordered - order.q_cancelled
  return order.cancelled_at === null && order.hold === null && order.q_shipped < open
}

/** The facts that end a dispute. A hold by a person does not end with it. */
const endedDispute = (order: OrderRow) => ({
  disputed_at: null,
  ...(isHeldByDispute(order) && { hold: null }),
})

/** Records that the dispute is won: the order is as it was before. */
async function win(tx: Tx, order: OrderRow, by: string): Promise<OrderRow> {
  const after = await orders.change(tx, order, endedDispute(order))
  await Promise.all([
    orders.addToTimeline(tx, order.id, { type: 'dispute_won', actor: by }),
    emitReleased(tx, order, after),
  ])
  return after
}

/** Emits that a hold ended with its dispute, unless the order is refunded and does not go on. */
async function emitReleased(tx: Tx, before: OrderRow, after: OrderRow): Promise<void> {
  if (before.hold === null || after.hold !== null || after.status === 'refunded') return
  await emitOrderEvent(tx, 'commerce.order.released.v1', after)
}

/**
 * Records that the dispute is lost: the bank has taken the money. That is a refund without a request to a gateway.
 * Money that was already refunded to the shopper is taken a second time: a loss of the store.
 */
async function lose(tx: Tx, order: OrderRow, by: string, disputed?: number): Promise<OrderRow> {
  const [charges, reserved] = await Promise.all([
    orders.listCharges(tx, order.id),
    sumReserved(tx, order.id),
  ])
  // A gateway may refuse a pending refund; its money is then part of the amount that the bank has taken.
  if (reserved.pending > 0) throw orders.busy()
  const cards = orders.cardsOf(charges)
  const left = orders.refundableOf(cards)
  const amount_cents = disputed ?? left
  if (disputed === undefined && left === 0) throw amountNeeded()
  if (amount_cents > capturedOf(cards)) throw exceeds(capturedOf(cards))
  const amount = Math.min(amount_cents, left)
  const lost_twice_cents = amount_cents - amount
  const data = { amount_cents, lost_twice_cents }
  await orders.addToTimeline(tx, order.id, { type: 'dispute_lost', actor: by, data })
  if (lost_twice_cents > 0) await ledger.post(tx, lossJournal(order, lost_twice_cents))
  const ended = await orders.change(tx, order, endedDispute(order))
  const after = amount === 0 ? ended : await bookLoss(tx, ended, charges, { amount, reserved, by })
  await emitReleased(tx, order, after)
  return after
}

const amountNeeded = () =>
  invalidBody(
    'amount_cents',
    'must be sent: nothing is left of the card charges, so that it is what the bank took twice',
  )

/** The journal of an amount that the shopper gets twice: the gateway owes it no more, and no sale is undone. */
const lossJournal = ({ id: order_id, currency }: OrderRow, cents: number) => ({
  kind: 'dispute.lost',
  currency,
  order_id,
  entries: [
    { account: 'dispute_loss' as const, amount_cents: cents },
    { account: 'card_clearing' as const, amount_cents: -cents },
  ],
})

async function bookLoss(
  tx: Tx,
  order: OrderRow,
  charges: readonly ChargeRow[],
  { amount, reserved, by }: { amount: number; reserved: Parts; by: string },
): Promise<OrderRow> {
  const cards = orders.cardsOf(charges)
  const parts = splitAmount(amount, subtractParts(partsOf(order), reserved))
  const refund_id = await reserveRefund(tx, order, charges, {
    kind: 'refund',
    method: 'original',
    parts,
    ...(await takeBackLeft(tx, order, parts)),
    tenders: splitOverTenders(cards, amount, 'original'),
    reason: null,
    actor: by,
    isTaken: true,
  })
  const refund = await orders.getRefund(tx, refund_id)
  const settling = { charges, replies: NO_REPLIES, mayLose: true }
  return (await settleRefund(tx, order, refund, settling)).order
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
    await openDispute(tx, order, { by: audit.SYSTEM.name, attempt_id: id, txn_id })
    return true
  })
}
