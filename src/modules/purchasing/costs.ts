import type { TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import type { KeepingCaller } from '../../platform/idempotency.ts'
import * as receiptStock from '../inventory/receipt-stock.ts'
import * as queries from './receipt-queries.ts'
import type { LandedCost, NewCost, PurchaseOrder } from './schema.ts'
import { get, lockFor, notAllowed, record } from './service.ts'
import { canSplit, splitCost } from './split-cost.ts'

/** The most late costs of a purchase order: more bills than a delivery has. */
const COSTS_MAX = 100

/**
 * Adds a cost that became known after the goods came. It changes nothing that was written before: the share of
 * units that have left counts as cost of goods sold from now on.
 */
export function addCost(
  db: TenantDb,
  { actor, keep }: KeepingCaller,
  id: string,
  request: NewCost,
): Promise<{ cost: LandedCost; purchase_order: PurchaseOrder }> {
  return db.transaction('purchasing: add cost', async (tx) => {
    const order = await lockFor(tx, id, 'add_cost')
    const { lines } = order
    if (!canSplit(lines, 'quantity')) throw notAllowed(order, { reason: 'nothing_received' })
    if (!canSplit(lines, request.split_by)) {
      throw invalidBody('split_by', `cannot be used: no received unit has a ${request.split_by}`)
    }
    const { number } = await queries.lastCost(tx, order.id)
    if (number >= COSTS_MAX) {
      throw new ApiError('limit_reached', {
        message: `A purchase order has at most ${COSTS_MAX} costs.`,
        body: { limit: 'costs_per_order', max: COSTS_MAX, used: number },
      })
    }
    const variant_ids = lines.map(({ variant_id }) => variant_id)
    const known = await receiptStock.lockCosts(tx, variant_ids)
    const parts = await queries.listParts(tx, order.id)
    const byVariant = new Map(known.map((each) => [each.variant_id, each]))
    const allocations = splitCost({ ...request, lines, parts, known: byVariant })
    const cost = { id: newId(), purchase_order_id: order.id, number: number + 1, ...request }
    await queries.insertCost(tx, { ...cost, created_by: actor.name }, allocations)
    await receiptStock.addCosts(
      tx,
      order.id,
      allocations.filter(({ amount_cents }) => amount_cents > 0),
    )
    const { amount_cents, split_by } = request
    const more = { cost_id: cost.id, amount_cents, split_by }
    await record(tx, actor, 'cost_added', { id: order.id, status: order.status, ...more })
    const purchase_order = await get(tx, order.id)
    const answer = { cost: purchase_order.costs.at(-1) as LandedCost, purchase_order }
    await keep(tx, answer)
    return answer
  })
}
