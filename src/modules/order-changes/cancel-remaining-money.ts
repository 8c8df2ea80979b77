import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { followOrder } from '../affiliates/follow-money.ts'
import * as orderStock from '../inventory/order-stock.ts'
import * as ledger from '../ledger/money.ts'
import { defineOperation, type Ending } from '../operations/service.ts'
import { actorOf, auditOrder } from '../orders/actor.ts'
import type { ChargeRow, OrderRow, RefundRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forActor } from '../orders/show.ts'
import type { OrderChangeDeps } from './deps.ts'
import { editJournal } from './edit-journal.ts'
import { orderEdited } from './events.ts'
import { beginPlan, endPlan, getPlan, type Plan } from './plan.ts'
import { planRemaining, type Remaining } from './plan-remaining.ts'
import { writeLines, writeTotals } from './queries.ts'
import { auditRefund, refundFailed } from './refund-money.ts'
import { partsOfChange, splitOverTenders } from './refund-parts.ts'
import { askRefund, type RefundOutcome, recallRefund } from './refund-replies.ts'
import { readRefundable, requireAnswered } from './refund-units.ts'
import type { CancelReason } from './schema.ts'
import { exceeds, reserveRefund, type SettledRefund, settleRefund } from './settle-refund-money.ts'

/**
 * Cancels the rest of a partly shipped order in one operation: its parcels that are not shipped are unpacked, its
 * open units go back to stock, and the amounts paid for them are refunded as an adjustment, by the amounts that
 * were stored with the lines. If a gateway refuses, the order stays as it was.
 */

export interface CancelRemainingRequest {
  orderId: string
  reason: CancelReason
  note: string | null
  /** Whether the units return to stock. Otherwise they are written off. */
  restock: boolean
}

interface RemainingPlan extends Plan, Remaining {
  kind: 'cancel_remaining'
  reason: CancelReason
  note: string | null
  restock: boolean
  refund_id: string | null
}

interface Work {
  order: OrderRow
  plan: RemainingPlan
  charges: ChargeRow[]
  refund: RefundRow | null
}

export const cancelRemainingOperation = defineOperation<
  OrderChangeDeps,
  CancelRemainingRequest,
  Work,
  RefundOutcome
>({
  name: 'cancel_remaining',
  begin: (_, db, { actor, reach }, { orderId, ...terms }) =>
    db.transaction('cancel remaining: begin', async (tx) => {
      const order = await orders.lock(tx, orderId)
      await requireAnswered(tx, order)
      await begin(tx, order, actorOf(actor), terms)
      return { state: 'begun', claim: await reach(tx, order.id) }
    }),
  async load(db, orderId) {
    const order = await orders.get(db, orderId)
    const plan = getPlan<RemainingPlan>(order, 'cancel_remaining')
    const [charges, refund] = await Promise.all([
      orders.listCharges(db, order.id),
      plan.refund_id === null ? null : orders.getRefund(db, plan.refund_id),
    ])
    return { order, plan, charges, refund }
  },
  ask: (deps, db, { refund, charges }) => askRefund(deps, db, refund, charges),
  recall: (deps, db, { refund, charges }) => recallRefund(deps, db, refund, charges),
  end,
  orderOf: ({ order }) => briefOf(order),
})

/** Reserves the refund, and claims the order for the operation: no unit of it can ship meanwhile. */
async function begin(
  tx: Tx,
  order: OrderRow,
  actor: string,
  terms: Omit<CancelRemainingRequest, 'orderId'>,
): Promise<void> {
  const [{ charges, left }, items] = await Promise.all([
    readRefundable(tx, order),
    orders.listItems(tx, order.id),
  ])
  requireReleased(order)
  orders.requireAllowed(order, 'cancel_remaining', left.pending)
  const remaining = planRemaining(order, items)
  const amount_cents = -remaining.delta_cents
  const refundable = orders.refundableOf(charges)
  // Refunds of amounts without units may have left less than the units cost.
  if (amount_cents > refundable) throw exceeds(refundable)
  const refund_id =
    amount_cents === 0
      ? null
      : await reserveRefund(tx, order, charges, {
          kind: 'adjustment',
          method: 'original',
          parts: partsOfChange(order, remaining.totals),
          tenders: splitOverTenders(charges, amount_cents, 'original'),
          reason: null,
          actor,
        })
  const kind = 'cancel_remaining'
  const plan: RemainingPlan = { ...remaining, ...terms, id: newId(), kind, actor, refund_id }
  await beginPlan(tx, order, plan)
}

/**
 * Refuses a held order. A hold needs a decision about the order, and may come from a dispute: money that the bank
 * takes must not be refunded as well. So the hold ends first, as for packing and shipping.
 */
function requireReleased({ status }: OrderRow): void {
  if (status === 'on_hold') throw new ApiError('order_on_hold')
}

async function end(
  tx: Tx,
  deps: OrderChangeDeps,
  { claim, work, replies: { refunds: replies } }: Ending<Work, RefundOutcome>,
): Promise<idempotency.StoredAnswer> {
  const { charges } = work
  const found = await orders.lock(tx, work.order.id)
  const plan = getPlan<RemainingPlan>(found, 'cancel_remaining')
  await endPlan(tx, found, plan)
  const isApproved = [...replies.values()].every(({ kind }) => kind === 'approved')
  const order = isApproved ? await withdraw(tx, deps, found, plan) : found
  const refund = plan.refund_id === null ? null : await orders.getRefund(tx, plan.refund_id)
  const settled = refund && (await settleRefund(tx, order, refund, { charges, replies }))
  if (refund !== null && settled?.state === 'failed') {
    await auditRefund(tx, { actor: plan.actor, claim }, refund, settled.refunded_cents)
    return idempotency.refuse(tx, claim, refundFailed(settled))
  }
  return apply(tx, claim, order, { plan, settled: settled?.state === 'succeeded' ? settled : null })
}

/** Unpacks the packed units, and releases the stock of all open units. Stock is locked before balances. */
async function withdraw(
  tx: Tx,
  { cancelParcels }: OrderChangeDeps,
  found: OrderRow,
  plan: RemainingPlan,
): Promise<OrderRow> {
  const order = await cancelParcels(tx, found, plan.actor)
  const items = await orders.listItems(tx, order.id)
  const none = items.map(({ variant_id }) => ({ variant_id, quantity: 0 }))
  await (plan.restock ? orderStock.releaseExcess : orderStock.writeOffExcess)(tx, order.id, none)
  if (plan.withdrawn.length === 0) return order
  const [changed = order] = await orders.changeUnits(tx, [{ order, units: plan.withdrawn }])
  return changed
}

interface Applied {
  plan: RemainingPlan
  settled: Extract<SettledRefund, { state: 'succeeded' }> | null
}

async function apply(
  tx: Tx,
  claim: idempotency.WonClaim,
  before: OrderRow,
  { plan, settled }: Applied,
): Promise<idempotency.StoredAnswer> {
  const { actor, delta_cents, cancelled } = plan
  await Promise.all([
    writeLines(tx, { order_id: before.id, change_id: plan.id }, plan.lines),
    writeTotals(tx, before.id, plan.totals),
  ])
  const order = await orders.change(tx, await orders.lock(tx, before.id), {
    captured_cents: before.captured_cents + delta_cents,
  })
  await ledger.post(tx, editJournal(before, plan, settled?.entries ?? []))
  await followOrder(tx, order, { reason: 'edit', ref: plan.id })
  const items = await orders.listItems(tx, order.id)
  await record(tx, claim, { before, order, plan })
  const refund = settled?.refund ?? null
  const body = { order: forActor(order, actor), items, refund, delta_cents, cancelled }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

/** Records the change. Free text goes into a note, which can be erased; the timeline cannot. */
async function record(
  tx: Tx,
  claim: idempotency.WonClaim,
  { before, order, plan }: { before: OrderRow; order: OrderRow; plan: RemainingPlan },
): Promise<void> {
  const { actor, note, reason, restock, delta_cents, cancelled } = plan
  const changes = {
    delta_cents,
    total_before_cents: before.total_cents,
    total_cents: order.total_cents,
    lines: plan.lines.map(({ id, quantity }) => ({ order_item_id: id, quantity })),
  }
  await Promise.all([
    note !== null && orders.addNote(tx, order.id, { note, actor }),
    orders.addToTimeline(tx, order.id, {
      type: 'remaining_cancelled',
      actor,
      data: { reason, restock, delta_cents, cancelled },
    }),
    orderEdited.emit(tx, order, changes),
    auditOrder(tx, { actor, claim }, order.id, {
      action: 'order.remaining_cancelled',
      before: { total_cents: before.total_cents },
      after: { total_cents: order.total_cents, delta_cents, reason, restock },
    }),
  ])
}
