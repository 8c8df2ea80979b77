import { awaitAll } from '../../db/await-all.ts'
import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import { sum } from '../../kernel/money.ts'
import { isUuid } from '../../kernel/schema.ts'
import { insertNote } from './note-queries.ts'
import * as queries from './queries.ts'
import * as refundQueries from './refund-queries.ts'
import type {
  ChargeRow,
  FactChange,
  NewCharge,
  NewEntry,
  Note,
  OrderItem,
  OrderRow,
  RefundRow,
  UnitChange,
  UnitCounter,
} from './schema.ts'
import {
  type Allowed,
  allowedActions,
  deriveStatus,
  type OrderFacts,
  type Wait,
  waitOf,
} from './status.ts'
import type { Action } from './status-schema.ts'

/** The facts that the status is derived from. */
export const factsOf = (order: OrderRow): OrderFacts => ({
  total_cents: order.total_cents,
  captured_cents: order.captured_cents,
  refunded_cents: order.refunded_cents,
  placed_at: order.placed_at,
  cancelled_at: order.cancelled_at,
  processing_at: order.processing_at,
  live_hold: order.hold !== null,
  disputed: order.disputed,
  payment: order.payment,
  q_ordered: order.q_ordered,
  q_gift_cards: order.q_gift_cards,
  q_cancelled: order.q_cancelled,
  q_shipped: order.q_shipped,
  q_delivered: order.q_delivered,
  q_packed: order.q_packed,
  q_returning: order.q_returning,
  q_returned: order.q_returned,
  q_refunded: order.q_refunded,
})

export async function get(db: Db, id: string): Promise<OrderRow> {
  const order = isUuid(id) ? await queries.findOrder(db, id) : null
  if (order === null) throw new ApiError('order_not_found')
  return order
}

/** How many orders a customer has placed. */
export const countPlaced = async (db: Db, customerRef: string): Promise<number> =>
  (await queries.countPlaced(db, customerRef)).placed

export const hasOrders = queries.hasOrders

/**
 * Locks the order until the transaction ends, and reads it. It takes two statements: one that has waited for the
 * lock would show the lines as they were before the wait.
 */
export async function lock(tx: Tx, id: string): Promise<OrderRow> {
  const [, order] = await awaitAll([isUuid(id) && queries.lockOrder(tx, id), get(tx, id)])
  return order
}

export const listCharges = (db: Db, orderId: string): Promise<ChargeRow[]> =>
  queries.listCharges(db, orderId)

/** Locks several orders as `lock` does. Those that do not exist are left out. */
export async function lockMany(tx: Tx, ids: readonly string[]): Promise<Map<string, OrderRow>> {
  const known = ids.filter(isUuid)
  const [, found] = await awaitAll([queries.lockOrders(tx, known), queries.listByIds(tx, known)])
  return new Map(found.map((order) => [order.id, order]))
}

export const listItems = (db: Db, orderId: string): Promise<OrderItem[]> =>
  queries.listItems(db, [orderId])

/** The lines of several orders. */
export const listItemsOf = (db: Db, orderIds: readonly string[]): Promise<OrderItem[]> =>
  queries.listItems(db, orderIds)

/** Lists the refunds of one order, oldest first. */
export const listRefunds = (db: Db, orderId: string): Promise<RefundRow[]> =>
  refundQueries.listRefunds(db, orderId)

export async function getRefund(db: Db, refundId: string): Promise<RefundRow> {
  const refund = await refundQueries.findRefund(db, refundId)
  if (refund === null) throw new Error('the refund is gone')
  return refund
}

/** Returns what is left of a charge: neither refunded nor reserved for a refund. */
export const leftOn = ({ captured_cents, refunded_cents }: ChargeRow): number =>
  captured_cents - refunded_cents

export const refundableOf = (charges: readonly ChargeRow[]): number => sum(charges.map(leftOn))

/** Returns the card charges: only card payments can be disputed. */
export const cardsOf = (charges: readonly ChargeRow[]): ChargeRow[] =>
  charges.filter(({ tender }) => tender === 'card')

/** Adds an entry to an order's timeline. It cannot be erased, so texts written by a person do not belong here. */
export const addToTimeline = (tx: Tx, order_id: string, entry: NewEntry) =>
  queries.insertTimeline(tx, [{ order_id, ...entry }])

/** Adds entries to the timelines of several orders. */
export const addToTimelines = (tx: Tx, entries: readonly (NewEntry & { order_id: string })[]) =>
  queries.insertTimeline(tx, entries)

/** Inserts charges of an order that are not captured yet. */
export const insertCharges = (tx: Tx, orderId: string, charges: readonly NewCharge[]) =>
  queries.insertCharges(tx, orderId, charges)

/** Marks a charge as captured. */
export const captureCharge = (
  tx: Tx,
  chargeId: string,
  captured: Parameters<typeof queries.captureCharge>[2],
) => queries.captureCharge(tx, chargeId, captured)

/** Ends the charges of an order that were never captured. */
export const endCharges = (tx: Tx, orderId: string, status: 'failed' | 'voided') =>
  queries.endCharges(tx, orderId, status)

/** Whether this payment was disputed before, or an operator has recorded a dispute for the order. */
export const wasDisputed = async (tx: Tx, orderId: string, attemptId: string): Promise<boolean> =>
  (await queries.findDisputed(tx, orderId, attemptId)) !== null

/** Adds a note, which only the merchant sees and which an erasure removes. */
export const addNote = (
  tx: Tx,
  orderId: string,
  note: Pick<Note, 'note' | 'actor'>,
): Promise<Note> => insertNote(tx, orderId, note)

/** Returns what is under way at an order, which an action may have to wait for. */
export function underWayOf(order: OrderRow, pendingRefunds = 0): Wait[] {
  const isPaying = order.captured_cents === 0 && ['pending', 'unknown'].includes(order.payment)
  const waits: Wait[] = []
  if (isPaying && order.status === 'pending_payment') waits.push('payment')
  if (order.busy) waits.push('operation')
  if (pendingRefunds > 0) waits.push('refund')
  return waits
}

export const busy = () => new ApiError('order_busy', { headers: { 'retry-after': '2' } })

/** Refuses an action that has to wait for what is under way. */
export function requireFree(order: OrderRow, action: Action, pendingRefunds = 0): void {
  if (waitOf(action, underWayOf(order, pendingRefunds)) !== undefined) throw busy()
}

/** Which actions are possible now. */
export const allowedOf = (order: OrderRow, pendingRefunds = 0): Allowed =>
  allowedActions(factsOf(order), underWayOf(order, pendingRefunds))

/**
 * Refuses an action that has to wait or that the order's facts do not allow. The refusal names
 * the actions that are allowed.
 */
export function requireAllowed(order: OrderRow, action: Action, pendingRefunds = 0): void {
  requireFree(order, action, pendingRefunds)
  const { allowed, refused } = allowedOf(order, pendingRefunds)
  if (allowed.includes(action)) return
  const reason = refused.find((each) => each.action === action)?.reason
  throw new ApiError('invalid_transition', {
    body: { current_status: order.status, allowed, ...(reason === undefined ? {} : { reason }) },
  })
}

/** Returns the order as it is once these facts hold, with the status that follows from them. */
export function withFacts(order: OrderRow, facts: FactChange, at: string): OrderRow {
  const { hold, disputed_at, ...plain } = facts
  const changed: OrderRow = {
    ...order,
    ...(plain as Partial<OrderRow>),
    disputed: disputed_at === undefined ? order.disputed : disputed_at !== null,
    ...(hold === undefined
      ? {}
      : { hold: hold === null ? null : { reason: hold.reason, by: hold.by, placed_at: hold.at } }),
    updated_at: at,
  }
  const { status, payment_status, fulfillment_status } = deriveStatus(factsOf(changed))
  return { ...changed, status, payment_status, fulfillment_status }
}

/** Writes facts, with an order that `withFacts` has computed from them. */
export const writeFacts = (tx: Tx, after: OrderRow, facts: FactChange) =>
  queries.writeFacts(tx, after.id, writtenFacts(after, facts))

/** Returns the facts and the derived status, for a statement that writes more than these. */
export const writtenFacts = (after: OrderRow, facts: FactChange) => ({
  facts,
  derived: deriveStatus(factsOf(after)),
  at: after.updated_at,
})

/**
 * Writes changed facts and the status that follows from them. Called under the order's lock, with
 * the order as it was read there; returns the order as it is now.
 */
export async function change(
  tx: Tx,
  order: OrderRow,
  facts: FactChange,
  at: string = isoNow(tx.clock),
): Promise<OrderRow> {
  const after = withFacts(order, facts, at)
  await writeFacts(tx, after, facts)
  return after
}

/** The counters of an order's lines that change together. */
export interface OrderUnits {
  order: OrderRow
  units: readonly UnitChange[]
}

/**
 * Changes how many units of the lines of orders are packed, shipped, delivered and coming back, and the
 * statuses that follow. It is called under the orders' locks, with each order once, as it was read there.
 * Returns the orders as they are now.
 */
export async function changeUnits(tx: Tx, changes: readonly OrderUnits[]): Promise<OrderRow[]> {
  const at = isoNow(tx.clock)
  const after = changes.map(({ order, units }) => withFacts(withUnits(order, units), {}, at))
  const derived = after.map((order) => ({ id: order.id, ...deriveStatus(factsOf(order)) }))
  const units = changes.flatMap((change) => change.units)
  await awaitAll([queries.changeUnits(tx, units), queries.writeStatuses(tx, derived, at)])
  return after
}

function withUnits(order: OrderRow, units: readonly UnitChange[]): OrderRow {
  const total = (name: UnitCounter) => sum(units.map((each) => each[name] ?? 0))
  return {
    ...order,
    q_cancelled: order.q_cancelled + total('restocked'),
    q_packed: order.q_packed + total('packed'),
    q_shipped: order.q_shipped + total('shipped'),
    q_delivered: order.q_delivered + total('delivered'),
    q_returning: order.q_returning + total('returning'),
    q_returned: order.q_returned + total('returned'),
  }
}
