import type { Tx } from '../../db/database.ts'
import type { ChargeRow, OrderRow } from '../orders/schema.ts'
import { busy } from '../orders/service.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'

/**
 * The plan of a running operation, stored with its order until the operation ends. An order has one plan at a time,
 * so that edits, cancellations and releases exclude each other.
 */
export interface Plan {
  id: string
  kind: string
  /** The actor who began the operation. */
  actor: string
}

export async function beginPlan(tx: Tx, order: OrderRow, plan: Plan): Promise<void> {
  if ((await queries.beginOperation(tx, order.id, plan.id, { ...plan })) === 0) throw busy()
}

export const endPlan = (tx: Tx, order: OrderRow, { id }: Plan): Promise<number> =>
  queries.endOperation(tx, order.id, id)

/** Returns the running operation's plan, or null if no operation of that kind runs. */
export function findPlan<P extends Plan>(order: OrderRow, kind: P['kind']): P | null {
  const plan = order.operation as P | null
  return plan?.kind === kind ? plan : null
}

export function getPlan<P extends Plan>(order: OrderRow, kind: P['kind']): P {
  const plan = findPlan<P>(order, kind)
  if (plan === null) throw new Error(`the order has no ${kind} in progress`)
  return plan
}

/** Refuses a charge that the order does not have. A request that names no charge may mean any. */
export function requireCharge(
  charges: readonly ChargeRow[],
  charge_id: string | null | undefined,
): void {
  if (!charge_id || charges.some((each) => each.charge_id === charge_id.toLowerCase())) return
  throw refuse('charge_not_found')
}
