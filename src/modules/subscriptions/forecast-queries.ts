import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { ForecastRow } from './forecast-schema.ts'
import { chargeDays } from './schedule-queries.ts'

/**
 * The subscriptions that are charged before the end of so many days from a date, the next one first:
 * one more than `limit`, if there are more.
 */
export const listCharged = (
  db: Db,
  { zone, from, days, limit }: { zone: string; from: string; days: number; limit: number },
) => {
  const until = sql`(((${from}::date + ${days}::int) + time '00:00') at time zone ${zone})`
  return db.many(
    ForecastRow,
    sql`
    select s.id, s.product_id, s.variant_id, s.quantity, s.unit_price_cents, s.currency,
           s.price_policy, s.pricing, s.next_charge_at, s.paid_cycles, s.max_cycles,
           array(select c.day::text from (${chargeDays(zone, until)}) as c (day) order by 1) as days,
           (greatest(s.next_charge_at, fd_now()) at time zone ${zone})::date::text as next_day
      from subscriptions s
     where s.tenant_ref = ${db.tenant} and s.next_charge_at < ${until}
       and not s.cancel_at_period_end
     order by s.next_charge_at, s.id
     limit ${limit + 1}`,
  )
}
