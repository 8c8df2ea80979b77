import type { Database, Db } from '../db/database.ts'
import { machineTime, sql } from '../db/sql.ts'
import { forEachStore } from './for-each-store.ts'
import { listStoresDue } from './store-lists.ts'

/** Retries come within minutes, questions about an order within weeks. */
const KEPT_DAYS = 30

/** A delete of so many rows takes some milliseconds, and holds its locks no longer. */
const BATCH_ROWS = 1_000

/**
 * Answers that may be deleted. Not those of operations that moved money: a request that is repeated
 * after its key was forgotten would move it again. Such an operation ended well, or had begun when
 * it was refused. A checkout needs no answer for that, since its order has its key for good. As the
 * index `idempotency_keys_old` has it, to the letter: a parameter would keep PostgreSQL from it.
 */
const forgettable = sql`
  state = 'answered'
  and (operation not in ('refund', 'cancel', 'edit', 'release', 'gift_card_issue', 'gift_card_batch',
                         'gift_card_adjust', 'store_credit_credit', 'store_credit_debit')
       or (response_status >= 300 and recovery_point = 'started'))`

export const old = sql`
  ${forgettable} and answered_at < ${machineTime} - make_interval(days => ${KEPT_DAYS})`

/** Deletes answers older than 30 days, in batches. Counts the rows. */
export async function deleteOldAnswers(database: Database): Promise<number> {
  const stores = await listStoresDue(database.global, {
    table: sql`idempotency_keys`,
    due: old,
    oldestBy: sql`answered_at`,
    limit: BATCH_ROWS,
  })
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
