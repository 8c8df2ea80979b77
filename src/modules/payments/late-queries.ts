import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { facts, updateAttempt } from './queries.ts'
import type { GatewayResult } from './schema.ts'

/** What was given up has happened all the same, and is asked about no more. */
export const closeLate = (tx: Tx, id: string, result: GatewayResult) =>
  updateAttempt(
    tx,
    id,
    sql`'not_found'`,
    sql`state = 'approved', next_check_at = null, ${facts(result)}`,
  )
