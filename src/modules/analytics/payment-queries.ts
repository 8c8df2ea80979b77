import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Nullable, Timestamp } from '../../kernel/schema.ts'

/** Payment attempts, as reports count them. */

/** The outcome of an attempt, for a merchant: a void that ended a charge was approved before it. */
const outcomeOf = sql`
  case when a.state in ('approved', 'voided') then 'approved'
       when a.state = 'declined' then 'declined'
       when a.state in ('error', 'not_found') then 'failed'
       else 'open' end`

/** Charges: a refund or a void takes no money. */
export const isCharge = sql`a.kind in ('checkout', 'release', 'edit', 'renewal')`

/** Of orders that are no tests. Those are few, and are read once for the statement. */
export const isOfRealOrder = (db: Db): Sql => sql`
  a.order_id not in (select id from orders where tenant_ref = ${db.tenant} and is_test)`

/**
 * The outcome of an attempt. A renewal that was approved after a decline of the same cycle also counts as
 * recovered; each attempt has an order of its own.
 */
export const outcomesOf = (db: Db): Sql => sql`
  (select ${outcomeOf} as outcome
    union all
   select 'recovered'
    where a.kind = 'renewal' and a.state = 'approved'
      and exists (select from orders r
                    join subscription_declines d
                      on d.tenant_ref = r.tenant_ref and d.subscription_id = r.subscription_id
                     and d.cycle = r.subscription_cycle
                   where r.tenant_ref = ${db.tenant} and r.id = a.order_id))`

/** Empty for what was approved or is open. */
export const reasonOf = sql`
  case when a.state in ('declined', 'error', 'not_found')
       then left(coalesce(a.reason, a.state), 60) else '' end`

export const firstAttempt = (db: Db) =>
  db.one(
    Type.Object({ at: Nullable(Timestamp) }),
    sql`
    select min(created_at) as at from payment_attempts where tenant_ref = ${db.tenant}`,
  )

export const deletePaymentDay = (tx: Tx, generation: number, day: string) =>
  tx.run(sql`
    delete from analytics_payment_days
     where tenant_ref = ${tx.tenant} and generation = ${generation} and day = ${day}`)

/** Counts the attempts between two times as those of one day. */
export const countPaymentDay = (
  tx: Tx,
  generation: number,
  { day, from, to }: { day: string; from: string; to: string },
) =>
  tx.run(sql`
    insert into analytics_payment_days (tenant_ref, generation, day, currency, outcome, reason,
                                        attempts, amount_cents)
    select ${tx.tenant}, ${generation}, ${day}::date, a.currency, o.outcome, ${reasonOf}, count(*),
           sum(a.amount_cents)
      from payment_attempts a
     cross join lateral ${outcomesOf(tx)} as o
     where a.tenant_ref = ${tx.tenant} and a.created_at >= ${from} and a.created_at < ${to}
       and ${isCharge} and ${isOfRealOrder(tx)}
     group by 4, 5, 6`)
