import { Type } from 'typebox'
import type { Db, GlobalDb, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import { AccountRow, Discrepancy, type GatewayName, type NewDiscrepancy } from './schema.ts'

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
    update payment_accounts set in_use = false, updated_at = fd_now()
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
            case when ${given !== null}::boolean then fd_now() end)
    on conflict (tenant_ref, gateway) do update
       set in_use = true, updated_at = fd_now(),
           credentials = coalesce(excluded.credentials, kept.credentials),
           credentials_at = coalesce(excluded.credentials_at, kept.credentials_at),
           hint = case when excluded.credentials is null then kept.hint else excluded.hint end
    returning gateway, in_use, credentials, hint, updated_at`,
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
    insert into payment_days (tenant_ref, day, due_at) values (${db.tenant}, ${day}, fd_now())
    on conflict (tenant_ref, day) do nothing`)

/** Days that wait to be held against the gateways' record. */
export const dayQueue = defineQueue({
  table: sql`payment_days`,
  due: sql`due_at`,
  columns: sql`day::text as day`,
  shape: Type.Object({ day: Type.String() }),
})

/** After that nobody asks about a day any more, but for a payment whose end is not known. */
const isYoung = sql`day > fd_now()::date - 30`
const isUnknown = sql`
  exists (select from payment_discrepancies d
           where d.tenant_ref = payment_days.tenant_ref and d.day = payment_days.day
             and d.problem = 'outcome_unknown' and d.resolved_at is null)`

/** A day with differences is looked at again tomorrow, for a month. */
export const endDay = (db: Db, lease: Lease, isOpen: boolean) =>
  dayQueue.finish(
    db,
    lease,
    sql`compared_at = fd_now(),
        due_at = case when ${isOpen}::boolean and (${isYoung} or ${isUnknown})
                      then fd_now() + interval '1 day' end`,
  )

/** The gateway could not be asked; one that never can be, its account being closed, is let be. */
export const postponeDay = (db: Db, lease: Lease) =>
  dayQueue.finish(
    db,
    lease,
    sql`due_at = case when ${isYoung} then fd_now() + interval '1 hour'
                      when ${isUnknown} then fd_now() + interval '1 day' end`,
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
       set seen_at = fd_clock(), resolved_at = null, txn_id = excluded.txn_id,
           our_cents = excluded.our_cents, gateway_cents = excluded.gateway_cents`)

/** What was open and is not among the problems any more. */
export const resolveOthers = (tx: Tx, day: string, gateway: GatewayName, still: string[]) =>
  tx.run(sql`
    update payment_discrepancies set resolved_at = fd_now()
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

export const resolveUnknown = (tx: Tx, attempt_id: string) =>
  tx.run(sql`
    update payment_discrepancies set resolved_at = fd_now()
     where tenant_ref = ${tx.tenant} and problem = 'outcome_unknown' and ref = ${attempt_id}
       and resolved_at is null`)
