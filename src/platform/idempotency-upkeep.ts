import type { Database, Db } from '../db/database.ts'
import { machineTime, sql } from '../db/sql.ts'
import { forEachStore } from './for-each-store.ts'
import { STARTED } from './idempotency.ts'
import { areOldest, listStoresWithOld, type OldRows } from './store-lists.ts'

/** Retries come within minutes, questions about an order within weeks. */
const KEPT_DAYS = 30

/** A delete of so many rows takes some milliseconds, and holds its locks no longer. */
const BATCH_ROWS = 1_000

/**
 * Answers that may be deleted. Not those of operations that moved money: a request that is repeated
 * after its key was forgotten would move it again. Such an operation ended well, or had begun when
 * it was refused. A checkout needs no answer for that, since its order has its key for good, and so has
 * the renewal that the scheduler makes. As the
 * index `idempotency_keys_old` has it, to the letter: a parameter would keep PostgreSQL from it.
 */
export const OLD_ANSWERS: OldRows = {
  table: sql`idempotency_keys`,
  only: sql`
  state = 'answered'
  and (operation not in ('refund', 'cancel', 'cancel_remaining', 'edit', 'release', 'return_receive', 'exchange', 'pay',
                         'renewal', 'gift_card_issue', 'gift_card_batch', 'gift_card_adjust', 'store_credit_credit',
                         'store_credit_debit')
       or (operation = 'renewal' and starts_with(key, 'sub:'))
       or (response_status >= 300 and recovery_point = 'started'))`,
  since: sql`answered_at`,
  before: sql`${machineTime} - make_interval(days => ${KEPT_DAYS})`,
}

/** Deletes answers older than 30 days, in batches. Counts the rows. */
export const deleteOldAnswers = (database: Database): Promise<number> =>
  deleteKeys(database, OLD_ANSWERS)

/**
 * How long after its lease a key that was only claimed is freed. Its caller may repeat the request
 * until then, and the holder of a lease that is over has ended or lost its connection.
 */
const ABANDONED_HOURS = 1

const ABANDONED: OldRows = {
  table: sql`idempotency_keys`,
  only: sql`state = 'running' and recovery_point = ${STARTED}`,
  since: sql`due_at`,
  before: sql`${machineTime} - make_interval(hours => ${ABANDONED_HOURS})`,
}

/**
 * Frees keys whose process stopped before it had written anything, and whose caller never came
 * back. The reconciler frees those of its operations; writes of gift cards and store credit have
 * none. Counts the rows.
 */
export const freeAbandonedKeys = (database: Database): Promise<number> =>
  deleteKeys(database, ABANDONED)

async function deleteKeys(database: Database, keys: OldRows): Promise<number> {
  const stores = await listStoresWithOld(database.global, keys)
  return forEachStore(stores, (tenant) => deleteOldest(database.tenant(tenant), keys))
}

const deleteOldest = (db: Db, keys: OldRows) =>
  db.run(sql`delete from idempotency_keys where ${areOldest(db, keys, BATCH_ROWS)}`)
