import type { Runner } from '../../db/sql.ts'
import * as queries from './queries.ts'

/** One step: deletes some sessions that have ended. Answers how many. */
export const forgetExpiredSessions = (db: Runner): Promise<number> =>
  queries.deleteExpiredSessions(db, 1_000)
