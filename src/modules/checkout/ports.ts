import type { TenantDb, Tx } from '../../db/database.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import type { GatewayResult } from '../payments/adapters/schema.ts'
import type { PreviewRequest } from './schema.ts'

/** How the order of a renewal ended. */
export type EndedRenewal = { order: OrderRow } & (
  | { kind: 'paid'; items: readonly OrderItem[] }
  /** Without a result the gateway has no record of the charge, or the fraud check has rejected it. */
  | { kind: 'failed'; failure: string; result: GatewayResult | null }
)

/** What checkout asks of modules that stand above it. */
export interface CheckoutPorts {
  /**
   * Writes how a renewal ended to its subscription, in the transaction that ends its order. All rows of the order are
   * locked by then.
   */
  onRenewal(tx: Tx, ended: EndedRenewal): Promise<void>
  /** Keeps a cart with an address for a reminder, where the store wants that. No transaction is open. */
  keepCart(limits: Limits, db: TenantDb, cart: PreviewRequest): Promise<void>
}
