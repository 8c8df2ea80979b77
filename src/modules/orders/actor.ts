import type { Tx } from '../../db/database.ts'
import * as audit from '../../platform/audit.ts'
import type { WonClaim } from '../../platform/idempotency.ts'

/** The actor of a storefront's server, which acts for its shopper. */
const SHOPPER = 'shopper'

/** Returns the actor's name that the rows of an order show. It names no person. */
export const actorOf = ({ name }: audit.Actor): string => (name === 'storefront' ? SHOPPER : name)

export const isShopper = (actor: string): boolean => actor === SHOPPER

/** The actor who began an operation, and the claim of the process that ends it. */
export interface Acting {
  actor: string
  claim: WonClaim
}

/**
 * Writes to the audit log what merchants and operators did to an order, as ids, codes and amounts.
 * Acts of shoppers and of the system are in the order's timeline only.
 */
export async function auditOrder(
  tx: Tx,
  { actor: name, claim }: Acting,
  orderId: string,
  done: { action: string; before?: Record<string, unknown>; after: Record<string, unknown> },
): Promise<void> {
  if (isShopper(name) || name === audit.SYSTEM.name) return
  const actor = { name, correlationId: claim.correlationId ?? null }
  await audit.record(tx, actor, { ...done, entity: `order:${orderId}` })
}
