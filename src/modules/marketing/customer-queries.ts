import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { OpenObject } from '../../kernel/schema.ts'

export const eraseRedemptions = (
  tx: Tx,
  order_ids: readonly string[],
  {
    customer_refs,
    pseudonyms,
  }: { customer_refs: readonly string[]; pseudonyms: readonly string[] },
) =>
  tx.run(sql`
    update coupon_redemptions r set customer_ref = p.pseudonym
      from unnest(${customer_refs}::text[], ${pseudonyms}::text[]) as p (ref, pseudonym)
     where r.tenant_ref = ${tx.tenant} and r.order_id = any(${order_ids}::uuid[])
       and r.customer_ref = p.ref`)

export const listRedemptions = (db: Db, order_ids: readonly string[]) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(r) - 'tenant_ref' as data
      from coupon_redemptions r
     where r.tenant_ref = ${db.tenant} and r.order_id = any(${order_ids}::uuid[])
     order by r.created_at, r.order_id`,
  )
