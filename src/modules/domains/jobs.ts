import type { Database } from '../../db/database.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import * as queries from './queries.ts'
import type { CheckSubject } from './schema.ts'
import type { FindTxt } from './txt-lookup.ts'
import { applyDnsResult, type TlsFront } from './verification.ts'

/** Hostnames checked at the same time. A silent name server takes seconds. */
const SLOTS = 20
const PER_TENANT = 5

/**
 * Takes one step of the re-check loop, as fd_worker: activates pending hostnames whose record exists, and
 * checks active ones again. Returns how many it checked.
 */
export async function recheckDue(
  database: Database,
  findTxt: FindTxt,
  { signal, asksForTls = false }: { signal?: AbortSignal } & Partial<TlsFront> = {},
): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queries.checks.claimFairly(database, { slots: SLOTS, perTenant: PER_TENANT })
  const rechecks = await Promise.allSettled(
    due.map((each) => recheck(database, findTxt, { due: each, asksForTls })),
  )
  for (const each of rechecks) {
    // After a lost lease, the process that has the new lease writes its own result.
    if (each.status === 'rejected' && !(each.reason instanceof LeaseLostError)) throw each.reason
  }
  return due.length
}

/** A lookup takes seconds and the lease 30, so that it needs no renewal. */
interface Recheck extends TlsFront {
  due: CheckSubject & Lease
}

async function recheck(database: Database, findTxt: FindTxt, { due, asksForTls }: Recheck) {
  const { name, value } = due.verification
  const result = await findTxt(name, value)
  await database.tenant(due.tenant_ref).transaction('domains: recheck', async (tx) => {
    // Taken before the row is changed: every change of a domain takes this lock and then its row.
    await queries.lockDomains(tx)
    await queries.endCheck(tx, due)
    await applyDnsResult(tx, SYSTEM, due, { result, asksForTls })
  })
}
