import type { Limits } from '../../platform/rate-limits.ts'
import type { OperationDeps } from '../operations/service.ts'
import type { TaxProvider } from '../pricing/tax.ts'
import type { OrderChangePorts } from './ports.ts'

/** The dependencies of refunds, cancellations and edits. */
export interface OrderChangeDeps extends OperationDeps, OrderChangePorts {
  tax: TaxProvider | null
  limits: Pick<Limits, 'addHits'>
  /** Attempts per minute of one shopper. */
  velocityLimit: number
  keys: {
    /** Identifies one card without making its number readable. */
    fingerprint: Buffer
  }
}
