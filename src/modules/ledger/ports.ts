import type { Announce } from '../../platform/announce-once.ts'

/** What the ledger asks of modules that stand above it. */
export interface LedgerPorts {
  /** Told that a store has new numbered journals, in the transaction that numbers them. */
  journalsNumbered: readonly Announce[]
}
