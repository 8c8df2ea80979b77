import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { ForecastRow } from './forecast-schema.ts'
import { chargeDays, isLastBefore } from './schedule-queries.ts'

/**
 * Lists the subscriptions that are charged before the end of so many days from a date, the next one first: one more
 * than `limit`, if there are more. In that case only their charges before the day of that last one are listed, since
 * from that day on some are missing. The cycles of a subscription are read only where the time has room for a second
 * charge.
 */
export const listCharged = (
  db: Db,
  { zone, from, days, limit }: { zone: string; from: string; days: number; limit: number },
) => {
  const end = sql`(((${from}::date + ${days}::int) + time '00:00') at time zone ${zone})`
  const nextDay = sql`(greatest(s.next_charge_at, fd_now()) at time zone ${zone})::date`
  const until = sql`b.until`
  return db.many(
    ForecastRow,
    sql`
    with chosen as materialized (
      select *
        from subscriptions
       where tenant_ref = ${db.tenant} and next_charge_at < ${end} and not cancel_at_period_end
       order by next_charge_at, id
       limit ${limit + 1}
    ), bound as materialized (
      select case when count(*) > ${limit}
                  then (max(${nextDay}) + time '00:00') at time zone ${zone}
                  else ${end} end as until
        from chosen s
    )
    select s.id, s.product_id, s.variant_id, s.quantity, s.unit_price_cents, s.prices_include_tax,
           s.currency, s.price_policy, s.pricing, s.next_charge_at, s.paid_cycles, s.max_cycles,
           case when ${isLastBefore(until)}
                then array[(s.next_charge_at at time zone ${zone})::date::text]
                else array(select c.day::text from (${chargeDays(zone, until)}) as c (day) order by 1)
                end as days,
           ${nextDay}::text as next_day
      from chosen s
     cross join bound b
     order by s.next_charge_at, s.id`,
  )
}
