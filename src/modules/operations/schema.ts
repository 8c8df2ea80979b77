import type * as audit from '../../platform/audit.ts'
import type { WonClaim } from '../../platform/idempotency.ts'
import type { GatewayResult } from '../payments/adapters/schema.ts'

/** The reply of a gateway to one attempt. */
export type GatewayReply =
  | { kind: 'approved' | 'refused'; attempt_id: string; result: GatewayResult }
  /** The gateway has no record of the attempt. */
  | { kind: 'not_found'; attempt_id: string }
  /** The gateway has not answered; only a later lookup can tell. */
  | { kind: 'unknown'; attempt_id: string }

/** The caller of an operation, and the claim on the key that the caller sent. */
export interface Caller {
  actor: audit.Actor
  claim: WonClaim
}
