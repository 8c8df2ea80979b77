import { ApiError } from '../../errors.ts'

/**
 * Lets so many searches run at a time. Whoever comes then waits, the stores taking turns; when too
 * many wait it is refused. Searching is public and costs the database far more than any other read:
 * a flood of it must leave connections for those who buy, and one store's flood must not be another's.
 */
export interface Gate {
  pass<T>(tenant: string, work: () => Promise<T>): Promise<T>
}

export interface GateOptions {
  running: number
  /** Searches of one store that may wait. */
  waitingPerStore: number
  /** Searches of all stores that may wait. */
  waiting: number
}

type Start = () => void

export function openGate({ running, waitingPerStore, waiting }: GateOptions): Gate {
  const queues = new Map<string, Start[]>()
  let free = running
  let length = 0

  /** Taken from the front and put back behind the others, so that each store has its turn. */
  function next(): void {
    for (const [tenant, queue] of queues) {
      queues.delete(tenant)
      const start = queue.shift()
      if (queue.length > 0) queues.set(tenant, queue)
      length--
      start?.()
      return
    }
    free++
  }

  function enter(tenant: string): Promise<void> | undefined {
    if (free > 0) {
      free--
      return undefined
    }
    const queue = queues.get(tenant) ?? []
    if (length >= waiting || queue.length >= waitingPerStore) {
      const headers = { 'retry-after': '1' }
      throw new ApiError('service_unavailable', { headers, kind: 'overload' })
    }
    length++
    queues.set(tenant, queue)
    return new Promise((resolve) => queue.push(resolve))
  }

  return {
    async pass(tenant, work) {
      await enter(tenant)
      try {
        return await work()
      } finally {
        next()
      }
    },
  }
}
