import type { Db, Tx } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import { newId } from '../../kernel/id.ts'
import { sum } from '../../kernel/money.ts'
import type * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as returnStock from '../inventory/return-stock.ts'
import * as inventory from '../inventory/service.ts'
import { defineOperation, type OperationDeps } from '../operations/service.ts'
import { withoutReason } from '../order-changes/events.ts'
import { auditRefund } from '../order-changes/refund-money.ts'
import {
  askRefund,
  type RefundOutcome,
  type RefundReplies,
  recallRefund,
} from '../order-changes/refund-replies.ts'
import { destinationsOf, requireAnswered, requireSpendable } from '../order-changes/refund-units.ts'
import {
  requireNoDispute,
  reserveRefund,
  type SettledRefund,
  settleRefund,
} from '../order-changes/settle-refund-money.ts'
import { actorOf } from '../orders/actor.ts'
import type { ReturnState } from '../orders/return-schema.ts'
import type { ChargeRow, OrderRefund, OrderRow, RefundRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, shownRefund } from '../orders/show.ts'
import { returnReceived } from './events.ts'
import { readMoneyFacts } from './money-facts.ts'
import {
  expectedOf,
  isRefunded,
  type MoneyFacts,
  planReceipt,
  type ReceiptPlan,
  unsettledOf,
} from './plan-receipt.ts'
import * as queries from './queries.ts'
import * as receipts from './receipt-queries.ts'
import { closeIfSettled } from './resolve.ts'
import type { Receipt, ReceiptPreview, ReceiptRow, ReturnRow } from './schema.ts'
import { find, type LockedReturn, lockReturn, record, requireState } from './service.ts'
import { forEvent, shown } from './show.ts'

/**
 * Receives units of a return, and refunds them. The goods are booked when the operation begins: they are there,
 * whatever a gateway replies about the money. If a gateway refuses the refund, the units stay unsettled, and
 * another receipt, which may have no lines, refunds them.
 */

interface Work {
  order: OrderRow
  charges: ChargeRow[]
  receipt: ReceiptRow
  refund: RefundRow | null
}

/** The operation of a receipt. The resource of its claim is the receipt: a return has several. */
export const receiveOperation = defineOperation<
  OperationDeps,
  { returnId: string; body: Receipt },
  Work,
  RefundOutcome
>({
  name: 'return_receive',
  begin: (_, db, { actor, reach }, { returnId, body }) =>
    db.transaction('return_receive: begin', async (tx) => {
      const receipt_id = await begin(tx, actor, returnId, body)
      return { state: 'begun', claim: await reach(tx, receipt_id) }
    }),
  async load(db, receiptId) {
    const receipt = await getReceipt(db, receiptId)
    const { order_id } = await find(db, receipt.return_id)
    const [order, charges, refund] = await Promise.all([
      orders.get(db, order_id),
      orders.listCharges(db, order_id),
      receipt.refund_id === null ? null : orders.getRefund(db, receipt.refund_id),
    ])
    return { order, charges, receipt, refund }
  },
  ask: (deps, db, { refund, charges }) => askRefund(deps, db, refund, charges),
  recall: (deps, db, { refund, charges }) => recallRefund(deps, db, refund, charges),
  async end(tx, _, { claim, work, replies: { refunds: replies } }) {
    const { returned, order } = await lockReturn(tx, work.receipt.return_id)
    const money = await settle(tx, order, work, replies)
    if (work.refund !== null) {
      const { amount_cents } = work.refund
      const refunded_cents = money.failure?.refunded_cents ?? amount_cents
      const acting = { actor: work.receipt.created_by, claim }
      await auditRefund(tx, acting, work.refund, refunded_cents)
    }
    const row = await closeIfSettled(tx, await endReceipt(tx, work.receipt, returned, money))
    const { refund, failure } = money
    const movements = await inventory.movementsOf(tx, work.receipt.movement_ids)
    await returnReceived.emit(tx, money.order, {
      return: forEvent(row),
      refund: refund === null ? null : withoutReason(refund),
    })
    const body = { return: shown(row), refund, movements, failure }
    return idempotency.finish(tx, claim, 200, JSON.stringify(body))
  },
  orderOf: ({ order }) => briefOf(order),
})

async function getReceipt(db: Db, id: string): Promise<ReceiptRow> {
  const receipt = await receipts.findReceipt(db, id)
  if (receipt === null) throw new Error('the receipt is gone')
  return receipt
}

/** Books the goods, and reserves the refund. */
async function begin(tx: Tx, actor: audit.Actor, returnId: string, body: Receipt): Promise<string> {
  const locked = await lockReturn(tx, returnId)
  const { returned, order } = locked
  // This is checked even without money: a cancellation counts the refunded units, and so does a receipt.
  orders.requireFree(order, 'return')
  const { plan, charges } = await readPlan(tx, locked, body)
  const refund_id = await reserve(tx, order, charges, { plan, actor: actorOf(actor) })
  const movement_ids = await returnStock.restock(
    tx,
    { order_id: order.id, return_id: returned.id, units: plan.stock },
    { actor: actor.name, named: body.location_id },
  )
  // A receipt has the id of its refund, so that `explain` and operators find its key by that id.
  const id = refund_id ?? newId()
  await writePlan(tx, locked, plan)
  await receipts.insertReceipt(tx, {
    ...plan,
    id,
    return_id: returned.id,
    status: refund_id === null ? 'settled' : 'pending',
    refund_id,
    shares: plan.lines.map(({ after, refunded_quantity: quantity, refund_cents }) => ({
      return_line_id: after.id,
      quantity,
      refund_cents,
    })),
    movement_ids,
    created_by: actorOf(actor),
    lines: plan.arrivals.map(({ variant_id: _, ...arrival }) => arrival),
  })
  await record(tx, actor, afterPlan(returned, plan), {
    verb: 'received',
    received_units: sum(plan.lines.map(({ received_quantity }) => received_quantity)),
    missing_units: sum(plan.lines.map(({ missing_quantity }) => missing_quantity)),
  })
  return id
}

/**
 * Refuses a receipt that cannot be received. Units are received while they are expected. Without units, a receipt
 * settles those that came before, in any state of the return.
 */
function requireReceivable({ returned, given_cents }: MoneyFacts, { lines }: Receipt): void {
  const isUnsettled = returned.lines.some((line) => unsettledOf(line) > 0) || given_cents < 0
  if (lines.length === 0 && isUnsettled) return
  requireState(returned, 'receive')
}

/** Reads the facts for a receipt, and plans it. */
async function readPlan(
  db: Db,
  locked: LockedReturn,
  body: Receipt,
): Promise<{ plan: ReceiptPlan; charges: ChargeRow[] }> {
  const facts = await readMoneyFacts(db, locked)
  requireReceivable(facts, body)
  const plan = planReceipt(facts, body)
  const { charges } = facts.refundable
  await requireSpendable(db, locked.order, charges, plan.tenders)
  return { plan, charges }
}

/** Reserves the refund of a plan. Returns null if the plan has none. */
async function reserve(
  tx: Tx,
  order: OrderRow,
  charges: readonly ChargeRow[],
  { plan, actor }: { plan: ReceiptPlan; actor: string },
): Promise<string | null> {
  const { method, amount_cents, parts, tenders, lines } = plan
  if (amount_cents === 0 || !isRefunded(method)) return null
  await requireAnswered(tx, order)
  const items = lines
    .filter(({ refunded_quantity }) => refunded_quantity > 0)
    .map(({ after, refunded_quantity: quantity, amount_cents: cents }) => ({
      order_item_id: after.order_item_id,
      quantity,
      amount_cents: cents,
      restocked_quantity: 0,
    }))
  const refund = { kind: 'refund', method, parts, tenders, items, reason: null, actor } as const
  return reserveRefund(tx, order, charges, refund)
}

const withLines = ({ lines, ...row }: ReturnRow, changed: readonly ReturnRow['lines'][number][]) =>
  ({
    ...row,
    lines: lines.map((line) => changed.find(({ id }) => id === line.id) ?? line),
  }) satisfies ReturnRow

/** The return once a plan is carried out. */
function afterPlan(returned: ReturnRow, plan: ReceiptPlan): ReturnRow {
  const row = withLines(
    returned,
    plan.lines.map(({ after }) => after),
  )
  if (plan.arrivals.length === 0) return row
  const isWhole = row.lines.every((line) => expectedOf(line) === 0)
  return { ...row, status: isWhole ? 'received' : 'partially_received' }
}

/** Writes the goods of a plan: to the return, and to the counters of the order's lines. */
async function writePlan(
  tx: Tx,
  { returned, order }: { returned: ReturnRow; order: OrderRow },
  plan: ReceiptPlan,
): Promise<void> {
  const at = isoNow(tx.clock)
  const row = afterPlan(returned, plan)
  const received_at = row.status === 'received' ? (returned.received_at ?? at) : row.received_at
  await queries.writeReturn(tx, { ...row, received_at, updated_at: at })
  await queries.writeLines(tx, row.lines)
  const units = plan.lines
    .filter((line) => line.received_quantity + line.missing_quantity > 0)
    .map(({ after, received_quantity, missing_quantity }) => ({
      order_item_id: after.order_item_id,
      returning: -received_quantity - missing_quantity,
      returned: received_quantity,
    }))
  if (units.length > 0) await orders.changeUnits(tx, [{ order, units }])
}

interface Settled {
  order: OrderRow
  refund: OrderRefund | null
  failure: { reason: string; refunded_cents: number } | null
}

async function settle(
  tx: Tx,
  order: OrderRow,
  { charges, refund }: Work,
  replies: RefundReplies,
): Promise<Settled> {
  if (refund === null) return { order, refund: null, failure: null }
  const settled: SettledRefund = await settleRefund(tx, order, refund, { charges, replies })
  if (settled.state === 'succeeded') {
    return { order: settled.order, refund: settled.refund, failure: null }
  }
  const { reason, refunded_cents } = settled
  return {
    order: settled.order,
    refund: shownRefund(await orders.getRefund(tx, refund.refund_id)),
    failure: { reason, refunded_cents },
  }
}

/** Writes the outcome of a receipt's money. Units whose refund failed are unsettled again. */
async function endReceipt(
  tx: Tx,
  { id, refund_id, shares }: ReceiptRow,
  returned: ReturnRow,
  { failure }: Settled,
): Promise<ReturnRow> {
  if (refund_id === null) return returned
  await receipts.endReceipt(tx, id, failure === null ? 'settled' : 'failed')
  if (failure === null) return returned
  const reverted = returned.lines.flatMap((line) => {
    const share = shares.find(({ return_line_id }) => return_line_id === line.id)
    if (share === undefined) return []
    return [
      {
        ...line,
        refunded_quantity: line.refunded_quantity - share.quantity,
        refund_cents: line.refund_cents - share.refund_cents,
      },
    ]
  })
  await queries.writeLines(tx, reverted)
  return withLines(returned, reverted)
}

/** Computes a receipt without carrying it out. */
export async function previewReceipt(
  db: Db,
  returnId: string,
  body: Receipt,
): Promise<ReceiptPreview> {
  const returned = await find(db, returnId)
  const order = await orders.get(db, returned.order_id)
  const { plan, charges } = await readPlan(db, { returned, order }, body)
  if (body.location_id !== undefined) await inventory.getLocation(db, body.location_id)
  await requireNoDispute(db, order, charges, plan.tenders)
  const refundable_cents = orders.refundableOf(charges)
  return {
    status: statusAfter(returned, plan),
    lines: plan.lines.map(({ after, ...line }) => ({
      return_line_id: after.id,
      received_quantity: line.received_quantity,
      missing_quantity: line.missing_quantity,
      refunded_quantity: line.refunded_quantity,
      already_refunded_quantity: line.already_refunded_quantity,
      refund_cents: line.refund_cents,
    })),
    refund: await previewRefund(db, order, charges, plan),
    restocked: sumByVariant(plan.stock),
    refundable_cents,
    remaining_cents: refundable_cents - plan.amount_cents,
  }
}

/** Adds up units by variant, because a movement has all units of a variant. */
const sumByVariant = (stock: ReceiptPlan['stock']) =>
  [...Map.groupBy(stock, ({ variant_id }) => variant_id).values()].map((same) => ({
    ...(same[0] as ReceiptPlan['stock'][number]),
    quantity: sum(same.map(({ quantity }) => quantity)),
  }))

async function previewRefund(
  db: Db,
  { currency }: OrderRow,
  charges: readonly ChargeRow[],
  { method, amount_cents, parts, tenders, restocking_fee_cents }: ReceiptPlan,
): Promise<ReceiptPreview['refund']> {
  if (amount_cents === 0 || !isRefunded(method)) return null
  const to = await destinationsOf(db, charges, tenders)
  return { method, amount_cents, ...parts, restocking_fee_cents, currency, tenders: to }
}

/** Returns the status after a receipt, as `closeIfSettled` decides it if the refund succeeds. */
function statusAfter(returned: ReturnRow, plan: ReceiptPlan): ReturnState {
  const { status, lines } = afterPlan(returned, plan)
  const isOpen = lines.some((line) => unsettledOf(line) > 0 || line.quarantined_quantity > 0)
  return status === 'received' && !isOpen ? 'closed' : status
}
