import type { Database, Db } from '../db/database.ts'
import { machineTime, sql } from '../db/sql.ts'
import { forEachStore } from './for-each-store.ts'
import { listStoresWithOld } from './store-lists.ts'

/** Retries come within minutes, questions about an order within weeks. */
const KEPT_DAYS = 30

/** A delete of so many rows takes some milliseconds, and holds its locks no longer. */
const BATCH_ROWS = 1_000

const ANSWERS = {
  table: sql`idempotency_keys`,
  only: sql`state = 'answered'`,
  since: sql`answered_at`,
  before: sql`${machineTime} - make_interval(days => ${KEPT_DAYS})`,
}

const old = sql`${ANSWERS.only} and answered_at < ${ANSWERS.before}`

/** Deletes answers older than 30 days, in batches. Counts the rows. */
export async function deleteOldAnswers(database: Database): Promise<number> {
  const stores = await listStoresWithOld(database.global, ANSWERS)
  return forEachStore(stores, (tenant) => deleteBatch(database.tenant(tenant)))
}

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
