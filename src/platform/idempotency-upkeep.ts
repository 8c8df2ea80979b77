import type { Database, Db } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import { forEachStore } from './for-each-store.ts'
import { STARTED } from './idempotency.ts'
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
export const deleteOldAnswers = (database: Database): Promise<number> =>
  deleteKeys(database, { which: old, oldestBy: sql`answered_at` })

/**
 * How long after its lease a key that was only claimed is freed. Its caller may repeat the request
 * until then, and the holder of a lease that is over has ended or lost its connection.
 */
const ABANDONED_HOURS = 1

const abandoned = sql`
  state = 'running' and recovery_point = ${STARTED}
  and due_at < ${machineTime} - make_interval(hours => ${ABANDONED_HOURS})`

/**
 * Frees keys whose process stopped before it had written anything, and whose caller never came
 * back. The reconciler frees those of its operations; writes of gift cards and store credit have
 * none. Counts the rows.
 */
export const freeAbandonedKeys = (database: Database): Promise<number> =>
  deleteKeys(database, { which: abandoned, oldestBy: sql`due_at` })

interface KeysToDelete {
  which: Sql
  /** The column of the index that has these keys. */
  oldestBy: Sql
}

async function deleteKeys(database: Database, keys: KeysToDelete): Promise<number> {
  const stores = await listStoresDue(database.global, {
    table: sql`idempotency_keys`,
    due: keys.which,
    oldestBy: keys.oldestBy,
    limit: BATCH_ROWS,
  })
  return forEachStore(stores, (tenant) => deleteBatch(database.tenant(tenant), keys))
}

const deleteBatch = (db: Db, { which, oldestBy }: KeysToDelete) =>
  db.run(sql`
    delete from idempotency_keys
     where tenant_ref = ${db.tenant}
       and (operation, key) in (select operation, key
                                  from idempotency_keys
                                 where tenant_ref = ${db.tenant} and ${which}
                                 order by ${oldestBy}
                                 limit ${BATCH_ROWS}
                                   for update skip locked)`)
