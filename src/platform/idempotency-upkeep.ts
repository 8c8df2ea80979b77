import { Type } from 'typebox'
import type { Database, Db, GlobalDb } from '../db/database.ts'
import { machineTime, sql } from '../db/sql.ts'
import { eachStore } from './each-store.ts'

/** Retries come within minutes, questions about an order within weeks. */
const KEPT_DAYS = 30

/** A delete of so many rows takes some milliseconds, and holds its locks no longer. */
const BATCH_ROWS = 1_000

/** Deletes answers older than 30 days, in batches. Counts the rows. */
export async function deleteOldAnswers(database: Database): Promise<number> {
  const stores = await listStoresWithOld(database.global)
  return eachStore(stores, (tenant) => deleteBatch(database.tenant(tenant)))
}

const old = sql`state = 'answered' and answered_at < ${machineTime} - make_interval(days => ${KEPT_DAYS})`

const listStoresWithOld = (worker: GlobalDb) =>
  worker.many(
    Type.Object({ tenant_ref: Type.String() }),
    sql`
    select distinct tenant_ref
      from (select tenant_ref
              from idempotency_keys
             where ${old}
             order by answered_at
             limit ${BATCH_ROWS}) as oldest`,
  )

const deleteBatch = (db: Db) =>
  db.run(sql`
    delete from idempotency_keys
     where tenant_ref = ${db.tenant}
       and (operation, key) in (select operation, key
                                  from idempotency_keys
                                 where tenant_ref = ${db.tenant} and ${old}
                                 order by answered_at
                                 limit ${BATCH_ROWS}
                                   for update skip locked)`)
