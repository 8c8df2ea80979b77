import { ApiError } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { WINDOW_SECONDS } from '../../platform/limits-store.ts'
import { WorkQueue } from '../../platform/work-queue.ts'

const CALLERS_MAX = 10_000

/** A second's work. A caller with more under way is flooding us. */
const WAITING_MAX = 100

/** A caller that has failed, and its requests. */
interface Suspect {
  until: number
  requests: WorkQueue
}

/**
 * Who has just failed is served one at a time for a minute, so that a flood of forgeries takes one
 * connection and leaves the rest to others. It is not turned away: a provider that signs for one
 * store with the wrong key still has good events for all the others.
 */
export function createTurns(clock: Clock) {
  const suspects = new Map<string, Suspect>()

  function suspect(caller: string): void {
    const requests = suspects.get(caller)?.requests ?? openRequests()
    suspects.delete(caller)
    suspects.set(caller, { until: clock.now() + WINDOW_SECONDS * 1_000, requests })
    const [oldest] = suspects.keys()
    if (suspects.size > CALLERS_MAX && oldest !== undefined) suspects.delete(oldest)
  }

  async function take<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const known = suspects.get(caller)
    if (known === undefined) return work()
    if (known.until <= clock.now() && known.requests.isIdle) {
      suspects.delete(caller)
      return work()
    }
    return known.requests.run(work)
  }

  return { suspect, take }
}

export type Turns = ReturnType<typeof createTurns>

const openRequests = () => new WorkQueue({ running: 1, waiting: WAITING_MAX, refuse: tooMany })

const tooMany = (cause: Error) =>
  new ApiError('rate_limited', { cause, headers: { 'retry-after': '1' } })
