import { isPostgresError, isRetryable } from './constraints.ts'

/** Said of every statement after the one that failed: it tells nothing of its own. */
const ABORTED = '25P02'

const isEcho = (error: unknown): boolean => isPostgresError(error) && error.code === ABORTED

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
