import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Nullable, Timestamp } from '../../kernel/schema.ts'
import { COUNTED_OUTCOMES, type Generation } from './schema.ts'

/** Reads payment attempts for reports (decision 0058). */

/** A day and its two ends, or two times in it. */
export interface DayRange {
  day: string
  from: string
  to: string
}

/** The outcome of an attempt, for a merchant: a void that ended a charge was approved before it. */
const outcomeOf = sql`
  case when a.state in ('approved', 'voided') then 'approved'
       when a.state = 'declined' then 'declined'
       when a.state in ('error', 'not_found') then 'failed'
       else 'open' end`

/** Charges: a refund or a void takes no money. */
export const isCharge = sql`a.kind in ('checkout', 'release', 'edit', 'renewal', 'pay')`

/** Whether an order is not a test. Each order is looked up: a store may have many tests, and few attempts to count. */
export const isOfRealOrder = (db: Db): Sql => sql`
  (select is_test from orders where tenant_ref = ${db.tenant} and id = a.order_id) is not true`

/**
 * The outcome of an attempt. A renewal that was approved after a decline of the same cycle also counts as
 * recovered; each attempt has an order of its own. The check is in a `case`, so that no order of another
 * attempt is read.
 */
export const outcomesOf = (db: Db): Sql => sql`
  (select ${outcomeOf} as outcome
    union all
   select 'recovered'
    where case when a.kind = 'renewal' and a.state = 'approved'
               then exists (select from orders r
                              join subscription_declines d
                                on d.tenant_ref = r.tenant_ref
                               and d.subscription_id = r.subscription_id
                               and d.cycle = r.subscription_cycle
                             where r.tenant_ref = ${db.tenant} and r.id = a.order_id)
               else false end)`

/**
 * Whether the outcome of an attempt may change: the gateway may still approve an attempt that it has no record of. All
 * other outcomes are final.
 */
const isOpen = sql`a.state in ('begun', 'unknown', 'not_found')`

/** The reason of an attempt; empty for one that is approved or open. */
export const reasonOf = sql`
  case when a.state in ('declined', 'error', 'not_found')
       then left(coalesce(a.reason, a.state), 60) else '' end`

/** Finds when the first attempt since a time was made. */
export const firstAttempt = (db: Db, since: string) =>
  db.one(
    Type.Object({ at: Nullable(Timestamp) }),
    sql`
    select min(created_at) as at
      from payment_attempts
     where tenant_ref = ${db.tenant} and created_at >= ${since}`,
  )

/** Adds rows with a day, currency, outcome, reason, number of attempts and amount to the days. */
const addRows = (tx: Tx, generation: number, rows: Sql): Sql => sql`
    insert into analytics_payment_days as d (tenant_ref, generation, day, currency, outcome, reason,
                                             attempts, amount_cents)
    select ${tx.tenant}, ${generation}::int, day, currency, outcome, reason, sum(attempts),
           sum(amount_cents)
      from (${rows}) as added
     group by day, currency, outcome, reason
        on conflict (tenant_ref, generation, day, currency, outcome, reason) do update
       set attempts = d.attempts + excluded.attempts,
           amount_cents = d.amount_cents + excluded.amount_cents`

/**
 * Counts the attempts between two times of a day. Attempts without a final outcome are noted instead, those of test
 * orders too, since an order may lose its test flag. One statement, so that no attempt gets its outcome in between.
 */
export const countAttempts = (tx: Tx, generation: number, { day, from, to }: DayRange) =>
  tx.run(sql`
    with found as materialized (
      select a.id, a.currency, o.outcome, ${reasonOf} as reason, a.amount_cents,
             ${isOpen} as is_open, ${isOfRealOrder(tx)} as is_real
        from payment_attempts a
       cross join lateral ${outcomesOf(tx)} as o
       where a.tenant_ref = ${tx.tenant} and a.created_at >= ${from} and a.created_at < ${to}
         and ${isCharge}
    ), noted as (
      insert into analytics_open_attempts (tenant_ref, generation, day, attempt_id)
      select ${tx.tenant}, ${generation}::int, ${day}::date, id from found where is_open
    )
    ${addRows(
      tx,
      generation,
      sql`select ${day}::date as day, currency, outcome, reason, 1 as attempts, amount_cents
            from found where is_real and not is_open`,
    )}`)

/** Counts the noted attempts that have got an outcome since. */
export const countSettled = (tx: Tx, generation: number) =>
  tx.run(sql`
    with settled as materialized (
      select k.day, a.id, a.currency, o.outcome, ${reasonOf} as reason, a.amount_cents,
             ${isOfRealOrder(tx)} as is_real
        from analytics_open_attempts k
       cross join lateral (
             select * from payment_attempts
              where tenant_ref = ${tx.tenant} and id = k.attempt_id
             offset 0) as a
       cross join lateral ${outcomesOf(tx)} as o
       where k.tenant_ref = ${tx.tenant} and k.generation = ${generation} and not ${isOpen}
    ), done as (
      delete from analytics_open_attempts k
       using settled s
       where k.tenant_ref = ${tx.tenant} and k.generation = ${generation} and k.day = s.day
         and k.attempt_id = s.id
    )
    ${addRows(
      tx,
      generation,
      sql`select day, currency, outcome, reason, 1 as attempts, amount_cents
            from settled where is_real`,
    )}`)

const CountedAttempt = Type.Object({
  at: Timestamp,
  currency: Type.String(),
  outcome: Type.Enum([...COUNTED_OUTCOMES]),
  reason: Type.String(),
  amount_cents: Type.Integer(),
})
export type CountedAttempt = Static<typeof CountedAttempt>

/** The attempts of an order that are in the days of a generation, or would be if the order were no test. */
export const listCounted = (
  tx: Tx,
  { generation, payments_to }: Pick<Generation, 'generation' | 'payments_to'>,
  order_id: string,
) =>
  tx.many(
    CountedAttempt,
    sql`
    select a.created_at as at, a.currency, o.outcome, ${reasonOf} as reason, a.amount_cents
      from payment_attempts a
     cross join lateral ${outcomesOf(tx)} as o
     where a.tenant_ref = ${tx.tenant} and a.order_id = ${order_id} and ${isCharge}
       and a.created_at < ${payments_to}
       and not exists (select from analytics_open_attempts k
                        where k.tenant_ref = ${tx.tenant} and k.generation = ${generation}
                          and k.attempt_id = a.id)`,
  )

/** Adds an order's attempts to their days, or takes them out again. */
export const addCounted = (
  tx: Tx,
  generation: number,
  attempts: readonly (Omit<CountedAttempt, 'at'> & { day: string })[],
  sign: 1 | -1,
) =>
  tx.run(
    addRows(
      tx,
      generation,
      sql`select day, currency, outcome, reason, ${sign}::int as attempts,
                 ${sign}::int * amount_cents as amount_cents
            from jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb)
                 as r (day date, currency text, outcome text, reason text, amount_cents bigint)`,
    ),
  )
