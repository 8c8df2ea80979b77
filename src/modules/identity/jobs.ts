import type { Runner } from '../../db/sql.ts'
import { DAY_SECONDS } from '../../kernel/time.ts'
import * as queries from './queries.ts'

/** The most rows that one step deletes, so that no login waits long for their locks. */
const STEP_ROWS = 1_000

/**
 * How long an account waits for the proof of its address. A mail is valid for a day, and
 * can be sent again meanwhile.
 */
const PENDING_SECONDS = 3 * DAY_SECONDS

/** How long a caller is known after its last login: longer than a holiday. */
const KNOWN_CALLER_SECONDS = 90 * DAY_SECONDS

/** One step of the loop: deletes old sessions, sign-ups and callers. Returns the number of rows. */
export async function deleteOldRows(db: Runner): Promise<number> {
  const sessions = await deleteExpiredSessions(db)
  return sessions + (await deletePendingSignUps(db)) + (await deleteOldCallers(db))
}

/** One step: deletes expired sessions. Returns the number of sessions. */
export const deleteExpiredSessions = (db: Runner): Promise<number> =>
  queries.deleteExpiredSessions(db, STEP_ROWS)

/** One step: deletes accounts whose address was not proven in time. Returns the number of accounts. */
export const deletePendingSignUps = (db: Runner): Promise<number> =>
  queries.deletePendingSince(db, PENDING_SECONDS, STEP_ROWS)

/** One step: deletes callers that have not logged in for long. Returns the number of callers. */
const deleteOldCallers = (db: Runner): Promise<number> =>
  queries.deleteCallersSince(db, KNOWN_CALLER_SECONDS, STEP_ROWS)
