import type { Logger } from 'pino'
import type { Database, Db, TenantDb } from '../../db/database.ts'
import { machineNow } from '../../kernel/clock.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import * as queries from './recount-queries.ts'
import type { CountedLevel, Discrepancy, LevelKey } from './schema.ts'

/** How many stores one step recounts. */
const SLOTS = 16

/** Levels of one slice, and movements of each: one statement reads at most 40,000 rows. */
const LEVELS = 20
const MOVEMENTS = 2_000

/** Open reservations that one statement adds up. */
const RESERVATIONS = 10_000

/** How often the loop searches for stores that have stock for the first time. */
const PLAN_EVERY_MS = HOUR_MS

export interface RecountDeps {
  /** As fd_worker. */
  database: Database
  logger: Pick<Logger, 'error'>
  /** Within how many days all movements of a level are added up again, from the first one on. */
  days: number
}

/**
 * Creates the step of the loop that recounts the stock of every store once a day, as fd_worker. A counter that
 * disagrees with its movements or reservations is a bug of ours: it is recorded and logged as an alert, and never
 * corrected automatically. A store whose recount fails is recounted the next day: otherwise the same failure would
 * be reported every few seconds.
 */
export function createRecount({ database, logger, days }: RecountDeps) {
  let planned = 0
  const recount = async (due: Lease & queries.Recount): Promise<number> => {
    const db = database.tenant(due.tenant_ref)
    try {
      return await recountSlice(db, due, { logger, days })
    } catch (err) {
      if (err instanceof LeaseLostError) return 0
      const { tenant_ref } = due
      logger.error({ tenant_ref, err }, 'the stock of a store could not be recounted today')
      await queries.endRecount(db, due)
      return 0
    }
  }
  return async (signal?: AbortSignal): Promise<number> => {
    if (signal?.aborted) return 0
    if (machineNow() - planned >= PLAN_EVERY_MS) {
      const plan = (tenant: string) => queries.planRecount(database.tenant(tenant))
      await forEachStore(await queries.listUnplanned(database.due), plan)
      planned = machineNow()
    }
    const due = await queries.recountQueue.claimFairly(database, { slots: SLOTS, perTenant: 1 })
    await forEachDue(due, recount)
    return due.length
  }
}

/** Recounts the next levels of a store, or the same ones again while one has movements left. */
async function recountSlice(
  db: TenantDb,
  due: Lease & queries.Recount,
  { logger, days }: Pick<RecountDeps, 'logger' | 'days'>,
): Promise<number> {
  const { counted, found } = await db.snapshot('inventory: recount', (moment) =>
    compare(moment, positionOf(due)),
  )
  const changed = counted.filter(({ added, is_again }) => added > 0 || is_again)
  if (changed.length > 0) await queries.saveCounts(db, changed, days)
  if (found.length > 0) await queries.recordDiscrepancies(db, found)
  for (const each of found) {
    logger.error(
      { tenant_ref: db.tenant, ...each },
      'a stock counter differs from its movements or reservations',
    )
  }
  const last = counted.at(-1)
  if (!counted.every(isComplete)) await queries.continueAfter(db, due, due)
  else if (last === undefined || counted.length < LEVELS) await queries.endRecount(db, due)
  else await queries.continueAfter(db, due, last)
  return counted.length
}

const positionOf = ({ variant_id, location_id }: queries.Recount): LevelKey | null =>
  variant_id === null || location_id === null ? null : { variant_id, location_id }

/** Whether all movements of the level are in its sums. */
const isComplete = ({ added }: CountedLevel): boolean => added < MOVEMENTS

/**
 * Compares levels with their movements and reservations. Everything is read at one moment, so that stock that moves
 * meanwhile does not show as a discrepancy.
 */
async function compare(db: Db, after: LevelKey | null) {
  const counted = await queries.listCounted(db, { after, levels: LEVELS, movements: MOVEMENTS })
  const found: Discrepancy[] = []
  // No level is compared before all levels of the slice are complete: each is compared, and
  // reported, once in a recount.
  if (!counted.every(isComplete)) return { counted, found }
  for (const level of counted) {
    const held = await sumHeld(db, level)
    const counters = [
      ['on_hand', level.on_hand, level.moved_on_hand],
      ['allocated', level.allocated, level.moved_allocated],
      ['reserved', level.reserved, held.reserved],
      ['held', level.allocated, held.allocated],
      ['packed', level.packed, held.packed],
    ] as const
    const { variant_id, location_id } = level
    for (const [counter, kept, sum] of counters) {
      if (kept !== sum) found.push({ variant_id, location_id, counter, kept, counted: sum })
    }
  }
  return { counted, found }
}

/** Adds up the units of a level that orders have reserved, allocated and packed. */
async function sumHeld(db: Db, level: LevelKey) {
  const sums = { reserved: 0, allocated: 0, packed: 0 }
  let after: string | null = null
  for (;;) {
    const slice = await queries.sumHeld(db, level, after, RESERVATIONS)
    sums.reserved += slice.reserved
    sums.allocated += slice.allocated
    sums.packed += slice.packed
    if (slice.count < RESERVATIONS) return sums
    after = slice.last
  }
}
