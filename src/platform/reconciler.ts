import type { Database, TenantDb } from '../db/database.ts'
import { ApiError } from '../errors.ts'
import { type DueWork, runEach } from './due-work.ts'
import { forEachStore } from './for-each-store.ts'
import { freeKey, postpone, STARTED, type WonClaim } from './idempotency.ts'
import { createDueTurns, hastenAll, isAlertDue, nextDueKey, takeDue } from './idempotency-due.ts'
import { LeaseLostError } from './leases.ts'

/** Stores of one step. A key that becomes due meanwhile waits for its end. */
const STORES_PER_STEP = 100

/** A slow service outside keeps its own stores waiting, and few others. */
const STORES_AT_ONCE = 8
const CLAIMS_PER_STORE = 10

/** An operation that a fault of our own interrupts is resumed after this. It alerts once a day. */
const FAULT_SECONDS = 60

export interface ReconcilerDeps {
  /** As fd_worker. */
  database: Database
  /** Continues an operation from its recovery point, as the same key would. */
  resume: (db: TenantDb, claim: WonClaim) => Promise<unknown>
  onAlert: (alert: Record<string, unknown>, message: string) => void
}

/**
 * A reconciler, as the step of a loop: it resumes operations whose process stopped or whose outcome was
 * unknown, as the same key would. Counts them.
 */
export function createReconciler(operations: readonly string[]) {
  const turns = createDueTurns(operations)
  return async (deps: ReconcilerDeps, signal?: AbortSignal): Promise<number> => {
    const stores = await turns.next(deps.database.global, STORES_PER_STEP)
    const reconcileStore = async (tenant: string) => {
      const db = deps.database.tenant(tenant)
      const claims = await takeDue(db, { operations, limit: CLAIMS_PER_STORE })
      await Promise.all(claims.map((claim) => resumeOne(deps, db, claim)))
      return claims.length
    }
    return forEachStore(stores, reconcileStore, { signal, concurrency: STORES_AT_ONCE })
  }
}

/** The same operations as work of one store, whose ladder of attempts follows the store's clock. */
export const dueOperations = (
  kind: string,
  operations: readonly string[],
  deps: Omit<ReconcilerDeps, 'database'>,
): DueWork => ({
  kind,
  nextDue: (db) => nextDueKey(db, operations),
  shorten: (db, byMs) => hastenAll(db, operations, byMs),
  async runDue(db, signal) {
    const claims = await takeDue(db, { operations, limit: CLAIMS_PER_STORE })
    const resume = async (claim: WonClaim) => {
      await resumeOne(deps, db, claim)
      return { id: claim.resourceId, outcome: `${claim.operation} resumed` }
    }
    // Claims that an ending process leaves behind are taken over when their lease expires.
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
    // Another process has it, or the outcome is still unknown and the key waits for its next
    // attempt.
    if (error instanceof LeaseLostError || isInProgress(error)) return
    const lost = await postpone(db, claim, FAULT_SECONDS).catch((failure) => failure)
    if (lost instanceof LeaseLostError) return
    // A database that does not answer cannot say when the last alert was: then this alerts.
    if (!(await isAlertDue(db, claim).catch(() => true))) return
    const { operation, resourceId } = claim
    const about = { err: error, tenant: db.tenant, operation, resource_id: resourceId }
    onAlert(about, 'an interrupted operation could not be resumed')
  }
}

const isInProgress = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'idempotency_in_progress'
