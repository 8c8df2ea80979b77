import type { Db, Tx } from '../../db/database.ts'
import type { OrderRow } from '../orders/schema.ts'
import type { LabelOfParcel } from './correct-schema.ts'

/**
 * What changes of an order ask of modules that stand above them. A function with a `Tx` is called in the transaction
 * that changes the order.
 */
export interface OrderChangePorts {
  /** Cancels the parcels of an order that are not shipped, and returns the order as it is then. */
  cancelParcels: (tx: Tx, order: OrderRow, actor: string) => Promise<OrderRow>
  /** The shipping labels of an order that carry its address and have not left. */
  listLabels: (db: Db, order_id: string) => Promise<LabelOfParcel[]>
  /** Gives up these labels if the merchant allows it, and refuses otherwise. */
  giveUpLabels: (tx: Tx, order: OrderRow, choice: { isAllowed: boolean }) => Promise<void>
  /**
   * Locks the order that paid for the order of an exchange, which is not locked yet. Returns a function that moves the
   * money back to the return once the order is cancelled; null for any other order.
   */
  openExchange: (
    tx: Tx,
    order: Pick<OrderRow, 'id' | 'source'>,
  ) => Promise<((cancelled: OrderRow, actor: string) => Promise<OrderRow>) | null>
  /**
   * Cancels the subscriptions that an order started, and returns them. If an order that was to renew one is
   * cancelled before it was paid, its cycle is given up.
   */
  endSubscriptions: (tx: Tx, order: OrderRow, reason: string) => Promise<readonly { id: string }[]>
  /** Lists the orders of exchanges that wait for their shopper to pay, by the refunds that reserve their money. */
  listWaitingExchanges: (tx: Tx, refund_ids: readonly string[]) => Promise<readonly string[]>
}
