import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'

const CouponSums = Type.Object({
  coupon_id: Id,
  orders: Type.Integer(),
  gross_cents: Type.Integer(),
  discount_cents: Type.Integer(),
  refunded_cents: Type.Integer(),
  new_customers: Type.Integer(),
})

/** The figures of coupons over all days. The index of the keys has the days of each coupon side by side. */
export const listCouponSums = (
  db: Db,
  { generation, currency }: { generation: number; currency: string },
  coupon_ids: readonly string[],
) =>
  db.many(
    CouponSums,
    sql`
    select c.id as coupon_id, d.*
      from unnest(${coupon_ids}::uuid[]) as c (id)
     cross join lateral (
           select coalesce(sum(orders_count), 0)::bigint as orders,
                  coalesce(sum(gross_cents), 0)::bigint as gross_cents,
                  coalesce(sum(discount_cents), 0)::bigint as discount_cents,
                  coalesce(sum(refund_cents), 0)::bigint as refunded_cents,
                  coalesce(sum(new_customers_count), 0)::bigint as new_customers
             from analytics_days
            where tenant_ref = ${db.tenant} and generation = ${generation}
              and calendar = 'booked' and dimension = 'coupon_id' and currency = ${currency}
              and key = c.id::text) as d`,
  )
