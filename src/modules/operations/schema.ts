import type * as audit from '../../platform/audit.ts'
import type { WonClaim } from '../../platform/idempotency.ts'
import type { GatewayResult } from '../payments/schema.ts'

/** What became of one attempt at a gateway. */
export type GatewayReply =
  | { kind: 'approved' | 'refused'; attempt_id: string; result: GatewayResult }
  /** The gateway has no record of the attempt. */
  | { kind: 'not_found'; attempt_id: string }
  /** The gateway has not answered; only a later lookup can tell. */
  | { kind: 'unknown'; attempt_id: string }

/** Who asks for an operation, and the claim on the key that they sent. */
export interface Caller {
  actor: audit.Actor
  claim: WonClaim
}
