import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'

/** Why the fraud check holds an order. */
export const FRAUD_REVIEW = 'fraud_review'

const waiting = (db: Db) => sql`
  from orders
 where tenant_ref = ${db.tenant} and status = 'on_hold' and hold_reason = ${FRAUD_REVIEW}`

/** Whoever has waited longest is looked at first. */
export const listReviews = (db: Db, page: Page) =>
  db.many(
    Type.Object({ id: Id }),
    sql`
    select id ${waiting(db)}
     order by hold_at, id
     limit ${page.limit} offset ${page.offset}`,
  )

export const countReviews = (db: Db) =>
  db.one(Type.Object({ total: Type.Integer() }), sql`select count(*) as total ${waiting(db)}`)
