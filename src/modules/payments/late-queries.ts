import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Lease } from '../../platform/leases.ts'
import { attemptQueue, facts, updateAttempt } from './queries.ts'
import type { GatewayResult } from './schema.ts'

/** What was given up has happened all the same, and is asked about no more. */
export const closeLate = (tx: Tx, id: string, result: GatewayResult) =>
  updateAttempt(
    tx,
    id,
    sql`'not_found'`,
    sql`state = 'approved', next_check_at = null, ${facts(result)}`,
  )

/** One row where nobody was told of it within a day. */
export const noteAlert = (db: Db, id: string) =>
  db.run(sql`
    update payment_attempts set alerted_at = now()
     where tenant_ref = ${db.tenant} and id = ${id}
       and (alerted_at is null or alerted_at <= now() - interval '1 day')`)

/** All that can be known of it is known, and it stays given up. */
export const endWatch = (db: Db, lease: Lease) =>
  attemptQueue.settle(db, lease, sql`checks = checks + 1, next_check_at = null`)
