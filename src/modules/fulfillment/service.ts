import { type Static, Type } from 'typebox'
import { awaitAll } from '../../db/await-all.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, isUuid } from '../../kernel/schema.ts'
import { MINUTE_MS } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import type { KeepingCaller } from '../../platform/idempotency.ts'
import * as outbox from '../../platform/outbox.ts'
import * as parcelStock from '../inventory/parcel-stock.ts'
import type { ParcelStock } from '../inventory/schema.ts'
import type { Fulfillment, FulfillmentState, Work } from '../orders/parcel-schema.ts'
import { listWithWork } from '../orders/read.ts'
import type { OrderItem, OrderRow, UnitChange, WorkFilters } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { orderDelivered, orderShipped } from './events.ts'
import { listOpen, toWork } from './plan-parcels.ts'
import * as queries from './queries.ts'
import type { Cancellation, Delivery, FulfillmentRow, Shipment, TrackingPatch } from './schema.ts'
import { trackingUrl } from './tracking-links.ts'

/**
 * Parcels after they are packed (`pack.ts`). A parcel changes only under the lock of its order. Locks are taken in one
 * order everywhere: the order, then its stock.
 */

/** A parcel as the API shows it. */
export function shown({ items, ...parcel }: FulfillmentRow): Fulfillment {
  return {
    ...parcel,
    tracking_url: parcel.tracking_url ?? trackingUrl(parcel.carrier, parcel.tracking_number),
    items: items.map(({ stock_quantity: _, ...item }) => item),
  }
}

export async function list(db: Db, filters: queries.FulfillmentFilters, page: Page) {
  const { rows, shown: part } = await queries.list(db, filters, page)
  return { fulfillments: rows.map(shown), ...part }
}

export async function get(db: Db, id: string): Promise<Fulfillment> {
  return shown(await find(db, id))
}

async function find(db: Db, id: string): Promise<FulfillmentRow> {
  const [parcel] = isUuid(id) ? await queries.listByIds(db, [id]) : []
  if (parcel === undefined) throw new ApiError('fulfillment_not_found')
  return parcel
}

/** The parcels of an order, the first one first. */
export const listOfOrder = async (db: Db, order_id: string): Promise<Fulfillment[]> =>
  (await queries.listOfOrders(db, [order_id])).map(shown)

/** Lists the units to pack for each of these orders, by location. */
export async function listWorkOf(db: Db, order_ids: readonly string[]) {
  const [lines, work] = await Promise.all([
    orders.listItemsOf(db, order_ids),
    parcelStock.listWork(db, order_ids),
  ])
  const linesOf = Map.groupBy(lines, ({ order_id }) => order_id)
  const workOf = Map.groupBy(work, ({ order_id }) => order_id)
  return new Map(
    order_ids.map((id) => [id, toWork(listOpen(linesOf.get(id) ?? [], workOf.get(id) ?? []))]),
  )
}

/** Lists the units to pack for one order, whose lines are being read, like `listWorkOf`. */
export async function listWorkOfOrder(
  db: Db,
  order_id: string,
  reading: Promise<OrderItem[]>,
): Promise<Work[]> {
  const [lines, work] = await Promise.all([reading, parcelStock.listWork(db, [order_id])])
  return toWork(listOpen(lines, work))
}

/** The parcels of orders that are not cancelled, for a table of orders. */
export async function listTracking(db: Db, order_ids: readonly string[]) {
  const rows = await queries.listTracking(db, order_ids)
  return new Map(rows.map(({ order_id, ...tracked }) => [order_id, tracked]))
}

/** The pick queue: orders with open units that nothing holds, the oldest first. */
export async function listQueue(db: Db, filters: WorkFilters, page: Page) {
  const { rows, shown: part } = await listWithWork(db, filters, page)
  const work = await listWorkOf(
    db,
    rows.map(({ order_id }) => order_id),
  )
  const { location_id } = filters
  const openOf = (order_id: string) =>
    (work.get(order_id) ?? []).filter(
      (each) => location_id === undefined || each.location_id === location_id,
    )
  return { orders: rows.map((row) => ({ ...row, open: openOf(row.order_id) })), ...part }
}

export interface LockedParcel {
  parcel: FulfillmentRow
  order: OrderRow
}

export async function lockParcel(tx: Tx, id: string): Promise<LockedParcel> {
  const { order_id } = await find(tx, id)
  const order = await orders.lock(tx, order_id)
  // Read again: it may have changed before the lock was free.
  return { parcel: await find(tx, id), order }
}

const ALLOWED: Record<FulfillmentState, readonly string[]> = {
  pending: ['ship', 'cancel'],
  shipped: ['deliver', 'cancel'],
  delivered: [],
  cancelled: [],
}

function requireState({ status }: FulfillmentRow, action: 'ship' | 'deliver' | 'cancel'): void {
  const allowed = ALLOWED[status]
  if (allowed.includes(action)) return
  throw new ApiError('invalid_transition', { body: { current_status: status, allowed } })
}

/** Refuses to pack or to ship an order that is held, or whose facts do not allow it. */
export function requireOpen(order: OrderRow, action: 'fulfill' | 'ship'): void {
  if (order.status === 'on_hold') throw new ApiError('order_on_hold')
  orders.requireAllowed(order, action)
}

/** The time that a request names, or now. A carrier's clock may be a little ahead. */
function readTime(tx: Tx, name: string, named: string | undefined): string {
  if (named === undefined) return isoNow(tx.clock)
  if (Date.parse(named) > tx.clock.now() + CLOCKS_APART_MS) {
    throw invalidBody(name, 'must not be in the future')
  }
  return new Date(named).toISOString()
}

const CLOCKS_APART_MS = 5 * MINUTE_MS

/** The units of parcels that come from stock. */
export const stockOf = ({ id, order_id, location_id, items }: FulfillmentRow): ParcelStock => ({
  order_id,
  fulfillment_id: id,
  location_id,
  lines: items.map(({ variant_id, stock_quantity }) => ({ variant_id, quantity: stock_quantity })),
})

/** Returns how the counters of a parcel's lines change, for each of its units. */
export const unitsOf = (
  { items }: FulfillmentRow,
  sign: { packed?: 1 | -1; shipped?: 1 | -1; delivered?: 1 | -1 },
): UnitChange[] =>
  items.map(({ order_item_id, quantity }) => ({
    order_item_id,
    packed: quantity * (sign.packed ?? 0),
    shipped: quantity * (sign.shipped ?? 0),
    delivered: quantity * (sign.delivered ?? 0),
  }))

/** The facts of a parcel for a timeline and an audit entry: no words of a person. */
const briefOf = ({ id, fulfillment_number, location_id, items }: FulfillmentRow) => ({
  fulfillment_id: id,
  fulfillment_number,
  location_id,
  units: items.reduce((sum, { quantity }) => sum + quantity, 0),
})

/** Records a change of parcels in their orders' timelines and in the audit log. */
export const record = (
  tx: Tx,
  actor: audit.Actor,
  what: { type: string; action: string; reason?: string },
  parcels: readonly FulfillmentRow[],
) => {
  const { type, action, reason } = what
  const more = reason === undefined ? {} : { reason }
  return awaitAll([
    orders.addToTimelines(
      tx,
      parcels.map((parcel) => ({
        order_id: parcel.order_id,
        type,
        actor: actor.name,
        data: { ...briefOf(parcel), ...more },
      })),
    ),
    ...parcels.map((parcel) =>
      audit.record(tx, actor, {
        action,
        entity: `fulfillment:${parcel.id}`,
        after: { status: parcel.status, order_id: parcel.order_id, ...more },
      }),
    ),
  ])
}

export function ship(
  db: TenantDb,
  { actor, keep }: KeepingCaller,
  id: string,
  shipment: Shipment,
): Promise<Fulfillment> {
  return db.transaction('fulfillment: ship', async (tx) => {
    const locked = await lockParcel(tx, id)
    requireState(locked.parcel, 'ship')
    requireOpen(locked.order, 'ship')
    await parcelStock.lockParcels(tx, [stockOf(locked.parcel)])
    const [shipped] = await shipLocked(tx, actor, [{ ...locked, shipment }])
    const fulfillment = shown(shipped as FulfillmentRow)
    await keep(tx, { fulfillment })
    return fulfillment
  })
}

/** Ships pending parcels whose orders and stock are locked, each order's parcels together. */
export async function shipLocked(
  tx: Tx,
  actor: audit.Actor,
  locked: readonly (LockedParcel & { shipment: Shipment })[],
): Promise<FulfillmentRow[]> {
  const shipped = locked.map(({ parcel, shipment: { shipped_at, ...details } }) => ({
    ...parcel,
    ...details,
    status: 'shipped' as const,
    shipped_at: readTime(tx, 'shipped_at', shipped_at),
    updated_at: isoNow(tx.clock),
  }))
  await parcelStock.ship(tx, shipped.map(stockOf), actor.name)
  await queries.writeParcels(tx, shipped)
  const after = await changeUnits(tx, locked, (parcel) =>
    unitsOf(parcel, { packed: -1, shipped: 1 }),
  )
  await record(tx, actor, { type: 'shipped', action: 'fulfillment.shipped' }, shipped)
  await awaitAll(shipped.map((parcel) => emit(tx, orderShipped, after, parcel)))
  return shipped
}

/** Changes the counters of the orders of parcels, each order once, and returns the orders by id. */
export async function changeUnits(
  tx: Tx,
  locked: readonly LockedParcel[],
  unitsOfParcel: (parcel: FulfillmentRow) => UnitChange[],
): Promise<Map<string, OrderRow>> {
  const byOrder = Map.groupBy(locked, ({ order }) => order.id)
  const changed = await orders.changeUnits(
    tx,
    [...byOrder.values()].map((parcels) => ({
      order: (parcels[0] as LockedParcel).order,
      units: sumByLine(parcels.flatMap(({ parcel }) => unitsOfParcel(parcel))),
    })),
  )
  return new Map(changed.map((order) => [order.id, order]))
}

/** Adds up the changes of each line: two parcels may have units of one line, and a statement changes a row once. */
function sumByLine(units: readonly UnitChange[]): UnitChange[] {
  return [...Map.groupBy(units, ({ order_item_id }) => order_item_id)].map(([id, changes]) => {
    const total = (name: 'packed' | 'shipped' | 'delivered') =>
      changes.reduce((sum, change) => sum + (change[name] ?? 0), 0)
    return {
      order_item_id: id,
      packed: total('packed'),
      shipped: total('shipped'),
      delivered: total('delivered'),
    }
  })
}

const emit = (
  tx: Tx,
  event: typeof orderShipped | typeof orderDelivered,
  after: ReadonlyMap<string, OrderRow>,
  parcel: FulfillmentRow,
) => event.emit(tx, after.get(parcel.order_id) as OrderRow, { fulfillment: shown(parcel) })

/** Delivers a parcel by hand: it has arrived. Possible whatever happened to the order's money since. */
export function deliver(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { delivered_at }: Delivery,
): Promise<Fulfillment> {
  return db.transaction('fulfillment: deliver', async (tx) => {
    const locked = await lockParcel(tx, id)
    requireState(locked.parcel, 'deliver')
    const at = readTime(tx, 'delivered_at', delivered_at)
    return shown(await deliverLocked(tx, actor, locked, at))
  })
}

/** Delivers a parcel that counts as delivered by now. Returns how many it delivered. */
export function deliverArrived(db: TenantDb, id: string): Promise<number> {
  return db.transaction('fulfillment: deliver by itself', async (tx) => {
    const locked = await lockParcel(tx, id)
    if (locked.parcel.status !== 'shipped') return 0
    if (!(await queries.hasArrived(tx, id))) {
      await queries.clearArrival(tx, id)
      return 0
    }
    await deliverLocked(tx, audit.SYSTEM, locked, isoNow(tx.clock))
    return 1
  })
}

/** Delivers a shipped parcel whose order is locked. */
export async function deliverLocked(
  tx: Tx,
  actor: audit.Actor,
  locked: LockedParcel,
  delivered_at: string,
): Promise<FulfillmentRow> {
  const delivered = {
    ...locked.parcel,
    status: 'delivered' as const,
    delivered_at,
    updated_at: isoNow(tx.clock),
  }
  await queries.writeParcels(tx, [delivered])
  const after = await changeUnits(tx, [locked], (parcel) => unitsOf(parcel, { delivered: 1 }))
  await record(tx, actor, { type: 'delivered', action: 'fulfillment.delivered' }, [delivered])
  await emit(tx, orderDelivered, after, delivered)
  return delivered
}

/**
 * Cancels a parcel: its units are open again. A shipped parcel is recalled with a reason; unless it is lost, its units
 * are on hand again.
 */
export function cancel(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { reason }: Cancellation,
): Promise<Fulfillment> {
  return db.transaction('fulfillment: cancel', async (tx) => {
    const locked = await lockParcel(tx, id)
    requireState(locked.parcel, 'cancel')
    if (locked.order.busy) throw orders.busy()
    const isRecall = locked.parcel.status === 'shipped'
    if (isRecall && reason === undefined) {
      throw invalidBody('reason', 'must be sent for a shipped parcel: why it comes back')
    }
    await parcelStock.lockParcels(tx, [stockOf(locked.parcel)])
    const { parcel } = await (isRecall
      ? recall(tx, actor, locked, reason as string)
      : unpack(tx, actor, locked, reason ?? null))
    return shown(parcel)
  })
}

/** An event of the outbox: a parcel was cancelled, and its label was not used. */
export const PARCEL_CANCELLED = {
  type: 'fulfillment.cancelled.v1',
  payload: Type.Object({ fulfillment_id: Id }),
} satisfies outbox.Topic

export type ParcelCancelled = Static<typeof PARCEL_CANCELLED.payload>

/**
 * Publishes that a parcel was cancelled. Carriers are not asked here: a cancellation must not wait for one,
 * and it belongs to a lower module.
 */
const publishCancelled = (tx: Tx, { id }: FulfillmentRow) =>
  outbox.publish(tx, PARCEL_CANCELLED, { fulfillment_id: id })

const asCancelled = (tx: Tx, parcel: FulfillmentRow, reason: string | null): FulfillmentRow => ({
  ...parcel,
  status: 'cancelled',
  cancel_reason: reason,
  cancelled_at: isoNow(tx.clock),
  updated_at: isoNow(tx.clock),
})

async function recall(tx: Tx, actor: audit.Actor, locked: LockedParcel, reason: string) {
  const parcel = asCancelled(tx, locked.parcel, reason)
  await requireNotReturned(tx, locked.parcel)
  await parcelStock.recall(tx, stockOf(parcel), actor.name, reason)
  await queries.writeParcels(tx, [parcel])
  await changeUnits(tx, [locked], (each) => unitsOf(each, { shipped: -1 }))
  await record(tx, actor, { type: 'recalled', action: 'fulfillment.recalled', reason }, [parcel])
  // A parcel that was lost or came back has used its label.
  if (reason === 'error') await publishCancelled(tx, parcel)
  return { parcel }
}

/**
 * Refuses to recall a parcel with units in a return: they have arrived, or are coming back, so that the parcel itself
 * cannot come back as well.
 */
async function requireNotReturned(tx: Tx, { status, order_id, items }: FulfillmentRow) {
  const lines = await orders.listItems(tx, order_id)
  const isReturned = items.some(({ order_item_id, quantity }) => {
    const line = lines.find(({ id }) => id === order_item_id)
    if (line === undefined) return false
    const { shipped_quantity, returning_quantity, returned_quantity } = line
    return shipped_quantity - quantity < returning_quantity + returned_quantity
  })
  if (!isReturned) return
  throw new ApiError('invalid_transition', {
    message: 'Units of this parcel are in a return. Decline, cancel or receive the return first.',
    body: { current_status: status, allowed: ['deliver'], reason: 'in_return' },
  })
}

async function unpack(tx: Tx, actor: audit.Actor, locked: LockedParcel, reason: string | null) {
  const parcel = asCancelled(tx, locked.parcel, reason)
  await parcelStock.unpack(tx, [stockOf(parcel)], actor.name)
  await queries.writeParcels(tx, [parcel])
  const after = await changeUnits(tx, [locked], (each) => unitsOf(each, { packed: -1 }))
  await record(tx, actor, { type: 'unpacked', action: 'fulfillment.cancelled' }, [parcel])
  await publishCancelled(tx, parcel)
  return { parcel, order: after.get(parcel.order_id) as OrderRow }
}

/**
 * Cancels the parcels of an order that are not shipped, before the order itself is cancelled. Called
 * under the order's lock; returns the order as it is now.
 */
export async function cancelPending(tx: Tx, order: OrderRow, actor: string): Promise<OrderRow> {
  if (order.q_packed === 0) return order
  const parcels = await queries.listPending(tx, order.id)
  await parcelStock.lockParcels(tx, parcels.map(stockOf))
  let changed = order
  for (const parcel of parcels) {
    const by = { name: actor, correlationId: null }
    const unpacked = await unpack(tx, by, { parcel, order: changed }, 'order_cancelled')
    changed = unpacked.order
  }
  return changed
}

/** Writes the carrier and the tracking of a locked parcel. */
export async function setTracking(
  tx: Tx,
  { parcel }: Pick<LockedParcel, 'parcel'>,
  changes: TrackingPatch,
): Promise<Fulfillment> {
  const changed = { ...parcel, ...changes, updated_at: isoNow(tx.clock) }
  await queries.writeParcels(tx, [changed])
  return shown(changed)
}

/** Changes the carrier and the tracking of a parcel, also after it was shipped. */
export function patch(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  changes: TrackingPatch,
): Promise<Fulfillment> {
  return db.transaction('fulfillment: change', async (tx) => {
    const { parcel } = await lockParcel(tx, id)
    if (parcel.status === 'cancelled') {
      throw new ApiError('invalid_transition', {
        body: { current_status: parcel.status, allowed: [] },
      })
    }
    await audit.record(tx, actor, {
      action: 'fulfillment.tracking_changed',
      entity: `fulfillment:${id}`,
      after: { changed: Object.keys(changes) },
    })
    return setTracking(tx, { parcel }, changes)
  })
}
