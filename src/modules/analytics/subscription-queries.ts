import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { microsecondsOf, timeOf } from '../../db/list.ts'
import { join, type Sql, sql } from '../../db/sql.ts'
import { Id, Timestamp } from '../../kernel/schema.ts'
import { DAY_MS } from '../../kernel/time.ts'
import type { RowPlace, SubscriptionCount } from './schema.ts'

/**
 * Reads subscriptions for reports. The counted state of each is stored, and so are the sums. A trigger notes changed
 * subscriptions; until the loop counts them again, a report reads them one by one (decision 0058).
 */

const columns = sql`subscription_id, currency, status, monthly_cents, started_at, ended_at`

/**
 * Selects subscriptions as they are now, in the columns of the counted ones. `changed` has their ids. They
 * are read one by one: a join may read those of the whole store.
 */
const asTheyAre = (db: Db, changed: Sql): Sql => sql`
  select is_now.*
    from ${changed} as c
   cross join lateral (
         select s.id as subscription_id, s.currency, s.status, fd_monthly_cents(s) as monthly_cents,
                s.created_at as started_at, fd_ended_at(s) as ended_at
           from subscriptions s
          where s.tenant_ref = ${db.tenant} and s.id = c.subscription_id
         offset 0) as is_now`

/** Selects the counted state of the subscriptions in `changed`. */
const asCounted = (db: Db, changed: Sql): Sql => sql`
  select was.*
    from ${changed} as c
   cross join lateral (
         select ${columns}
           from analytics_subscriptions a
          where a.tenant_ref = ${db.tenant} and a.subscription_id = c.subscription_id
         offset 0) as was`

const changedNow = (db: Db): Sql => sql`
  (select distinct subscription_id from subscription_changes where tenant_ref = ${db.tenant})`

/** Sums of rows that each count for `sign`. */
const sumOf = (only: Sql, amount: Sql = sql`1`): Sql => sql`
  coalesce(sum(sign * ${amount}) filter (where ${only}), 0)::bigint`
const sums = {
  active_count: sumOf(sql`status = 'active'`),
  past_due_count: sumOf(sql`status = 'past_due'`),
  running_count: sumOf(sql`ended_at is null`),
  mrr_cents: sumOf(sql`status in ('active', 'past_due')`, sql`monthly_cents`),
}

const hasChanges = (tx: Tx) =>
  tx.one(
    Type.Object({ has: Type.Boolean() }),
    sql`select exists (select from subscription_changes where tenant_ref = ${tx.tenant}) as has`,
  )

/**
 * Counts changed subscriptions again, at most `limit` changes. Returns how many. It is one statement, so that it sees a
 * noted change together with the changed row, and a change that comes meanwhile has a note of its own.
 */
export const countChanged = async (tx: Tx, limit: number): Promise<number> => {
  // Most steps have no changes, and the statement below takes a millisecond to find that out.
  if (!(await hasChanges(tx)).has) return 0
  const { count } = await tx.one(
    Type.Object({ count: Type.Integer() }),
    sql`
    with taken as (
      delete from subscription_changes
       where tenant_ref = ${tx.tenant}
         and (subscription_id, id) in (select subscription_id, id
                                         from subscription_changes
                                        where tenant_ref = ${tx.tenant}
                                        order by subscription_id, id
                                        limit ${limit})
      returning subscription_id
    ), changed as (
      select distinct subscription_id from taken
    ), are as materialized (
      ${asTheyAre(tx, sql`changed`)}
    ), difference as materialized (
      select 1 as sign, ${columns} from are
       union all
      select -1, ${columns} from (${asCounted(tx, sql`changed`)}) as were
    ), stored as (
      insert into analytics_subscriptions (tenant_ref, ${columns})
      select ${tx.tenant}, ${columns} from are
          on conflict (tenant_ref, subscription_id) do update
         set currency = excluded.currency, status = excluded.status,
             monthly_cents = excluded.monthly_cents, started_at = excluded.started_at,
             ended_at = excluded.ended_at
    ), sums as (
      insert into analytics_subscription_sums as t (tenant_ref, currency, active_count,
                                                    past_due_count, running_count, mrr_cents)
      select ${tx.tenant}, currency, ${sums.active_count}, ${sums.past_due_count},
             ${sums.running_count}, ${sums.mrr_cents}
        from difference
       group by currency
          on conflict (tenant_ref, currency) do update
         set active_count = t.active_count + excluded.active_count,
             past_due_count = t.past_due_count + excluded.past_due_count,
             running_count = t.running_count + excluded.running_count,
             mrr_cents = t.mrr_cents + excluded.mrr_cents
    ), days as (
      insert into analytics_subscription_days as t (tenant_ref, currency, day, started_count,
                                                    ended_count)
      select ${tx.tenant}, currency, day, sum(started), sum(ended)
        from (select currency, (started_at at time zone 'UTC')::date as day, sign as started,
                     0 as ended
                from difference
               union all
              select currency, (ended_at at time zone 'UTC')::date, 0, sign
                from difference
               where ended_at is not null) as moments
       group by currency, day
      having sum(started) <> 0 or sum(ended) <> 0
          on conflict (tenant_ref, currency, day) do update
         set started_count = t.started_count + excluded.started_count,
             ended_count = t.ended_count + excluded.ended_count
    )
    select count(*) from taken`,
  )
  return count
}

/** Deletes the counted state of all subscriptions, and notes each of them as changed. */
export const deleteCounted = (tx: Tx) =>
  tx.run(sql`
    with sums as (
      delete from analytics_subscription_sums where tenant_ref = ${tx.tenant}
    ), days as (
      delete from analytics_subscription_days where tenant_ref = ${tx.tenant}
    ), counted as (
      delete from analytics_subscriptions where tenant_ref = ${tx.tenant}
    )
    insert into subscription_changes (tenant_ref, subscription_id)
    select tenant_ref, id from subscriptions where tenant_ref = ${tx.tenant}`)

/** The moments at which a period begins and ends. */
export interface Times {
  from: string
  to: string
}

const MOMENTS = {
  started: { at: sql`started_at`, count: sql`started_count` },
  ended: { at: sql`ended_at`, count: sql`ended_count` },
}

/**
 * Counts the subscriptions that started or ended in a period, or since its beginning. Stored days are those
 * of UTC, and a store has its own: the first and the last day of a period are counted from the rows.
 */
function countIn(
  db: Db,
  currency: string,
  moment: keyof typeof MOMENTS,
  { from, to }: { from: string; to: string | null },
): Sql {
  const { at, count } = MOMENTS[moment]
  const firstDay = Math.ceil(Date.parse(from) / DAY_MS) * DAY_MS
  const lastDay = to === null ? null : Math.floor(Date.parse(to) / DAY_MS) * DAY_MS
  const end = to === null ? firstDay : Math.min(firstDay, Date.parse(to))
  const within = (begins: string, ends: string) => sql`
    (select count(*) from analytics_subscriptions
      where tenant_ref = ${db.tenant} and currency = ${currency} and ${at} >= ${begins}
        and ${at} < ${ends})`
  const iso = (ms: number) => new Date(ms).toISOString()
  const until = lastDay === null ? sql`true` : sql`day < ${iso(lastDay).slice(0, 10)}::date`
  const last = to === null || lastDay === null ? sql`0` : within(iso(Math.max(lastDay, end)), to)
  return sql`
    ((select coalesce(sum(${count}), 0) from analytics_subscription_days
       where tenant_ref = ${db.tenant} and currency = ${currency}
         and day >= ${iso(firstDay).slice(0, 10)}::date and ${until})
     + ${within(from, iso(end))} + ${last}
     + (select coalesce(sum(sign), 0) from difference
         where ${at} >= ${from} and ${to === null ? sql`true` : sql`${at} < ${to}`}))::bigint`
}

/**
 * Reads the figures of subscriptions in a currency. Those active at the start of a period are the present ones, plus
 * those that have ended since, minus those that have started since.
 */
export const readSums = (db: Db, currency: string, { from, to }: Times) => {
  const since = { from, to: null }
  return db.one(
    Type.Object({
      active_count: Type.Integer(),
      past_due_count: Type.Integer(),
      mrr_cents: Type.Integer(),
      started_count: Type.Integer(),
      churned_count: Type.Integer(),
      running_before: Type.Integer(),
    }),
    sql`
    with difference as materialized (
      select 1 as sign, ${columns} from (${asTheyAre(db, changedNow(db))}) as are
       where currency = ${currency}
       union all
      select -1, ${columns} from (${asCounted(db, changedNow(db))}) as were
       where currency = ${currency}
    ), uncounted as (
      select ${sums.active_count} as active_count, ${sums.past_due_count} as past_due_count,
             ${sums.running_count} as running_count, ${sums.mrr_cents} as mrr_cents
        from difference
    )
    select coalesce(t.active_count, 0) + u.active_count as active_count,
           coalesce(t.past_due_count, 0) + u.past_due_count as past_due_count,
           coalesce(t.mrr_cents, 0) + u.mrr_cents as mrr_cents,
           ${countIn(db, currency, 'started', { from, to })} as started_count,
           ${countIn(db, currency, 'ended', { from, to })} as churned_count,
           coalesce(t.running_count, 0) + u.running_count
             + ${countIn(db, currency, 'ended', since)}
             - ${countIn(db, currency, 'started', since)} as running_before
      from uncounted u
      left join analytics_subscription_sums t
        on t.tenant_ref = ${db.tenant} and t.currency = ${currency}`,
  )
}

const ofStatus = (status: 'active' | 'past_due'): Sql => sql`p.status = ${status}`

/**
 * The subscriptions that a figure counts, the time of each, and how much each adds. Each part has an index in
 * the order of that time.
 */
const FIGURES: Record<
  Exclude<SubscriptionCount, 'recovered_count'>,
  { parts: (times: Times) => Sql[]; at: Sql; amount: Sql }
> = {
  active_count: { parts: () => [ofStatus('active')], at: sql`p.started_at`, amount: sql`1` },
  past_due_count: { parts: () => [ofStatus('past_due')], at: sql`p.started_at`, amount: sql`1` },
  mrr_cents: {
    parts: () => [ofStatus('active'), ofStatus('past_due')],
    at: sql`p.started_at`,
    amount: sql`p.monthly_cents`,
  },
  started_count: {
    parts: ({ from, to }) => [sql`p.started_at >= ${from} and p.started_at < ${to}`],
    at: sql`p.started_at`,
    amount: sql`1`,
  },
  churned_count: {
    parts: ({ from, to }) => [sql`p.ended_at >= ${from} and p.ended_at < ${to}`],
    at: sql`p.ended_at`,
    amount: sql`1`,
  },
}

const SubscriptionAt = Type.Object({
  id: Id,
  status: Type.String(),
  at: Timestamp,
  amount_cents: Type.Integer(),
  at_us: Type.Integer(),
})

/** Lists the subscriptions behind a figure, by time: a page of the counted ones, and the changed ones. */
export const listRows = (
  db: Db,
  { figure, currency, times }: { figure: keyof typeof FIGURES; currency: string; times: Times },
  { after, limit }: { after: RowPlace | null; limit: number },
) => {
  const { parts, at, amount } = FIGURES[figure]
  const isLater =
    after === null
      ? sql`true`
      : sql`(${at}, p.subscription_id) > (${timeOf(after.at_us)}, ${after.id}::uuid)`
  const pageOf = (from: Sql, where: Sql) => sql`
    (select p.subscription_id as id, p.status, ${at} as at, ${amount}::bigint as amount_cents
       from ${from} as p
      where ${where} and p.currency = ${currency} and ${isLater}
      order by ${at}, p.subscription_id
      limit ${limit})`
  const ofPart = (part: Sql) =>
    pageOf(
      sql`analytics_subscriptions`,
      sql`p.tenant_ref = ${db.tenant} and ${part}
          and not exists (select from subscription_changes c
                           where c.tenant_ref = ${db.tenant}
                             and c.subscription_id = p.subscription_id)`,
    )
  const chosen = parts(times)
  const counted = join(chosen.map(ofPart), ' union all ')
  const changed = pageOf(
    sql`(${asTheyAre(db, changedNow(db))})`,
    sql`(${join(
      chosen.map((part) => sql`(${part})`),
      ' or ',
    )})`,
  )
  return db.many(
    SubscriptionAt,
    sql`
    select id, status, at, amount_cents, ${microsecondsOf(sql`at`)} as at_us
      from (${counted} union all ${changed}) as listed
     order by at, id
     limit ${limit}`,
  )
}
