import type { OnTestFlag } from './annotate.ts'
import type { ExplainDeps } from './explain.ts'
import type { Parcels } from './read.ts'

/** What orders ask of modules that stand above them: they are shown together with their parcels and returns. */
export interface OrderPorts extends ExplainDeps, Parcels {
  /** Called in the transaction that sets the test mark of an order, under the lock of the order. */
  onTestFlag: OnTestFlag
}
