import type { Tx } from '../../db/database.ts'
import type { Limits } from '../../platform/limits.ts'
import type { OperationDeps } from '../operations/service.ts'
import type { OrderRow } from '../orders/schema.ts'
import type { TaxProvider } from '../pricing/tax.ts'

/** What refunds, cancellations and edits need. */
export interface OrderChangeDeps extends OperationDeps {
  tax: TaxProvider | null
  limits: Pick<Limits, 'addHits'>
  /** Attempts per minute of one shopper. */
  velocityLimit: number
  keys: {
    /** Makes one card recognisable without being readable. */
    fingerprint: Buffer
  }
  /** Cancels the parcels of an order that are not shipped, and returns the order as it is then. */
  cancelParcels: (tx: Tx, order: OrderRow, actor: string) => Promise<OrderRow>
  /**
   * Locks what the order of an exchange took its money from, and answers what gives it back to the
   * return once the order is cancelled. Null for any other order.
   */
  openExchange: (
    tx: Tx,
    order: OrderRow,
    actor: string,
  ) => Promise<((cancelled: OrderRow) => Promise<OrderRow>) | null>
  /**
   * Cancels the subscriptions that an order started, and returns them. An order that was to renew one and is cancelled
   * before it was paid gives its cycle up.
   */
  endSubscriptions: (tx: Tx, order: OrderRow, reason: string) => Promise<readonly { id: string }[]>
}
