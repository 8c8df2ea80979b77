import type { TestContext } from 'node:test'
import type pg from 'pg'
import { LIVES } from '../../../src/compose/lives.ts'
import type { Database } from '../../../src/db/database.ts'
import { readArchive } from '../../../src/platform/archive.ts'
import type { BlobStore } from '../../../src/platform/blobs.ts'
import { openDiskBlobs } from '../../../src/platform/blobs-disk.ts'
import { dropOldMonths } from '../../../src/platform/partitions.ts'
import { pruneOldRows } from '../../../src/platform/prune.ts'
import type { RetentionPeriods } from '../../../src/platform/retention.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { emptyFolder } from '../../harness/embedded.ts'

export const PERIODS: RetentionPeriods = {
  RETENTION_WEBHOOK_DAYS: 90,
  RETENTION_AUDIT_DAYS: 365,
  RETENTION_TIMELINE_DAYS: 400,
  RETENTION_FRAUD_DAYS: 90,
  RETENTION_MAIL_DAYS: 30,
  RETENTION_SHOPPER_MAIL_DAYS: 90,
  RETENTION_GATEWAY_EVENT_DAYS: 90,
  RETENTION_COMPARISON_DAYS: 90,
  RETENTION_FUNNEL_DAYS: 90,
  RETENTION_PRICE_DAYS: 90,
  RETENTION_RESERVATION_DAYS: 30,
  SITE_VERSIONS_KEPT: 10,
}

export const quiet = { info: () => {}, error: () => {} }

export interface Place {
  admin: pg.Client
  worker: Database
  blobs: BlobStore
  count(from: string): Promise<number>
  drop(archive: BlobStore | null, signal?: AbortSignal): Promise<number>
  prune(archive?: BlobStore | null, periods?: RetentionPeriods): Promise<number>
}

export async function open(t: TestContext): Promise<Place> {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  const worker = database.open('fd_worker')
  const blobs = await openDiskBlobs(await emptyFolder(t))
  await admin.query(`
    insert into stores (tenant_ref, display_name) values ('acme', 'Acme'), ('globex', 'Globex')`)
  for (const table of WEBHOOK_TABLES) await openPast(admin, table)
  const deps = { database: worker, lives: LIVES, periods: PERIODS, logger: quiet }
  return {
    admin,
    worker,
    blobs,
    count: async (from) =>
      Number((await admin.query(`select count(*) from ${from}`)).rows[0].count),
    drop: (archive, signal) => dropOldMonths({ ...deps, archive }, signal),
    prune: async (archive = null, periods = PERIODS) => {
      let rows = 0
      for (;;) {
        const did = await pruneOldRows({ database: worker, lives: LIVES, periods, archive })
        if (did === 0) return rows
        rows += did
      }
    },
  }
}

/** Makes room for months before the one in which the template was migrated. */
const openPast = (admin: pg.Client, table: string) =>
  admin.query(`
    alter table ${table} detach partition ${table}_before;
    alter table ${table} attach partition ${table}_before
      for values from (minvalue) to ('01600000-0000-0000-0000-000000000000')`)

/** The first day of the month that is some months ago, as SQL. */
export const monthAgo = (months: number) =>
  `(date_trunc('month', now() at time zone 'UTC') - interval '${months} months')::date`

/** A time in that month, as SQL. */
export const timeAgo = (months: number) =>
  `(${monthAgo(months)}::timestamp at time zone 'UTC' + interval '5 days')`

/** A time-ordered id of that month; `n` tells them apart. */
export const idAgo = (months: number, n: string) =>
  `(left(fd_id_floor(${timeAgo(months)})::text, 19) || right(md5(${n}::text)::uuid::text, 17))::uuid`

const makeMonth = (admin: pg.Client, months: number, ...tables: string[]) =>
  admin.query(
    `set role fd_owner;
     select fd_make_month(t, ${monthAgo(months)}) from unnest('{${tables.join()}}'::text[]) t;
     reset role`,
  )

export const WEBHOOK_TABLES = ['webhook_events', 'webhook_deliveries', 'webhook_attempts']

/** Events of a store some months ago, each with a delivery and an attempt. */
export async function addEvents(
  admin: pg.Client,
  {
    tenant,
    months,
    many,
    status = 'delivered',
  }: {
    tenant: string
    months: number
    many: number
    status?: string
  },
) {
  await makeMonth(admin, months, ...WEBHOOK_TABLES)
  await admin.query(`
    with event as (
      insert into webhook_events (tenant_ref, id, type, payload, created_at, sequence, emitted_at,
                                  customer_ref)
      select '${tenant}', ${idAgo(months, `'${tenant}' || n`)}, 'a', '{"email":"ann@x.example"}',
             ${timeAgo(months)}, ${months} * 100000 + n, ${timeAgo(months)}, 'ann'
        from generate_series(1, ${many}) n returning tenant_ref, id
    ), delivery as (
      insert into webhook_deliveries (tenant_ref, id, subscription_id, event_id, event_type,
                                      endpoint_url, status, next_retry_at, delivered_at, created_at)
      select tenant_ref, fd_delivery_id(id, '00000000-0000-4000-8000-000000000001'),
             '00000000-0000-4000-8000-000000000001', id, 'a', 'https://x.example/', '${status}',
             case when '${status}' = 'pending' then now() end,
             case when '${status}' = 'delivered' then now() end, ${timeAgo(months)}
        from event returning *
    ), queued as (
      insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at,
                                 attempt_count, ladder_from)
      select tenant_ref, id, subscription_id, event_id, now(), 0, 0
        from delivery where status = 'pending'
    )
    insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code)
    select tenant_ref, id, 1, ${timeAgo(months)}, 200 from delivery`)
}

export const addAudit = async (admin: pg.Client, tenant: string, months: number, many: number) => {
  await makeMonth(admin, months, 'audit_log')
  await admin.query(`
    insert into audit_log (tenant_ref, actor, action, entity, created_at)
    select '${tenant}', 'system', 'act', 'thing:' || n, ${timeAgo(months)}
      from generate_series(1, ${many}) n`)
}

interface Line {
  table_name: string
  tenant_ref: string
  line: string
}

export const lineOf = ({ table_name, tenant_ref, line }: Line) =>
  `${table_name} ${tenant_ref} ${line}`

/** Every line of every archive, with its table and store. */
export async function readAll(admin: pg.Client, blobs: BlobStore): Promise<string[]> {
  const { rows } = await admin.query('select * from retention_archives')
  const files = rows.map(async (file) =>
    (await readArchive(blobs, file.tenant_ref, file)).map((line) => lineOf({ ...file, line })),
  )
  return (await Promise.all(files)).flat()
}
