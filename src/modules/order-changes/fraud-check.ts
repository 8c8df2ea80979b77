import type { TenantDb } from '../../db/database.ts'
import { requireCardAdmitted } from '../fraud/admission.ts'
import { countFailure } from '../fraud/velocity.ts'
import type { ChargeRow, OrderRow } from '../orders/schema.ts'
import type { Source } from '../payments/adapters/gateway.ts'
import type { OrderChangeDeps } from './deps.ts'

/**
 * Checks the charge of an edit like a checkout, so that a ban or a velocity limit cannot be avoided
 * by editing an order. Returns the bans with the decision `review`.
 */
export async function requireAdmitted(
  deps: OrderChangeDeps,
  db: TenantDb,
  order: OrderRow,
  source: Source,
): Promise<string[]> {
  const card = 'card' in source ? source.card : null
  const { customer_ref, email, ip, ship_to } = order
  const facts = {
    customer_ref,
    email,
    ip,
    address: ship_to,
    card_bin: card?.bin ?? null,
    card_fingerprint: card?.fingerprint(deps.keys.fingerprint) ?? null,
  }
  return requireCardAdmitted(deps, db, facts, order.id)
}

/** Counts a declined charge against the shopper's next attempts, in any checkout or edit. */
export const countDecline = (
  { limits }: Pick<OrderChangeDeps, 'limits'>,
  db: TenantDb,
  { customer_ref, email, ip }: OrderRow,
  { card_fingerprint }: Pick<ChargeRow, 'card_fingerprint'>,
): Promise<void> =>
  countFailure(limits, db.tenant, { customer_ref, email, ip, card_fingerprint })
    // A limiter that cannot be reached loses the count, and nothing else.
    .catch(() => {})
