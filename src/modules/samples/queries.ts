import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/** Allows one demo seed of a store at a time. */
export const lockSeed = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/demo seed`}, 0))`)
