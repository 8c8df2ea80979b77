import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'

const BACKOFF_FIRST_MS = 100
/** A database that comes back is found within this. */
const BACKOFF_MAX_MS = 5_000

export interface LoopOptions {
  name: string
  /** How long to wait when there was nothing to do. */
  everyMs: number
  /** Answers how much it did. The signal says that the loop ends: begin nothing new, give back leases. */
  step: (signal: AbortSignal) => Promise<number>
  logger: Logger
}

export interface Loop {
  /** Tells of new work. Cheap, and never lost: told during a step, another step follows. */
  wake(): void
  /** Ends the loop once the step that runs has finished. */
  stop(): Promise<void>
}

/** Calls `step` again and again, one at a time: at once while there is work, else every so often. */
export function startLoop({ name, everyMs, step, logger }: LoopOptions): Loop {
  const stopping = new AbortController()
  const { signal } = stopping
  let woken = false
  let failures = 0
  let endPause = () => {}

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const turn = async (): Promise<void> => {
    woken = false
    try {
      const did = await step(signal)
      failures = 0
      if (signal.aborted) return
      // Also with work left the process must get to its sockets and timers in between.
      await (did > 0 || woken ? nextTurn() : pause(everyMs))
    } catch (error) {
      failures++
      logger.error({ err: error, loop: name, failures }, 'a step of a background loop failed')
      if (signal.aborted) return
      await pause(Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (failures - 1)))
    }
  }

  const running = (async () => {
    while (!signal.aborted) await turn()
  })()

  return {
    wake() {
      woken = true
      // What just failed is not tried again sooner because there is even more to do.
      if (failures === 0) endPause()
    },
    stop() {
      stopping.abort()
      endPause()
      return running
    },
  }
}
