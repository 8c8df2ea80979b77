import type { Logger } from 'pino'
import { Type } from 'typebox'
import type { Database } from '../db/database.ts'
import { machineTime, sql } from '../db/sql.ts'
import { unlessBusy } from '../db/unless-busy.ts'
import type { BlobStore } from './blobs.ts'
import { archiveMonth } from './month-archive.ts'
import { type Life, type Lives, MONTHS_LOOP, type RetentionPeriods } from './retention.ts'

/** How many months ahead are made: a worker that stands still for a month then delays nothing. */
const MONTHS_AHEAD = 2

/**
 * Makes the partitions of the coming months, one after another. Rows without a partition, which went to a default one
 * because the loop did not run for months, are moved and reported. Always returns 0: nothing is left to do. Why by
 * months: decision 0022.
 */
export async function makePartitions(
  database: Database,
  logger: Pick<Logger, 'error'>,
  signal?: AbortSignal,
): Promise<number> {
  let misplaced = 0
  while (!signal?.aborted) {
    const one = await unlessBusy(() => makePartition(database))
    misplaced += one?.misplaced ?? 0
    if (one === null || one.made === null) break
  }
  const { left } = await database.server.one(
    Type.Object({ left: Type.Integer() }),
    sql`select fd_misplaced_rows() as left`,
  )
  if (misplaced + left > 0) {
    logger.error({ misplaced, left }, 'rows had no partition of their month')
  }
  return 0
}

const makePartition = (database: Database) =>
  database.server.one(
    Type.Object({ made: Type.Union([Type.String(), Type.Null()]), misplaced: Type.Integer() }),
    sql`select made, misplaced from fd_make_partition(${MONTHS_AHEAD})`,
  )

export interface MonthsDeps {
  database: Database
  lives: Lives
  periods: RetentionPeriods
  /** The store of the archives. Null where months are dropped without an archive. */
  archive: BlobStore | null
  logger: Pick<Logger, 'info'>
}

const Month = Type.Object({ parent: Type.String(), month: Type.String() })

/**
 * The tables whose months are dropped first. Deliveries go before their events, so that a delivery always has its
 * event.
 */
const FIRST = ['webhook_deliveries', 'webhook_attempts', 'webhook_events']

/**
 * Drops months that are older than their period, each after its archive is complete. Returns the number of months. A
 * month that must stay for a while, because a delivery of it will be sent again, is tried again at the next step.
 */
export async function dropOldMonths(deps: MonthsDeps, signal?: AbortSignal): Promise<number> {
  let dropped = 0
  for (const table of byTurn(deps.lives)) {
    for (const { parent, month } of await listOldMonths(deps, table)) {
      if (signal?.aborted) return dropped
      const { database, archive, logger } = deps
      // The rows of such a month may still change, and an archive is not written twice.
      if (await mustStay(database, parent, month)) continue
      if (archive !== null) await archiveMonth(database, archive, { table: parent, month }, signal)
      // An archive that was interrupted is continued at the next step.
      if (signal?.aborted || !(await dropMonth(database, parent, month))) continue
      logger.info({ table: parent, month }, 'an old month was dropped')
      dropped++
    }
  }
  return dropped
}

const byTurn = (lives: Lives) => [
  ...FIRST,
  ...Object.keys(lives).filter((table) => !FIRST.includes(table) && goesByMonth(lives[table])),
]

const goesByMonth = (life: Life | undefined) =>
  life !== undefined && 'loop' in life && life.loop === MONTHS_LOOP

async function listOldMonths({ database, lives, periods }: MonthsDeps, table: string) {
  const life = lives[table]
  const setting = life !== undefined && 'setting' in life ? life.setting : undefined
  const days = setting === undefined ? 0 : (periods[setting] ?? 0)
  if (days === 0) return []
  return database.server.many(
    Month,
    sql`
    select parent, month::text as month
      from partition_months
     where parent = ${table}
       and (month + interval '1 month') at time zone 'UTC'
           <= ${machineTime} - make_interval(days => ${days})
     order by month`,
  )
}

async function mustStay(database: Database, table: string, month: string): Promise<boolean> {
  const { stays } = await database.server.one(
    Type.Object({ stays: Type.Boolean() }),
    sql`select fd_month_must_stay(${table}, ${month}::date) as stays`,
  )
  return stays
}

async function dropMonth(database: Database, table: string, month: string): Promise<boolean> {
  const answer = await unlessBusy(() =>
    database.server.one(
      Type.Object({ dropped: Type.Boolean() }),
      sql`select fd_drop_month(${table}, ${month}::date) as dropped`,
    ),
  )
  return answer?.dropped ?? false
}
