import type { TenantDb } from '../../db/database.ts'
import type { WonClaim } from '../../platform/idempotency.ts'
import { cancelHeld, resumeCancel } from '../orders/cancel-money.ts'
import { resumeEdit } from '../orders/edit-money.ts'
import { resumeRefund } from '../orders/refund-money.ts'
import { resume } from './money.ts'
import { putOffExpiry } from './queries.ts'
import { resumeRelease } from './release-money.ts'
import type { CheckoutDeps } from './service.ts'

export type Resume = (deps: CheckoutDeps, db: TenantDb, claim: WonClaim) => Promise<unknown>

/** How each operation is taken up: by the very function that the same key would call. */
export const RESUMES: Readonly<Record<string, Resume>> = {
  checkout: resume,
  release: resumeRelease,
  refund: resumeRefund,
  cancel: resumeCancel,
  edit: resumeEdit,
}

/**
 * Nobody has looked at a held order within the days that its authorisation lasts. Whoever puts it off
 * has it until it is due again: two at once would both ask the gateway to give back what it took.
 */
export async function expireHeld(deps: CheckoutDeps, db: TenantDb, order_id: string) {
  return (await putOffExpiry(db, order_id)) === 0 ? null : endExpired(deps, db, order_id)
}

/** The same, for whoever knows what its gateway did not say. */
export const endExpired = (deps: CheckoutDeps, db: TenantDb, order_id: string) =>
  cancelHeld(deps, db, { order_id, reason: 'expired', actor: 'system' })
