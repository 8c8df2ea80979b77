import type { Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'

/**
 * The dates of subscriptions. In all SQL of this file `s` is a row of `subscriptions`, and the zone is that of its
 * store.
 */

/** The time of a cycle, by the calendar. */
const startOf = (cycle: Sql, zone: string): Sql => sql`
  fd_period_start(s.anchor_on, s.interval, s.interval_count, ${cycle} - s.anchor_cycle, ${zone})`

/** The first cycle that falls after a time. */
const cycleAfter = (time: Sql, zone: string): Sql => sql`
  (s.anchor_cycle + fd_period_after(s.anchor_on, s.interval, s.interval_count, ${zone}, ${time}))`

/** The last cycle that was paid or has failed. */
export const lastCycle = sql`
  (select coalesce(max(c.cycle), 1)
     from subscription_cycles c
    where c.tenant_ref = s.tenant_ref and c.subscription_id = s.id
      and c.state in ('paid', 'failed'))`

/**
 * The last cycle that a pause leaves where it is. Like `lastCycle`, but it counts skips as well whose date came
 * before the pause began: the pause does not move them.
 */
const lastBeforePause = sql`
  (select greatest(${lastCycle}, max(c.cycle))
     from subscription_cycles c
    where c.tenant_ref = s.tenant_ref and c.subscription_id = s.id and c.state = 'skipped'
      and c.cycle <= s.paused_after)`

/**
 * `l.last`: the last cycle. `d.delay`: by how many periods the charges of a paused subscription are
 * later than its row says, since it resumes on the first date after its pause; 0 where it is not paused,
 * or its pause has no end yet.
 */
const known = (zone: string): Sql => sql`
  (select ${lastBeforePause} as last) as l,
  lateral (select case when s.status = 'paused' and s.paused_until is not null
                       then greatest(0, ${cycleAfter(sql`greatest(s.paused_until, fd_now())`, zone)}
                                        - (l.last + 1))
                       else 0 end as delay) as d`

/** Whether a cycle is skipped. Only the cycles after the last one are read: there may be thousands before it. */
const isSkipped = sql`
  exists (select from subscription_cycles c
           where c.tenant_ref = s.tenant_ref and c.subscription_id = s.id and c.cycle > l.last
             and c.cycle = n.cycle and c.state = 'skipped')`

/** The end of the dates that are listed: the API writes no year beyond 9999. */
const END_OF_YEARS = sql`timestamptz '9999-01-01'`

/**
 * The coming cycles that are not skipped, the next one first: `cycle` and `at`. It is at least three of the next 27,
 * since at most 24 are skipped ahead.
 */
export const comingCycles = (zone: string): Sql => sql`
  select n.cycle, ${startOf(sql`n.cycle + d.delay`, zone)} as at
    from ${known(zone)}, generate_series(l.last + 1, l.last + 27) as n (cycle)
   where not ${isSkipped} and ${startOf(sql`n.cycle + d.delay`, zone)} < ${END_OF_YEARS}
   order by n.cycle`

/** The skipped cycles whose date has not come. */
export const skippedCycles = (zone: string): Sql => sql`
  select n.cycle, ${startOf(sql`n.cycle + d.delay`, zone)} as at
    from ${known(zone)}, generate_series(l.last + 1, l.last + 24) as n (cycle)
   where ${isSkipped} and ${startOf(sql`n.cycle + d.delay`, zone)} > fd_now()
   order by n.cycle`

/**
 * The days on which a subscription is charged before a time, from today on. A charge that is overdue
 * is made today, once.
 */
export const chargeDays = (zone: string, until: Sql): Sql => sql`
  select (fd_now() at time zone ${zone})::date as day
   where s.next_charge_at <= fd_now()
  union all
  select (${startOf(sql`n.cycle`, zone)} at time zone ${zone})::date
    from (select ${lastCycle} as last) as l,
         generate_series(greatest(l.last + 1, ${cycleAfter(sql`fd_now()`, zone)}),
                         ${cycleAfter(until, zone)} - 1) as n (cycle)
   where not ${isSkipped}`

/**
 * Whether the next charge is in the future, and no other charge can fall before a time. It adds the shortest period
 * of its kind, less two days: where the store has changed its time zone, the new zone counts from the charge after
 * the next.
 */
export const isLastBefore = (until: Sql): Sql => sql`
  (s.next_charge_at > fd_now()
   and s.next_charge_at
       + make_interval(days => s.interval_count * case s.interval when 'day' then 1 when 'week' then 7
                                                                  when 'month' then 28 else 365 end
                               - 2) >= ${until})`

/**
 * Sets when a subscription is charged next, and when the scheduler must look at it, by the rest of its row. With
 * `isNow` the charge is due at once, whatever its date in the calendar is.
 */
export const reschedule = (tx: Tx, id: string, { zone, isNow }: { zone: string; isNow: boolean }) =>
  tx.run(sql`
    update subscriptions as s
       set retry_at = null,
           (next_charge_at, due_at) = (
             select case s.status when 'active' then n.at when 'past_due' then s.next_charge_at end,
                    case s.status when 'active' then n.at when 'past_due' then s.dunning_next_at
                                  when 'paused' then s.paused_until end
               from (select case when ${isNow}::boolean then least(first.at, fd_now())
                                 else first.at end as at
                       from (select (select at from (${comingCycles(zone)} limit 1) as next) as at)
                            as first) as n)
     where s.tenant_ref = ${tx.tenant} and s.id = ${id}`)

/**
 * Ends a pause: the next cycle falls on the first date of the calendar after now, and never earlier than without the
 * pause. The periods of the pause have no cycle, so none of them counts as one.
 */
export const endPause = (tx: Tx, id: string, zone: string) =>
  tx.run(sql`
    update subscriptions as s
       set status = 'active', paused_until = null, version = s.version + 1, updated_at = fd_now(),
           anchor_cycle = s.anchor_cycle
                          - greatest(0, ${cycleAfter(sql`fd_now()`, zone)} - (${lastBeforePause} + 1))
     where s.tenant_ref = ${tx.tenant} and s.id = ${id}`)
