import type { Db, TenantDb } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'

/**
 * Work that becomes due by the clock of a store, as the test clock sees it.
 *
 * The loops of the worker find due rows over all stores. A store whose clock is being moved is not in
 * their lists: the process that moves it asks every kind of work for its next due time, moves the clock
 * to the earliest, runs that work, and goes on (`modules/test-clock/jobs.ts`).
 *
 * A module adds a kind of work in three places:
 *  1. `queries.ts`: the next due time, as a query of one value (`nextExpiry` of the gift cards);
 *  2. `jobs.ts`: a `DueWork` that does some of what is due in one store, by the same functions as the
 *     module's loop;
 *  3. `module.ts`: `due`, with its rank, which is the order of work that is due at the same time.
 *
 * Data that is only compared with the time, such as the window of a coupon or of a return, needs no kind
 * of work.
 */
export interface DueWork {
  /** The name of the kind, as `GET /v1/my/test-clock` shows it. */
  readonly kind: string
  /**
   * A query of one timestamp: when the next work of the store is due, by its own clock; null if there is
   * none. Rows that another process works on count, so that time does not pass before they are done.
   */
  nextDue(db: Db): Sql
  /** Does some of the work that is due now. It must end within seconds, and may be killed at any time. */
  runDue(db: TenantDb, signal: AbortSignal): Promise<Done>
  /** Shortens waits by the machine's clock, when the store's clock is moved by this many milliseconds. */
  shorten?(db: Db, byMs: number): Promise<unknown>
  /** Set if a limit of the platform may delay this work; the clock then moves on without it. */
  readonly mayLag?: true
}

/** One piece of work that was done. */
export interface Ran {
  /** The id of the row that the work was done on; null where there is no single one. */
  id: string | null
  outcome: string
}

export interface Done {
  /** How much was done, including work that is not shown. 0 means that nothing could be done now. */
  count: number
  ran: readonly Ran[]
}

/** Works on due rows one after another. `work` returns null for a row that needed nothing. */
export async function runEach<T>(
  rows: readonly T[],
  work: (row: T) => Promise<Ran | null>,
  signal: AbortSignal,
): Promise<Done> {
  const ran: Ran[] = []
  for (const row of rows) {
    if (signal.aborted) break
    const done = await work(row)
    if (done !== null) ran.push(done)
  }
  return { count: ran.length, ran }
}
