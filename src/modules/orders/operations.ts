import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as audit from '../../platform/audit.ts'
import type { WonClaim } from '../../platform/idempotency.ts'
import * as queries from './operation-queries.ts'
import type { ChargeRow, OrderRow } from './schema.ts'
import { type Action, type Wait, waitOf } from './status.ts'

/** Who asks for a change of an order, under which key. */
export interface Asked {
  actor: audit.Actor
  claim: WonClaim
}

/** A storefront's server speaks for its shopper. */
const SHOPPER = 'shopper'

/** Whom the order's rows name: nobody in person. */
export const actorOf = ({ name }: audit.Actor): string => (name === 'storefront' ? SHOPPER : name)

/** Whoever ends an operation answers as the one was asked who began it. */
export const isShopper = (actor: string): boolean => actor === SHOPPER

/** Who has asked for an operation, and the claim of whoever ends it. */
export interface By {
  actor: string
  claim: WonClaim
}

/**
 * Puts on record what the store's people or the operator have done to an order, as ids, codes and
 * amounts. What shoppers do, and what happens by itself, stands in the order's timeline.
 */
export async function record(
  tx: Tx,
  { actor: name, claim }: By,
  orderId: string,
  done: { action: string; before?: Record<string, unknown>; after: Record<string, unknown> },
): Promise<void> {
  if (isShopper(name) || name === audit.SYSTEM.name) return
  const actor = { name, correlationId: claim.correlationId ?? null }
  await audit.record(tx, actor, { ...done, entity: `order:${orderId}` })
}

export const busy = () => new ApiError('order_busy', { headers: { 'retry-after': '2' } })

/** All that is under way at an order. */
export function underWayOf(order: OrderRow, pendingRefunds = 0): Wait[] {
  const isPaying = order.captured_cents === 0 && ['pending', 'unknown'].includes(order.payment)
  const waits: Wait[] = []
  if (isPaying && order.status === 'pending_payment') waits.push('payment')
  if (order.busy) waits.push('operation')
  if (pendingRefunds > 0) waits.push('refund')
  return waits
}

/** Nothing begins while something is under way that it has to wait for. */
export function requireFree(order: OrderRow, action: Action, pendingRefunds = 0): void {
  if (waitOf(action, underWayOf(order, pendingRefunds)) !== undefined) throw busy()
}

/** What an operation means to do, kept with the order until it has ended. */
export interface Plan {
  id: string
  kind: string
  actor: string
}

export async function occupy(tx: Tx, order: OrderRow, plan: Plan): Promise<void> {
  if ((await queries.occupy(tx, order.id, plan.id, { ...plan })) === 0) throw busy()
}

export const vacate = (tx: Tx, order: OrderRow, { id }: Plan): Promise<number> =>
  queries.vacate(tx, order.id, id)

/** The operation that is under way; null where there is none of that kind. */
export function planOf<P extends Plan>(order: OrderRow, kind: P['kind']): P | null {
  const plan = order.operation as P | null
  return plan?.kind === kind ? plan : null
}

/** Whoever names no charge may mean any. */
export function requireCharge(
  charges: readonly ChargeRow[],
  charge_id: string | null | undefined,
): void {
  if (!charge_id || charges.some((each) => each.charge_id === charge_id.toLowerCase())) return
  throw new ApiError('charge_not_found')
}
