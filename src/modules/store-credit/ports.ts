import type { Tx } from '../../db/database.ts'

/** What store credit asks of modules that stand above it. */
export interface StoreCreditPorts {
  /** Throws if the store has no such order. Called before the credit is locked. */
  requireOrder(tx: Tx, order_id: string): Promise<unknown>
}
