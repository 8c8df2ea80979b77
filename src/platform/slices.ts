import { machineTime, type Sql, sql } from '../db/sql.ts'
import type { RetentionSetting } from './retention.ts'

/**
 * Rows of one table that are deleted in slices, oldest first, store by store. All SQL here is
 * constant: it is code, never input. The rows are named `t`.
 */
export interface Slice {
  table: string
  from: Sql
  setting: RetentionSetting
  /**
   * The condition for rows that can be deleted at all. It is also read over all stores, so it names only this table.
   */
  only?: Sql
  /** The condition for those of them that must stay for now. It is read within the store. */
  keep?: Sql
  /** Whether a row is old enough; the number is that of the setting. */
  old: (period: number) => Sql
  /** The columns that name a row in its store. */
  key: Sql
  /** The columns of an index of the store's rows, the oldest first. */
  order: Sql
  /** The line of a row in the archive. Without it, the row is not archived. */
  line?: Sql
  /** Rows that are deleted together with the deleted rows, `gone`: further parts of the statement. */
  together?: Sql
}

const olderThan = (column: Sql) => (days: number) =>
  sql`${column} < ${machineTime} - make_interval(days => ${days})`

/** The partitions of ids that are not ordered by time: their rows are in no month. */
type Unordered = 'before' | 'random' | 'default'

/**
 * Deliveries with ids of version 4, from before ids were ordered by time, with their attempts and
 * the events of test fires, which are in no feed.
 */
const unorderedDeliveries = (suffix: Unordered, from: Sql, attempts: Sql): Slice => ({
  table: `webhook_deliveries_${suffix}`,
  from,
  setting: 'RETENTION_WEBHOOK_DAYS',
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
  setting: 'RETENTION_WEBHOOK_DAYS',
  only: sql`t.sequence is not null`,
  keep: sql`exists (select from webhook_deliveries as d
                     where d.tenant_ref = t.tenant_ref and d.event_id = t.id)`,
  old: olderThan(sql`t.emitted_at`),
  key: sql`id`,
  order: sql`sequence`,
  line: sql`to_jsonb(t) - '{data,payload,customer_ref}'::text[]`,
})

/** Every table that is pruned in slices. `retention.ts` lists the same in words. */
export const SLICES: readonly Slice[] = [
  {
    table: 'fraud_decisions',
    from: sql`fraud_decisions`,
    setting: 'RETENTION_FRAUD_DAYS',
    keep: sql`exists (select from orders as o
                       where o.tenant_ref = t.tenant_ref and o.id = t.order_id
                         and o.hold_at is not null)`,
    old: olderThan(sql`t.created_at`),
    key: sql`id`,
    order: sql`created_at, id`,
    line: sql`to_jsonb(t)`,
  },
  {
    table: 'order_timeline',
    from: sql`order_timeline`,
    setting: 'RETENTION_TIMELINE_DAYS',
    // The database keeps them for a year, whatever the setting is.
    old: (days) => olderThan(sql`t.at`)(Math.max(days, 366)),
    key: sql`id`,
    order: sql`id`,
    line: sql`to_jsonb(t)`,
  },
  {
    table: 'inventory_reservations',
    from: sql`inventory_reservations`,
    setting: 'RETENTION_RESERVATION_DAYS',
    only: sql`t.released_at is not null`,
    old: olderThan(sql`t.released_at`),
    key: sql`order_id, variant_id, location_id`,
    order: sql`released_at`,
  },
  {
    table: 'funnel_days',
    from: sql`funnel_days`,
    setting: 'RETENTION_FUNNEL_DAYS',
    old: olderThan(sql`t.day`),
    key: sql`day, type, product_id, shard`,
    order: sql`day`,
  },
  {
    table: 'past_prices',
    from: sql`past_prices`,
    setting: 'RETENTION_PRICE_DAYS',
    old: olderThan(sql`t.until_at`),
    key: sql`id`,
    order: sql`until_at, id`,
  },
  {
    table: 'payment_days',
    from: sql`payment_days`,
    setting: 'RETENTION_COMPARISON_DAYS',
    only: sql`t.due_at is null`,
    old: olderThan(sql`t.day`),
    key: sql`id`,
    order: sql`day`,
  },
  {
    table: 'gateway_events',
    from: sql`gateway_events`,
    setting: 'RETENTION_GATEWAY_EVENT_DAYS',
    only: sql`t.status in ('applied', 'ignored')`,
    old: olderThan(sql`t.received_at`),
    // The time is part of the key because another index has it: without it PostgreSQL reads all events of the
    // account.
    key: sql`provider, account_ref, event_id, received_at`,
    order: sql`received_at`,
  },
  {
    table: 'site_versions',
    from: sql`site_versions`,
    setting: 'SITE_VERSIONS_KEPT',
    // A merchant can always go back to the version before.
    keep: sql`exists (select from stores as s
                       where s.tenant_ref = t.tenant_ref
                         and t.version in (s.active_version, s.previous_version))`,
    // The database refuses to delete younger ones, whatever the setting is.
    old: (newest) => sql`t.created_at < ${machineTime} - interval '28 days'
      and t.version <= (select max(v.version) from site_versions as v
                         where v.tenant_ref = t.tenant_ref) - ${newest}::int`,
    key: sql`version`,
    order: sql`version`,
    together: sql`, uses as (
      delete from asset_refs as r using gone
       where r.tenant_ref = gone.tenant_ref and r.owner_kind = 'site'
         and r.owner_id = gone.version::text
    )`,
  },
  {
    table: 'shopper_mails',
    from: sql`shopper_mails`,
    setting: 'RETENTION_SHOPPER_MAIL_DAYS',
    // The mail of a gift card may wait for its day.
    keep: sql`(t.state = 'queued' and t.next_attempt_at > fd_now())`,
    old: olderThan(sql`t.created_at`),
    key: sql`id`,
    order: sql`created_at, id`,
  },
  {
    table: 'campaign_recipients',
    from: sql`campaign_recipients`,
    setting: 'RETENTION_SHOPPER_MAIL_DAYS',
    // A paused campaign may go on, and must know which addresses it has reached.
    keep: sql`exists (select from campaigns as c
                       where c.tenant_ref = t.tenant_ref and c.id = t.campaign_id
                         and c.status in ('active', 'paused'))`,
    old: olderThan(sql`t.created_at`),
    key: sql`campaign_id, id`,
    order: sql`created_at`,
  },
  unorderedDeliveries('before', sql`webhook_deliveries_before`, sql`webhook_attempts_before`),
  unorderedDeliveries('random', sql`webhook_deliveries_random`, sql`webhook_attempts_random`),
  unorderedDeliveries('default', sql`webhook_deliveries_default`, sql`webhook_attempts_default`),
  unorderedEvents('before', sql`webhook_events_before`),
  unorderedEvents('random', sql`webhook_events_random`),
  unorderedEvents('default', sql`webhook_events_default`),
]
