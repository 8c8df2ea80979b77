import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import type * as audit from '../../platform/audit.ts'
import type { KeepingCaller } from '../../platform/idempotency.ts'
import * as parcelStock from '../inventory/parcel-stock.ts'
import type { WorkUnits } from '../inventory/schema.ts'
import type { Fulfillment } from '../orders/parcel-schema.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { listOpen, type PlannedParcel, planParcels } from './plan-parcels.ts'
import * as queries from './queries.ts'
import type { BulkFulfillment, BulkResult, FulfillmentRow, NewFulfillment } from './schema.ts'
import { changeUnits, record, requireOpen, shipLocked, shown, stockOf, unitsOf } from './service.ts'

/** Packs units of orders into parcels: of one order, or of many at once by few statements. */

type BulkRow = BulkFulfillment['orders'][number]

/** Packs units of one order: a parcel for each location they lie at. */
export async function pack(
  db: TenantDb,
  actor: audit.Actor,
  order_id: string,
  request: NewFulfillment,
): Promise<{ fulfillment: Fulfillment; fulfillments: Fulfillment[] }> {
  const [packed] = await packAlone(db, actor, [inOurSpelling({ order_id, ...request })])
  if (packed instanceof ApiError) throw packed
  const fulfillments = (packed as FulfillmentRow[]).map(shown)
  return { fulfillment: fulfillments[0] as Fulfillment, fulfillments }
}

/** Writes the ids of a row in lower case: in capital letters they are the same, but compared as texts they differ. */
const inOurSpelling = ({ order_id, items, ...row }: BulkRow): BulkRow => ({
  ...row,
  order_id: order_id.toLowerCase(),
  ...(items !== undefined && {
    items: items.map((item) => ({ ...item, order_item_id: item.order_item_id.toLowerCase() })),
  }),
})

/** Orders that are locked at a time. */
const BATCH = 50

/**
 * Packs, and where a row says so ships, units of many orders. A row that is refused does not affect
 * the others.
 */
export async function packMany(
  db: TenantDb,
  actor: audit.Actor,
  { orders: rows }: BulkFulfillment,
): Promise<BulkResult[]> {
  const results: BulkResult[] = []
  for (const batch of toBatches(rows.map(inOurSpelling))) {
    results.push(...toResults(results.length, batch, await packAlone(db, actor, batch)))
  }
  return results
}

/**
 * Packs units of many orders, like `packMany`, in one transaction with the answer that its key keeps: no row
 * is packed twice by a retry. All orders and their stock are locked before the first is packed, in the order
 * of all locks.
 */
export const packManyOnce = (
  db: TenantDb,
  { actor, keep }: KeepingCaller,
  { orders: rows }: BulkFulfillment,
): Promise<BulkResult[]> =>
  db.transaction('fulfillment: pack many', async (tx) => {
    const found = await orders.lockMany(
      tx,
      rows.map(({ order_id }) => order_id.toLowerCase()),
    )
    await parcelStock.lockWork(tx, [...found.keys()])
    const results: BulkResult[] = []
    for (const batch of toBatches(rows.map(inOurSpelling))) {
      results.push(...toResults(results.length, batch, await packRows(tx, actor, batch)))
    }
    await keep(tx, { results })
    return results
  })

const toResults = (first: number, rows: readonly BulkRow[], packed: readonly Packed[]) =>
  rows.map((row, at) => toResult(first + at, row.order_id, packed[at] as Packed))

/** Batches in the order of the rows, each with an order once. */
function toBatches(rows: readonly BulkRow[]): BulkRow[][] {
  const batches: BulkRow[][] = []
  let seen = new Set<string>()
  for (const row of rows) {
    const last = batches.at(-1)
    if (last === undefined || last.length >= BATCH || seen.has(row.order_id)) {
      batches.push([row])
      seen = new Set()
    } else {
      last.push(row)
    }
    seen.add(row.order_id)
  }
  return batches
}

type Packed = FulfillmentRow[] | ApiError

function toResult(index: number, order_id: string, packed: Packed): BulkResult {
  if (packed instanceof ApiError) {
    const { code, message } = packed
    return { index, order_id, status: 'error', error: { code, message } }
  }
  const fulfillments = packed.map(shown)
  const [fulfillment] = fulfillments
  return {
    index,
    order_id,
    status: 'ok',
    ...(fulfillment === undefined ? {} : { fulfillment }),
    fulfillments,
  }
}

/** What the parcels of a row are made of. */
interface Plan {
  order: OrderRow
  row: BulkRow
  parcels: PlannedParcel[]
  /** The number of the order's last parcel so far. */
  last: number
}

/** The facts by which the parcels of orders are planned, read under the locks of orders and stock. */
interface Known {
  found: ReadonlyMap<string, OrderRow>
  lines: readonly OrderItem[]
  work: readonly WorkUnits[]
  lastNumbers: ReadonlyMap<string, number>
}

const packAlone = (db: TenantDb, actor: audit.Actor, rows: readonly BulkRow[]) =>
  db.transaction('fulfillment: pack', (tx) => packRows(tx, actor, rows))

/** Packs rows of different orders. Returns parcels or a refusal for each. */
async function packRows(tx: Tx, actor: audit.Actor, rows: readonly BulkRow[]): Promise<Packed[]> {
  const found = await orders.lockMany(
    tx,
    rows.map(({ order_id }) => order_id),
  )
  const ids = [...found.keys()]
  const lines = await orders.listItemsOf(tx, ids)
  const work = await parcelStock.lockWork(tx, ids)
  const counts = await queries.countOfOrders(tx, ids)
  const lastNumbers = new Map(counts.map((each) => [each.order_id, each.last_number]))
  const known = { found, lines, work, lastNumbers }
  const plans = rows.map((row) => attempt(() => planRow(row, known)))
  const packed = await writePlans(
    tx,
    actor,
    plans.filter((plan): plan is Plan => !(plan instanceof ApiError)),
  )
  return plans.map((plan) =>
    plan instanceof ApiError ? plan : packed.filter(({ order_id }) => order_id === plan.order.id),
  )
}

/** The result of some work, or the refusal that it threw. */
function attempt<T>(work: () => T): T | ApiError {
  try {
    return work()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Parcels that one order may have: packing and cancelling again and again has to end. No order needs as many. */
const PARCELS_MAX = 1_000

function planRow(row: BulkRow, { found, lines, work, lastNumbers }: Known): Plan {
  const order = found.get(row.order_id)
  if (order === undefined) throw new ApiError('order_not_found')
  requireOpen(order, 'fulfill')
  const own = <T extends { order_id: string }>(rows: readonly T[]) =>
    rows.filter(({ order_id }) => order_id === order.id)
  const open = listOpen(own(lines), own(work))
  const { parcels, excess } = planParcels(
    open,
    requestedUnits(row, own(lines)),
    row.location_id ?? null,
  )
  if (excess.length > 0 || parcels.length === 0) {
    throw new ApiError('quantity_exceeds_open', { body: { items: excess } })
  }
  const last = lastNumbers.get(order.id) ?? 0
  if (last + parcels.length > PARCELS_MAX) {
    throw new ApiError('limit_reached', {
      message: `An order has at most ${PARCELS_MAX} parcels, cancelled ones included.`,
      body: { limit: 'parcels_per_order', max: PARCELS_MAX, used: last },
    })
  }
  return { order, row, parcels, last }
}

/** The units that a row names, by line; null for all. A line may be named more than once. */
function requestedUnits(
  { items }: BulkRow,
  lines: readonly OrderItem[],
): Map<string, number> | null {
  if (items === undefined) return null
  const requested = new Map<string, number>()
  for (const { order_item_id, quantity } of items) {
    if (!lines.some(({ id }) => id === order_item_id)) throw new ApiError('order_item_not_found')
    requested.set(order_item_id, (requested.get(order_item_id) ?? 0) + quantity)
  }
  return requested
}

async function writePlans(
  tx: Tx,
  actor: audit.Actor,
  plans: readonly Plan[],
): Promise<FulfillmentRow[]> {
  if (plans.length === 0) return []
  const made = plans.flatMap((plan) => toParcels(plan, actor.name))
  await queries.insertParcels(tx, made)
  const packed = await queries.listByIds(
    tx,
    made.map(({ id }) => id),
  )
  await parcelStock.pack(tx, packed.map(stockOf), actor.name)
  const orderOf = new Map(plans.map(({ order }) => [order.id, order]))
  const locked = packed.map((parcel) => ({
    parcel,
    order: orderOf.get(parcel.order_id) as OrderRow,
  }))
  const after = await changeUnits(tx, locked, (parcel) => unitsOf(parcel, { packed: 1 }))
  await record(tx, actor, { type: 'packed', action: 'fulfillment.created' }, packed)
  return shipMarked(tx, actor, plans, { packed, after })
}

function toParcels({ order, row, parcels, last }: Plan, created_by: string) {
  return parcels.map(({ location_id, items }, at): queries.NewParcel => {
    const number = last + at + 1
    return {
      id: newId(),
      order_id: order.id,
      number,
      fulfillment_number: `${order.order_number}-F${number}`,
      location_id,
      carrier: row.carrier ?? null,
      service: row.service ?? null,
      tracking_number: row.tracking_number ?? null,
      tracking_url: row.tracking_url ?? null,
      weight_grams: row.weight_grams ?? null,
      created_by,
      items: items.map(({ line, quantity, stock_quantity }) => ({
        order_item_id: line.id,
        variant_id: line.variant_id,
        sku: line.sku,
        product_name: line.product_name,
        label: line.label,
        quantity,
        stock_quantity,
      })),
    }
  })
}

/** Ships the new parcels of the rows that say so. */
async function shipMarked(
  tx: Tx,
  actor: audit.Actor,
  plans: readonly Plan[],
  { packed, after }: { packed: FulfillmentRow[]; after: ReadonlyMap<string, OrderRow> },
): Promise<FulfillmentRow[]> {
  const marked = new Set(plans.flatMap(({ order, row }) => (row.ship === true ? [order.id] : [])))
  const toShip = packed
    .filter(({ order_id }) => marked.has(order_id))
    .map((parcel) => ({ parcel, order: after.get(parcel.order_id) as OrderRow, shipment: {} }))
  if (toShip.length === 0) return packed
  const shipped = await shipLocked(tx, actor, toShip)
  const byId = new Map(shipped.map((parcel) => [parcel.id, parcel]))
  return packed.map((parcel) => byId.get(parcel.id) ?? parcel)
}
