import type { Db } from '../../db/database.ts'
import { type Counted, listUsage } from '../entitlements/limits.ts'
import type { LimitSettings, LimitsFace } from '../face-parts.ts'

/** The limits of all modules, as their faces state them. */
export interface LimitDeps extends LimitSettings {
  counted: Counted
  limits: readonly LimitsFace[]
}

/** Lists all limits of a store: those on what it has in total, and those on each thing alone. */
export async function listLimits(db: Db, { counted, limits, mediaBytesMax }: LimitDeps) {
  const [usage, ...own] = await Promise.all([
    listUsage(db, counted),
    ...limits.flatMap(({ readOwn }) => (readOwn ? [readOwn(db, { mediaBytesMax })] : [])),
  ])
  return {
    limits: [...usage, ...own.map((each) => ({ ...each, source: 'default' as const }))],
    bounds: limits.flatMap(({ bounds = [] }) => bounds),
  }
}
