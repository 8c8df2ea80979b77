import { isPostgresError, isRetryable } from './constraints.ts'

/** The error of a statement that was skipped because one before it failed. */
export class SkippedError extends Error {
  constructor() {
    super('the statement was skipped, since one before it failed')
  }
}

/** PostgreSQL's code for a statement in a transaction that has already failed. */
const ABORTED = '25P02'

/** Whether an error only follows from another failure, and so says nothing about the cause. */
const isConsequence = (error: unknown): boolean =>
  error instanceof SkippedError || (isPostgresError(error) && error.code === ABORTED)

/**
 * `Promise.all` for statements that are sent together and may be refused. It waits for all of them, so that none is
 * still running in a transaction that ends. Of several errors it throws the first in the list, whichever arrived first;
 * but an error after which the transaction is worth a retry comes before all others.
 */
export async function awaitAll<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  const settled = await Promise.allSettled(work)
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  if (failures.length === 0) return Promise.all(work)
  throw failures.find(isRetryable) ?? failures.find((each) => !isConsequence(each)) ?? failures[0]
}

/**
 * Lets work that has started be awaited later, together with what follows it. If the transaction
 * ends before that, the work's error is ignored.
 */
export function awaitLater<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {})
  return work
}
