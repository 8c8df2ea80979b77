import type { Db, Directory, TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import * as audit from '../../platform/audit.ts'
import * as queries from './limit-queries.ts'
import type { LimitChange, TierLimits, Usage } from './limit-schema.ts'

/** What the triggers of all tables count, by the key of its limit, and what it means. */
export type Counted = Readonly<Record<string, string>>

/** Lists what a store uses of every counted limit, and the limit itself. */
export async function listUsage(db: Db, counted: Counted): Promise<Usage[]> {
  const rows = await queries.listCounted(db)
  return Object.entries(counted).flatMap(([limit, description]) => {
    const row = rows.find((each) => each.limit_key === limit)
    if (row === undefined) return []
    const { used, max } = row
    return { limit, description, used, max, source: sourceOf(row) }
  })
}

/** Refuses an act that would exceed a limit later, when it can no longer be refused. */
export async function requireRoom(db: Db, key: string, more: number) {
  const { used, max } = await queries.findCounted(db, key)
  if (used + more <= max) return
  throw new ApiError('limit_reached', { body: { limit: key, max, used } })
}

function sourceOf({ max_override, is_of_tier }: queries.CountedRow): Usage['source'] {
  if (max_override !== null) return 'store'
  return is_of_tier ? 'tier' : 'default'
}

/** The limits of a change, always in the same order, in which their rows are locked. */
const changesOf = (change: LimitChange, counted: Counted) =>
  Object.keys(counted).flatMap((key) => {
    const max = change[key]
    return max === undefined ? [] : [{ key, max }]
  })

/** Sets limits of one store. Null: the limit of its tier holds again. */
export function setOfStore(
  db: TenantDb,
  actor: audit.Actor,
  change: LimitChange,
  counted: Counted,
) {
  return db.transaction('entitlements: set limits', async (tx) => {
    for (const { key, max } of changesOf(change, counted)) await queries.setOwnLimit(tx, key, max)
    const entity = `store:${tx.tenant}`
    await audit.record(tx, actor, { action: 'entitlements.limits_set', entity, after: change })
    return listUsage(tx, counted)
  })
}

export const list = (db: Directory) => queries.listLimits(db)

/** Sets the limits of all stores, or of the stores of a tier. Null: the tier has no limit of its own. */
export async function setOfTier(db: Directory, { tier, limits }: TierLimits, counted: Counted) {
  const changes = changesOf(limits, counted)
  const missing = changes.find(({ max }) => max === null && tier === undefined)
  if (missing !== undefined) {
    throw invalidBody(
      `limits.${missing.key}`,
      'must be a number: there is no other limit to fall back to',
    )
  }
  return db.transaction('entitlements: set limits of a tier', async (tx) => {
    for (const { key, max } of changes) {
      if (max === null) await queries.deleteLimit(tx, tier ?? '*', key)
      else await queries.setLimit(tx, tier ?? '*', key, max)
    }
    return queries.listLimits(tx)
  })
}
