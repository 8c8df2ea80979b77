import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { join, type Sql, sql } from '../../db/sql.ts'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { defineQueue } from '../../platform/leases.ts'
import {
  type BegunCycle,
  DueSubscription,
  type Dunning,
  type PaidCycle,
  type UpdatedCard,
} from './cycle-schema.ts'
import { storedColumns } from './queries.ts'

/** The statements of the engine that charges subscriptions. */

/** The subscriptions that the scheduler must look at. */
export const dueQueue = defineQueue({
  table: sql`subscriptions`,
  due: sql`due_at`,
  columns: sql`version`,
  shape: Type.Object({ version: Type.Integer() }),
})

/** A query of the time at which the scheduler must look at the store next. */
export const nextDue = (db: Db) => sql`
  select min(due_at) from subscriptions where tenant_ref = ${db.tenant} and due_at is not null`

const columns = sql`
  ${storedColumns}, s.card_blocked, s.card_told, s.retry_at, s.dunning_ends_at, s.charging_cycle,
  s.noticed_for, s.due_at,
  fd_now() as now, fd_card_ends(s.card_exp_year, s.card_exp_month) as card_ends_at, t.time_zone,
  coalesce(x.dunning_delays_days, '{1,3,5,7}') as dunning_delays_days,
  coalesce(x.on_exhausted, 'cancel') as on_exhausted,
  coalesce(x.on_out_of_stock, 'skip') as on_out_of_stock, x.pre_renewal_notice_days,
  n.next_cycle, g.charge_cycle, coalesce(k.attempt_count, 0) as attempt_count`

/**
 * The tables that a due subscription is read from. Where several dates have passed, the last cycle whose date has
 * come is charged, unless it is skipped. A charge that was tried before stays that of its cycle: cycles that became
 * due meanwhile are skipped once it is paid.
 */
const sources = sql`
  subscriptions s
  join stores t on t.tenant_ref = s.tenant_ref
  left join subscription_settings x on x.tenant_ref = s.tenant_ref
  cross join lateral (
    select coalesce(max(c.cycle), 1) as cycle
      from subscription_cycles c
     where c.tenant_ref = s.tenant_ref and c.subscription_id = s.id
       and c.state in ('paid', 'failed')) as d
  cross join lateral (
    select fd_next_cycle(s.tenant_ref, s.id, d.cycle) as next_cycle) as n
  left join subscription_cycles k
    on k.tenant_ref = s.tenant_ref and k.subscription_id = s.id and k.cycle = n.next_cycle
  cross join lateral (
    select case when k.attempt_count > 0 then n.next_cycle else
             coalesce((select max(c)
                         from generate_series(n.next_cycle,
                                s.anchor_cycle - 1 + fd_period_after(s.anchor_on, s.interval,
                                  s.interval_count, t.time_zone, fd_now())) as c
                        where not exists (
                                select from subscription_cycles o
                                 where o.tenant_ref = s.tenant_ref and o.subscription_id = s.id
                                   and o.cycle = c and o.state = 'skipped')),
                      n.next_cycle) end as charge_cycle) as g`

export const findDue = (db: Db, id: string) =>
  db.maybe(
    DueSubscription,
    sql`select ${columns} from ${sources} where s.tenant_ref = ${db.tenant} and s.id = ${id}`,
  )

/** Finds a cycle that was paid before its date, which is still to come. */
export const findChargedAhead = (db: Db, id: string) =>
  db.maybe(
    Type.Object({ cycle: Type.Integer() }),
    sql`
    select cycle
      from subscription_cycles
     where tenant_ref = ${db.tenant} and subscription_id = ${id} and state = 'paid'
       and due_at > fd_now()
     limit 1`,
  )

export const lockSubscription = (tx: Tx, id: string) =>
  tx.run(sql`
    select from subscriptions where tenant_ref = ${tx.tenant} and id = ${id} for update`)

/** The time of a cycle, by the anchor of its subscription. */
const startOf = (cycle: Sql) => sql`
  fd_period_start(s.anchor_on, s.interval, s.interval_count, ${cycle} - s.anchor_cycle, t.time_zone)`

/** Changes a subscription. Changes no row where the subscription has another version by now. */
export const update = (
  tx: Tx,
  { id, version }: { id: string; version: number },
  changes: readonly Sql[],
) =>
  tx.run(sql`
    update subscriptions as s
       set version = s.version + 1, updated_at = fd_now(), ${join(changes, ', ')}
      from stores t
     where t.tenant_ref = s.tenant_ref and s.tenant_ref = ${tx.tenant} and s.id = ${id}
       and s.version = ${version}`)

/** Records that no charge is under way any more. */
export const charged = sql`charging_cycle = null`

export const paid = ({ cycle, order_id, unit_price_cents, prices_include_tax }: PaidCycle) => sql`
  paid_cycles = s.paid_cycles + 1, last_order_id = ${order_id},
  unit_price_cents = ${unit_price_cents}, prices_include_tax = ${prices_include_tax}, current_period_start = ${startOf(sql`${cycle}::int`)}`

/** The status and the dates of a subscription after a cycle was decided. */
export const activeAfter = (cycle: number) => sql`
  status = 'active', retry_at = null, dunning_attempt = 0, dunning_next_at = null,
  dunning_ends_at = null, dunning_reason = null,
  next_charge_at = ${startOf(sql`fd_next_cycle(s.tenant_ref, s.id, ${cycle}::int)`)}`

export const stopped = (status: string) => sql`
  status = ${status}, next_charge_at = null, retry_at = null, paused_until = null,
  dunning_attempt = 0, dunning_next_at = null, dunning_ends_at = null,
  cancel_at_period_end = false`

export const cancelled = (reason: string) => sql`cancelled_at = fd_now(), cancel_reason = ${reason}`

export const dunned = ({ next_at, ends_at, attempt, reason, is_blocked }: Dunning) => sql`
  status = 'past_due', dunning_attempt = ${attempt}, dunning_next_at = ${next_at},
  dunning_ends_at = ${ends_at}, dunning_reason = ${reason},
  card_blocked = s.card_blocked or ${is_blocked}, retry_at = null`

/** Makes an open charge due again: after some seconds, or at a time. */
export const retried = (status: string, when: number | string) => {
  const at =
    typeof when === 'number' ? sql`fd_now() + make_interval(secs => ${when})` : sql`${when}`
  return status === 'past_due'
    ? sql`dunning_next_at = ${at}, dunning_ends_at = null`
    : sql`retry_at = ${at}`
}

export const noticed = sql`noticed_for = s.next_charge_at`
export const cardTold = (text: string) => sql`card_told = ${text}`
export const unblocked = sql`card_blocked = false`
export const blocked = sql`card_blocked = true`

/** The facts of a card that its bank has replaced. The fingerprint of the old number does not apply to a new one. */
export const newCard = ({ brand, last4, exp_month, exp_year }: UpdatedCard) => sql`
  card_brand = coalesce(${brand}, s.card_brand), card_last4 = coalesce(${last4}, s.card_last4),
  card_exp_month = coalesce(${exp_month}, s.card_exp_month),
  card_exp_year = coalesce(${exp_year}, s.card_exp_year),
  card_fingerprint = case when coalesce(${last4}, s.card_last4) is not distinct from s.card_last4
                          then s.card_fingerprint end`

export const markCharging = (tx: Tx, { id, version, cycle }: BegunCycle) =>
  tx.run(sql`
    update subscriptions
       set charging_cycle = ${cycle}, retry_at = null, lease_until = null, lease_token = null,
           version = version + 1, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id} and version = ${version}
       and charging_cycle is null and not card_blocked and status in ('active', 'past_due')`)

/** Writes the cycle of a charge. Writes no row where it was paid, was skipped or has failed before. */
export const upsertCharging = (tx: Tx, { id, cycle, order_id }: BegunCycle) =>
  tx.run(sql`
    insert into subscription_cycles as c (tenant_ref, subscription_id, cycle, state, due_at,
                                          order_id, attempt_count)
    select ${tx.tenant}, s.id, ${cycle}, 'charging', ${startOf(sql`${cycle}::int`)}, ${order_id}, 1
      from subscriptions s join stores t on t.tenant_ref = s.tenant_ref
     where s.tenant_ref = ${tx.tenant} and s.id = ${id}
        on conflict (tenant_ref, subscription_id, cycle) do update
       set state = 'charging', order_id = excluded.order_id, reason = null,
           attempt_count = c.attempt_count + 1, updated_at = fd_now()
     where c.state = 'scheduled'`)

/** Skips cycles whose date has passed, except those that are decided. */
export const skipOverdue = (tx: Tx, id: string, from: number, to: number) =>
  tx.run(sql`
    insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, reason)
    select ${tx.tenant}, s.id, c, 'skipped', ${startOf(sql`c`)}, 'overdue'
      from subscriptions s join stores t on t.tenant_ref = s.tenant_ref,
           generate_series(${from}::int, ${to}::int) as c
     where s.tenant_ref = ${tx.tenant} and s.id = ${id}
        on conflict do nothing`)

/** Skips a cycle that was not charged. */
export const skipCycle = (tx: Tx, id: string, cycle: number, reason: string) =>
  tx.run(sql`
    insert into subscription_cycles as c (tenant_ref, subscription_id, cycle, state, due_at, reason)
    select ${tx.tenant}, s.id, ${cycle}, 'skipped', ${startOf(sql`${cycle}::int`)}, ${reason}
      from subscriptions s join stores t on t.tenant_ref = s.tenant_ref
     where s.tenant_ref = ${tx.tenant} and s.id = ${id}
        on conflict (tenant_ref, subscription_id, cycle) do update
       set state = 'skipped', reason = excluded.reason, order_id = null, updated_at = fd_now()
     where c.state = 'scheduled'`)

/** Decides the cycle that is being charged. Changes no row where another process has decided it. */
export const decideCycle = (
  tx: Tx,
  { id, cycle }: { id: string; cycle: number },
  { state, reason }: { state: 'paid' | 'scheduled' | 'failed'; reason: string | null },
) =>
  tx.run(sql`
    update subscription_cycles
       set state = ${state}, reason = ${reason}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and subscription_id = ${id} and cycle = ${cycle}
       and state = 'charging'`)

/** Fails the cycle of a charge that is ended between two attempts. */
export const failScheduled = (tx: Tx, id: string, cycle: number, reason: string) =>
  tx.run(sql`
    update subscription_cycles set state = 'failed', reason = ${reason}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and subscription_id = ${id} and cycle = ${cycle}
       and state = 'scheduled'`)

/** Returns the last cycle whose date has come. */
export const findLastDue = (tx: Tx, id: string) =>
  tx.one(
    Type.Object({ cycle: Type.Integer() }),
    sql`
    select s.anchor_cycle - 1 + fd_period_after(s.anchor_on, s.interval, s.interval_count,
                                                t.time_zone, fd_now()) as cycle
      from subscriptions s join stores t on t.tenant_ref = s.tenant_ref
     where s.tenant_ref = ${tx.tenant} and s.id = ${id}`,
  )

/** Blocks a card in all running subscriptions of the store that have it. */
export const blockCard = (tx: Tx, card_fingerprint: string) =>
  tx.run(sql`
    update subscriptions set card_blocked = true, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and card_fingerprint = ${card_fingerprint}
       and status in ('active', 'paused', 'past_due') and not card_blocked`)

/** Lists the other running subscriptions with a card, in the order in which they are locked. */
export const listOfCard = (db: Db, card_fingerprint: string) =>
  db.many(
    Type.Object({ id: Id }),
    sql`
    select id
      from subscriptions
     where tenant_ref = ${db.tenant} and card_fingerprint = ${card_fingerprint}
       and status in ('active', 'paused', 'past_due')
     order by id`,
  )

/** Lists the running subscriptions with a card that a gateway names by its reference, or by its first transaction. */
export const listOfVault = (db: Db, vault_id: string) =>
  db.many(
    Type.Object({ id: Id }),
    sql`
    select id
      from subscriptions
     where tenant_ref = ${db.tenant} and vault_id = ${vault_id}
       and status in ('active', 'paused', 'past_due')
     order by id`,
  )

/**
 * Returns when a declined charge is tried again: so many days later, from 06:00 to 10:00 in the store's time zone,
 * each subscription at a minute of its own. With `payday` it is the next 1st, 15th or last working day of a month
 * instead, where that is at most three days further.
 */
export const findRetryTime = (
  tx: Tx,
  { id, days, payday, zone }: { id: string; days: number; payday: boolean; zone: string },
) =>
  tx.one(
    Type.Object({ at: Timestamp }),
    sql`
    with planned as (
      select (fd_now() at time zone ${zone})::date + ${days}::int as day
    ), paydays as (
      select min(d::date) as day
        from planned p, generate_series(p.day, p.day + 3, interval '1 day') as d,
             lateral (select (date_trunc('month', d) + interval '1 month - 1 day')::date as last) as m,
             lateral (select m.last - greatest(extract(isodow from m.last)::int - 5, 0) as working) as w
       where ${payday}::boolean and (extract(day from d) in (1, 15) or d::date = w.working)
    )
    select (coalesce(y.day, p.day) + time '06:00'
            + make_interval(mins => (hashtextextended(${id}::text, 0) & 1023)::int % 240))
           at time zone ${zone} as at
      from planned p, paydays y`,
  )

/** Computes again when some active subscriptions after an id are due. Returns the id of the last one. */
export const rescheduleAfter = (db: Db, after: string, limit: number) =>
  db.one(
    Type.Object({ last: Nullable(Id) }),
    sql`
    with chosen as (
      select id from subscriptions
       where tenant_ref = ${db.tenant} and id > ${after}
       order by id
       limit ${limit}
    ), written as (
      update subscriptions s set due_at = s.due_at
        from chosen
       where s.tenant_ref = ${db.tenant} and s.id = chosen.id and s.status = 'active'
    )
    select (select id from chosen order by id desc limit 1) as last`,
  )
