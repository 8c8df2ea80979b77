import type { Database } from '../../db/database.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import { applyFinding } from './check.ts'
import type { FindTxt } from './lookup.ts'
import * as queries from './queries.ts'
import type { CheckSubject } from './schema.ts'

/** Names asked about at the same time. A name server that is silent holds its place for seconds. */
const SLOTS = 20
const PER_TENANT = 5

/**
 * One step of the re-check loop, as fd_worker: pending names become active without anybody pressing
 * a button, active ones are looked after. Answers how many were asked about.
 */
export async function recheckDue(
  database: Database,
  findTxt: FindTxt,
  signal?: AbortSignal,
): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queries.checks.claimFairly(database, { slots: SLOTS, perTenant: PER_TENANT })
  const rechecks = await Promise.allSettled(due.map((each) => recheck(database, findTxt, each)))
  for (const each of rechecks) {
    // Whoever took the name over writes what it found.
    if (each.status === 'rejected' && !(each.reason instanceof LeaseLostError)) throw each.reason
  }
  return due.length
}

/** The question lasts seconds at most, and the lease 30, so that it needs no renewal. */
async function recheck(database: Database, findTxt: FindTxt, due: CheckSubject & Lease) {
  const { name, value } = due.verification
  const finding = await findTxt(name, value)
  await database.tenant(due.tenant_ref).transaction('domains: recheck', async (tx) => {
    // Before the row is touched: whoever changes a domain takes this lock and then its row.
    await queries.lockDomains(tx)
    await queries.endCheck(tx, due)
    await applyFinding(tx, SYSTEM, due, finding)
  })
}
