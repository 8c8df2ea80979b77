import { ApiError } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { WINDOW_SECONDS } from '../../platform/limits-store.ts'

const CALLERS_MAX = 10_000

/** A second's work. Whoever has more under way is flooding us. */
const WAITING_MAX = 100

interface Line {
  until: number
  waiting: number
  last: Promise<unknown>
}

/**
 * Who has just failed is served one at a time for a minute, so that a flood of forgeries takes one
 * connection and leaves the rest to others. It is not turned away: a provider that signs for one
 * store with the wrong key still has good events for all the others.
 */
export function createTurns(clock: Clock) {
  const lines = new Map<string, Line>()

  function suspect(caller: string): void {
    const line = lines.get(caller) ?? { until: 0, waiting: 0, last: Promise.resolve() }
    line.until = clock.now() + WINDOW_SECONDS * 1_000
    lines.delete(caller)
    lines.set(caller, line)
    const [oldest] = lines.keys()
    if (lines.size > CALLERS_MAX && oldest !== undefined) lines.delete(oldest)
  }

  async function take<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const line = lines.get(caller)
    if (line === undefined) return work()
    if (line.until <= clock.now() && line.waiting === 0) {
      lines.delete(caller)
      return work()
    }
    if (line.waiting >= WAITING_MAX) throw tooMany()
    line.waiting += 1
    const turn = line.last.then(work, work).finally(() => {
      line.waiting -= 1
    })
    line.last = turn.catch(() => {})
    return turn
  }

  return { suspect, take }
}

export type Turns = ReturnType<typeof createTurns>

const tooMany = () => new ApiError('rate_limited', { headers: { 'retry-after': '1' } })
