import type { Database, Db } from '../db/database.ts'
import { machineTime, sql } from '../db/sql.ts'
import { forEachStore } from './for-each-store.ts'
import { STARTED } from './idempotency.ts'
import { areOldest, listStoresWithOld, type OldRows } from './store-lists.ts'

/** How many days answers are kept: retries come within minutes, questions about an order within weeks. */
const KEPT_DAYS = 30

/** How many rows are deleted at once: this takes some milliseconds, and holds its locks no longer. */
const BATCH_ROWS = 1_000

/**
 * The answers that may be deleted. Answers of operations that moved money may not: if the request were repeated after
 * its key was deleted, it would move the money again. Such an operation succeeded, or had begun when it was refused.
 * A checkout needs no stored answer for that, since its order keeps its key forever, and neither does a renewal that
 * the scheduler makes. The condition is, to the letter, that of the index `idempotency_keys_old`: with a parameter
 * PostgreSQL would not use the index.
 */
export const OLD_ANSWERS: OldRows = {
  table: sql`idempotency_keys`,
  only: sql`
  state = 'answered'
  and (operation not in ('refund', 'cancel', 'cancel_remaining', 'edit', 'correct', 'release', 'return_receive',
                         'exchange', 'pay', 'renewal', 'gift_card_issue', 'gift_card_batch', 'gift_card_adjust',
                         'store_credit_credit', 'store_credit_debit')
       or (operation = 'renewal' and starts_with(key, 'sub:'))
       or (response_status >= 300 and recovery_point = 'started'))`,
  since: sql`answered_at`,
  before: sql`${machineTime} - make_interval(days => ${KEPT_DAYS})`,
}

/** Deletes answers older than 30 days, in batches. Returns the number of rows. */
export const deleteOldAnswers = (database: Database): Promise<number> =>
  deleteKeys(database, OLD_ANSWERS)

/**
 * How long after its lease a key is freed that was claimed and not used. Until then its caller may repeat the request;
 * and a process whose lease expired that long ago has ended or lost its connection.
 */
const ABANDONED_HOURS = 1

const ABANDONED: OldRows = {
  table: sql`idempotency_keys`,
  only: sql`state = 'running' and recovery_point = ${STARTED}`,
  since: sql`due_at`,
  before: sql`${machineTime} - make_interval(hours => ${ABANDONED_HOURS})`,
}

/**
 * Frees keys whose process stopped before it had written anything, and whose caller never came back. The reconciler
 * frees those of its operations; gift cards and store credit have no reconciler. Returns the number of rows.
 */
export const freeAbandonedKeys = (database: Database): Promise<number> =>
  deleteKeys(database, ABANDONED)

async function deleteKeys(database: Database, keys: OldRows): Promise<number> {
  const stores = await listStoresWithOld(database.due, keys)
  return forEachStore(stores, (tenant) => deleteOldest(database.tenant(tenant), keys))
}

const deleteOldest = (db: Db, keys: OldRows) =>
  db.run(sql`delete from idempotency_keys where ${areOldest(db, keys, BATCH_ROWS)}`)
