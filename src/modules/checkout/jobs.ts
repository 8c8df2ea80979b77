import type { Database, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { eachStore } from '../../platform/each-store.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { isAlertDue, listStale, takeStale } from '../../platform/idempotency-upkeep.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import * as payments from '../payments/service.ts'
import { watchLate } from './late-money.ts'
import { listExpired } from './queries.ts'
import { expireHeld, RESUMES } from './resume-money.ts'
import type { CheckoutDeps } from './service.ts'

/** Gateways that are slow keep their own stores waiting, and few others. */
const TENANTS_AT_ONCE = 8
const CLAIMS_OF_TENANT = 10

/** What failed for a reason of our own is tried again after this; somebody is told, once a day. */
const TROUBLED_SECONDS = 60

const OPERATIONS = Object.keys(RESUMES)

/** As fd_worker, with what the checkout itself works with. */
export interface JobDeps extends CheckoutDeps {
  database: Database
}

/**
 * Ends what somebody began and left, by the way that the same key would take: a crash, or an outcome
 * that was not known. Answers how much was taken up.
 */
export async function reconcile(deps: JobDeps, signal?: AbortSignal): Promise<number> {
  const tenants = await listStale(deps.database.global, OPERATIONS)
  return eachStore(
    tenants.map((tenant_ref) => ({ tenant_ref })),
    (tenant) => reconcileStore(deps, deps.database.tenant(tenant)),
    { signal, lanes: TENANTS_AT_ONCE },
  )
}

async function reconcileStore(deps: JobDeps, db: TenantDb): Promise<number> {
  const claims = await takeStale(db, { operations: OPERATIONS, limit: CLAIMS_OF_TENANT })
  await Promise.all(claims.map((claim) => takeUp(deps, db, claim)))
  return claims.length
}

async function takeUp(deps: JobDeps, db: TenantDb, claim: idempotency.WonClaim): Promise<void> {
  try {
    if (claim.recoveryPoint === idempotency.STARTED) await idempotency.giveBack(db, claim)
    else await RESUMES[claim.operation]?.(deps, db, claim)
  } catch (error) {
    // Somebody else has it, or the gateway still does not say and the claim waits for the next time.
    if (error instanceof LeaseLostError || isLeft(error)) return
    const renewed = await idempotency.renew(db, claim, TROUBLED_SECONDS).catch((lost) => lost)
    if (renewed instanceof LeaseLostError) return
    // A database that is away cannot say: then it is told once too often.
    if (!(await isAlertDue(db, claim).catch(() => true))) return
    const { operation, resourceId } = claim
    const about = { err: error, tenant: db.tenant, operation, resource_id: resourceId }
    deps.onAlert(about, 'an interrupted operation could not be resumed')
  }
}

const isLeft = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'idempotency_in_progress'

/** Attempts that failed since the gateway knew nothing of them, and are asked about once more. */
const LATE_SLOTS = 10

export async function watchLateApprovals(deps: JobDeps, signal?: AbortSignal): Promise<number> {
  if (signal?.aborted) return 0
  const due = await payments.lateQueue.takeFair(deps.database, { slots: LATE_SLOTS })
  await settleAll(due.map((late) => watchOne(deps, late)))
  return due.length
}

/** What fails for a reason of our own waits as for a gateway that is away; somebody is told, once a day. */
async function watchOne(deps: JobDeps, late: Parameters<typeof watchLate>[2]): Promise<void> {
  try {
    await watchLate(deps, deps.database, late)
  } catch (error) {
    if (error instanceof LeaseLostError) return
    const db = deps.database.tenant(late.tenant_ref)
    await payments.deferCheck(db, late)
    if (!(await payments.isAlertDue(db, late.id))) return
    const about = { err: error, tenant: db.tenant, order_id: late.order_id, attempt_id: late.id }
    deps.onAlert(about, 'a payment without a record at its gateway could not be looked up again')
  }
}

const EXPIRED_AT_ONCE = 10

/**
 * Held orders whose authorisation has run out are cancelled. What cannot be ended now lets others go
 * first: a gateway that is away holds up no other store.
 */
export async function expireAuthorizations(deps: JobDeps, signal?: AbortSignal): Promise<number> {
  if (signal?.aborted) return 0
  const expired = await listExpired(deps.database.global, EXPIRED_AT_ONCE)
  const ended = await settleAll(
    expired.map(({ tenant_ref, order_id }) =>
      expireHeld(deps, deps.database.tenant(tenant_ref), order_id),
    ),
  )
  return ended.filter((each) => each !== null).length
}

/** All are done, whatever becomes of one; a fault is told by the loop. */
async function settleAll<T>(work: Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work)
  const failed = settled.find(
    (each) => each.status === 'rejected' && !(each.reason instanceof LeaseLostError),
  )
  if (failed?.status === 'rejected') throw failed.reason
  return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
}
