import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody, readEach } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import { sum } from '../../kernel/money.ts'
import type { Page } from '../../kernel/page.ts'
import { AMOUNT_CENTS_MAX, isUuid } from '../../kernel/schema.ts'
import { toUtc } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import * as receiptStock from '../inventory/receipt-stock.ts'
import { DEFAULT_LOCATION } from '../inventory/schema.ts'
import * as inventory from '../inventory/service.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type {
  NewLine,
  NewPurchaseOrder,
  PurchaseOrder,
  PurchaseOrderPatch,
  PurchaseOrderState,
} from './schema.ts'
import { getInUse } from './vendors.ts'

/**
 * Purchase orders. One changes only under the lock of its row. Every transaction takes its locks in this order:
 * the purchase order, then the stock, then its costs. Units that are ordered and have not come are `incoming` of
 * their level, and never available.
 */

type Action = 'change' | 'order' | 'receive' | 'close' | 'cancel' | 'add_cost'

const ALLOWED: Record<PurchaseOrderState, readonly Action[]> = {
  draft: ['change', 'order', 'cancel'],
  ordered: ['receive', 'close', 'cancel'],
  partially_received: ['receive', 'close', 'add_cost'],
  // More units may come, up to the tolerance.
  received: ['receive', 'add_cost'],
  closed_short: ['add_cost'],
  cancelled: [],
}

export async function list(db: Db, filters: queries.OrderFilters, page: Page) {
  const { rows, shown } = await queries.listOrders(db, filters, page)
  return { purchase_orders: rows, ...shown }
}

export async function get(db: Db, id: string): Promise<PurchaseOrder> {
  const order = isUuid(id) ? await queries.findOrder(db, id) : null
  if (order === null) throw refuse('purchase_order_not_found')
  return order
}

/** Locks a purchase order for an action that its status allows. */
export async function lockFor(tx: Tx, id: string, action: Action): Promise<PurchaseOrder> {
  if (isUuid(id)) await queries.lockOrder(tx, id)
  const order = await get(tx, id)
  if (!ALLOWED[order.status].includes(action)) throw notAllowed(order)
  return order
}

export const notAllowed = ({ status }: PurchaseOrder, more: object = {}) =>
  new ApiError('invalid_transition', {
    body: { current_status: status, allowed: ALLOWED[status], ...more },
  })

export const record = (
  tx: Tx,
  actor: audit.Actor,
  action: string,
  { id, ...after }: { id: string; status: PurchaseOrderState } & Record<string, unknown>,
) =>
  audit.record(tx, actor, {
    action: `purchase_order.${action}`,
    entity: `purchase_order:${id}`,
    after,
  })

export function create(
  db: TenantDb,
  actor: audit.Actor,
  request: NewPurchaseOrder,
): Promise<PurchaseOrder> {
  return db.transaction('purchasing: create order', async (tx) => {
    const { vendor_id, location_id = DEFAULT_LOCATION } = request
    const currency = await stores.lockCurrency(tx)
    if (request.currency !== undefined && request.currency !== currency) {
      throw invalidBody('currency', `must be the store's currency, ${currency}`)
    }
    const vendor = await getInUse(tx, vendor_id)
    await inventory.requireLocations(tx, location_id)
    const lines = await toLines(tx, request.lines)
    const terms = {
      id: newId(),
      vendor_id: vendor.id,
      location_id,
      currency,
      expected_at: readExpected(request.expected_at),
      notes: request.notes ?? null,
      shipping_cents: request.shipping_cents ?? 0,
      subtotal_cents: subtotalOf(lines),
      over_receipt_percent: request.over_receipt_percent ?? 0,
    }
    const { last_number } = await queries.takeNumber(tx)
    const po_number = `PO-${last_number}`
    await queries.insertOrder(tx, terms, { po_number, created_by: actor.name })
    await queries.insertLines(tx, terms.id, lines)
    await record(tx, actor, 'created', { id: terms.id, status: 'draft', po_number })
    return get(tx, terms.id)
  })
}

function readExpected(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null
  const at = toUtc(text)
  if (at === null) throw invalidBody('expected_at', 'must be an existing date and time')
  return at
}

/** Returns the lines as they are stored, each variant once. */
async function toLines(db: Db, lines: readonly NewLine[]): Promise<queries.WrittenLine[]> {
  const ids = lines.map(({ variant_id }) => variant_id.toLowerCase())
  if (new Set(ids).size < ids.length) throw invalidBody('lines', 'must name each variant once')
  const skus = await inventory.listSkus(db, ids)
  return readEach(lines, ({ quantity, unit_cost_cents, unit_weight_grams = null }, at) => {
    const variant_id = ids[at] as string
    const sku = skus.get(variant_id)
    if (sku === undefined) throw new ApiError('variant_not_found')
    if (quantity * unit_cost_cents > AMOUNT_CENTS_MAX) {
      throw invalidBody(`lines.${at}`, `must cost at most ${AMOUNT_CENTS_MAX} cents`)
    }
    return { variant_id, sku, quantity, unit_cost_cents, unit_weight_grams }
  })
}

const subtotalOf = (lines: readonly Pick<NewLine, 'quantity' | 'unit_cost_cents'>[]): number =>
  sum(lines.map(({ quantity, unit_cost_cents }) => quantity * unit_cost_cents))

/** Changes a draft. Lines, if they are named, replace all lines. */
export function patch(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { lines, ...changes }: PurchaseOrderPatch,
): Promise<PurchaseOrder> {
  return db.transaction('purchasing: change order', async (tx) => {
    const before = await lockFor(tx, id, 'change')
    const vendor_id =
      changes.vendor_id === undefined
        ? before.vendor_id
        : (await getInUse(tx, changes.vendor_id)).id
    if (changes.location_id !== undefined) await inventory.requireLocations(tx, changes.location_id)
    const replaced = lines === undefined ? null : await toLines(tx, lines)
    if (replaced !== null) {
      await queries.deleteLines(tx, before.id)
      await queries.insertLines(tx, before.id, replaced)
    }
    const { expected_at = before.expected_at } = changes
    await queries.writeTerms(tx, {
      ...before,
      ...changes,
      vendor_id,
      expected_at: readExpected(expected_at),
      subtotal_cents: replaced === null ? before.subtotal_cents : subtotalOf(replaced),
    })
    const changed = [...Object.keys(changes), ...(replaced === null ? [] : ['lines'])]
    await record(tx, actor, 'changed', { id: before.id, status: before.status, changed })
    return get(tx, before.id)
  })
}

/** Orders a draft: its units are expected from now on. */
export const order = (db: TenantDb, actor: audit.Actor, id: string): Promise<PurchaseOrder> =>
  change(db, actor, id, { action: 'order', status: 'ordered', verb: 'ordered' })

/** Ends an order that expects no more units. */
export const close = (db: TenantDb, actor: audit.Actor, id: string): Promise<PurchaseOrder> =>
  change(db, actor, id, { action: 'close', status: 'closed_short', verb: 'closed_short' })

/** Ends an order of which no unit has come. */
export const cancel = (db: TenantDb, actor: audit.Actor, id: string): Promise<PurchaseOrder> =>
  change(db, actor, id, { action: 'cancel', status: 'cancelled', verb: 'cancelled' })

interface StatusChange {
  action: Action
  status: PurchaseOrderState
  verb: string
}

const change = (
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { action, status, verb }: StatusChange,
): Promise<PurchaseOrder> =>
  db.transaction(`purchasing: ${action}`, async (tx) => {
    const before = await lockFor(tx, id, action)
    await queries.setStatus(tx, before.id, status)
    const after = await get(tx, before.id)
    await receiptStock.expect(
      tx,
      after.location_id,
      after.lines.map(({ variant_id, open_quantity }, at) => ({
        variant_id,
        incoming: open_quantity - (before.lines[at]?.open_quantity ?? 0),
      })),
    )
    await record(tx, actor, verb, { id: after.id, status })
    return after
  })
