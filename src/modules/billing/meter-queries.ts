import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { type Month, UsageRow } from './schema.ts'

/** The facts that usage is counted from, and the usage itself. */

const MeteredJournal = Type.Object({
  sequence: Type.Integer(),
  kind: Type.String(),
  currency: Type.String(),
  created_at: Timestamp,
  volume_cents: Type.Integer(),
  /** Whether its order is a test; null where it belongs to no order. */
  is_test: Nullable(Type.Boolean()),
})
export type MeteredJournal = Type.Static<typeof MeteredJournal>

/** What a journal adds to the volume: goods and shipping after discounts and refunds, without tax. */
const volume = sql`
  coalesce(-sum(amount_cents) filter
             (where account in ('sales', 'discount', 'shipping_income', 'refund')), 0)::bigint`

/**
 * Lists the next journals of the chain. Their entries and orders are read journal by journal (`offset 0`):
 * PostgreSQL might otherwise hash all rows of the store.
 */
export const listJournals = (tx: Tx, after: number, limit: number) =>
  tx.many(
    MeteredJournal,
    sql`
    select s.sequence, j.kind, j.currency, j.created_at, e.volume_cents, o.is_test
      from (select sequence, journal_id
              from ledger_seals
             where tenant_ref = ${tx.tenant} and sequence > ${after}
             order by sequence
             limit ${limit}) as s
     cross join lateral (
           select kind, order_id, currency, created_at
             from ledger_journals
            where tenant_ref = ${tx.tenant} and id = s.journal_id
           offset 0) as j
     cross join lateral (
           select ${volume} as volume_cents
             from ledger_entries
            where tenant_ref = ${tx.tenant} and journal_id = s.journal_id) as e
      left join lateral (
           select is_test
             from orders
            where tenant_ref = ${tx.tenant} and id = j.order_id
           offset 0) as o on true
     order by s.sequence`,
  )

/** The journals of one order that are counted already. */
export const listCountedOfOrder = (
  tx: Tx,
  orderId: string,
  { after, to }: { after: number; to: number },
) =>
  tx.many(
    MeteredJournal,
    sql`
    select s.sequence, j.kind, j.currency, j.created_at, e.volume_cents, false as is_test
      from ledger_journals as j
      join ledger_seals as s on s.tenant_ref = j.tenant_ref and s.journal_id = j.id
     cross join lateral (
           select ${volume} as volume_cents
             from ledger_entries
            where tenant_ref = ${tx.tenant} and journal_id = j.id) as e
     where j.tenant_ref = ${tx.tenant} and j.order_id = ${orderId}
       and s.sequence > ${after} and s.sequence <= ${to}
     order by s.sequence`,
  )

const MeteredEvent = Type.Object({
  sequence: Type.Integer(),
  emitted_at: Timestamp,
  deliveries: Type.Integer(),
})
export type MeteredEvent = Type.Static<typeof MeteredEvent>

/**
 * Lists the next events of the feed with the number of deliveries of each. A delivery to a paused endpoint,
 * which was dead from its beginning and never tried, does not count.
 */
export const listEvents = (tx: Tx, after: number, limit: number) =>
  tx.many(
    MeteredEvent,
    sql`
    select e.sequence, e.emitted_at, d.deliveries
      from (select id, sequence, emitted_at
              from webhook_events
             where tenant_ref = ${tx.tenant} and sequence > ${after}
             order by sequence
             limit ${limit}) as e
     cross join lateral (
           select count(*)::integer as deliveries
             from webhook_deliveries
            where tenant_ref = ${tx.tenant} and event_id = e.id
              and not (status = 'dead_lettered' and attempt_count = 0)) as d
     order by e.sequence`,
  )

/** Whether a journal or an event from before a time still waits for its number. */
export const hasUnnumbered = async (tx: Tx, before: string): Promise<boolean> => {
  const { waits } = await tx.one(
    Type.Object({ waits: Type.Boolean() }),
    sql`
    select exists (select
                     from ledger_unsealed as u
                     join ledger_journals as j on j.tenant_ref = u.tenant_ref and j.id = u.journal_id
                    where u.tenant_ref = ${tx.tenant} and j.created_at < ${before}::timestamptz)
           or exists (select
                        from webhook_events
                       where tenant_ref = ${tx.tenant} and payload is null
                         and emitted_at < ${before}::timestamptz) as waits`,
  )
  return waits
}

const AddedCalls = Type.Object({
  credential_id: Id,
  day: Type.String(),
  calls: Type.Integer(),
})
export type AddedCalls = Type.Static<typeof AddedCalls>

/**
 * Marks calls that are in no month yet as counted, and returns them. Rows are locked in the order of the key, as the
 * processes that add calls lock them.
 */
export const takeCalls = (tx: Tx, limit: number) =>
  tx.many(
    AddedCalls,
    sql`
    with added as (
      select credential_id, day, calls as all_calls, calls - counted_calls as added_calls
        from api_calls
       where tenant_ref = ${tx.tenant} and calls > counted_calls
       order by credential_id, day
       limit ${limit}
         for update
    )
    update api_calls as a set counted_calls = added.all_calls
      from added
     where a.tenant_ref = ${tx.tenant} and a.credential_id = added.credential_id
       and a.day = added.day
    returning a.credential_id, a.day, added.added_calls as calls`,
  )

/** Deletes calls of closed months. All of them are counted. */
export const deleteCountedCalls = (tx: Tx, before: Month, limit: number) =>
  tx.run(sql`
    delete from api_calls
     where ctid = any(array(select ctid
                              from api_calls
                             where tenant_ref = ${tx.tenant} and day < ${before}::date
                               and calls = counted_calls
                             limit ${limit}))`)

/** What is added to the usage of a month. */
export interface AddedUsage {
  month: Month
  meter: string
  currency: string
  key: string
  quantity: number
  from_position: number
  to_position: number
}

export const addUsage = (tx: Tx, rows: readonly AddedUsage[]) =>
  tx.run(sql`
    insert into billing_usage as u
           (tenant_ref, month, meter, currency, key, quantity, from_position, to_position)
    select ${tx.tenant}, r.*
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
           as r (month date, meter text, currency text, key text, quantity bigint,
                 from_position bigint, to_position bigint)
        on conflict (tenant_ref, month, meter, currency, key) do update
           set quantity = u.quantity + excluded.quantity,
               from_position = least(u.from_position, excluded.from_position),
               to_position = greatest(u.to_position, excluded.to_position)`)

/** The usage of a month by meter and currency, all keys together. */
export const listUsage = (db: Db, month: Month) =>
  db.many(
    UsageRow,
    sql`
    select meter, currency, sum(quantity)::bigint as quantity,
           min(from_position) as from_position, max(to_position) as to_position
      from billing_usage
     where tenant_ref = ${db.tenant} and month = ${month}::date
     group by meter, currency`,
  )

const CallsOfKey = Type.Object({
  credential_id: Id,
  label: Nullable(Type.String()),
  calls: Type.Integer(),
})

export const listCallsByKey = (db: Db, month: Month, limit: number) =>
  db.many(
    CallsOfKey,
    sql`
    select u.key::uuid as credential_id, c.label, u.quantity as calls
      from billing_usage as u
      left join credentials as c on c.tenant_ref = u.tenant_ref and c.id = u.key::uuid
     where u.tenant_ref = ${db.tenant} and u.month = ${month}::date and u.meter = 'api_calls'
     order by u.quantity desc, u.key
     limit ${limit}`,
  )
