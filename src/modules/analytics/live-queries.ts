import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { microsecondsOf, timeOf } from '../../db/list.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Id, Timestamp } from '../../kernel/schema.ts'
import { isCharge, isOfRealOrder, outcomesOf, reasonOf } from './payment-queries.ts'
import {
  AttemptRow,
  COUNTED_OUTCOMES,
  type Outcome,
  type Period,
  type SubscriptionCount,
} from './schema.ts'

/** Figures of rows that are no journals: payment attempts and subscriptions. */

const PaymentDay = Type.Object({
  day: Type.String(),
  outcome: Type.Enum([...COUNTED_OUTCOMES]),
  reason: Type.String(),
  attempts: Type.Integer(),
  amount_cents: Type.Integer(),
})
export type PaymentDay = Static<typeof PaymentDay>

export const listPaymentDays = (
  db: Db,
  { generation, currency }: { generation: number; currency: string },
  { from, to }: Period,
) =>
  db.many(
    PaymentDay,
    sql`
    select day::text as day, outcome, reason, attempts, amount_cents
      from analytics_payment_days
     where tenant_ref = ${db.tenant} and generation = ${generation}
       and day between ${from} and ${to} and currency = ${currency}`,
  )

/** A day and its two ends. */
export interface DayRange {
  day: string
  from: string
  to: string
}

const rangesOf = (days: readonly DayRange[]): Sql => sql`
  unnest(${days.map(({ day }) => day)}::date[], ${days.map(({ from }) => from)}::timestamptz[],
         ${days.map(({ to }) => to)}::timestamptz[]) as r (day, starts_at, ends_at)`

/** Attempts of one day with their outcomes, by the index of store and time. */
const attemptsOf = (db: Db, currency: string): Sql => sql`
  select a.*, o.outcome, ${reasonOf} as shown_reason
    from payment_attempts a
   cross join lateral ${outcomesOf(db)} as o
   where a.tenant_ref = ${db.tenant} and a.created_at >= r.starts_at and a.created_at < r.ends_at
     and a.currency = ${currency} and ${isCharge} and ${isOfRealOrder(db)}`

/** Counts the attempts of days that are not counted for good yet. */
export const countAttempts = (db: Db, currency: string, days: readonly DayRange[]) =>
  db.many(
    PaymentDay,
    sql`
    select r.day::text as day, a.outcome, a.shown_reason as reason, count(*) as attempts,
           sum(a.amount_cents)::bigint as amount_cents
      from ${rangesOf(days)}
     cross join lateral (${attemptsOf(db, currency)} offset 0) as a
     group by 1, 2, 3`,
  )

export interface AttemptFilter {
  currency: string
  outcome: Outcome | null
  reason: string | null
}

/** The place of an attempt in its list. */
export interface AttemptKey {
  at_us: number
  id: string
}

export const listAttempts = (
  db: Db,
  { currency, outcome, reason }: AttemptFilter,
  { days, after, limit }: { days: readonly DayRange[]; after: AttemptKey | null; limit: number },
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

const monthly = sql`
  round(s.unit_price_cents * s.quantity
        * case s.interval when 'day' then 30.4375 when 'week' then 30.4375 / 7
                          when 'month' then 1 else 1.0 / 12 end
        / s.interval_count)::bigint`

/** When a subscription ended. One whose last cycle was paid has no cancellation. */
const endedAt = sql`coalesce(s.cancelled_at, s.updated_at)`

/** Which subscriptions a figure counts, when that was, and how much each adds. */
const SUBSCRIPTION_FIGURES: Record<
  Exclude<SubscriptionCount, 'recovered_count'>,
  { only: (times: Times) => Sql; at: Sql; amount: Sql }
> = {
  active_count: { only: () => sql`s.status = 'active'`, at: sql`s.created_at`, amount: sql`1` },
  past_due_count: { only: () => sql`s.status = 'past_due'`, at: sql`s.created_at`, amount: sql`1` },
  mrr_cents: {
    only: () => sql`s.status in ('active', 'past_due')`,
    at: sql`s.created_at`,
    amount: monthly,
  },
  started_count: {
    only: ({ from, to }) => sql`s.created_at >= ${from} and s.created_at < ${to}`,
    at: sql`s.created_at`,
    amount: sql`1`,
  },
  churned_count: {
    only: ({ from, to }) => sql`
      s.status in ('cancelled', 'unpaid_cancelled', 'expired')
      and ${endedAt} >= ${from} and ${endedAt} < ${to}`,
    at: endedAt,
    amount: sql`1`,
  },
}

/** The moments at which a period begins and ends. */
export interface Times {
  from: string
  to: string
}

type Shown = keyof typeof SUBSCRIPTION_FIGURES

const sumOf = (figure: Shown, times: Times): Sql => {
  const { only, amount } = SUBSCRIPTION_FIGURES[figure]
  return sql`coalesce(sum(${amount}) filter (where ${only(times)}), 0)::bigint`
}

/** One pass over the subscriptions of the store. */
export const sumSubscriptions = (db: Db, currency: string, times: Times) =>
  db.one(
    Type.Object({
      active_count: Type.Integer(),
      past_due_count: Type.Integer(),
      mrr_cents: Type.Integer(),
      started_count: Type.Integer(),
      churned_count: Type.Integer(),
      running_before: Type.Integer(),
    }),
    sql`
    select ${sumOf('active_count', times)} as active_count,
           ${sumOf('past_due_count', times)} as past_due_count,
           ${sumOf('mrr_cents', times)} as mrr_cents,
           ${sumOf('started_count', times)} as started_count,
           ${sumOf('churned_count', times)} as churned_count,
           count(*) filter (where s.created_at < ${times.from}
                              and (s.status in ('active', 'paused', 'past_due')
                                   or ${endedAt} >= ${times.from})) as running_before
      from subscriptions s
     where s.tenant_ref = ${db.tenant} and s.currency = ${currency}`,
  )

export const listSubscriptions = (
  db: Db,
  { figure, currency, times }: { figure: Shown; currency: string; times: Times },
  { after, limit }: { after: string | null; limit: number },
) => {
  const { only, at, amount } = SUBSCRIPTION_FIGURES[figure]
  return db.many(
    Type.Object({
      id: Id,
      status: Type.String(),
      at: Timestamp,
      amount_cents: Type.Integer(),
    }),
    sql`
    select s.id, s.status, ${at} as at, ${amount}::bigint as amount_cents
      from subscriptions s
     where s.tenant_ref = ${db.tenant} and s.id > ${after ?? NO_ID}::uuid
       and s.currency = ${currency} and ${only(times)}
     order by s.id
     limit ${limit}`,
  )
}
