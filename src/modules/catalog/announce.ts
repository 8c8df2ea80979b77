import type { Tx } from '../../db/database.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'

interface Change {
  action: string
  entity: string
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

/** Puts a change of the catalog on record, and tells whoever shows it to the public. */
export async function announce(tx: Tx, actor: audit.Actor, change: Change): Promise<void> {
  await Promise.all([audit.record(tx, actor, change), notifyChanged(tx)])
}
