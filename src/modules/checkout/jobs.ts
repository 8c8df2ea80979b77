import type { Database, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { createDueTurns, isAlertDue, takeDue } from '../../platform/idempotency-due.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import { OPERATION_NAMES } from '../operations/table.ts'
import * as attempts from '../payments/attempts.ts'
import { type LateAttempt, watchLate } from './late-replies-money.ts'
import { expireHold, resumeOperation } from './operations-money.ts'
import { expiryTurns, listExpired } from './queries.ts'
import type { CheckoutDeps } from './service.ts'

const turns = createDueTurns(OPERATION_NAMES)

/** Stores of one step. A key that becomes due meanwhile waits for its end. */
const STORES_PER_STEP = 100

/** A slow gateway keeps its own stores waiting, and few others. */
const STORES_AT_ONCE = 8
const CLAIMS_PER_STORE = 10

/** An operation that a fault of our own interrupts is resumed after this. It alerts once a day. */
const FAULT_SECONDS = 60

/** What the loops need: the checkout's deps, and the database as fd_worker. */
export interface JobDeps extends CheckoutDeps {
  database: Database
}

/**
 * The reconciler: resumes operations whose process stopped or whose outcome was unknown, as the
 * same key would. Counts them.
 */
export async function reconcile(deps: JobDeps, signal?: AbortSignal): Promise<number> {
  const stores = await turns.next(deps.database.global, STORES_PER_STEP)
  return forEachStore(stores, (tenant) => reconcileStore(deps, deps.database.tenant(tenant)), {
    signal,
    concurrency: STORES_AT_ONCE,
  })
}

async function reconcileStore(deps: JobDeps, db: TenantDb): Promise<number> {
  const claims = await takeDue(db, { operations: OPERATION_NAMES, limit: CLAIMS_PER_STORE })
  await Promise.all(claims.map((claim) => resumeOne(deps, db, claim)))
  return claims.length
}

async function resumeOne(deps: JobDeps, db: TenantDb, claim: idempotency.WonClaim): Promise<void> {
  try {
    if (claim.recoveryPoint === idempotency.STARTED) await idempotency.freeKey(db, claim)
    else await resumeOperation(deps, db, claim)
  } catch (error) {
    // Another process has it, or the outcome is still unknown and the key waits for its next
    // attempt.
    if (error instanceof LeaseLostError || isInProgress(error)) return
    const lost = await idempotency.postpone(db, claim, FAULT_SECONDS).catch((failure) => failure)
    if (lost instanceof LeaseLostError) return
    // A database that does not answer cannot say when the last alert was: then this alerts.
    if (!(await isAlertDue(db, claim).catch(() => true))) return
    const { operation, resourceId } = claim
    const about = { err: error, tenant: db.tenant, operation, resource_id: resourceId }
    deps.onAlert(about, 'an interrupted operation could not be resumed')
  }
}

const isInProgress = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'idempotency_in_progress'

/** Attempts closed as `not_found` that are looked up at once. */
const LATE_SLOTS = 10

export async function watchLateApprovals(deps: JobDeps, signal?: AbortSignal): Promise<number> {
  if (signal?.aborted) return 0
  const due = await attempts.lateQueue.claimFairly(deps.database, { slots: LATE_SLOTS })
  await settleAll(due.map((late) => watchOne(deps, late)))
  return due.length
}

/**
 * A fault of our own postpones the lookup like a gateway that does not answer. It alerts once a
 * day.
 */
async function watchOne(deps: JobDeps, late: LateAttempt): Promise<void> {
  try {
    await watchLate(deps, deps.database, late)
  } catch (error) {
    if (error instanceof LeaseLostError) return
    const db = deps.database.tenant(late.tenant_ref)
    await attempts.postponeLookup(db, late)
    if (!(await attempts.isAlertDue(db, late.id))) return
    const about = { err: error, tenant: db.tenant, order_id: late.order_id, attempt_id: late.id }
    deps.onAlert(about, 'a payment without a record at its gateway could not be looked up again')
  }
}

const EXPIRED_AT_ONCE = 10

/**
 * Cancels held orders whose authorisation has lapsed. An order that cannot be cancelled now lets
 * others go first, so that a gateway that does not answer holds up no other store.
 */
export async function expireAuthorizations(deps: JobDeps, signal?: AbortSignal): Promise<number> {
  if (signal?.aborted) return 0
  const { database } = deps
  const stores = await expiryTurns.next(database.global, EXPIRED_AT_ONCE)
  const perStore = Math.ceil(EXPIRED_AT_ONCE / Math.max(1, stores.length))
  const listed = stores.map(({ tenant_ref }) => listExpired(database.tenant(tenant_ref), perStore))
  const expired = (await Promise.all(listed)).flat()
  const ended = await settleAll(
    expired.map(({ tenant_ref, order_id }) =>
      expireHold(deps, database.tenant(tenant_ref), order_id),
    ),
  )
  return ended.filter((isEnded) => isEnded).length
}

/** Waits for all, and then throws the first fault, which the loop logs. */
async function settleAll<T>(work: Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work)
  const failed = settled.find(
    (each) => each.status === 'rejected' && !(each.reason instanceof LeaseLostError),
  )
  if (failed?.status === 'rejected') throw failed.reason
  return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
}
