import { isPostgresError, isRetryable } from './constraints.ts'

/** Another statement has failed before this one came to its turn. */
export class SkippedError extends Error {
  constructor() {
    super('the statement was skipped, since one before it failed')
  }
}

/** What PostgreSQL says to whoever goes on in a transaction that has failed. */
const ABORTED = '25P02'

/** Follows from another failure, and tells nothing of its own. */
const isEcho = (error: unknown): boolean =>
  error instanceof SkippedError || (isPostgresError(error) && error.code === ABORTED)

/**
 * `Promise.all` for statements that travel together and may be refused: waits for all, so that none is
 * left behind in a transaction that ends, and of several refusals answers the first in the list,
 * however they came in. What makes the whole transaction worth another try goes before all.
 */
export async function allOf<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  const settled = await Promise.allSettled(work)
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  if (failures.length === 0) return Promise.all(work)
  throw failures.find(isRetryable) ?? failures.find((each) => !isEcho(each)) ?? failures[0]
}

/**
 * Work whose first statement travels now, and that is waited for later, together with what follows.
 * Should that never come to pass, because the transaction is given up before, its failure is nobody's.
 */
export function besides<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {})
  return work
}
