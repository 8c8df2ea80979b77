import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Nullable } from '../../kernel/schema.ts'
import { FraudDecision } from '../fraud/schema.ts'
import { orderColumns } from './queries.ts'
import { MerchantOrder } from './schema.ts'

/** The reason of a hold by the fraud check. */
const FRAUD_REVIEW = 'fraud_review'

const waiting = (db: Db) => sql`
 where o.tenant_ref = ${db.tenant} and o.status = 'on_hold' and o.hold_reason = ${FRAUD_REVIEW}`

/** An order with the last decision of the fraud check about it. */
const ReviewRow = Type.Object({
  ...MerchantOrder.properties,
  decision: Nullable(FraudDecision),
})

/** The longest held first. */
export const listReviews = (db: Db, page: Page) =>
  db.many(
    ReviewRow,
    sql`
    select ${orderColumns},
           (select jsonb_build_object(
                     'id', id, 'order_id', order_id, 'decision', decision, 'score', score,
                     'signals', signals, 'ban_ids', ban_ids, 'created_at',
                     to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
              from fraud_decisions
             where tenant_ref = ${db.tenant} and order_id = o.id
             order by created_at desc, id desc
             limit 1) as decision
      from orders o
    ${waiting(db)}
     order by o.hold_at, o.id
     limit ${page.limit} offset ${page.offset}`,
  )

export const countReviews = (db: Db) =>
  db.one(
    Type.Object({ total: Type.Integer() }),
    sql`select count(*) as total from orders o ${waiting(db)}`,
  )
