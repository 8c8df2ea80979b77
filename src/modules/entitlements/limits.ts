import type { Db, Directory, TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import * as audit from '../../platform/audit.ts'
import * as queries from './limit-queries.ts'
import {
  COUNTED_KEYS,
  COUNTED_LIMITS,
  type LimitChange,
  type TierLimits,
  type Usage,
} from './limit-schema.ts'

/** Lists what a store has of everything that is counted, and what it may have. */
export async function listUsage(db: Db): Promise<Usage[]> {
  const rows = await queries.listCounted(db)
  return COUNTED_KEYS.flatMap((limit) => {
    const row = rows.find((each) => each.limit_key === limit)
    if (row === undefined) return []
    const { used, max } = row
    return { limit, description: COUNTED_LIMITS[limit], used, max, source: sourceOf(row) }
  })
}

/** Refuses what would exceed a limit later, when it can no longer be refused. */
export async function requireRoom(db: Db, key: keyof typeof COUNTED_LIMITS, more: number) {
  const { used, max } = await queries.findCounted(db, key)
  if (used + more <= max) return
  throw new ApiError('limit_reached', { body: { limit: key, max, used } })
}

function sourceOf({ max_override, is_of_tier }: queries.CountedRow): Usage['source'] {
  if (max_override !== null) return 'store'
  return is_of_tier ? 'tier' : 'default'
}

const changesOf = (change: LimitChange) =>
  COUNTED_KEYS.flatMap((key) => {
    const max = change[key]
    return max === undefined ? [] : [{ key, max }]
  })

/** Sets limits of one store. Null: the limit of its tier holds again. */
export function setOfStore(db: TenantDb, actor: audit.Actor, change: LimitChange) {
  return db.transaction('entitlements: set limits', async (tx) => {
    for (const { key, max } of changesOf(change)) await queries.setOwnLimit(tx, key, max)
    const entity = `store:${tx.tenant}`
    await audit.record(tx, actor, { action: 'entitlements.limits_set', entity, after: change })
    return listUsage(tx)
  })
}

export const list = (db: Directory) => queries.listLimits(db)

/** Sets the limits of all stores, or of the stores of a tier. Null: the tier has none of its own. */
export async function setOfTier(db: Directory, { tier, limits }: TierLimits) {
  const changes = changesOf(limits)
  const missing = changes.find(({ max }) => max === null && tier === undefined)
  if (missing !== undefined) {
    throw invalidBody(`limits.${missing.key}`, 'must be a number, since no other limit would hold')
  }
  return db.transaction('entitlements: set limits of a tier', async (tx) => {
    for (const { key, max } of changes) {
      if (max === null) await queries.deleteLimit(tx, tier ?? '*', key)
      else await queries.setLimit(tx, tier ?? '*', key, max)
    }
    return queries.listLimits(tx)
  })
}
