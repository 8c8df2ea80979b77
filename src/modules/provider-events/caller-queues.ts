import { ApiError } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { WINDOW_SECONDS } from '../../platform/rate-limits-store.ts'
import { WorkQueue } from '../../platform/work-queue.ts'

const CALLERS_MAX = 10_000

/** The most requests of a caller that wait: about a second's work. A caller with more of them is flooding us. */
const WAITING_MAX = 100

/** A caller that has failed, and the queue of its requests. */
interface FailedCaller {
  until: number
  requests: WorkQueue
}

/**
 * Serves the requests of a caller that has failed one at a time, for a minute, so that a flood of
 * forgeries takes one database connection. The caller is not refused: a provider that signs with the
 * wrong key for one store still has good events for the others.
 */
export function createCallerQueues(clock: Clock) {
  const failed = new Map<string, FailedCaller>()

  function markFailed(caller: string): void {
    const requests = failed.get(caller)?.requests ?? openRequests()
    failed.delete(caller)
    failed.set(caller, { until: clock.now() + WINDOW_SECONDS * 1_000, requests })
    const [oldest] = failed.keys()
    if (failed.size > CALLERS_MAX && oldest !== undefined) failed.delete(oldest)
  }

  async function run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const known = failed.get(caller)
    if (known === undefined) return work()
    if (known.until <= clock.now() && known.requests.isIdle) {
      failed.delete(caller)
      return work()
    }
    return known.requests.run(work)
  }

  return { markFailed, run }
}

export type CallerQueues = ReturnType<typeof createCallerQueues>

const openRequests = () => new WorkQueue({ running: 1, waiting: WAITING_MAX, refuse: tooMany })

const tooMany = (cause: Error) =>
  new ApiError('rate_limited', { cause, headers: { 'retry-after': '1' } })
