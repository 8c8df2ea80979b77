import { Type } from 'typebox'
import type { Db, GlobalDb } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'

/** Held orders whose authorisation has lapsed, over all stores. */
export const listExpired = (worker: GlobalDb, limit: number) =>
  worker.many(
    Type.Object({ tenant_ref: Type.String(), order_id: Id }),
    sql`
    select tenant_ref, order_id
      from charges
     where status = 'authorized' and authorized_until <= fd_now()
     order by authorized_until
     limit ${limit}`,
  )

/** Makes an expired hold due again in five minutes, behind those that have not been tried yet. */
export const postponeExpiry = (db: Db, order_id: string) =>
  db.run(sql`
    update charges set authorized_until = fd_now() + interval '5 minutes'
     where tenant_ref = ${db.tenant} and order_id = ${order_id}
       and status = 'authorized' and authorized_until <= fd_now()`)
