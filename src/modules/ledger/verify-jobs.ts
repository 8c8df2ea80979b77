import type { Logger } from 'pino'
import type { Database } from '../../db/database.ts'
import { machineNow } from '../../kernel/clock.ts'
import { DAY_MS } from '../../kernel/time.ts'
import { forEachDue } from '../../platform/for-each-store.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import type { Verified } from './schema.ts'
import { advance } from './verified.ts'
import * as queries from './verified-queries.ts'

/** Stores of one step, and how many are verified at the same time: verifying must not crowd out selling. */
const SLOTS = 16
const STORES_AT_ONCE = 2

export interface VerificationDeps {
  /** As fd_worker. */
  database: Database
  key: Buffer
  /** Within how many days the whole history of a store is verified again. */
  days: number
  logger: Pick<Logger, 'error' | 'info'>
  /** Gets the figures of a step for the metrics. If absent, they are not computed. */
  onStep?: ((figures: { verified: number; faulty: number }) => void) | undefined
  now?: () => number
}

/**
 * Creates the step of the loop that verifies the ledgers of all stores, as fd_worker. It remembers how far each
 * store was verified, so that it notices a row that is set back or removed. It also remembers which faults it has
 * reported: each is an alert when it is found, and once a day while it lasts.
 */
export function createVerification(deps: VerificationDeps) {
  const { database, key, days, logger, onStep, now: readTime = machineNow } = deps
  const floors = new Map<string, number>()
  const reports = new Map<string, { fault: string; at: number }>()

  const report = (tenant_ref: string, { fault, fault_at }: Verified) => {
    const last = reports.get(tenant_ref)
    if (fault === null) {
      if (reports.delete(tenant_ref)) logger.info({ tenant_ref }, 'the ledger verifies again')
      return
    }
    const found = `${fault} ${fault_at}`
    if (last?.fault === found && readTime() - last.at < DAY_MS) return
    reports.set(tenant_ref, { fault: found, at: readTime() })
    logger.error({ tenant_ref, fault, at: fault_at }, 'the ledger of a store does not verify')
  }

  const verify = async (due: Lease & Verified): Promise<number> => {
    const { tenant_ref, id, lease_token, ...stored } = due
    const db = database.tenant(tenant_ref)
    const floor = floors.get(tenant_ref) ?? 0
    const options = { key, now: readTime(), periodMs: days * DAY_MS, floor }
    const { verified, dueAt, did } = await advance(db, stored, options)
    report(tenant_ref, verified)
    await queries.finish(db, { tenant_ref, id, lease_token }, verified, dueAt)
    if (verified.fault === null) floors.set(tenant_ref, verified.sequence)
    return did
  }

  return async (signal?: AbortSignal): Promise<number> => {
    if (signal?.aborted) return 0
    const due = await queries.verificationQueue.claimFairly(database, {
      slots: SLOTS,
      perTenant: 1,
    })
    // The result of an overtaken worker is dropped: the other worker has verified the same.
    const work = (each: Lease & Verified) =>
      verify(each).catch((error: unknown) => {
        if (error instanceof LeaseLostError) return 0
        throw error
      })
    // The signal does not end it: a claimed store would be due again only after its lease.
    const verified = await forEachDue(due, work, { concurrency: STORES_AT_ONCE })
    onStep?.({ verified, faulty: await queries.countFaulty(database.due) })
    return due.length
  }
}
