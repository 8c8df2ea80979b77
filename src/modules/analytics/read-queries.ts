import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { join, Sql, sql } from '../../db/sql.ts'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { type Figure, MEASURES, type Measure, partsOf } from './definition-schema.ts'
import { type Calendar, type Dimension, MeasureFields, type Period, Row } from './schema.ts'

/** Reads the counted days, and the facts behind them. */

/** The names of measures as columns: constant text, never input. */
const column = (name: string): Sql => new Sql([name], [])
const sums = join(
  MEASURES.map((name) => sql`coalesce(sum(d.${column(name)}), 0)::bigint as ${column(name)}`),
  ', ',
)

/** Which days, and which of their rows, are summed. */
export interface Scope {
  generation: number
  calendar: Calendar
  dimension: Dimension
  currency: string
  /** Null: all keys. */
  keys: readonly string[] | null
}

const inScope = (db: Db, scope: Scope, { from, to }: Period) => sql`
  d.tenant_ref = ${db.tenant} and d.generation = ${scope.generation}
  and d.calendar = ${scope.calendar} and d.dimension = ${scope.dimension}
  and d.currency = ${scope.currency} and d.day between ${from} and ${to}
  and ${scope.keys === null ? sql`true` : sql`d.key = any(${scope.keys}::text[])`}`

const Bucket = Type.Object({
  start: Type.String(),
  ...MeasureFields,
  restated_from: Nullable(Type.String()),
  restated_at: Nullable(Timestamp),
})
export type BucketRow = Static<typeof Bucket>

export const listBuckets = (db: Db, scope: Scope, period: Period, interval: string) =>
  db.many(
    Bucket,
    sql`
    select date_trunc(${interval}, d.day)::date::text as start, ${sums},
           (min(d.day) filter (where d.restated_at is not null))::text as restated_from,
           max(d.restated_at) as restated_at
      from analytics_days d
     where ${inScope(db, scope, period)}
     group by 1
     order by 1`,
  )

const GroupRow = Type.Object({ key: Type.String(), ...MeasureFields })
export type GroupRow = Static<typeof GroupRow>

/** The groups with the highest net sales. */
export const listGroups = (db: Db, scope: Scope, period: Period, limit: number) =>
  db.many(
    GroupRow,
    sql`
    select d.key, ${sums}
      from analytics_days d
     where ${inScope(db, scope, period)}
     group by d.key
     order by sum(d.gross_cents - d.discount_cents - d.refund_cents) desc, d.key
     limit ${limit}`,
  )

/** The collections with the highest net sales, by the products that are in them now. */
export const listCollections = (db: Db, scope: Scope, period: Period, limit: number) =>
  db.many(
    GroupRow,
    sql`
    select c.collection_id::text as key, ${sums}
      from (select d.key, ${sums}
              from analytics_days d
             where ${inScope(db, scope, period)} and d.key <> ''
             group by d.key) as d
      join collection_products c on c.tenant_ref = ${db.tenant} and c.product_id = d.key::uuid
     group by c.collection_id
     order by sum(d.gross_cents - d.discount_cents - d.refund_cents) desc, c.collection_id
     limit ${limit}`,
  )

/** Lists the products of a collection, at most `limit`. */
export const listProductsOf = (db: Db, collection_id: string, limit: number) =>
  db.many(
    Type.Object({ key: Type.String() }),
    sql`
    select product_id::text as key
      from collection_products
     where tenant_ref = ${db.tenant} and collection_id = ${collection_id}
     order by product_id
     limit ${limit}`,
  )

const NAMES = {
  product: sql`select id::text as key, name as label from products`,
  variant: sql`select id::text as key, sku as label from variants`,
  collection: sql`select id::text as key, title as label from collections`,
}

export const listLabels = (db: Db, of: keyof typeof NAMES, ids: readonly string[]) =>
  db.many(
    Type.Object({ key: Type.String(), label: Type.String() }),
    sql`
    ${NAMES[of]} where tenant_ref = ${db.tenant} and id = any(${ids}::uuid[])`,
  )

/**
 * Lists the figures of cohorts, by the month of the customers' first order and the month of the fact, until
 * today.
 */
export const listCohorts = (db: Db, scope: Scope, { from, to }: { from: string; to: string }) =>
  db.many(
    Type.Object({ cohort: Type.String(), month: Type.String(), ...MeasureFields }),
    sql`
    select d.key as cohort, to_char(date_trunc('month', d.day), 'YYYY-MM') as month, ${sums}
      from analytics_days d
     where d.tenant_ref = ${db.tenant} and d.generation = ${scope.generation}
       and d.calendar = ${scope.calendar} and d.dimension = 'cohort'
       and d.currency = ${scope.currency} and d.key between ${from} and ${to}
     group by 1, 2
     order by 1, 2`,
  )

/** The condition for the part of a fact that counts: the lines of some products or variants, or all of it (null). */
type Match = Sql | null

const LINE_KEYS = {
  product: sql`coalesce(l.line ->> 'product_id', '')`,
  variant: sql`coalesce(l.line ->> 'variant_id', '')`,
}

const isOfLines = (dimension: Dimension): dimension is keyof typeof LINE_KEYS =>
  dimension in LINE_KEYS

const amountOf = (figure: Figure, { dimension, keys }: Scope): Sql => {
  const parts = partsOf(figure)
  const signed = (value: (name: Measure) => Sql) =>
    join(
      parts.map(([name, sign]) => (sign === 1 ? sql`+ ${value(name)}` : sql`- ${value(name)}`)),
      ' ',
    )
  if (!isOfLines(dimension)) return sql`(${signed((name) => sql`f.${column(name)}`)})`
  const ofLine = signed(
    (name) => sql`coalesce((l.line -> 'measures' ->> ${new Sql([`'${name}'`], [])})::bigint, 0)`,
  )
  return sql`
    (select coalesce(sum(${ofLine}), 0)::bigint
       from jsonb_array_elements(f.lines) as l (line)
      where ${keys === null ? sql`true` : sql`${LINE_KEYS[dimension]} = any(${keys}::text[])`})`
}

const matchOf = ({ dimension, keys }: Scope): Match =>
  dimension === 'all' || keys === null || isOfLines(dimension)
    ? null
    : sql`f.${column(dimension)} = any(${keys}::text[])`

/**
 * Lists all days of a period in which a figure is not 0. It has no limit: with one, PostgreSQL would walk through the
 * sums of every product, day by day, and not through those of the wanted ones.
 */
export const listDaysWith = (
  db: Db,
  { scope, figure }: { scope: Scope; figure: Figure },
  period: Period,
) => {
  const counted = join(
    partsOf(figure).map(([name]) => sql`d.${column(name)} <> 0`),
    ' or ',
  )
  return db.many(
    Type.Object({ day: Type.String() }),
    sql`
    select distinct d.day::text as day
      from analytics_days d
     where ${inScope(db, scope, period)} and (${counted})
     order by 1`,
  )
}

/** A day of rows, and the number of the journal after which they begin. */
export interface RowDay {
  day: string
  after: number
}

/**
 * Lists the facts behind a figure on some days, by day and journal. For each day no more are read than the page has
 * room for, and orders only for the rows of the page.
 */
export const listRows = (
  db: Db,
  { scope, figure }: { scope: Scope; figure: Figure },
  { days, limit }: { days: readonly RowDay[]; limit: number },
) => {
  const dayOf = scope.calendar === 'booked' ? sql`f.day` : sql`f.sale_day`
  const amount = amountOf(figure, scope)
  return db.many(
    Row,
    sql`
    select f.order_id, o.order_number, f.kind, f.journal, f.at, f.day::text as day, f.amount_cents
      from (select f.*
              from unnest(${days.map(({ day }) => day)}::date[],
                          ${days.map(({ after }) => after)}::bigint[]) as d (day, after)
             cross join lateral (
                   select f.order_id, f.kind, f.sequence as journal, f.at, ${dayOf} as day,
                          ${amount} as amount_cents
                     from analytics_facts f
                    where f.tenant_ref = ${db.tenant} and f.generation = ${scope.generation}
                      and ${dayOf} = d.day and f.sequence > d.after
                      and f.currency = ${scope.currency} and not f.is_test
                      and ${matchOf(scope) ?? sql`true`} and ${amount} <> 0
                    order by f.sequence
                    limit ${limit}) as f
             order by f.day, f.journal
             limit ${limit}) as f
     cross join lateral (
           select order_number from orders
            where tenant_ref = ${db.tenant} and id = f.order_id
           offset 0) as o
     order by f.day, f.journal`,
  )
}

/** Sums of variants, by key. */
export const listVariantSums = (db: Db, scope: Scope, period: Period) =>
  db.many(
    Type.Object({ key: Type.String(), units_count: Type.Integer(), net_cents: Type.Integer() }),
    sql`
    select d.key, sum(d.units_count)::bigint as units_count,
           sum(d.gross_cents - d.discount_cents - d.refund_cents)::bigint as net_cents
      from analytics_days d
     where ${inScope(db, scope, period)}
     group by d.key`,
  )

const StockedVariant = Type.Object({
  variant_id: Id,
  sku: Type.String(),
  product_id: Id,
  on_hand: Type.Integer(),
  cost_units: Nullable(Type.Integer()),
  cost_value_cents: Nullable(Type.Integer()),
})

/**
 * The next tracked variants by id, with their units on hand and costs. They are read one by one: a join may read the
 * variants of the whole store.
 */
export const listStocked = (db: Db, after: string | null, limit: number) =>
  db.many(
    StockedVariant,
    sql`
    select v.id as variant_id, v.sku, v.product_id, stock.on_hand, cost.cost_units,
           cost.cost_value_cents
      from (select variant_id
              from inventory_settings
             where tenant_ref = ${db.tenant} and track_inventory
               and variant_id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
             order by variant_id
             limit ${limit}) as s
     cross join lateral (
           select id, sku, product_id from variants
            where tenant_ref = ${db.tenant} and id = s.variant_id
           offset 0) as v
     cross join lateral (
           select coalesce(sum(on_hand), 0)::bigint as on_hand
             from inventory_levels
            where tenant_ref = ${db.tenant} and variant_id = v.id) as stock
      left join lateral (
           select case when units > 0 then units else last_units end as cost_units,
                  case when units > 0 then value_cents else last_value_cents end
                    as cost_value_cents
             from inventory_costs
            where tenant_ref = ${db.tenant} and variant_id = v.id
           offset 0) as cost on true
     order by v.id`,
  )
