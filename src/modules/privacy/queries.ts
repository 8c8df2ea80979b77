import { Type } from 'typebox'
import type { Db, DueLists, Tx } from '../../db/database.ts'
import { machineTime, sql } from '../../db/sql.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import { StoreWithWork, withMovedClocks } from '../../platform/store-lists.ts'
import { ErasureRow, ExportJob, ExportRow } from './schema.ts'

const jobColumns = sql`id, status, created_at, done_at, expires_at`

/** Inserts an export, or returns the pending one of this customer. */
export const insertExport = (tx: Tx, customer_ref: string) =>
  tx.one(
    ExportJob,
    sql`
    insert into privacy_exports as e (tenant_ref, customer_ref)
    values (${tx.tenant}, ${customer_ref})
        on conflict (tenant_ref, customer_ref) where status = 'pending'
        do update set customer_ref = e.customer_ref
    returning ${jobColumns}`,
  )

export const findExport = (db: Db, id: string) =>
  db.maybe(
    ExportRow,
    sql`
    select ${jobColumns}, error, sealed
      from privacy_exports
     where tenant_ref = ${db.tenant} and id = ${id} and expires_at > fd_now()`,
  )

/** The queue of exports to be made. */
export const exportQueue = defineQueue({
  table: sql`privacy_exports`,
  due: sql`due_at`,
  time: machineTime,
  columns: sql`customer_ref, attempt_count`,
  shape: Type.Object({ customer_ref: Type.String(), attempt_count: Type.Integer() }),
})

export const finishExport = (db: Db, lease: Lease, encrypted: Buffer) =>
  exportQueue.finish(
    db,
    lease,
    sql`status = 'done', sealed = ${encrypted}, due_at = null, done_at = fd_now()`,
  )

export const failExport = (db: Db, lease: Lease, error: string) =>
  exportQueue.finish(
    db,
    lease,
    sql`status = 'failed', error = ${error}, due_at = null, done_at = fd_now()`,
  )

export const postponeExport = (db: Db, lease: Lease, seconds: number) =>
  exportQueue.finish(
    db,
    lease,
    sql`attempt_count = attempt_count + 1,
        due_at = ${machineTime} + make_interval(secs => ${seconds})`,
  )

export const listStoresWithExpired = async (worker: DueLists) =>
  withMovedClocks(
    worker,
    await worker.many(
      StoreWithWork,
      sql`select distinct tenant_ref from privacy_exports where expires_at <= fd_now() limit 1000`,
    ),
  )

export const deleteExpired = (db: Db) =>
  db.run(
    sql`delete from privacy_exports where tenant_ref = ${db.tenant} and expires_at <= fd_now()`,
  )

export const deleteExportsOf = (tx: Tx, customer_refs: readonly string[]) =>
  tx.run(sql`
    delete from privacy_exports
     where tenant_ref = ${tx.tenant} and customer_ref = any(${customer_refs}::text[])`)

const erasureColumns = sql`id, customer_ref, guest_refs, emails, pseudonym, actor, orders,
                           created_at`

export const insertErasure = (tx: Tx, row: Omit<ErasureRow, 'orders' | 'created_at'>) =>
  tx.one(
    ErasureRow,
    sql`
    insert into privacy_erasures (tenant_ref, id, customer_ref, guest_refs, emails, pseudonym,
                                  actor)
    values (${tx.tenant}, ${row.id}, ${row.customer_ref}, ${row.guest_refs}, ${row.emails},
            ${row.pseudonym}, ${row.actor})
    returning ${erasureColumns}`,
  )

export const findErasure = (db: Db, id: string) =>
  db.one(
    ErasureRow,
    sql`
    select ${erasureColumns}
      from privacy_erasures
     where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const countErased = (tx: Tx, id: string, orders: number) =>
  tx.run(sql`
    update privacy_erasures set orders = orders + ${orders}
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** Ends an erasure, and erases the person from its row. */
export const finishErasure = (tx: Tx, id: string) =>
  tx.one(
    ErasureRow,
    sql`
    update privacy_erasures
       set done_at = fd_now(), customer_ref = null, guest_refs = '{}', emails = '{}'
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${erasureColumns}`,
  )
