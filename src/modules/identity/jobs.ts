import type { Runner } from '../../db/sql.ts'
import * as queries from './queries.ts'

/** One step: deletes up to 1000 expired sessions. Answers the number of sessions. */
export const deleteExpiredSessions = (db: Runner): Promise<number> =>
  queries.deleteExpiredSessions(db, 1_000)
