import type { Database, TenantDb } from '../db/database.ts'
import { ApiError } from '../errors.ts'
import { type DueWork, runEach } from './due-work.ts'
import { forEachStore } from './for-each-store.ts'
import { freeKey, postpone, STARTED, type WonClaim } from './idempotency.ts'
import { claimDue, createDueTurns, hastenAll, isAlertDue, nextDueKey } from './idempotency-due.ts'
import { LeaseLostError } from './leases.ts'

/** How many stores one step has. A key that becomes due meanwhile waits until the step ends. */
const STORES_PER_STEP = 100

/** How many stores are reconciled at a time: a slow external service delays its own stores, and few others. */
const STORES_AT_ONCE = 8
const CLAIMS_PER_STORE = 10

/**
 * After how many seconds an operation is resumed that a fault of our own has interrupted. The fault alerts once a
 * day.
 */
const FAULT_SECONDS = 60

export interface ReconcilerDeps {
  /** As fd_worker. */
  database: Database
  /** Continues an operation from its recovery point, as the same key would. */
  resume: (db: TenantDb, claim: WonClaim) => Promise<unknown>
  onAlert: (alert: Record<string, unknown>, message: string) => void
}

/**
 * Makes a reconciler, as the step of a loop: it resumes operations whose process stopped or whose outcome was
 * unknown, as another request with the same key would. The step returns how many it resumed.
 */
export function createReconciler(operations: readonly string[]) {
  const turns = createDueTurns(operations)
  return async (deps: ReconcilerDeps, signal?: AbortSignal): Promise<number> => {
    const stores = await turns.next(deps.database.due, STORES_PER_STEP)
    const reconcileStore = async (tenant: string) => {
      const db = deps.database.tenant(tenant)
      const claims = await claimDue(db, { operations, limit: CLAIMS_PER_STORE })
      await Promise.all(claims.map((claim) => resumeOne(deps, db, claim)))
      return claims.length
    }
    return forEachStore(stores, reconcileStore, { signal, concurrency: STORES_AT_ONCE })
  }
}

/** The operations of a reconciler as due work of one store, whose ladder of attempts follows the store's clock. */
export const dueOperations = (
  kind: string,
  operations: readonly string[],
  deps: Omit<ReconcilerDeps, 'database'>,
): DueWork => ({
  kind,
  nextDue: (db) => nextDueKey(db, operations),
  shorten: (db, byMs) => hastenAll(db, operations, byMs),
  async runDue(db, signal) {
    const claims = await claimDue(db, { operations, limit: CLAIMS_PER_STORE })
    const resume = async (claim: WonClaim) => {
      await resumeOne(deps, db, claim)
      return { id: claim.resourceId, outcome: `${claim.operation} resumed` }
    }
    // Claims of a process that is ending become due when their lease expires.
    return runEach(claims, resume, signal)
  },
})

async function resumeOne(
  { resume, onAlert }: Omit<ReconcilerDeps, 'database'>,
  db: TenantDb,
  claim: WonClaim,
): Promise<void> {
  try {
    if (claim.recoveryPoint === STARTED) await freeKey(db, claim)
    else await resume(db, claim)
  } catch (error) {
    // Another process has claimed it, or the outcome is still unknown and the key waits for its next try.
    if (error instanceof LeaseLostError || isInProgress(error)) return
    const lost = await postpone(db, claim, FAULT_SECONDS).catch((failure) => failure)
    if (lost instanceof LeaseLostError) return
    // A database that does not respond cannot say when the last alert was; in that case this alerts.
    if (!(await isAlertDue(db, claim).catch(() => true))) return
    const { operation, resourceId } = claim
    const about = { err: error, tenant: db.tenant, operation, resource_id: resourceId }
    onAlert(about, 'an interrupted operation could not be resumed')
  }
}

const isInProgress = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'idempotency_in_progress'
