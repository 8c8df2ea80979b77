import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { jsonTime, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Nullable } from '../../kernel/schema.ts'
import { FraudDecision } from '../fraud/schema.ts'
import { orderColumns } from './queries.ts'
import { MerchantOrder } from './schema.ts'

/** The reason of a hold by the fraud check. */
const FRAUD_REVIEW = 'fraud_review'

/** An order with the last decision of the fraud check about it. */
const ReviewRow = Type.Object({
  ...MerchantOrder.properties,
  decision: Nullable(FraudDecision),
})

const lastDecision = (db: Db) => sql`
  (select jsonb_build_object(
            'id', id, 'order_id', order_id, 'decision', decision, 'score', score,
            'signals', signals, 'ban_ids', ban_ids, 'created_at',
            ${jsonTime(sql`created_at`)})
     from fraud_decisions
    where tenant_ref = ${db.tenant} and order_id = o.id
    order by created_at desc, id desc
    limit 1)`

/** Lists the orders held by the fraud check, the longest held first. */
export const listReviews = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: ReviewRow,
      table: sql`orders`,
      as: sql`o`,
      scope: sql`o.tenant_ref = ${db.tenant}`,
      filters: [sql`o.status = 'on_hold'`, sql`o.hold_reason = ${FRAUD_REVIEW}`],
      key: [
        { name: sql`hold_at`, type: 'timestamp' },
        { name: sql`id`, type: 'uuid' },
      ],
      descending: false,
      columns: sql`${orderColumns}, ${lastDecision(db)} as decision`,
    },
    page,
  )
