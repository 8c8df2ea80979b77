import type { Database } from '../../db/database.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import { freeKey } from '../../platform/idempotency.ts'
import { listDueStores, takeDue } from '../../platform/idempotency-due.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import { ERASE, resume } from './erase.ts'
import { ExportTooLargeError, makeCopy } from './export.ts'
import * as queries from './privacy-queries.ts'

/** Copies made at the same time; each may hold some megabytes. */
const SLOTS = 2

/** After so many tries it is not the moment that is to blame. */
const ATTEMPTS_MAX = 5
const RETRY_SECONDS = 60

/** Erasures taken over from one store at a time. */
const ERASURES_AT_ONCE = 4

export interface PrivacyKeys {
  exportKey: Buffer
  customersKey: Buffer
}

/** One step of the export loop, as fd_worker. Answers how many copies were asked for. */
export async function exportDue(
  database: Database,
  keys: PrivacyKeys,
  signal?: AbortSignal,
): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queries.exportQueue.claimFairly(database, { slots: SLOTS, perTenant: 1 })
  await Promise.all(due.map((each) => makeOne(database, keys, each)))
  return due.length
}

interface DueExport extends Lease {
  customer_ref: string
  attempt_count: number
}

async function makeOne(database: Database, keys: PrivacyKeys, due: DueExport): Promise<void> {
  const db = database.tenant(due.tenant_ref)
  try {
    const sealed = await queries.exportQueue.runWithLease(db, due, () => makeCopy(db, keys, due))
    await queries.finishExport(db, due, sealed)
  } catch (error) {
    // Whoever took it over makes the copy; whoever erased the customer wanted none.
    if (error instanceof LeaseLostError) return
    if (error instanceof ExportTooLargeError) return queries.failExport(db, due, 'too_large')
    if (due.attempt_count + 1 >= ATTEMPTS_MAX) return queries.failExport(db, due, 'unavailable')
    await queries.postponeExport(db, due, RETRY_SECONDS)
  }
}

/** Deletes copies that nobody may read any more. Answers how many. */
export async function forgetExports(database: Database): Promise<number> {
  const stores = await queries.listTenantsWithExpired(database.global)
  return forEachStore(stores, (tenant) => queries.deleteExpired(database.tenant(tenant)))
}

/** Finishes erasures that a process began and left, whatever becomes of one. Answers how many. */
export async function resumeErasures(
  database: Database,
  { customersKey }: Pick<PrivacyKeys, 'customersKey'>,
  signal?: AbortSignal,
): Promise<number> {
  const tenants = await listDueStores(database.global, [ERASE])
  const resumeSome = async (tenant: string) => {
    const db = database.tenant(tenant)
    const taken = await takeDue(db, { operations: [ERASE], limit: ERASURES_AT_ONCE })
    return forEachDue(taken, async (claim) => {
      // One that never began has done nothing, and is its caller's to repeat.
      if (!(await freeKey(db, claim))) await resume({ customersKey }, db, claim)
      return 1
    })
  }
  const stores = tenants.map((tenant_ref) => ({ tenant_ref }))
  return forEachStore(stores, resumeSome, { signal })
}
