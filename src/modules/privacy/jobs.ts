import type { Database } from '../../db/database.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import { freeKey } from '../../platform/idempotency.ts'
import { claimDue, createDueTurns } from '../../platform/idempotency-due.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import { ERASE, resume } from './erase.ts'
import { createExport, ExportTooLargeError } from './export.ts'
import * as queries from './queries.ts'

/** How many exports are made at the same time; each may hold some megabytes. */
const SLOTS = 2

/** How many attempts an export has before it has failed: the error is then not temporary. */
const ATTEMPTS_MAX = 5
const RETRY_SECONDS = 60

const turns = createDueTurns([ERASE])

/** How many stores have their erasures resumed in one step. */
const STORES_PER_STEP = 20

/** How many erasures of one store are resumed in one step. */
const ERASURES_AT_ONCE = 4

export interface PrivacyKeys {
  exportKey: Buffer
  customersKey: Buffer
}

/** Runs one step of the export loop, as fd_worker. Returns the number of exports that were due. */
export async function makeDueExports(
  database: Database,
  keys: PrivacyKeys,
  signal?: AbortSignal,
): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queries.exportQueue.claimFairly(database, { slots: SLOTS, perTenant: 1 })
  await Promise.all(due.map((each) => makeExport(database, keys, each)))
  return due.length
}

interface DueExport extends Lease {
  customer_ref: string
  attempt_count: number
}

async function makeExport(database: Database, keys: PrivacyKeys, due: DueExport): Promise<void> {
  const db = database.tenant(due.tenant_ref)
  try {
    const sealed = await queries.exportQueue.runWithLease(db, due, () =>
      createExport(db, keys, due),
    )
    await queries.finishExport(db, due, sealed)
  } catch (error) {
    // Another worker has claimed the export, or an erasure has deleted it.
    if (error instanceof LeaseLostError) return
    if (error instanceof ExportTooLargeError) return queries.failExport(db, due, 'too_large')
    if (due.attempt_count + 1 >= ATTEMPTS_MAX) return queries.failExport(db, due, 'unavailable')
    await queries.postponeExport(db, due, RETRY_SECONDS)
  }
}

/** Deletes expired exports. Returns the number of exports. */
export async function deleteExpiredExports(database: Database): Promise<number> {
  const stores = await queries.listStoresWithExpired(database.due)
  return forEachStore(stores, (tenant) => queries.deleteExpired(database.tenant(tenant)))
}

/** Resumes erasures that a process left unfinished; one that fails does not stop the others. */
export async function resumeErasures(
  database: Database,
  deps: Parameters<typeof resume>[0],
  signal?: AbortSignal,
): Promise<number> {
  const stores = await turns.next(database.due, STORES_PER_STEP)
  const resumeSome = async (tenant: string) => {
    const db = database.tenant(tenant)
    const taken = await claimDue(db, { operations: [ERASE], limit: ERASURES_AT_ONCE })
    return forEachDue(taken, async (claim) => {
      // An erasure without a recovery point has changed nothing, and its caller repeats it.
      if (!(await freeKey(db, claim))) await resume(deps, db, claim)
      return 1
    })
  }
  return forEachStore(stores, resumeSome, { signal })
}
