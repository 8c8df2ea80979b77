import type { Runner } from '../../db/sql.ts'
import * as queries from './queries.ts'

/** Rows of one step, so that no login waits long for their locks. */
const STEP_ROWS = 1_000

const DAY = 86_400

/** A letter is valid for a day, and can be sent again meanwhile. */
const PENDING_SECONDS = 3 * DAY

/** Longer than a holiday. */
const KNOWN_CALLER_SECONDS = 90 * DAY

/** One step of all of these. Answers the number of rows. */
export async function deleteOldRows(db: Runner): Promise<number> {
  const sessions = await deleteExpiredSessions(db)
  return sessions + (await deletePendingSignUps(db)) + (await deleteOldCallers(db))
}

/** One step: deletes expired sessions. Answers the number of sessions. */
export const deleteExpiredSessions = (db: Runner): Promise<number> =>
  queries.deleteExpiredSessions(db, STEP_ROWS)

/** One step: deletes accounts whose address was not proven in time. */
export const deletePendingSignUps = (db: Runner): Promise<number> =>
  queries.deletePendingSince(db, PENDING_SECONDS, STEP_ROWS)

/** One step: forgets callers that have not logged in for long. */
const deleteOldCallers = (db: Runner): Promise<number> =>
  queries.deleteCallersSince(db, KNOWN_CALLER_SECONDS, STEP_ROWS)
