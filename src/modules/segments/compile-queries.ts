import type { Db } from '../../db/database.ts'
import { join, type Sql, sql } from '../../db/sql.ts'
import type { Condition, Group } from './schema.ts'

/**
 * Compiles the conditions of a segment to SQL over `segment_people as p`. Every value is a parameter; the text
 * consists only of the SQL in this file. No condition is ever null, so that `and` and `or` in groups hold.
 */

/** Selects the people of the store who meet the conditions. */
export const peopleIn = (db: Db, group: Group): Sql =>
  sql`p.tenant_ref = ${db.tenant} and ${compileGroup(db, group)}`

const compileGroup = (db: Db, { match, conditions }: Group): Sql =>
  sql`(${join(
    conditions.map((each) => ('conditions' in each ? compileGroup(db, each) : compile(db, each))),
    match === 'all' ? ' and ' : ' or ',
  )})`

const AMOUNTS = { total_spent_cents: sql`p.total_spent_cents`, orders_count: sql`p.orders_count` }
const TIMES = { first_order_at: sql`p.first_order_at`, last_order_at: sql`p.last_order_at` }

/** A time some days ago. The subquery computes it once for the statement, and not for each row. */
const daysAgo = (days: number) => sql`(select fd_now() - make_interval(days => ${days}::integer))`

function compile(db: Db, condition: Exclude<Condition, Group>): Sql {
  switch (condition.field) {
    case 'total_spent_cents':
    case 'orders_count':
      return compareAmount(AMOUNTS[condition.field], condition)
    case 'first_order_at':
    case 'last_order_at':
      return sql`coalesce(${compareTime(TIMES[condition.field], condition)}, false)`
    case 'consent':
      return condition.op === 'is'
        ? sql`p.consent = ${condition.value}`
        : sql`p.consent <> ${condition.value}`
    default:
      return WANTED.has(condition.op) ? isAmong(db, condition) : sql`not ${isAmong(db, condition)}`
  }
}

/** The operators that hold for people who are among the named values; the other operators hold for all other people. */
const WANTED: ReadonlySet<string> = new Set(['bought', 'is', 'in'])

type AmountCondition = Extract<Condition, { field: 'total_spent_cents' | 'orders_count' }>
type TimeCondition = Extract<Condition, { field: 'first_order_at' | 'last_order_at' }>
type AmongCondition = Extract<Condition, { field: 'product' | 'subscription' | 'place' }>

function compareAmount(column: Sql, { op, value }: AmountCondition): Sql {
  const amount = sql`${value}::bigint`
  if (op === 'eq') return sql`${column} = ${amount}`
  return op === 'gte' ? sql`${column} >= ${amount}` : sql`${column} <= ${amount}`
}

function compareTime(column: Sql, condition: TimeCondition): Sql {
  switch (condition.op) {
    case 'within_days':
      return sql`${column} >= ${daysAgo(condition.value)}`
    case 'not_within_days':
      return sql`${column} < ${daysAgo(condition.value)}`
    case 'before':
      return sql`${column} < ${condition.value}::timestamptz`
    case 'after':
      return sql`${column} >= ${condition.value}::timestamptz`
  }
}

/**
 * A condition that a person is among the named values. PostgreSQL chooses between an index lookup for each person and
 * one hash of all named rows.
 */
function isAmong(db: Db, { field, value }: AmongCondition): Sql {
  if (field === 'place') {
    return sql`coalesce(p.country = any(${value}::text[]) or p.place = any(${value}::text[]), false)`
  }
  if (field === 'product') {
    return sql`exists (select from segment_purchases b
                        where b.tenant_ref = ${db.tenant} and b.product_id = any(${value}::uuid[])
                          and b.email_folded = p.email_folded)`
  }
  return sql`exists (select from subscriptions s
                      where s.tenant_ref = ${db.tenant} and s.status = any(${value}::text[])
                        and s.email_folded = p.email_folded)`
}
