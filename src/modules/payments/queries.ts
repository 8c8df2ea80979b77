import { Type } from 'typebox'
import type { Db, DueLists, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import { AccountRow, Discrepancy, type GatewayName, type NewDiscrepancy } from './schema.ts'

export const listAccounts = (db: Db) =>
  db.many(
    AccountRow,
    sql`
    select gateway, in_use, credentials, hint, tokenization_key, updated_at
      from payment_accounts
     where tenant_ref = ${db.tenant}`,
  )

/** Makes changes of one store's accounts wait for each other; the first account has no row to lock yet. */
export const lockAccounts = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/payments`}, 0))`)

export const retireAccounts = (tx: Tx) =>
  tx.run(sql`
    update payment_accounts set in_use = false, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and in_use`)

/**
 * An open attempt, by its reference or by the transaction that it acts on, that may have been sent
 * with other credentials than the store has now. A process that had read the old credentials when
 * they were changed has sent its request within ten seconds.
 */
export const findAttemptBeforeCredentials = (
  db: Db,
  target: { ref: string } | { txn_id: string },
) =>
  db.maybe(
    Type.Object({ id: Id }),
    sql`
    select a.id
      from payment_attempts a
      join payment_accounts p on p.tenant_ref = a.tenant_ref and p.gateway = a.gateway
     where a.tenant_ref = ${db.tenant} and a.next_check_at is not null
       and a.state in ('begun', 'unknown')
       and coalesce(a.sent_at, a.created_at) < p.credentials_at + interval '10 seconds'
       and ${'ref' in target ? sql`a.id = ${target.ref}` : sql`a.parent_txn_id = ${target.txn_id}`}
     limit 1`,
  )

/** An attempt at a gateway that has no outcome yet. */
export const findOpenAttempt = (db: Db, gateway: GatewayName) =>
  db.maybe(
    Type.Object({ id: Id }),
    sql`
    select id from payment_attempts
     where tenant_ref = ${db.tenant} and gateway = ${gateway} and state in ('begun', 'unknown')
     limit 1`,
  )

/** Forgets the credentials of an account, which is no longer in use. */
export const forgetCredentials = (tx: Tx, gateway: GatewayName) =>
  tx.run(sql`
    update payment_accounts
       set in_use = false, credentials = null, hint = null, tokenization_key = null,
           credentials_at = fd_now(), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and gateway = ${gateway}`)

export interface NewCredentials {
  credentials: Buffer
  hint: string | null
  /** Whether payments may have been sent to another account: the store's own, or the installation's. */
  replacesOther: boolean
}

/**
 * Sets the account in use. Without new credentials the account keeps its old ones. `credentials_at` is the time at
 * which others were replaced: no payment is older than a store's first account.
 */
export const useAccount = (
  tx: Tx,
  gateway: GatewayName,
  { given, tokenizationKey }: { given: NewCredentials | null; tokenizationKey: string | null },
) =>
  tx.one(
    AccountRow,
    sql`
    insert into payment_accounts as kept
           (tenant_ref, gateway, credentials, hint, tokenization_key, credentials_at)
    values (${tx.tenant}, ${gateway}, ${given?.credentials ?? null}, ${given?.hint ?? null},
            ${tokenizationKey},
            case when ${given?.replacesOther ?? false}::boolean then fd_now() end)
    on conflict (tenant_ref, gateway) do update
       set in_use = true, updated_at = fd_now(), tokenization_key = excluded.tokenization_key,
           credentials = coalesce(excluded.credentials, kept.credentials),
           credentials_at = coalesce(excluded.credentials_at, kept.credentials_at),
           hint = case when excluded.credentials is null then kept.hint else excluded.hint end
    returning gateway, in_use, credentials, hint, tokenization_key, updated_at`,
  )

/** The days (UTC) to compare: the days before `last`, and `last` itself. */
export interface DaysToPlan {
  last: string
  /** The number of days, for a store that moved money on them. */
  count: number
  /** The number of days for every store with an account at a gateway. */
  countUnpaid: number
}

/** Lists the stores with days to compare that are not planned yet. It reads over all stores, as fd_worker. */
export const listUnplanned = (worker: DueLists, { last, count, countUnpaid }: DaysToPlan) =>
  worker.many(
    Type.Object({ tenant_ref: Type.String(), days: Type.Array(Type.String()) }),
    sql`
    select tenant_ref, array_agg(day::text order by day) as days
      from (select tenant_ref, (created_at at time zone 'UTC')::date as day
              from payment_attempts
             where created_at >= (${last}::date + 1 - ${count}::integer)::timestamp at time zone 'UTC'
               and created_at < (${last}::date + 1)::timestamp at time zone 'UTC'
            union
            select tenant_ref, ${last}::date - back
              from payment_accounts, generate_series(0, ${countUnpaid}::integer - 1) as back)
           as paying
     where not exists (select
                         from payment_days d
                        where d.tenant_ref = paying.tenant_ref and d.day = paying.day)
     group by tenant_ref`,
  )

export const planDays = (db: Db, days: readonly string[]) =>
  db.run(sql`
    insert into payment_days (tenant_ref, day, due_at)
    select ${db.tenant}, day, fd_now() from unnest(${days}::date[]) as day
    on conflict (tenant_ref, day) do nothing`)

/** Days that are due to be compared with the gateways' records. */
export const dayQueue = defineQueue({
  table: sql`payment_days`,
  due: sql`due_at`,
  columns: sql`day::text as day`,
  shape: Type.Object({ day: Type.String() }),
})

/** A day this young is compared. An older one is not, unless a payment of it is still unknown. */
const isYoung = sql`day > fd_now()::date - 30`
const isUnknown = sql`
  exists (select from payment_discrepancies d
           where d.tenant_ref = payment_days.tenant_ref and d.day = payment_days.day
             and d.problem = 'outcome_unknown' and d.resolved_at is null)`

/** Ends the comparison of a day. A day with differences is compared again tomorrow, for a month. */
export const endDay = (db: Db, lease: Lease, isOpen: boolean) =>
  dayQueue.finish(
    db,
    lease,
    sql`compared_at = fd_now(),
        due_at = case when ${isOpen}::boolean and (${isYoung} or ${isUnknown})
                      then fd_now() + interval '1 day' end`,
  )

/**
 * Postpones a day whose gateway gave no answer: by an hour, and for an old day with an unknown payment
 * by a day. Any other old day ends, so that a gateway that never answers, because the account was
 * closed, is not asked for ever.
 */
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

/** Resolves the open discrepancies of a day that the comparison did not find again. */
export const resolveOthers = (tx: Tx, day: string, gateway: GatewayName, open: string[]) =>
  tx.run(sql`
    update payment_discrepancies set resolved_at = fd_now()
     where tenant_ref = ${tx.tenant} and day = ${day} and gateway = ${gateway}
       and resolved_at is null and not (problem || ' ' || ref = any(${open}::text[]))`)

/** Lists the differences between the gateways' records and ours, newest first. */
export const listDiscrepancies = (db: Db, onlyOpen: boolean, page: Page) =>
  readList(
    db,
    {
      shape: Discrepancy,
      table: sql`payment_discrepancies`,
      as: sql`d`,
      scope: sql`d.tenant_ref = ${db.tenant}`,
      filters: onlyOpen ? [sql`d.resolved_at is null`] : [],
      key: NEWEST_KEY,
      descending: true,
      columns: sql`d.id, d.day::text as day, d.gateway, d.problem, d.ref, d.txn_id, d.order_id,
                   d.our_cents, d.gateway_cents, d.created_at, d.seen_at, d.resolved_at`,
    },
    page,
  )

export const resolveUnknown = (tx: Tx, attempt_id: string) =>
  tx.run(sql`
    update payment_discrepancies set resolved_at = fd_now()
     where tenant_ref = ${tx.tenant} and problem = 'outcome_unknown' and ref = ${attempt_id}
       and resolved_at is null`)
