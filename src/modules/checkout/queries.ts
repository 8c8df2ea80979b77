import { Type } from 'typebox'
import type { Db, GlobalDb } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'

/** Held orders whose card no longer vouches for them, over all stores. */
export const listExpired = (worker: GlobalDb, limit: number) =>
  worker.many(
    Type.Object({ tenant_ref: Type.String(), order_id: Id }),
    sql`
    select tenant_ref, order_id
      from charges
     where status = 'authorized' and authorized_until <= now()
     order by authorized_until
     limit ${limit}`,
  )

/**
 * Due again in five minutes, behind those that have not been tried yet, and so long nobody else's: no
 * gateway takes longer. Of two at once one changes a row.
 */
export const putOffExpiry = (db: Db, order_id: string) =>
  db.run(sql`
    update charges set authorized_until = now() + interval '5 minutes'
     where tenant_ref = ${db.tenant} and order_id = ${order_id}
       and status = 'authorized' and authorized_until <= now()`)
