import type { Database } from '../../db/database.ts'
import type { BlobStore } from '../../platform/blobs.ts'
import type { Lease } from '../../platform/leases.ts'
import * as queries from './queries.ts'
import { resizedKeyOf } from './resized-images.ts'
import type { CollectableAsset } from './schema.ts'
import { keyOf } from './service.ts'

/** How many assets are removed at the same time. They are few, since no caller waits for it. */
const SLOTS = 10

/**
 * One step of the collector, as fd_worker: removes assets that were deleted 30 days ago and the rows of uploads
 * that never finished. Returns how many assets it looked at.
 */
export async function collectDue(
  database: Database,
  blobs: BlobStore,
  signal?: AbortSignal,
): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queries.collectableAssets.claimFairly(database, { slots: SLOTS })
  const done = await Promise.allSettled(due.map((each) => collect(database, blobs, each)))
  // A failed asset is due again when its lease ends. A lasting fault shows in the log.
  for (const each of done) if (each.status === 'rejected') throw each.reason
  return due.length
}

/** Removes an asset. It deletes the row last: if a collector stops midway, the next one repeats the work. */
async function collect(database: Database, blobs: BlobStore, due: CollectableAsset & Lease) {
  const db = database.tenant(due.tenant_ref)
  if (!(await queries.beginCollecting(db, due))) return queries.collectableAssets.release(db, due)
  const resized = await queries.listResized(db, due.sha256)
  const keys = [keyOf(db.tenant, due), ...resized.map((each) => resizedKeyOf(db.tenant, each))]
  await Promise.all(keys.map((key) => blobs.delete(key)))
  await queries.endCollecting(db, due)
}
