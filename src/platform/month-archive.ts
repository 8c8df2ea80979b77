import { Type } from 'typebox'
import type { Database, Db, TenantDb } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { PERSONAL_COLUMNS, writeArchive } from './archive.ts'
import type { BlobStore } from './blobs.ts'

/** How many rows one file has: some megabytes of text, in memory while they are written. */
const PART_ROWS = 5_000

export interface TableMonth {
  table: string
  /** The first day of the month. */
  month: string
}

/** How the rows of a table are read for an archive. All SQL here is constant: it is code, never input. */
interface Source {
  from: Sql
  /** The column that divides the table, for the bounds of a month. */
  dividedBy: Sql
  byId: boolean
  /** The columns that order the rows of a store, by an index. */
  order: Sql
  /** The columns of `order` as texts, and the condition for the rows after such texts. */
  key: Sql
  after: (key: readonly string[]) => Sql
}

const SOURCES: Readonly<Record<string, Source>> = {
  webhook_events: {
    from: sql`webhook_events`,
    dividedBy: sql`t.id`,
    byId: true,
    order: sql`t.id`,
    key: sql`array[t.id::text]`,
    after: ([id]) => sql`t.id > ${id}`,
  },
  webhook_deliveries: {
    from: sql`webhook_deliveries`,
    dividedBy: sql`t.id`,
    byId: true,
    order: sql`t.id`,
    key: sql`array[t.id::text]`,
    after: ([id]) => sql`t.id > ${id}`,
  },
  webhook_attempts: {
    from: sql`webhook_attempts`,
    dividedBy: sql`t.delivery_id`,
    byId: true,
    order: sql`t.delivery_id, t.attempt`,
    key: sql`array[t.delivery_id::text, t.attempt::text]`,
    after: ([id, attempt]) => sql`(t.delivery_id, t.attempt) > (${id}, ${attempt}::int)`,
  },
  audit_log: {
    from: sql`audit_log`,
    dividedBy: sql`t.created_at`,
    byId: false,
    order: sql`t.created_at, t.id`,
    key: sql`array[t.created_at::text, t.id::text]`,
    after: ([at, id]) => sql`(t.created_at, t.id) > (${at}::timestamptz, ${id}::uuid)`,
  },
}

/**
 * Writes the rows of a month to the blob store, one store after another, in parts. A part that is
 * listed in `retention_archives` is not written again, so that a killed process is continued where
 * it stopped. Throws if the archive would lack a row: then the month must not be dropped.
 */
export async function archiveMonth(
  database: Database,
  blobs: BlobStore,
  month: TableMonth,
  signal?: AbortSignal,
): Promise<void> {
  for (const { tenant_ref, total } of await listStoreRows(database, month)) {
    const db = database.tenant(tenant_ref)
    let archived = await countArchived(db, month)
    while (archived < total && !signal?.aborted) {
      const added = await archivePart(db, blobs, month)
      if (added === 0) throw new Error(`${month.table} has rows that its archive lacks`)
      archived += added
    }
    if (archived > total) throw new Error(`the archive of ${month.table} has too many rows`)
  }
}

const listStoreRows = (database: Database, { table, month }: TableMonth) =>
  database.server.many(
    Type.Object({ tenant_ref: Type.String(), total: Type.Integer() }),
    sql`select tenant_ref, total from fd_month_rows(${table}, ${month}::date)`,
  )

const ofMonth = (db: Db, { table, month }: TableMonth) => sql`
  tenant_ref = ${db.tenant} and table_name = ${table} and month = ${month}::date`

async function countArchived(db: Db, month: TableMonth): Promise<number> {
  const { total } = await db.one(
    Type.Object({ total: Type.Integer() }),
    sql`
    select coalesce(sum(row_count), 0)::bigint as total
      from retention_archives
     where ${ofMonth(db, month)}`,
  )
  return total
}

/** Writes the next part. Returns its number of rows. */
async function archivePart(db: TenantDb, blobs: BlobStore, month: TableMonth): Promise<number> {
  const last = await db.maybe(
    Type.Object({ part: Type.Integer(), last_key: Type.String() }),
    sql`
    select part, last_key
      from retention_archives
     where ${ofMonth(db, month)}
     order by part desc
     limit 1`,
  )
  const rows = await listRows(db, month, last === null ? null : JSON.parse(last.last_key))
  const key = rows.at(-1)?.key
  if (key === undefined) return 0
  const lines = rows.map(({ line }) => line)
  const file = await writeArchive(blobs, db.tenant, lines)
  // Another worker may have written the same part meanwhile, with the same bytes.
  await db.run(sql`
    insert into retention_archives (tenant_ref, table_name, month, part, row_count, file_sha256,
                                    rows_sha256, bytes, last_key)
    values (${db.tenant}, ${month.table}, ${month.month}, ${(last?.part ?? 0) + 1},
            ${file.row_count}, ${file.file_sha256}, ${file.rows_sha256}, ${file.bytes},
            ${JSON.stringify(key)})
    on conflict do nothing`)
  return rows.length
}

function listRows(db: Db, { table, month }: TableMonth, after: readonly string[] | null) {
  const source = SOURCES[table]
  if (source === undefined) throw new Error(`${table} has no archive`)
  const { from, dividedBy, byId, order, key } = source
  const day = sql`${month}::date::timestamp`
  const starts = sql`${day} at time zone 'UTC'`
  const ends = sql`(${day} + interval '1 month') at time zone 'UTC'`
  const within = byId
    ? sql`${dividedBy} >= fd_id_floor(${starts}) and ${dividedBy} < fd_id_floor(${ends})`
    : sql`${dividedBy} >= ${starts} and ${dividedBy} < ${ends}`
  return db.many(
    Type.Object({ line: Type.String(), key: Type.Array(Type.String()) }),
    sql`
    select (to_jsonb(t) - ${PERSONAL_COLUMNS[table] ?? []}::text[])::text as line, ${key} as key
      from ${from} as t
     where t.tenant_ref = ${db.tenant} and ${within}
       and ${after === null ? sql`true` : source.after(after)}
     order by ${order}
     limit ${PART_ROWS}`,
  )
}
