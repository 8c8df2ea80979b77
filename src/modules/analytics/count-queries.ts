import { Type } from 'typebox'
import type { AllStores, Db, Tx } from '../../db/database.ts'
import { microsecondsOf } from '../../db/list.ts'
import { join, machineTime, Sql, sql } from '../../db/sql.ts'
import { Id, Timestamp } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import { StoreWithWork } from '../../platform/store-lists.ts'
import { MEASURES, type Measures } from './definition-schema.ts'
import { KnownOrder, NumberedJournal, OrderHistory } from './history-schema.ts'
import { type Calendar, type Dimension, type FactLine, Generation } from './schema.ts'

/** The queries of the loop that counts journals. */

/** The names of the measures as columns: constant text, never input. */
const column = (name: string): Sql => new Sql([name], [])
const measureColumns = join(MEASURES.map(column), ', ')
const measureTypes = join(
  MEASURES.map((name) => sql`${column(name)} bigint`),
  ', ',
)
const addedMeasures = join(
  MEASURES.map((name) => sql`${column(name)} = d.${column(name)} + excluded.${column(name)}`),
  ', ',
)

const generationColumns = sql`
  generation, state, time_zone, sequence, counted_at, payments_to`

export const countingQueue = defineQueue({
  table: sql`analytics_generations`,
  due: sql`due_at`,
  time: machineTime,
  columns: generationColumns,
  shape: Generation,
})

/**
 * Makes the count of a store due after some seconds, because it has new links. The first count of a store is created,
 * and due at once. A count that is due by then, or at work, is not written to: it looks for newer links before it
 * rests. Returns in how many seconds the first count begins: 0 or less if one is due or at work.
 */
export const announceLinks = async (tx: Tx, inSeconds: number): Promise<number> => {
  const { seconds } = await tx.one(
    Type.Object({ seconds: Type.Number() }),
    sql`
    with woken as (
      update analytics_generations
         set due_at = ${machineTime} + make_interval(secs => ${inSeconds})
       where tenant_ref = ${tx.tenant} and state <> 'retired'
         and due_at > ${machineTime} + make_interval(secs => ${inSeconds})
    ), first as (
      insert into analytics_generations (tenant_ref, generation, state, time_zone)
      select ${tx.tenant}, 1, 'serving', time_zone
        from stores
       where tenant_ref = ${tx.tenant}
         and not exists (select from analytics_generations
                          where tenant_ref = ${tx.tenant} and state <> 'retired')
          on conflict do nothing
    )
    select coalesce(min(least(extract(epoch from due_at - ${machineTime}), ${inSeconds})), 0)::float8
             as seconds
      from analytics_generations
     where tenant_ref = ${tx.tenant} and state <> 'retired'`,
  )
  return seconds
}

export const findGeneration = (db: Db, state: Generation['state']) =>
  db.maybe(
    Generation,
    sql`
    select ${generationColumns}
      from analytics_generations
     where tenant_ref = ${db.tenant} and state = ${state}`,
  )

/**
 * Locks the generations of a store and reads the leased one again. Returns null where the lease was lost.
 * Every change of the counts of a store holds this lock, so that only one runs at a time.
 */
export const lockLeased = (tx: Tx, { id, lease_token }: Lease) =>
  tx.maybe(
    Generation,
    sql`
    select ${generationColumns}
      from (select *
              from analytics_generations
             where tenant_ref = ${tx.tenant}
             order by generation
               for update) as locked
     where id = ${id} and lease_token = ${lease_token}`,
  )

/** Locks all generations of a store. */
export const lockAll = (tx: Tx) =>
  tx.many(
    Generation,
    sql`
    select ${generationColumns}
      from analytics_generations
     where tenant_ref = ${tx.tenant}
     order by generation
       for update`,
  )

/** Begins a generation beside the one that reports read. A generation that is being built already is retired. */
export const beginGeneration = (tx: Tx, time_zone: string) =>
  tx.run(sql`
    with given_up as (
      update analytics_generations
         set state = 'retired', due_at = ${machineTime}, lease_until = null, lease_token = null
       where tenant_ref = ${tx.tenant} and state = 'building'
      returning generation
    )
    insert into analytics_generations (tenant_ref, generation, state, time_zone)
    select ${tx.tenant}, coalesce(max(g.generation), 0) + 1,
           case when count(g.generation) = 0 then 'serving' else 'building' end, ${time_zone}
      from (select count(*) from given_up) as done
      left join analytics_generations g on g.tenant_ref = ${tx.tenant}`)

/** Retires the generation that is read, because another one has caught up and takes its place. */
export const retireServing = (tx: Tx) =>
  tx.run(sql`
    update analytics_generations
       set state = 'retired', due_at = ${machineTime}
     where tenant_ref = ${tx.tenant} and state = 'serving'`)

interface Progress {
  state: Generation['state']
  time_zone: string
  sequence: number
  payments_to: string | null
  /** Whether every numbered journal is counted. */
  isCaughtUp: boolean
  /** When the generation is looked at again without new links. */
  nextSeconds: number
}

/** Stores how far a generation is counted, and ends the lease. */
export const finishStep = (tx: Tx, lease: Lease, progress: Progress) =>
  countingQueue.finish(
    tx,
    lease,
    sql`
    state = ${progress.state}, time_zone = ${progress.time_zone}, sequence = ${progress.sequence},
    payments_to = ${progress.payments_to},
    counted_at = case when ${progress.isCaughtUp} then fd_now() else counted_at end,
    due_at = ${machineTime} + make_interval(secs => ${progress.nextSeconds})`,
  )

export const deleteGeneration = (tx: Tx, generation: number) =>
  tx.run(sql`
    delete from analytics_generations
     where tenant_ref = ${tx.tenant} and generation = ${generation} and state = 'retired'`)

/** Deletes some rows of a generation that is no longer read. Returns how many. */
export const deleteCounts = async (tx: Tx, generation: number, limit: number) => {
  const { count } = await tx.one(
    Type.Object({ count: Type.Integer() }),
    sql`
    with facts as (
      delete from analytics_facts
       where tenant_ref = ${tx.tenant} and generation = ${generation}
         and sequence in (select sequence from analytics_facts
                           where tenant_ref = ${tx.tenant} and generation = ${generation}
                           order by sequence
                           limit ${limit})
      returning 1
    ), days as (
      delete from analytics_days
       where ctid = any(array(select ctid from analytics_days
                               where tenant_ref = ${tx.tenant} and generation = ${generation}
                               limit ${limit}))
      returning 1
    ), payments as (
      delete from analytics_payment_days
       where ctid = any(array(select ctid from analytics_payment_days
                               where tenant_ref = ${tx.tenant} and generation = ${generation}
                               limit ${limit}))
      returning 1
    ), attempts as (
      delete from analytics_open_attempts
       where ctid = any(array(select ctid from analytics_open_attempts
                               where tenant_ref = ${tx.tenant} and generation = ${generation}
                               limit ${limit}))
      returning 1
    )
    select ((select count(*) from facts) + (select count(*) from days)
            + (select count(*) from payments) + (select count(*) from attempts)) as count`,
  )
  return count
}

/**
 * Lists the next journals of the chain with their entries. The entries are read journal by journal (`offset 0`):
 * PostgreSQL might otherwise hash all entries of the store.
 */
export const listNumbered = (tx: Tx, after: number, limit: number) =>
  tx.many(
    NumberedJournal,
    sql`
    select s.sequence, j.kind, j.order_id, j.ref, j.currency, j.created_at,
           ${microsecondsOf(sql`j.created_at`)} as at_us, e.*
      from (select sequence, journal_id
              from ledger_seals
             where tenant_ref = ${tx.tenant} and sequence > ${after}
             order by sequence
             limit ${limit}) as s
     cross join lateral (
           select kind, order_id, ref, currency, created_at
             from ledger_journals
            where tenant_ref = ${tx.tenant} and id = s.journal_id
           offset 0) as j
     cross join lateral (
           select coalesce(sum(amount_cents) filter (where account = 'sales'), 0)::bigint
                    as sales_cents,
                  coalesce(sum(amount_cents) filter (where account = 'discount'), 0)::bigint
                    as discount_cents,
                  coalesce(sum(amount_cents) filter (where account = 'refund'), 0)::bigint
                    as refund_cents,
                  coalesce(sum(amount_cents) filter (where account = 'tax_payable'), 0)::bigint
                    as tax_payable_cents,
                  coalesce(sum(amount_cents) filter (where account = 'shipping_income'), 0)::bigint
                    as shipping_income_cents,
                  coalesce(sum(amount_cents) filter (where account = 'dispute_loss'), 0)::bigint
                    as dispute_loss_cents
             from ledger_entries
            where tenant_ref = ${tx.tenant} and journal_id = s.journal_id
           offset 0) as e
     order by s.sequence`,
  )

/**
 * A part of an order's place, cut to 39 characters: longer than any country and state of a form, so that only a hostile
 * text is cut.
 */
const placePart = (name: Sql) => sql`left(upper(trim(coalesce(o.ship_to ->> ${name}, ''))), 39)`

/** The country, and the state if there is one: `US-CA`. */
const placeOf = sql`
  ${placePart(sql`'country'`)}
  || case when ${placePart(sql`'country'`)} <> '' and ${placePart(sql`'state'`)} <> ''
          then '-' || ${placePart(sql`'state'`)} else '' end`

export const listHistories = (tx: Tx, order_ids: readonly string[]) =>
  tx.many(
    OrderHistory,
    sql`
    select o.id as order_id, o.customer_ref, o.is_test, o.prices_include_tax, o.source,
           coalesce(o.coupon_code, '') as coupon,
           coalesce((select r.coupon_id::text from coupon_redemptions r
                       where r.tenant_ref = ${tx.tenant} and r.order_id = o.id), '') as coupon_id,
           left(coalesce((select a.code from affiliate_attributions a
                           where a.tenant_ref = ${tx.tenant} and a.order_id = o.id),
                         o.referral_code, ''), 300) as affiliate,
           ${placeOf} as place,
           (select created_at from ledger_journals j
             where j.tenant_ref = ${tx.tenant} and j.order_id = o.id and j.kind = 'order.placed'
             order by created_at limit 1) as sale_at,
           coalesce((select jsonb_agg(jsonb_build_object(
                       'id', i.id, 'product_id', i.product_id, 'variant_id', i.variant_id,
                       'quantity', i.quantity, 'unit_price_cents', i.unit_price_cents,
                       'list_price_cents', i.list_price_cents, 'gift_card', i.gift_card,
                       'line_total_cents', i.line_total_cents, 'discount_cents', i.discount_cents,
                       'tax_cents', i.tax_cents, 'shipping_cents', i.shipping_cents)
                     order by i.position)
                       from order_items i
                      where i.tenant_ref = ${tx.tenant} and i.order_id = o.id), '[]') as lines,
           coalesce((select jsonb_agg(jsonb_build_object(
                       'order_item_id', c.order_item_id, 'change_id', c.change_id,
                       'quantity', c.quantity, 'line_total_cents', c.line_total_cents,
                       'discount_cents', c.discount_cents, 'tax_cents', c.tax_cents,
                       'shipping_cents', c.shipping_cents,
                       'at_us', ${microsecondsOf(sql`c.created_at`)})
                     order by c.created_at, c.id)
                       from order_line_changes c
                      where c.tenant_ref = ${tx.tenant} and c.order_id = o.id), '[]') as changes,
           coalesce((select jsonb_agg(jsonb_build_object(
                       'refund_id', r.refund_id, 'order_item_id', t.order_item_id,
                       'amount_cents', t.amount_cents))
                       from refunds r
                      cross join lateral (
                            select order_item_id, amount_cents
                              from refund_items
                             where tenant_ref = ${tx.tenant} and refund_id = r.refund_id
                            offset 0) as t
                      where r.tenant_ref = ${tx.tenant} and r.order_id = o.id), '[]') as refund_items
      from unnest(${order_ids}::uuid[]) as wanted (id)
     cross join lateral (
           select * from orders where tenant_ref = ${tx.tenant} and id = wanted.id offset 0) as o`,
  )

const knownColumns = sql`order_id, sale_sequence, sale_at, place, nth, first_at, previous_at`

export const listKnown = (tx: Tx, order_ids: readonly string[]) =>
  tx.many(
    KnownOrder,
    sql`
    select ${knownColumns}
      from analytics_orders
     where tenant_ref = ${tx.tenant} and order_id = any(${order_ids}::uuid[])`,
  )

/**
 * How many orders of a customer before an order, and how many after it, are searched for an earlier sale: an order that
 * was made later may have been captured earlier. No customer has as many open at once.
 */
const OPEN_MAX = 200

/** Lists the last sale of each customer before that of an order. Customers without one are left out. */
export const listLastSales = (
  tx: Tx,
  customers: readonly { customer_ref: string; order_id: string; sale_sequence: number }[],
) =>
  tx.many(
    Type.Object({
      customer_ref: Type.String(),
      nth: Type.Integer(),
      first_at: Timestamp,
      sale_at: Timestamp,
    }),
    sql`
    select c.customer_ref, last.nth, last.first_at, last.sale_at
      from unnest(${customers.map((each) => each.customer_ref)}::text[],
                  ${customers.map((each) => each.order_id)}::uuid[],
                  ${customers.map((each) => each.sale_sequence)}::bigint[])
           as c (customer_ref, order_id, sale_sequence)
     cross join lateral (
           select created_at from orders
            where tenant_ref = ${tx.tenant} and id = c.order_id
           offset 0) as sold
     cross join lateral (
           select a.nth, a.first_at, a.sale_at
             from ((select id
                      from orders
                     where tenant_ref = ${tx.tenant} and customer_ref = c.customer_ref
                       and (created_at, id) < (sold.created_at, c.order_id)
                     order by created_at desc, id desc
                     limit ${OPEN_MAX})
                    union all
                   (select id
                      from orders
                     where tenant_ref = ${tx.tenant} and customer_ref = c.customer_ref
                       and (created_at, id) > (sold.created_at, c.order_id)
                     order by created_at, id
                     limit ${OPEN_MAX})) as o
            cross join lateral (
                  select nth, first_at, sale_at, sale_sequence
                    from analytics_orders
                   where tenant_ref = ${tx.tenant} and order_id = o.id
                  offset 0) as a
            where a.sale_sequence < c.sale_sequence
            order by a.sale_sequence desc
            limit 1) as last`,
  )

/** Stores the permanent facts of captured orders. Another generation may have stored the same already. */
export const insertKnown = (tx: Tx, rows: readonly KnownOrder[]) =>
  tx.run(sql`
    insert into analytics_orders (tenant_ref, ${knownColumns})
    select ${tx.tenant}, ${knownColumns}
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
           as r (order_id uuid, sale_sequence bigint, sale_at timestamptz, place text, nth smallint,
                 first_at timestamptz, previous_at timestamptz)
        on conflict do nothing`)

export interface NewFact extends Measures {
  sequence: number
  order_id: string
  kind: string
  at: string
  day: string
  sale_day: string
  currency: string
  is_test: boolean
  coupon: string
  coupon_id: string
  affiliate: string
  source: string
  place: string
  customer: 'new' | 'returning'
  cohort: string
  lines: FactLine[]
}

const factColumns = sql`
  sequence, order_id, kind, at, day, sale_day, currency, is_test, coupon, coupon_id, affiliate, source,
  place, customer, cohort, ${measureColumns}, lines`

export const insertFacts = (tx: Tx, generation: number, facts: readonly NewFact[]) =>
  tx.run(sql`
    insert into analytics_facts (tenant_ref, generation, ${factColumns})
    select ${tx.tenant}, ${generation}, ${factColumns}
      from jsonb_to_recordset(${JSON.stringify(facts)}::jsonb)
           as f (sequence bigint, order_id uuid, kind text, at timestamptz, day date, sale_day date,
                 currency text, is_test boolean, coupon text, coupon_id text, affiliate text, source text,
                 place text, customer text, cohort text, ${measureTypes}, lines jsonb)`)

export interface DayRow extends Measures {
  calendar: Calendar
  dimension: Dimension
  currency: string
  day: string
  key: string
  /** When the fact was added after its day was final. */
  restated_at: string | null
}

export const addToDays = (tx: Tx, generation: number, rows: readonly DayRow[]) =>
  tx.run(sql`
    insert into analytics_days as d (tenant_ref, generation, calendar, dimension, currency, day, key,
                                     ${measureColumns}, restated_at)
    select ${tx.tenant}, ${generation}, calendar, dimension, currency, day, key, ${measureColumns},
           restated_at
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
           as r (calendar text, dimension text, currency text, day date, key text, ${measureTypes},
                 restated_at timestamptz)
     order by calendar, dimension, currency, day, key
        on conflict (tenant_ref, generation, calendar, dimension, currency, day, key) do update
       set ${addedMeasures}, restated_at = greatest(d.restated_at, excluded.restated_at)`)

/** The facts of an order in a generation, as they were written. */
export const listFactsOfOrder = (tx: Tx, generation: number, order_id: string) =>
  tx.many(
    Type.Object({
      sequence: Type.Integer(),
      order_id: Id,
      kind: Type.String(),
      at: Timestamp,
      day: Type.String(),
      sale_day: Type.String(),
      currency: Type.String(),
      is_test: Type.Boolean(),
      coupon: Type.String(),
      coupon_id: Type.String(),
      affiliate: Type.String(),
      source: Type.String(),
      place: Type.String(),
      customer: Type.Enum(['new', 'returning']),
      cohort: Type.String(),
      ...Object.fromEntries(MEASURES.map((name) => [name, Type.Integer()])),
      lines: Type.Array(Type.Unsafe<FactLine>({})),
    }),
    sql`
    select sequence, order_id, kind, at, day::text as day, sale_day::text as sale_day, currency,
           is_test, coupon, coupon_id, affiliate, source, place, customer, cohort, ${measureColumns},
           lines
      from analytics_facts
     where tenant_ref = ${tx.tenant} and generation = ${generation} and order_id = ${order_id}
     order by sequence`,
  ) as unknown as Promise<NewFact[]>

export const markFacts = (tx: Tx, generation: number, order_id: string, is_test: boolean) =>
  tx.run(sql`
    update analytics_facts set is_test = ${is_test}
     where tenant_ref = ${tx.tenant} and generation = ${generation} and order_id = ${order_id}`)

/** The stores that are counted, as fd_operator. */
export const listStores = (operator: AllStores) =>
  operator.many(
    StoreWithWork,
    sql`
    select distinct tenant_ref from analytics_generations order by tenant_ref`,
  )
