import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as audit from '../../platform/audit.ts'
import * as webhooks from '../webhooks/service.ts'
import type { DisputeChange } from './change-schema.ts'
import { exceeds, promise, settle } from './give-back-money.ts'
import { busy, requireFree } from './operations.ts'
import { insertTimeline, listCharges } from './queries.ts'
import {
  less,
  type Parts,
  partsOf,
  refundableOf,
  splitAmount,
  splitOverTenders,
} from './refund-plan.ts'
import * as refunds from './refund-queries.ts'
import type { ChargeRow, MerchantOrder, OrderRow } from './schema.ts'
import { allowedOf, change, forMerchant, lock } from './service.ts'

/** Why an order is held while its money is disputed. */
const DISPUTE = 'dispute'

/** Says how a dispute stands, for whoever has learnt it: gateways do not tell how one ends. */
export function setDispute(
  db: TenantDb,
  actor: audit.Actor,
  orderId: string,
  { outcome, amount_cents }: DisputeChange,
): Promise<MerchantOrder> {
  return db.transaction('orders: dispute', async (tx) => {
    const order = await lock(tx, orderId)
    // Lost, it is a refund.
    requireFree(order, 'refund')
    const isDue =
      outcome === 'opened' ? isDisputable(order) && (await hasCard(tx, order)) : order.disputed
    if (!isDue) throw notNow(order)
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

export const isDisputable = (order: OrderRow): boolean =>
  !order.disputed && order.captured_cents > 0

/** What a gift card or credit has paid no bank can ask for back. */
const hasCard = async (tx: Tx, { id }: OrderRow): Promise<boolean> =>
  (await listCharges(tx, id)).some((each) => isCard(each) && each.captured_cents > 0)

const isCard = ({ tender }: ChargeRow) => tender === 'card'

const notNow = (order: OrderRow) =>
  new ApiError('invalid_transition', {
    body: { current_status: order.status, allowed: allowedOf(order).allowed },
  })

/**
 * A card's holder wants the money back. The order says so from now on, and what has not left yet is
 * held. No money moves: the bank decides later who keeps it.
 */
export async function openDispute(
  tx: Tx,
  order: OrderRow,
  { by, ...data }: { by: string; attempt_id?: string; txn_id?: string | null },
): Promise<OrderRow> {
  const { id: order_id, customer_ref, order_number } = order
  const at = new Date().toISOString()
  const held = isHoldable(order)
  const hold = { hold: { reason: DISPUTE, by: audit.SYSTEM.name, at } }
  const after = await change(tx, order, { disputed_at: at, ...(held && hold) }, at)
  await Promise.all([
    insertTimeline(tx, order_id, { type: 'disputed', actor: by, data }),
    webhooks.emit(tx, {
      ...{ type: 'commerce.dispute.opened.v1', order_id },
      data: { order_id, order_number, txn_id: data.txn_id ?? null },
    }),
    held &&
      webhooks.emit(tx, {
        ...{ type: 'commerce.order.held.v1', order_id, customer_ref },
        data: { order: forMerchant(after) },
      }),
  ])
  return after
}

/** Something is still to be sent, and nobody holds it already. */
function isHoldable(order: OrderRow): boolean {
  const open = order.q_ordered - order.q_cancelled
  return order.cancelled_at === null && order.hold === null && order.q_shipped < open
}

/** Whether an order is held by its dispute alone, and so for no longer than that lasts. */
export const isHeldByDispute = ({ hold }: OrderRow): boolean =>
  hold?.reason === DISPUTE && hold.by === audit.SYSTEM.name

/** The dispute is over. A hold that a person has put on the order stays. */
const over = (order: OrderRow) => ({
  disputed_at: null,
  ...(isHeldByDispute(order) && { hold: null }),
})

/** The money stays: the order is where it was before. */
async function win(tx: Tx, order: OrderRow, by: string): Promise<OrderRow> {
  const after = await change(tx, order, over(order))
  await Promise.all([
    insertTimeline(tx, order.id, { type: 'dispute_won', actor: by }),
    tellReleased(tx, order, after),
  ])
  return after
}

/** A hold that has ended with its dispute. Of what is given back altogether nothing goes on. */
async function tellReleased(tx: Tx, before: OrderRow, after: OrderRow): Promise<void> {
  if (before.hold === null || after.hold !== null || after.status === 'refunded') return
  const { id: order_id, customer_ref } = after
  await webhooks.emit(tx, {
    ...{ type: 'commerce.order.released.v1', order_id, customer_ref },
    data: { order: forMerchant(after) },
  })
}

/** The bank has taken the money from the card's charges. That is a refund that no gateway is asked for. */
async function lose(tx: Tx, order: OrderRow, by: string, wanted?: number): Promise<OrderRow> {
  const [charges, promised] = await Promise.all([
    listCharges(tx, order.id),
    refunds.sumPromised(tx, order.id),
  ])
  // What a refund has promised is the bank's after all, if the gateway refuses it.
  if (promised.pending > 0) throw busy()
  const most = refundableOf(charges.filter(isCard))
  const amount = wanted ?? most
  if (amount > most) throw exceeds(most)
  await insertTimeline(tx, order.id, {
    ...{ type: 'dispute_lost', actor: by, data: { amount_cents: amount } },
  })
  const ended = await change(tx, order, over(order))
  const after = amount === 0 ? ended : await takeBack(tx, ended, charges, { amount, promised, by })
  await tellReleased(tx, order, after)
  return after
}

async function takeBack(
  tx: Tx,
  order: OrderRow,
  charges: readonly ChargeRow[],
  { amount, promised, by }: { amount: number; promised: Parts; by: string },
): Promise<OrderRow> {
  const cards = charges.filter(isCard)
  const refund_id = await promise(tx, order, charges, {
    ...{ kind: 'refund', method: 'original', reason: null, actor: by, isTaken: true },
    parts: splitAmount(amount, less(partsOf(order), promised)),
    tenders: splitOverTenders(cards, amount, 'original'),
  })
  const row = await refunds.findRefund(tx, refund_id)
  if (row === null) throw new Error('the refund of a lost dispute is gone')
  return (await settle(tx, order, row, charges, new Map())).order
}
