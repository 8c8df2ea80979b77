import type { Tx } from '../../db/database.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'

interface Change {
  action: string
  entity: string
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

/** Records a change of the catalog in the audit log, and notifies the live caches of all processes. */
export async function recordChange(tx: Tx, actor: audit.Actor, change: Change): Promise<void> {
  await Promise.all([audit.record(tx, actor, change), notifyChanged(tx)])
}
