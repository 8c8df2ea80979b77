import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { microsecondsOf, timeOf } from '../../db/list.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Nullable, Timestamp } from '../../kernel/schema.ts'
import { type DayRange, isCharge, isOfRealOrder, outcomesOf, reasonOf } from './payment-queries.ts'
import { AttemptRow, COUNTED_OUTCOMES, type Outcome, type Period, type RowPlace } from './schema.ts'

/** Reads payment attempts, and how many there are by day. */

const PaymentDay = Type.Object({
  day: Type.String(),
  outcome: Type.Enum([...COUNTED_OUTCOMES]),
  reason: Type.String(),
  attempts: Type.Integer(),
  amount_cents: Type.Integer(),
})
export type PaymentDay = Static<typeof PaymentDay>

const rangesOf = (days: readonly DayRange[]): Sql => sql`
  unnest(${days.map(({ day }) => day)}::date[], ${days.map(({ from }) => from)}::timestamptz[],
         ${days.map(({ to }) => to)}::timestamptz[]) as r (day, starts_at, ends_at)`

/** Attempts of one day with their outcomes, by the index of store and time. */
const attemptsOf = (db: Db, currency: string, since = sql`r.starts_at`): Sql => sql`
  select a.*, o.outcome, ${reasonOf} as shown_reason
    from payment_attempts a
   cross join lateral ${outcomesOf(db)} as o
   where a.tenant_ref = ${db.tenant} and a.created_at >= ${since} and a.created_at < r.ends_at
     and a.currency = ${currency} and ${isCharge} and ${isOfRealOrder(db)}`

/** The attempts that had no final outcome when their time was counted. */
const notedAttempts = (
  db: Db,
  { generation, currency }: { generation: number; currency: string },
  { from, to }: Period,
): Sql => sql`
  select k.day, o.outcome, ${reasonOf} as reason, 1 as attempts, a.amount_cents
    from analytics_open_attempts k
   cross join lateral (
         select * from payment_attempts
          where tenant_ref = ${db.tenant} and id = k.attempt_id
         offset 0) as a
   cross join lateral ${outcomesOf(db)} as o
   where k.tenant_ref = ${db.tenant} and k.generation = ${generation}
     and k.day between ${from} and ${to} and a.currency = ${currency} and ${isOfRealOrder(db)}`

/**
 * The attempts of a period by day: from the counted days, those without an outcome when they were counted, and those
 * later than the count. One statement: the loop may count more meanwhile, and each attempt is in one of the three at
 * any moment. `uncounted` are the days that may have later ones.
 */
export const listPaymentDays = (
  db: Db,
  counted: { generation: number; currency: string },
  { period, uncounted }: { period: Period; uncounted: readonly DayRange[] },
) => {
  const { generation, currency } = counted
  // One bound: with two, PostgreSQL reads the attempts of the whole day.
  const uncountedSince = sql`
    greatest(r.starts_at, (select payments_to from analytics_generations
                            where tenant_ref = ${db.tenant} and generation = ${generation}))`
  return db.many(
    PaymentDay,
    sql`
    select day::text as day, outcome, reason, sum(attempts)::bigint as attempts,
           sum(amount_cents)::bigint as amount_cents
      from (select day, outcome, reason, attempts, amount_cents
              from analytics_payment_days
             where tenant_ref = ${db.tenant} and generation = ${generation}
               and day between ${period.from} and ${period.to} and currency = ${currency}
             union all
            ${notedAttempts(db, counted, period)}
             union all
            select r.day, a.outcome, a.shown_reason, 1, a.amount_cents
              from ${rangesOf(uncounted)}
             cross join lateral (
                   ${attemptsOf(db, currency, uncountedSince)}
                   offset 0) as a) as parts
     group by 1, 2, 3
    having sum(attempts) <> 0`,
  )
}

/** Finds when the oldest attempt was made whose outcome is still looked up. */
export const firstOpenAttempt = (db: Db, currency: string) =>
  db.one(
    Type.Object({ at: Nullable(Timestamp) }),
    sql`
    select min(a.created_at) as at
      from payment_attempts a
     where a.tenant_ref = ${db.tenant} and a.next_check_at is not null
       and a.currency = ${currency} and ${isCharge}`,
  )

export interface AttemptFilter {
  currency: string
  outcome: Outcome | null
  reason: string | null
}

export const listAttempts = (
  db: Db,
  { currency, outcome, reason }: AttemptFilter,
  { days, after, limit }: { days: readonly DayRange[]; after: RowPlace | null; limit: number },
) =>
  db.many(
    Type.Object({ ...AttemptRow.properties, at_us: Type.Integer() }),
    sql`
    select a.id as attempt_id, a.order_id, a.kind, a.outcome, a.shown_reason as reason,
           a.amount_cents as charged_cents, a.created_at as at, 1 as amount_cents,
           ${microsecondsOf(sql`a.created_at`)} as at_us
      from ${rangesOf(days)}
     cross join lateral (
           ${attemptsOf(db, currency)}
             and case when ${outcome}::text is null then o.outcome <> 'recovered'
                      else o.outcome = ${outcome} end
             and (${reason}::text is null or ${reasonOf} = ${reason})
             and a.created_at >= ${timeOf(after?.at_us ?? 0)}
             and (a.created_at, a.id) > (${timeOf(after?.at_us ?? 0)},
                                         ${after?.id ?? NO_ID}::uuid)
           order by a.created_at, a.id
           limit ${limit}) as a
     order by a.created_at, a.id
     limit ${limit}`,
  )

const NO_ID = '00000000-0000-0000-0000-000000000000'
