import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody, readEach } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import type { Page } from '../../kernel/page.ts'
import type * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as receiptStock from '../inventory/receipt-stock.ts'
import { refuse } from './errors.ts'
import { setStatus } from './queries.ts'
import * as queries from './receipt-queries.ts'
import type {
  PurchaseLine,
  PurchaseOrder,
  PurchaseOrderState,
  Receipt,
  ReceivedLine,
  ReceivedTotals,
} from './schema.ts'
import { get, lockFor, record } from './service.ts'

/**
 * Receipts. A receipt names the totals received so far, which only grow: the same receipt sent twice adds nothing
 * the second time, even if the first answer was lost.
 */

/** The units that a receipt adds to a line. */
interface Added {
  line: PurchaseLine
  added: number
  rejected: number
  reason: string | null
}

/** The most receipts of an order: more deliveries than any order has. It bounds receiving unit by unit. */
const RECEIPTS_MAX = 1_000

export async function listReceipts(db: Db, id: string, page: Page) {
  const order = await get(db, id)
  const { rows, shown } = await queries.listReceipts(db, order.id, page)
  return { receipts: rows, ...shown }
}

interface Received {
  purchase_order: PurchaseOrder
  /** Null if nothing was added. */
  receipt: Receipt | null
  lines: ReceivedLine[]
}

export function receive(
  db: TenantDb,
  { actor, claim }: { actor: audit.Actor; claim: idempotency.WonClaim },
  id: string,
  request: ReceivedTotals,
): Promise<idempotency.StoredAnswer> {
  return db.transaction('purchasing: receive', async (tx) => {
    const order = await lockFor(tx, id, 'receive')
    const named = toAdded(order, request)
    const grown = named.filter(({ added, rejected }) => added + rejected > 0)
    const receipt_id = grown.length === 0 ? null : await write(tx, actor, order, grown)
    const purchase_order = await get(tx, order.id)
    const received: Received = {
      purchase_order,
      receipt: receipt_id === null ? null : await queries.getReceipt(tx, receipt_id),
      lines: named.map((each) => toReceived(each, purchase_order)),
    }
    return idempotency.finish(tx, claim, 200, JSON.stringify(received))
  })
}

/** Returns the named lines with the units that are added to them, or refuses impossible totals. */
function toAdded(order: PurchaseOrder, { lines }: ReceivedTotals): Added[] {
  const ids = lines.map(({ line_id }) => line_id.toLowerCase())
  if (new Set(ids).size < ids.length) throw invalidBody('lines', 'must name each line once')
  const totals = readEach(lines, ({ quantity, rejected_quantity, reason = null }, at) => {
    const line = order.lines.find((each) => each.id === ids[at])
    if (line === undefined) {
      throw invalidBody(`lines.${at}.line_id`, 'must be a line of this purchase order')
    }
    return { line, quantity, rejected: rejected_quantity ?? line.rejected_quantity, reason }
  })
  const shrunk = totals.filter(
    ({ line, quantity, rejected }) =>
      quantity < line.received_quantity || rejected < line.rejected_quantity,
  )
  if (shrunk.length > 0) {
    throw refuse('receipt_decreased', {
      body: {
        lines: shrunk.map(({ line, quantity }) => ({ ...briefOf(line), requested: quantity })),
      },
    })
  }
  const over = totals.filter(
    ({ line, quantity, rejected }) => quantity + rejected > mostOf(order, line),
  )
  if (over.length > 0) {
    const excess = over.map(({ line, quantity, rejected }) => ({
      ...briefOf(line),
      requested: quantity + rejected,
      most: mostOf(order, line),
    }))
    throw refuse('exceeds_ordered', { body: { lines: excess } })
  }
  return totals.map(({ line, quantity, rejected, reason }) => ({
    line,
    added: quantity - line.received_quantity,
    rejected: rejected - line.rejected_quantity,
    reason,
  }))
}

const briefOf = ({ id, sku, quantity, received_quantity, rejected_quantity }: PurchaseLine) => ({
  line_id: id,
  sku,
  quantity,
  received_quantity,
  rejected_quantity,
})

/** How many units of a line may come at most, accepted or not. */
const mostOf = ({ over_receipt_percent }: PurchaseOrder, { quantity }: PurchaseLine): number =>
  Math.floor((quantity * (100 + over_receipt_percent)) / 100)

async function write(
  tx: Tx,
  actor: audit.Actor,
  order: PurchaseOrder,
  grown: readonly Added[],
): Promise<string> {
  const { number } = await queries.lastReceipt(tx, order.id)
  if (number >= RECEIPTS_MAX) {
    throw new ApiError('limit_reached', {
      message: `A purchase order has at most ${RECEIPTS_MAX} receipts.`,
      body: { limit: 'receipts_per_order', max: RECEIPTS_MAX, used: number },
    })
  }
  const status = statusAfter(order, grown)
  await receiptStock.receive(tx, {
    location_id: order.location_id,
    purchase_order_id: order.id,
    actor: actor.name,
    units: grown.map(({ line, added, rejected }) => ({
      variant_id: line.variant_id,
      incoming: openAfter(line, added + rejected) - line.open_quantity,
      received: added,
      cost_cents: added * line.unit_cost_cents,
    })),
  })
  const units = await withPositions(tx, grown)
  const receipt = { id: newId(), purchase_order_id: order.id, number: number + 1 }
  await queries.addToLines(tx, units)
  await queries.insertReceipt(tx, { ...receipt, created_by: actor.name }, units)
  await setStatus(tx, order.id, status)
  await record(tx, actor, 'received', {
    id: order.id,
    status,
    receipt_id: receipt.id,
    lines: grown.map(({ line, added, rejected }) => ({ line_id: line.id, added, rejected })),
  })
  return receipt.id
}

const openAfter = ({ open_quantity }: PurchaseLine, come: number): number =>
  Math.max(0, open_quantity - come)

/** Returns the status after a receipt. An order is received once no line expects more units. */
function statusAfter({ lines }: PurchaseOrder, grown: readonly Added[]): PurchaseOrderState {
  const come = new Map(grown.map(({ line, added, rejected }) => [line.id, added + rejected]))
  const isDone = lines.every((line) => openAfter(line, come.get(line.id) ?? 0) === 0)
  return isDone ? 'received' : 'partially_received'
}

/** Adds the positions of the added units among all units of their variant, for costs that become known later. */
async function withPositions(tx: Tx, grown: readonly Added[]): Promise<queries.AddedUnits[]> {
  const costs = await receiptStock.lockCosts(
    tx,
    grown.map(({ line }) => line.variant_id),
  )
  const arrived = new Map(costs.map((cost) => [cost.variant_id, cost.arrived]))
  return grown.map(({ line, added, rejected, reason }) => ({
    line_id: line.id,
    added,
    rejected,
    reason,
    arrived_after: added > 0 ? (arrived.get(line.variant_id) ?? null) : null,
  }))
}

function toReceived({ line, added, rejected }: Added, { lines }: PurchaseOrder): ReceivedLine {
  const after = lines.find(({ id }) => id === line.id) as PurchaseLine
  return {
    line_id: line.id,
    variant_id: line.variant_id,
    received_quantity: after.received_quantity,
    rejected_quantity: after.rejected_quantity,
    open_quantity: after.open_quantity,
    added,
    added_rejected: rejected,
  }
}
