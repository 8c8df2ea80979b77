import type { WonClaim } from '../../platform/idempotency.ts'
import type { WaitingOrder } from '../orders/schema.ts'
import type { Gateway, Source } from '../payments/service.ts'
import type { CheckoutRequest, Risk } from './schema.ts'

/** A request with what was read from it at the edge. */
export interface Placing {
  request: CheckoutRequest
  /** Null where nothing was given to charge. */
  source: Exclude<Source, { vault_id: string }> | null
}

/** An order that waits for its payment, and what is to be charged for it. */
export interface Begun {
  state: 'begun'
  claim: WonClaim
  waiting: WaitingOrder
  risk: Risk
  /** Null: the other tenders cover it. */
  charge: { attempt_id: string; amount_cents: number; currency: string; gateway: Gateway } | null
  request: CheckoutRequest
}
