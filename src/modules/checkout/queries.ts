import { Type } from 'typebox'
import type { GlobalDb } from '../../db/database.ts'
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
