import { Type } from 'typebox'
import type { AllStores, Db, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { type NewStore, Store, type StorePatch, type StoreStatus } from './schema.ts'

const columns = sql`tenant_ref, stores.store_number, display_name, status, owner_email, currency, language,
                    time_zone, stock_hint, auto_deliver_days, sandbox, primary_hostname, active_version as "activeVersion", created_at,
                    updated_at`

export const insertStore = (db: Db, store: NewStore) =>
  db.one(
    Store,
    sql`
    insert into stores (tenant_ref, display_name, owner_email, currency, language, time_zone, sandbox)
    values (${db.tenant}, ${store.display_name}, ${store.owner_email ?? null},
            ${store.currency ?? 'USD'}, ${store.language ?? 'en'}, ${store.time_zone ?? 'UTC'},
            ${store.sandbox ?? false})
    returning ${columns}`,
  )

export const findStore = (db: Db) =>
  db.maybe(Store, sql`select ${columns} from stores where tenant_ref = ${db.tenant}`)

export const findLiveStore = (db: Db) =>
  db.maybe(
    Store,
    sql`select ${columns} from stores where tenant_ref = ${db.tenant} and status = 'live'`,
  )

/** A source of one row without columns if the store is live, else none. For joins in other statements. */
export const liveStore = (db: Db) =>
  sql`(select from stores where tenant_ref = ${db.tenant} and status = 'live') live_store`

/** A query of the store's `stock_hint`. For joins in other statements. */
export const stockHint = (db: Db) =>
  sql`select stock_hint from stores where tenant_ref = ${db.tenant}`

/** A query of the store's `auto_deliver_days`. For use in other statements. */
export const autoDeliverDays = (db: Db) =>
  sql`select auto_deliver_days from stores where tenant_ref = ${db.tenant}`

export const lockStore = (db: Db) =>
  db.maybe(Store, sql`select ${columns} from stores where tenant_ref = ${db.tenant} for update`)

/** Reads the currency under a lock: a change, which needs `lockStore`, waits for it. */
export const lockCurrency = (tx: Tx) =>
  tx.one(
    Type.Object({ currency: Type.String() }),
    sql`select currency from stores where tenant_ref = ${tx.tenant} for key share`,
  )

export const updateStatus = (db: Db, status: StoreStatus) =>
  db.one(
    Store,
    sql`
    update stores set status = ${status}, updated_at = fd_now()
     where tenant_ref = ${db.tenant}
    returning ${columns}`,
  )

export const updateActiveVersion = (db: Db, version: number) =>
  db.run(sql`
    update stores
       set previous_version = case when active_version = ${version} then previous_version
                                   else active_version end,
           active_version = ${version}, updated_at = fd_now()
     where tenant_ref = ${db.tenant}`)

export const updateOwner = (db: Db, email: string) =>
  db.one(
    Store,
    sql`
    update stores set owner_email = ${email}, updated_at = fd_now()
     where tenant_ref = ${db.tenant}
    returning ${columns}`,
  )

export const updateSandbox = (db: Db, sandbox: boolean) =>
  db.one(
    Store,
    sql`
    update stores set sandbox = ${sandbox}, updated_at = fd_now()
     where tenant_ref = ${db.tenant}
    returning ${columns}`,
  )

export const updatePrimaryHostname = (db: Db, hostname: string | null) =>
  db.run(sql`
    update stores set primary_hostname = ${hostname}, updated_at = fd_now()
     where tenant_ref = ${db.tenant}`)

export const updateSettings = (db: Db, patch: StorePatch) =>
  db.one(
    Store,
    sql`
    update stores
       set display_name = coalesce(${patch.display_name ?? null}, display_name),
           currency = coalesce(${patch.currency ?? null}, currency),
           language = coalesce(${patch.language ?? null}, language),
           time_zone = coalesce(${patch.time_zone ?? null}, time_zone),
           stock_hint = coalesce(${patch.stock_hint ?? null}, stock_hint),
           auto_deliver_days = case when ${patch.auto_deliver_days !== undefined}
                                    then ${patch.auto_deliver_days ?? null}::integer
                                    else auto_deliver_days end,
           updated_at = fd_now()
     where tenant_ref = ${db.tenant}
    returning ${columns}`,
  )

export interface StoreFilters {
  status?: StoreStatus | undefined
  /** A part of the slug or the name. */
  q?: string | undefined
  owner_email?: string | undefined
}

/** Lists the stores, newest first, with the operator's login. */
export async function listStores(operator: AllStores, filters: StoreFilters, page: Page) {
  const { rows, shown } = await readList(
    operator,
    {
      shape: Store,
      table: sql`stores`,
      as: sql`stores`,
      scope: sql`true`,
      filters: conditions(filters),
      key: [{ name: sql`store_number`, type: 'integer' }],
      descending: true,
      columns,
    },
    page,
  )
  return { stores: rows, ...shown }
}

/** Escapes a text so that `like` finds it literally. */
const literally = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

function conditions({ status, q, owner_email }: StoreFilters): Sql[] {
  const where: Sql[] = []
  if (status !== undefined) where.push(sql`status = ${status}`)
  if (owner_email !== undefined) where.push(sql`owner_email = ${owner_email.toLowerCase()}`)
  if (q !== undefined) {
    const part = `%${literally(q)}%`
    where.push(sql`lower(tenant_ref || ' ' || display_name) like lower(${part}::text)`)
  }
  return where
}
