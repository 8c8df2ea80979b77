/** How often waits are checked. A wait ends at most one and a half times this interval too late. */
const STEP_MS = 50

interface Wait {
  /** The loop time at which the wait is over. */
  until: number
  end: () => void
}

const waits = new Set<Wait>()
let loopTime = 0
let timer: NodeJS.Timeout | undefined

/**
 * Moves the loop time on, which passes only while this process runs: a step counts as one step, however long the
 * process was busy or got no processor. After a stall the timers of Node run before it reads the data that has arrived,
 * so that a plain timer would lose an answer which came in time (decision 0074).
 */
function step(): void {
  loopTime += STEP_MS
  for (const wait of waits) if (wait.until <= loopTime) wait.end()
}

function remove(wait: Wait): void {
  waits.delete(wait)
  if (waits.size > 0) return
  clearInterval(timer)
  timer = undefined
}

/** Waits for work, and rejects with `why` once the time has passed in which this process could have read its result. */
export function withinLoopTime<T>(work: Promise<T>, ms: number, why: string): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const wait: Wait = { until: loopTime + ms + STEP_MS, end: () => reject(new Error(why)) }
  waits.add(wait)
  timer ??= setInterval(step, STEP_MS)
  const ended = () => remove(wait)
  work.then(resolve, reject)
  promise.then(ended, ended)
  return promise
}
