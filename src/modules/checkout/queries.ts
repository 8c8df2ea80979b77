import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import { createTurns } from '../../platform/store-turns.ts'

/** Held orders have a charge in this state. */
const isAuthorized = sql`status = 'authorized'`

/** The turns of the stores with expired holds. */
export const expiryTurns = createTurns({
  table: sql`charges`,
  due: sql`authorized_until`,
  only: isAuthorized,
})

/** Held orders whose authorisation has lapsed. */
export const listExpired = (db: Db, limit: number) =>
  db.many(
    Type.Object({ tenant_ref: Type.String(), order_id: Id }),
    sql`
    select tenant_ref, order_id
      from charges
     where tenant_ref = ${db.tenant} and ${isAuthorized} and authorized_until <= fd_now()
     order by authorized_until
     limit ${limit}`,
  )

/** A query of the time at which the next authorisation lapses. */
export const nextLapse = (db: Db) => sql`
  select min(authorized_until) from charges where tenant_ref = ${db.tenant} and ${isAuthorized}`

/** Makes an expired hold due again in five minutes, behind those that have not been tried yet. */
export const postponeExpiry = (db: Db, order_id: string) =>
  db.run(sql`
    update charges set authorized_until = fd_now() + interval '5 minutes'
     where tenant_ref = ${db.tenant} and order_id = ${order_id}
       and status = 'authorized' and authorized_until <= fd_now()`)
