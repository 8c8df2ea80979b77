import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { machineTime, type Sql, sql } from '../../db/sql.ts'
import { Nullable, OpenObject, Timestamp } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'

/** The reads and writes of the loop that counts the orders of people. */

const Position = Type.Object({ sequence: Type.Integer() })

export const countingQueue = defineQueue({
  table: sql`segment_positions`,
  due: sql`due_at`,
  time: machineTime,
  columns: sql`sequence`,
  shape: Position,
})

/**
 * Makes the count of a store due after some seconds, because it has new journals. The first position of a store is
 * created, and is due at once. A position that is due already, or being worked on, is not locked: its step looks for
 * newer journals before it rests. Returns in how many seconds the count begins; no seconds are left where it is being
 * worked on.
 */
export const announceLinks = async (tx: Tx, inSeconds: number): Promise<number> => {
  const { seconds } = await tx.one(
    Type.Object({ seconds: Type.Number() }),
    sql`
    with woken as (
      insert into segment_positions as p (tenant_ref)
      select ${tx.tenant}
       where not exists (select from segment_positions
                          where tenant_ref = ${tx.tenant} and due_at is not null)
          on conflict (tenant_ref)
          do update set due_at = ${machineTime} + make_interval(secs => ${inSeconds})
       where p.due_at is null
    )
    select coalesce(max(coalesce(extract(epoch from due_at - ${machineTime}), ${inSeconds})), 0)::float8
             as seconds
      from segment_positions
     where tenant_ref = ${tx.tenant}`,
  )
  return seconds
}

/** Locks the position of a store, and creates it if the store has none yet. */
export const lock = (tx: Tx) =>
  tx.run(sql`
    insert into segment_positions as p (tenant_ref, due_at) values (${tx.tenant}, null)
        on conflict (tenant_ref) do update set sequence = p.sequence`)

/**
 * Stores how far a store is counted, and ends the lease. Without `nextSeconds` the position is due again when the
 * store has new journals.
 */
export const finishStep = (
  tx: Tx,
  lease: Lease,
  { sequence, nextSeconds }: { sequence: number; nextSeconds: number | null },
) =>
  countingQueue.finish(
    tx,
    lease,
    sql`sequence = ${sequence},
        due_at = ${machineTime} + make_interval(secs => ${nextSeconds}::double precision)`,
  )

/** Lists the next journals of the chain, and the addresses of their orders. */
export const listTouched = (tx: Tx, after: number, limit: number) =>
  tx.many(
    Type.Object({ sequence: Type.Integer(), email_folded: Nullable(Type.String()) }),
    sql`
    select s.sequence, o.email_folded
      from (select sequence, journal_id
              from ledger_seals
             where tenant_ref = ${tx.tenant} and sequence > ${after}
             order by sequence
             limit ${limit}) as s
     cross join lateral (
           select order_id
             from ledger_journals
            where tenant_ref = ${tx.tenant} and id = s.journal_id
           offset 0) as j
      left join lateral (
           select email_folded
             from orders
            where tenant_ref = ${tx.tenant} and id = j.order_id
           offset 0) as o on true
     order by s.sequence`,
  )

const PersonSums = Type.Object({
  email_folded: Type.String(),
  email: Nullable(Type.String()),
  customer_ref: Nullable(Type.String()),
  orders_count: Type.Integer(),
  total_spent_cents: Type.Integer(),
  refunded_cents: Type.Integer(),
  first_order_at: Nullable(Timestamp),
  last_order_at: Nullable(Timestamp),
  country: Nullable(Type.String()),
  place: Nullable(Type.String()),
})
export type PersonSums = Type.Static<typeof PersonSums>

/** The orders that are counted: the same as on the page of a customer. */
const ordersOf = (db: Db, address: Sql) => sql`
  tenant_ref = ${db.tenant} and email_folded = ${address} and placed_at is not null and not is_test`

/** A part of a place, in capitals, cut to a length that is longer than any honest address needs. */
const placePart = (name: Sql) => sql`left(upper(trim(coalesce(ship_to ->> ${name}, ''))), 39)`

/** Sums the orders of some addresses. At most `max + 1` orders of one address are read. */
export const sumOrders = (tx: Tx, emails: readonly string[], max: number) =>
  tx.many(
    PersonSums,
    sql`
    select w.email_folded, t.*
      from unnest(${emails}::text[]) as w (email_folded)
     cross join lateral (
           select (array_agg(o.email order by o.placed_at desc, o.id desc))[1] as email,
                  (array_agg(o.customer_ref order by o.placed_at desc, o.id desc))[1] as customer_ref,
                  count(*)::int as orders_count,
                  coalesce(sum(o.captured_cents) filter (where o.currency = c.currency), 0)::bigint
                    as total_spent_cents,
                  coalesce(sum(o.refunded_cents) filter (where o.currency = c.currency), 0)::bigint
                    as refunded_cents,
                  min(o.placed_at) as first_order_at, max(o.placed_at) as last_order_at,
                  (array_agg(o.country order by o.placed_at desc, o.id desc)
                     filter (where o.country <> ''))[1] as country,
                  (array_agg(o.country || case when o.state = '' then '' else '-' || o.state end
                             order by o.placed_at desc, o.id desc)
                     filter (where o.country <> ''))[1] as place
             from (select id, email, customer_ref, currency, captured_cents, refunded_cents, placed_at,
                          ${placePart(sql`'country'`)} as country, ${placePart(sql`'state'`)} as state
                     from orders
                    where ${ordersOf(tx, sql`w.email_folded`)}
                    limit ${max + 1}) as o
            cross join (select currency from stores where tenant_ref = ${tx.tenant}) as c) as t`,
  )

const personColumns = sql`email, customer_ref, orders_count, total_spent_cents, refunded_cents,
                          first_order_at, last_order_at, country, place`

/** Stores the sums of people, in the order of their addresses, in which every writer of many people locks them. */
export const savePeople = (tx: Tx, people: readonly PersonSums[]) =>
  tx.run(sql`
    insert into segment_people as p (tenant_ref, email_folded, ${personColumns})
    select ${tx.tenant}, email_folded, ${personColumns}
      from jsonb_to_recordset(${JSON.stringify(people)}::jsonb)
           as r (email_folded text, email text, customer_ref text, orders_count integer,
                 total_spent_cents bigint, refunded_cents bigint, first_order_at timestamptz,
                 last_order_at timestamptz, country text, place text)
     order by email_folded
        on conflict (tenant_ref, email_folded) do update
       set email = excluded.email, customer_ref = excluded.customer_ref,
           orders_count = excluded.orders_count, total_spent_cents = excluded.total_spent_cents,
           refunded_cents = excluded.refunded_cents, first_order_at = excluded.first_order_at,
           last_order_at = excluded.last_order_at, country = excluded.country,
           place = excluded.place`)

/** Replaces the purchases of people by those that their orders have now. */
export const savePurchases = (tx: Tx, emails: readonly string[]) =>
  tx.run(sql`
    with bought as (
      select distinct w.email_folded, i.product_id
        from unnest(${emails}::text[]) as w (email_folded)
       cross join lateral (
             select id from orders where ${ordersOf(tx, sql`w.email_folded`)} offset 0) as o
       cross join lateral (
             select product_id
               from order_items
              where tenant_ref = ${tx.tenant} and order_id = o.id and quantity > 0
             offset 0) as i
    ), gone as (
      delete from segment_purchases g
       where g.tenant_ref = ${tx.tenant} and g.email_folded = any(${emails}::text[])
         and not exists (select from bought b
                          where b.email_folded = g.email_folded and b.product_id = g.product_id)
    )
    insert into segment_purchases (tenant_ref, product_id, email_folded)
    select ${tx.tenant}, product_id, email_folded from bought
        on conflict do nothing`)

/**
 * Removes the orders of some people: all their purchases, and the sums in their rows. The row of a person without a
 * record of consent is deleted.
 */
export const clearOrders = (tx: Tx, emails: readonly string[]) =>
  tx.run(sql`
    with gone as (
      delete from segment_people
       where tenant_ref = ${tx.tenant} and email_folded = any(${emails}::text[])
         and consent = 'none'
    ), unbought as (
      delete from segment_purchases
       where tenant_ref = ${tx.tenant} and email_folded = any(${emails}::text[])
    )
    update segment_people
       set customer_ref = null, orders_count = 0, total_spent_cents = 0, refunded_cents = 0,
           first_order_at = null, last_order_at = null, country = null, place = null
     where tenant_ref = ${tx.tenant} and email_folded = any(${emails}::text[])
       and consent <> 'none'`)

/** Lists the sums that the store has counted for a customer, for the customer to read. */
export const listWhole = (db: Db, customer_ref: string) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(p) - array['tenant_ref', 'email_folded', 'email', 'consent'] as data
      from segment_people p
     where p.tenant_ref = ${db.tenant} and p.customer_ref = ${customer_ref}
     order by p.email_folded`,
  )
