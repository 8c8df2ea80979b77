import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { open, updateAttempt } from './queries.ts'

/**
 * Ten seconds, so that what is still on its way has arrived when the gateway is asked. Whoever finds it
 * unknown already has asked for it once more.
 */
export const markUnknown = (db: Db, id: string) =>
  updateAttempt(
    db,
    id,
    open,
    sql`state = 'unknown', next_check_at = now() + interval '10 seconds',
        checks = checks + (state = 'unknown')::int`,
  )

/** Why it is about to be taken back. */
export const markUndone = (db: Db, id: string, reason: string) =>
  updateAttempt(db, id, open, sql`reason = ${reason}`)

/**
 * Whatever of an order waits longer than a new attempt does is due now. The first ten seconds stay:
 * until then a silent gateway says nothing. So is what was given up and is watched no more: whoever
 * speaks of it has heard of it.
 */
export const hastenChecks = (db: Db, order_id: string) =>
  db.run(sql`
    update payment_attempts set next_check_at = now()
     where tenant_ref = ${db.tenant} and order_id = ${order_id}
       and (next_check_at > now() + interval '10 seconds'
            or (state = 'not_found' and next_check_at is null))`)
