import { Type } from 'typebox'
import type { Database, Db, TenantDb } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import { writeArchive } from './archive.ts'
import type { BlobStore } from './blobs.ts'
import { forEachDue, forEachStore } from './for-each-store.ts'
import type { Lives, RetentionPeriods, RetentionSetting } from './retention.ts'
import type { Slice } from './slices.ts'
import { listStoresIn, StoreWithWork } from './store-lists.ts'

/** How many rows are deleted at once: this takes some milliseconds, and holds its locks no longer. */
const SLICE_ROWS = 1_000

/** How many stores have their search words checked in one step, so that all have their turn within days. */
const WORD_STORES = 50
const WORDS = 500

export interface PruneDeps {
  database: Database
  lives: Lives
  periods: RetentionPeriods
  /** The store of the archives. Null where rows are deleted without an archive. */
  archive: BlobStore | null
}

/**
 * Deletes old rows, one slice for each table and store, so that no store waits for another. Returns the number of
 * rows; the loop goes on while there are any. A table or store that fails does not stop the others.
 */
export async function pruneOldRows(deps: PruneDeps, signal?: AbortSignal): Promise<number> {
  const { database, periods } = deps
  const rows = await forEachDue(
    listSlices(deps),
    async (due) => {
      const stores = await listStoresWithOldRows(database, due)
      return forEachStore(stores, (tenant) => pruneStore(deps, due, tenant), { signal })
    },
    { signal },
  )
  return rows + (await deleteOldMails(database, periods.RETENTION_MAIL_DAYS))
}

/** A slice, and the period of its setting. */
interface DueSlice {
  slice: Slice
  period: number
}

/** Lists the slices of all tables whose rows are not kept for good. */
const listSlices = ({ lives, periods }: PruneDeps): DueSlice[] =>
  Object.values(lives)
    .flatMap((life) => ('slices' in life ? [life] : []))
    .flatMap(({ slices = [], setting }) =>
      slices.map((slice) => ({ slice, period: periodOf(periods, setting) })),
    )
    .filter(({ period }) => period > 0)

/** The number of a setting; 0 where rows are kept for good. */
const periodOf = (periods: RetentionPeriods, setting: RetentionSetting | undefined): number =>
  setting === undefined ? 0 : (periods[setting] ?? 0)

/**
 * Lists the stores whose oldest row is old enough, as fd_worker. It steps from store to store by an index, however
 * many rows each has, so that it costs O(stores).
 */
const listStoresWithOldRows = ({ due }: Database, { slice, period }: DueSlice) =>
  due.many(
    StoreWithWork,
    sql`
    with recursive tenants as (
      select min(tenant_ref) as tenant_ref from ${slice.from}
      union all
      select (select min(r.tenant_ref) from ${slice.from} r
               where r.tenant_ref > tenants.tenant_ref)
        from tenants
       where tenants.tenant_ref is not null
    )
    select tenants.tenant_ref
      from tenants
     cross join lateral (select t.* from ${slice.from} as t
                          where t.tenant_ref = tenants.tenant_ref and ${slice.only ?? sql`true`}
                          order by ${slice.order}
                          limit 1) as t
     where ${slice.old(period)}
     limit 1000`,
  )

/** Selects the keys of the oldest rows of a store that can be deleted. */
const oldest = (db: Db, { slice, period }: DueSlice) => sql`
  select ${slice.key}
    from (select t.* from ${slice.from} as t
           where t.tenant_ref = ${db.tenant} and ${slice.only ?? sql`true`}
             and not ${slice.keep ?? sql`false`}
           order by ${slice.order}
           limit ${SLICE_ROWS}) as t
   where ${slice.old(period)}`

const Line = Type.Object({ line: Type.String() })
const Gone = Type.Object({ line: Type.Union([Type.String(), Type.Null()]) })

const deleteSlice = (db: Db, { slice, period }: DueSlice, line: Sql) =>
  db.many(
    Gone,
    sql`
    with gone as (
      delete from ${slice.from} as t
       where t.tenant_ref = ${db.tenant} and (${slice.key}) in (${oldest(db, { slice, period })})
      returning t.*, (${line})::text as archived_line
    ) ${slice.together ?? sql``}
    select archived_line as line from gone`,
  )

async function pruneStore(
  { database, archive }: PruneDeps,
  { slice, period }: DueSlice,
  tenant: string,
): Promise<number> {
  const db = database.tenant(tenant)
  if (archive === null || slice.line === undefined) {
    return (await deleteSlice(db, { slice, period }, sql`null::text`)).length
  }
  return pruneWithArchive(db, archive, { slice, period, line: slice.line })
}

/**
 * Writes a slice to the blob store, then deletes just these rows. A process that is killed in between leaves a file
 * that the next one writes again, under the same name. Rows that changed meanwhile are not deleted: the whole slice
 * is then written again.
 */
async function pruneWithArchive(
  db: TenantDb,
  blobs: BlobStore,
  { slice, period, line }: DueSlice & { line: Sql },
): Promise<number> {
  const rows = await db.many(
    Line,
    sql`
    select (${line})::text as line
      from ${slice.from} as t
     where t.tenant_ref = ${db.tenant} and (${slice.key}) in (${oldest(db, { slice, period })})`,
  )
  if (rows.length === 0) return 0
  const lines = rows.map((row) => row.line).sort()
  const file = await writeArchive(blobs, db.tenant, lines)
  return db.transaction('retention: delete an archived slice', async (tx) => {
    const gone = await deleteSlice(tx, { slice, period }, line)
    const same = gone.map((row) => row.line).sort()
    if (same.length !== lines.length || same.some((each, i) => each !== lines[i])) {
      throw new Error(`rows of ${slice.table} changed while they were archived`)
    }
    await tx.run(sql`
      insert into retention_archives (tenant_ref, table_name, month, part, row_count, file_sha256,
                                      rows_sha256, bytes, last_key)
      select ${tx.tenant}, ${slice.table}, this_month, coalesce(max(part), 0) + 1,
             ${file.row_count}, ${file.file_sha256}, ${file.rows_sha256}, ${file.bytes}, '[]'
        from (select date_trunc('month', ${machineTime} at time zone 'UTC')::date as this_month) as m
        left join retention_archives as a
          on a.tenant_ref = ${tx.tenant} and a.table_name = ${slice.table} and a.month = this_month
       group by this_month`)
    return gone.length
  })
}

/**
 * Deletes old mails of the platform, which go to people and belong to no store. They have addresses, so they are
 * never archived.
 */
const deleteOldMails = ({ server }: Database, days: number) =>
  server.run(sql`
    delete from mails
     where id = any(array(select id
                            from mails
                           where created_at < ${machineTime} - make_interval(days => ${days})
                             and (lease_until is null or lease_until < ${machineTime})
                           order by created_at
                           limit ${SLICE_ROWS}
                             for update skip locked))`)

/**
 * Creates the step that deletes the search words that no product has any more. Each step checks the words of some
 * stores, one after another in the order of their names, and the next step continues.
 */
export function createWordPruning(database: Database) {
  let lastStore = ''
  let lastWord = ''
  return async (signal?: AbortSignal): Promise<number> => {
    const stores = (await listStoresIn(database.due, sql`search_words`)).map(
      ({ tenant_ref }) => tenant_ref,
    )
    const next = stores.filter(
      (each) => each > lastStore || (each === lastStore && lastWord !== ''),
    )
    for (const tenant of next.slice(0, WORD_STORES)) {
      if (signal?.aborted) return 0
      const after = tenant === lastStore ? lastWord : ''
      const { last_word, looked_at } = await forgetWords(database.tenant(tenant), after)
      lastStore = tenant
      lastWord = looked_at === WORDS ? (last_word ?? '') : ''
      // A long list of words is continued at the next step.
      if (lastWord !== '') return 0
    }
    if (next.length <= WORD_STORES) lastStore = ''
    return 0
  }
}

const forgetWords = (db: Db, after: string) =>
  db.one(
    Type.Object({
      last_word: Type.Union([Type.String(), Type.Null()]),
      looked_at: Type.Integer(),
      deleted: Type.Integer(),
    }),
    sql`select last_word, looked_at, deleted from fd_search_forget(${after}, ${WORDS})`,
  )
