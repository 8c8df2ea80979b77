import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/**
 * Whatever of an order waits longer than a new attempt does is due now. The first ten seconds stay:
 * until then a silent gateway says nothing.
 */
export const hastenChecks = (db: Db, order_id: string) =>
  db.run(sql`
    update payment_attempts set next_check_at = now()
     where tenant_ref = ${db.tenant} and order_id = ${order_id}
       and next_check_at > now() + interval '10 seconds'`)
