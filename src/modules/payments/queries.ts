import { Type } from 'typebox'
import type { Db, GlobalDb, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import {
  AccountRow,
  Attempt,
  Discrepancy,
  type GatewayName,
  type GatewayResult,
  type NewAttempt,
  type NewDiscrepancy,
} from './schema.ts'

const Total = Type.Object({ total: Type.Integer() })

export const listAccounts = (db: Db) =>
  db.many(
    AccountRow,
    sql`
    select gateway, in_use, credentials, hint, updated_at
      from payment_accounts
     where tenant_ref = ${db.tenant}`,
  )

/** Serialises the changes of one store's accounts, the first of which has no row to lock. */
export const lockAccounts = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/payments`}, 0))`)

export const retireAccounts = (tx: Tx) =>
  tx.run(sql`
    update payment_accounts set in_use = false, updated_at = now()
     where tenant_ref = ${tx.tenant} and in_use`)

/**
 * An attempt that nobody has heard the end of, at its own reference or at what it acts upon, and that
 * may have gone by other credentials than the store has now. Whoever had read them when they were
 * changed was done with it ten seconds later.
 */
export const findOfAccountBefore = (db: Db, what: { ref: string } | { txn_id: string }) =>
  db.maybe(
    Type.Object({ id: Id }),
    sql`
    select a.id
      from payment_attempts a
      join payment_accounts p on p.tenant_ref = a.tenant_ref and p.gateway = a.gateway
     where a.tenant_ref = ${db.tenant} and a.next_check_at is not null
       and a.state in ('begun', 'unknown')
       and a.created_at < p.credentials_at + interval '10 seconds'
       and ${'ref' in what ? sql`a.id = ${what.ref}` : sql`a.parent_txn_id = ${what.txn_id}`}
     limit 1`,
  )

/** Credentials that are not given stay as they are. */
export const useAccount = (
  tx: Tx,
  gateway: GatewayName,
  given: { credentials: Buffer; hint: string | null } | null,
) =>
  tx.one(
    AccountRow,
    sql`
    insert into payment_accounts as kept (tenant_ref, gateway, credentials, hint, credentials_at)
    values (${tx.tenant}, ${gateway}, ${given?.credentials ?? null}, ${given?.hint ?? null},
            case when ${given !== null}::boolean then now() end)
    on conflict (tenant_ref, gateway) do update
       set in_use = true, updated_at = now(),
           credentials = coalesce(excluded.credentials, kept.credentials),
           credentials_at = coalesce(excluded.credentials_at, kept.credentials_at),
           hint = case when excluded.credentials is null then kept.hint else excluded.hint end
    returning gateway, in_use, credentials, hint, updated_at`,
  )

const attemptFacts = sql`
  order_id, kind, gateway, amount_cents, currency, charge_id, parent_txn_id, state, txn_id,
  auth_code, avs, cvv, code, reason, fraud_signal, vault_id, card, checks, created_at, closed_at`

export const insertAttempt = (tx: Tx, a: NewAttempt) =>
  tx.run(sql`
    insert into payment_attempts
           (tenant_ref, id, order_id, kind, gateway, amount_cents, currency, charge_id,
            parent_txn_id)
    values (${tx.tenant}, ${a.id}, ${a.order_id}, ${a.kind}, ${a.gateway}, ${a.amount_cents},
            ${a.currency}, ${a.charge_id ?? null}, ${a.parent_txn_id ?? null})`)

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

export const updateAttempt = (db: Db, id: string, from: Sql, assignments: Sql) =>
  db.run(sql`
    update payment_attempts set ${assignments}
     where tenant_ref = ${db.tenant} and id = ${id} and state in (${from})`)

export const open = sql`'begun', 'unknown'`

/** A refund has no use for a kept card, and may end when its customer has long been erased. */
export const facts = (r: GatewayResult) => sql`
  txn_id = coalesce(${r.txn_id}, txn_id), auth_code = ${r.auth_code}, avs = ${r.avs},
  cvv = ${r.cvv}, code = ${r.code}, reason = ${r.reason}, fraud_signal = ${r.fraud_signal},
  vault_id = case when kind <> 'refund' then ${r.vault_id}::text end, card = ${r.card === null ? null : JSON.stringify(r.card)}::jsonb`

export const closeAttempt = (tx: Tx, id: string, result: GatewayResult) =>
  updateAttempt(
    tx,
    id,
    open,
    sql`state = ${result.outcome}, closed_at = now(), next_check_at = null, ${facts(result)}`,
  )

export const markNotFound = (tx: Tx, id: string) =>
  updateAttempt(
    tx,
    id,
    open,
    sql`state = 'not_found', closed_at = now(), next_check_at = now() + interval '50 seconds'`,
  )

export const markVoided = (tx: Tx, id: string, result: GatewayResult | null) =>
  updateAttempt(
    tx,
    id,
    sql`'approved', 'not_found', ${open}`,
    sql`state = 'voided', closed_at = coalesce(closed_at, now()), next_check_at = null,
        txn_id = coalesce(${result?.txn_id ?? null}, txn_id)`,
  )

/** What nobody has heard the end of. */
export const attemptQueue = defineQueue({
  table: sql`payment_attempts`,
  due: sql`next_check_at`,
  columns: attemptFacts,
  shape: Attempt,
})

/** Those of them that were given up, and may have been approved all the same. */
export const lateQueue = defineQueue({
  table: sql`payment_attempts`,
  due: sql`next_check_at`,
  only: sql`state = 'not_found'`,
  columns: attemptFacts,
  shape: Attempt,
})

export const endCheck = (db: Db, lease: Lease) =>
  attemptQueue.settle(db, lease, sql`checks = checks + 1`)

/** The gateway could not be asked: 1, 5 and 30 minutes after it began, then every half hour. */
export const deferCheck = (db: Db, lease: Lease) =>
  attemptQueue.settle(
    db,
    lease,
    sql`checks = checks + 1,
        next_check_at = greatest(
          now() + interval '10 seconds',
          case checks when 0 then created_at + interval '1 minute'
                      when 1 then created_at + interval '5 minutes'
                      when 2 then created_at + interval '30 minutes'
                      else now() + interval '30 minutes' end)`,
  )

/** Still nothing: asked once more five minutes after it began, and then no more. */
export const watchOn = (db: Db, lease: Lease) =>
  attemptQueue.settle(
    db,
    lease,
    sql`checks = checks + 1,
        next_check_at = case when now() < closed_at + interval '290 seconds'
                             then closed_at + interval '290 seconds' end`,
  )

/**
 * Stores that have moved money on a day (UTC) and, if they are wanted too, those that may have; but for
 * those whose day is planned already. As fd_worker over all of them.
 */
export const listUnplanned = (worker: GlobalDb, day: string, isUnpaidToo: boolean) =>
  worker.many(
    Type.Object({ tenant_ref: Type.String() }),
    sql`
    select tenant_ref
      from (select tenant_ref
              from payment_attempts
             where created_at >= ${`${day}T00:00:00Z`}::timestamptz
               and created_at < ${`${day}T00:00:00Z`}::timestamptz + interval '24 hours'
            union
            select tenant_ref from payment_accounts where ${isUnpaidToo}::boolean) as paying
     where not exists (select
                         from payment_days d
                        where d.tenant_ref = paying.tenant_ref and d.day = ${day}::date)`,
  )

export const planDay = (db: Db, day: string) =>
  db.run(sql`
    insert into payment_days (tenant_ref, day, due_at) values (${db.tenant}, ${day}, now())
    on conflict (tenant_ref, day) do nothing`)

/** Days that wait to be held against the gateways' record. */
export const dayQueue = defineQueue({
  table: sql`payment_days`,
  due: sql`due_at`,
  columns: sql`day::text as day`,
  shape: Type.Object({ day: Type.String() }),
})

/** After that nobody asks about a day any more, but for a payment whose end is not known. */
const isYoung = sql`day > current_date - 30`
const isUnknown = sql`
  exists (select from payment_discrepancies d
           where d.tenant_ref = payment_days.tenant_ref and d.day = payment_days.day
             and d.problem = 'outcome_unknown' and d.resolved_at is null)`

/** A day with differences is looked at again tomorrow, for a month. */
export const endDay = (db: Db, lease: Lease, isOpen: boolean) =>
  dayQueue.settle(
    db,
    lease,
    sql`compared_at = now(),
        due_at = case when ${isOpen}::boolean and (${isYoung} or ${isUnknown})
                      then now() + interval '1 day' end`,
  )

/** The gateway could not be asked; one that never can be, its account being closed, is let be. */
export const postponeDay = (db: Db, lease: Lease) =>
  dayQueue.settle(
    db,
    lease,
    sql`due_at = case when ${isYoung} then now() + interval '1 hour'
                      when ${isUnknown} then now() + interval '1 day' end`,
  )

export const saveDiscrepancy = (
  tx: Tx,
  day: string,
  gateway: GatewayName,
  { problem, ref, txn_id, order_id, our_cents, gateway_cents }: NewDiscrepancy,
) =>
  tx.run(sql`
    insert into payment_discrepancies
           (tenant_ref, day, gateway, problem, ref, txn_id, order_id, our_cents, gateway_cents)
    values (${tx.tenant}, ${day}, ${gateway}, ${problem}, ${ref}, ${txn_id}, ${order_id},
            ${our_cents}, ${gateway_cents})
    on conflict (tenant_ref, day, gateway, problem, ref) do update
       set seen_at = clock_timestamp(), resolved_at = null, txn_id = excluded.txn_id,
           our_cents = excluded.our_cents, gateway_cents = excluded.gateway_cents`)

/** What was open and is not among the problems any more. */
export const resolveOthers = (tx: Tx, day: string, gateway: GatewayName, still: string[]) =>
  tx.run(sql`
    update payment_discrepancies set resolved_at = now()
     where tenant_ref = ${tx.tenant} and day = ${day} and gateway = ${gateway}
       and resolved_at is null and not (problem || ' ' || ref = any(${still}::text[]))`)

const unresolved = (only: boolean) => (only ? sql`and resolved_at is null` : sql``)

export const listDiscrepancies = (db: Db, onlyOpen: boolean, page: Page) =>
  db.many(
    Discrepancy,
    sql`
    select id, day::text as day, gateway, problem, ref, txn_id, order_id, our_cents,
           gateway_cents, created_at, seen_at, resolved_at
      from payment_discrepancies
     where tenant_ref = ${db.tenant} ${unresolved(onlyOpen)}
     order by created_at desc, id desc
     limit ${page.limit} offset ${page.offset}`,
  )

export const countDiscrepancies = (db: Db, onlyOpen: boolean) =>
  db.one(
    Total,
    sql`
    select count(*) as total
      from payment_discrepancies
     where tenant_ref = ${db.tenant} ${unresolved(onlyOpen)}`,
  )
