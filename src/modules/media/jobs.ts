import type { Database } from '../../db/database.ts'
import type { BlobStore } from '../../platform/blobs.ts'
import type { Lease } from '../../platform/leases.ts'
import { formKey } from './forms.ts'
import * as queries from './queries.ts'
import type { Leftover } from './schema.ts'
import { keyOf } from './service.ts'

/** Assets taken away at the same time. Nobody waits for it. */
const SLOTS = 10

/**
 * One step of the collector, as fd_worker: takes away assets that were deleted 30 days ago, and what
 * uploads left that never came to an end. Answers how many it looked at.
 */
export async function collectDue(
  database: Database,
  blobs: BlobStore,
  signal?: AbortSignal,
): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queries.leftovers.claimFairly(database, { slots: SLOTS })
  const done = await Promise.allSettled(due.map((each) => collect(database, blobs, each)))
  // What failed is due again when its lease ends; a fault that lasts shows in the log.
  for (const each of done) if (each.status === 'rejected') throw each.reason
  return due.length
}

/** The row goes last: a collector that dies on the way is followed by one that does the same again. */
async function collect(database: Database, blobs: BlobStore, due: Leftover & Lease) {
  const db = database.tenant(due.tenant_ref)
  if (!(await queries.beginCollecting(db, due))) return queries.leftovers.release(db, due)
  const forms = await queries.listForms(db, due.sha256)
  const keys = [keyOf(db.tenant, due), ...forms.map((form) => formKey(db.tenant, form))]
  await Promise.all(keys.map((key) => blobs.delete(key)))
  await queries.endCollecting(db, due)
}
