import { type Sql, sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

/** The partitions of ids that are not ordered by time: their rows are in no month. */
type Unordered = 'before' | 'random' | 'default'

/**
 * Deliveries with ids of version 4, from before ids were ordered by time, with their attempts and
 * the events of test fires, which are in no feed.
 */
const unorderedDeliveries = (suffix: Unordered, from: Sql, attempts: Sql): Slice => ({
  table: `webhook_deliveries_${suffix}`,
  from,
  only: sql`t.status <> 'pending'`,
  old: olderThan(sql`t.created_at`),
  key: sql`id`,
  order: sql`created_at, id`,
  line: sql`to_jsonb(t) || jsonb_build_object('attempts',
              (select jsonb_agg(to_jsonb(a) order by a.attempt) from ${attempts} as a
                where a.tenant_ref = t.tenant_ref and a.delivery_id = t.id))`,
  together: sql`, attempts_gone as (
      delete from ${attempts} as a using gone
       where a.tenant_ref = gone.tenant_ref and a.delivery_id = gone.id
    ), tests_before as (
      delete from webhook_events_before as e using gone
       where e.tenant_ref = gone.tenant_ref and e.id = gone.event_id and e.sequence is null
    ), tests_random as (
      delete from webhook_events_random as e using gone
       where e.tenant_ref = gone.tenant_ref and e.id = gone.event_id and e.sequence is null
    ), tests_default as (
      delete from webhook_events_default as e using gone
       where e.tenant_ref = gone.tenant_ref and e.id = gone.event_id and e.sequence is null
    )`,
})

/** Events with ids of version 4, whose deliveries are deleted before them. */
const unorderedEvents = (suffix: Unordered, from: Sql): Slice => ({
  table: `webhook_events_${suffix}`,
  from,
  only: sql`t.sequence is not null`,
  keep: sql`exists (select from webhook_deliveries as d
                     where d.tenant_ref = t.tenant_ref and d.event_id = t.id)`,
  old: olderThan(sql`t.emitted_at`),
  key: sql`id`,
  order: sql`sequence`,
  line: sql`to_jsonb(t) - '{data,payload,customer_ref}'::text[]`,
})

export const DELIVERY_SLICES: readonly Slice[] = [
  unorderedDeliveries('before', sql`webhook_deliveries_before`, sql`webhook_attempts_before`),
  unorderedDeliveries('random', sql`webhook_deliveries_random`, sql`webhook_attempts_random`),
  unorderedDeliveries('default', sql`webhook_deliveries_default`, sql`webhook_attempts_default`),
]

export const EVENT_SLICES: readonly Slice[] = [
  unorderedEvents('before', sql`webhook_events_before`),
  unorderedEvents('random', sql`webhook_events_random`),
  unorderedEvents('default', sql`webhook_events_default`),
]
