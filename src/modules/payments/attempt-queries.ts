import { Type } from 'typebox'
import type { AllStores, Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { machineTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Timestamp } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import type { GatewayResult } from './adapters/schema.ts'
import {
  ANSWER_WAIT_HOURS,
  Attempt,
  type GatewayName,
  type NewAttempt,
  Unsettled,
  UnsettledOfStore,
} from './schema.ts'

const attemptFacts = sql`
  order_id, kind, gateway, amount_cents, currency, charge_id, parent_txn_id, state, txn_id,
  auth_code, avs, cvv, code, network_code, advice_code, reason, fraud_signal, vault_id, card, checks, created_at, sent_at,
  closed_at`

export const insertAttempt = (tx: Tx, a: NewAttempt) =>
  tx.run(sql`
    insert into payment_attempts
           (tenant_ref, id, order_id, kind, gateway, amount_cents, currency, charge_id,
            parent_txn_id, sent_at)
    values (${tx.tenant}, ${a.id}, ${a.order_id}, ${a.kind}, ${a.gateway}, ${a.amount_cents},
            ${a.currency}, ${a.charge_id ?? null}, ${a.parent_txn_id ?? null},
            case when not ${a.isUnsent ?? false}::boolean then fd_now() end)`)

export const findAttempt = (db: Db, id: string) =>
  db.maybe(
    Attempt,
    sql`
    select id, ${attemptFacts}
      from payment_attempts
     where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const listAttempts = (db: Db, order_id: string) =>
  db.many(
    Attempt,
    sql`
    select id, ${attemptFacts}
      from payment_attempts
     where tenant_ref = ${db.tenant} and order_id = ${order_id}
     order by created_at, id`,
  )

const updateAttempt = (db: Db, id: string, from: Sql, assignments: Sql) =>
  db.run(sql`
    update payment_attempts set ${assignments}
     where tenant_ref = ${db.tenant} and id = ${id} and state in (${from})`)

const open = sql`'begun', 'unknown'`

/**
 * The facts of a gateway's result. A refund stores no card: it may end after its customer was
 * erased.
 */
const facts = (r: GatewayResult) => sql`
  txn_id = coalesce(${r.txn_id}, txn_id), auth_code = ${r.auth_code}, avs = ${r.avs},
  cvv = ${r.cvv}, code = ${r.code}, network_code = ${r.network_code},
  advice_code = ${r.advice_code}, reason = ${r.reason}, fraud_signal = ${r.fraud_signal},
  vault_id = case when kind <> 'refund' then ${r.vault_id}::text end, card = ${r.card === null ? null : JSON.stringify(r.card)}::jsonb`

export const closeAttempt = (tx: Tx, id: string, result: GatewayResult) =>
  updateAttempt(
    tx,
    id,
    open,
    sql`state = ${result.outcome}, closed_at = fd_now(), next_check_at = null, ${facts(result)}`,
  )

export const markNotFound = (tx: Tx, id: string) =>
  updateAttempt(
    tx,
    id,
    open,
    sql`state = 'not_found', closed_at = fd_now(), next_check_at = fd_now() + interval '50 seconds'`,
  )

export const markVoided = (tx: Tx, id: string, result: GatewayResult | null) =>
  updateAttempt(
    tx,
    id,
    sql`'approved', 'not_found', ${open}`,
    sql`state = 'voided', closed_at = coalesce(closed_at, fd_now()), next_check_at = null,
        txn_id = coalesce(${result?.txn_id ?? null}, txn_id)`,
  )

/** The queue of attempts closed as `not_found`, which the gateway may still approve late. */
export const lateQueue = defineQueue({
  table: sql`payment_attempts`,
  due: sql`next_check_at`,
  only: sql`state = 'not_found'`,
  columns: sql`${attemptFacts}, next_check_at`,
  shape: Type.Object({ ...Attempt.properties, next_check_at: Timestamp }),
})

/** A late lookup under its lease, with the time at which it was due. */
export type LateLookup = Lease & { next_check_at: string }

/** Ends a late lookup and sets its next one, unless an event has made it due again meanwhile. */
const lookUpAgain = (db: Db, late: LateLookup, next: Sql) =>
  lateQueue.finish(
    db,
    late,
    sql`checks = checks + 1,
        next_check_at = case when date_trunc('milliseconds', next_check_at) = ${late.next_check_at}
                             then ${next} else next_check_at end`,
  )

/** A query of the time at which the next attempt of this queue is looked up. */
export const nextLateLookup = (db: Db) => sql`
  select min(next_check_at) from payment_attempts
   where tenant_ref = ${db.tenant} and state = 'not_found'`

export const endLookup = (db: Db, lease: Lease) =>
  lateQueue.finish(db, lease, sql`checks = checks + 1`)

/**
 * Postpones a lookup that the gateway did not answer: to 1, 5 and 30 minutes after the attempt
 * began, then every half hour.
 */
export const postponeLookup = (db: Db, late: LateLookup) =>
  lookUpAgain(
    db,
    late,
    sql`greatest(
          fd_now() + interval '10 seconds',
          case checks when 0 then created_at + interval '1 minute'
                      when 1 then created_at + interval '5 minutes'
                      when 2 then created_at + interval '30 minutes'
                      else fd_now() + interval '30 minutes' end)`,
  )

/**
 * Postpones the lookup of an attempt that still has no record: to five minutes after it was closed,
 * then never.
 */
export const postponeLateLookup = (db: Db, late: LateLookup) =>
  lookUpAgain(
    db,
    late,
    sql`case when fd_now() < closed_at + interval '290 seconds'
             then closed_at + interval '290 seconds' end`,
  )

/** Closes an attempt as approved that was closed as `not_found` before. */
export const closeLate = (tx: Tx, id: string, result: GatewayResult) =>
  updateAttempt(
    tx,
    id,
    sql`'not_found'`,
    sql`state = 'approved', next_check_at = null, ${facts(result)}`,
  )

/** Notes an alert. Returns 1 if the last alert is a day old, or if there was none. */
export const noteAlert = (db: Db, id: string) =>
  db.run(sql`
    update payment_attempts set alerted_at = fd_now()
     where tenant_ref = ${db.tenant} and id = ${id}
       and (alerted_at is null or alerted_at <= fd_now() - interval '1 day')`)

/** Ends the lookups of an attempt for good; it stays `not_found`. */
export const endLateLookups = (db: Db, lease: Lease) =>
  lateQueue.finish(db, lease, sql`checks = checks + 1, next_check_at = null`)

/**
 * Marks an attempt as unknown. If it was unknown before, a lookup is counted. Its operation decides when
 * it is looked up next: for an open attempt, `next_check_at` only puts it into the index of the few
 * attempts that are not settled.
 */
export const markUnknown = (db: Db, id: string) =>
  updateAttempt(db, id, open, sql`state = 'unknown', checks = checks + (state = 'unknown')::int`)

/** Marks an attempt as sent. Returns null if another process has sent or closed it. */
export const markSent = (db: Db, id: string) =>
  db.maybe(
    Type.Object({ sent_at: Timestamp }),
    sql`
    update payment_attempts set sent_at = fd_now()
     where tenant_ref = ${db.tenant} and id = ${id} and state in (${open}) and sent_at is null
    returning sent_at`,
  )

/** Removes one mark, which is known in milliseconds. */
export const clearSent = (db: Db, id: string, sent_at: string) =>
  db.run(sql`
    update payment_attempts set sent_at = null
     where tenant_ref = ${db.tenant} and id = ${id} and state in (${open})
       and date_trunc('milliseconds', sent_at) = ${sent_at}`)

/** Records why an attempt is about to be reversed. */
export const markReversing = (db: Db, id: string, reason: string) =>
  updateAttempt(db, id, open, sql`reason = ${reason}`)

/**
 * Makes the lookups of an order's `not_found` attempts due now, even of an attempt that is no longer watched: a
 * provider that reports on it has a record of it. A running lookup may have missed that record: it keeps this
 * time when it ends, and the attempt is looked up again.
 */
export const makeLookupsDue = (db: Db, order_id: string) =>
  db.run(sql`
    update payment_attempts set next_check_at = fd_now()
     where tenant_ref = ${db.tenant} and order_id = ${order_id} and state = 'not_found'
       and (next_check_at is null or next_check_at > fd_now() + interval '10 seconds'
            or lease_until > ${machineTime})`)

/**
 * Lists the unsettled attempts of a store, oldest first. They are found by their due time: few attempts have one,
 * however many a store has had, and an index in the order of the list would cost time at each checkout.
 */
export const listUnsettled = (db: Db, page: Page) =>
  readList(
    db,
    { ...unsettledList, shape: Unsettled, scope: sql`a.tenant_ref = ${db.tenant}` },
    page,
  )

/** Lists the unsettled attempts of all stores, with the rights of the operator. */
export const listAllUnsettled = (operator: AllStores, page: Page) =>
  readList(
    operator,
    {
      ...unsettledList,
      shape: UnsettledOfStore,
      scope: sql`true`,
      columns: sql`a.tenant_ref, ${unsettledList.columns}`,
    },
    page,
  )

const unsettledList = {
  table: sql`payment_attempts`,
  as: sql`a`,
  filters: [
    sql`a.next_check_at is not null`,
    sql`a.state in (${open})`,
    sql`a.created_at < fd_now() - make_interval(hours => ${ANSWER_WAIT_HOURS})`,
  ],
  key: NEWEST_KEY,
  descending: false,
  columns: sql`a.id as attempt_id, a.order_id, a.kind, a.gateway, a.amount_cents, a.currency,
               a.state, a.txn_id, a.parent_txn_id, a.created_at, a.closed_at`,
}

/** Finds another payment of the store with that transaction. No index has it, since operators rarely need this. */
export const findOfTxn = (
  db: Db,
  { id, gateway, txn_id }: { id: string; gateway: GatewayName; txn_id: string },
) =>
  db.maybe(
    Type.Object({ id: Id }),
    sql`
    select id
      from payment_attempts
     where tenant_ref = ${db.tenant} and gateway = ${gateway} and txn_id = ${txn_id}
       and kind in ('checkout', 'edit', 'renewal', 'pay') and id <> ${id}
     limit 1`,
  )

/** Makes decisions about one transaction wait for each other: the second sees what the first has written. */
export const lockTxn = (tx: Tx, txn_id: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/txn/${txn_id}`}, 0))`)
