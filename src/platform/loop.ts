import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'

const BACKOFF_FIRST_MS = 100
/** The longest wait after failures: a database that is back is used again within this. */
const BACKOFF_MAX_MS = 5_000

export interface LoopOptions {
  name: string
  /** How long the loop waits after a step that found nothing to do. */
  everyMs: number
  /**
   * Does a bounded amount of work, and returns how much. When the signal fires, the loop is ending: the step starts
   * nothing new and releases its leases.
   */
  step: (signal: AbortSignal) => Promise<number>
  logger: Logger
  /** Called with the result of each step. */
  onStep?: ((name: string, succeeded: boolean) => void) | undefined
}

export interface Loop {
  /**
   * Starts the next step now. Cheap, and never lost: during a step, it makes another step follow.
   */
  wake(): void
  /** Ends the loop once the current step has finished. */
  stop(): Promise<void>
}

/**
 * Starts a loop: calls `step` again and again, one at a time; at once while there is work, otherwise every `everyMs`.
 */
export function startLoop({ name, everyMs, step, logger, onStep }: LoopOptions): Loop {
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

  const runStep = async (): Promise<void> => {
    woken = false
    try {
      const did = await step(signal)
      failures = 0
      onStep?.(name, true)
      if (signal.aborted) return
      // Even with work left, the process must handle its sockets and timers in between.
      await (did > 0 || woken ? nextTurn() : pause(everyMs))
    } catch (error) {
      failures++
      onStep?.(name, false)
      logger.error({ err: error, loop: name, failures }, 'a step of a background loop failed')
      if (signal.aborted) return
      await pause(Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (failures - 1)))
    }
  }

  const running = (async () => {
    while (!signal.aborted) await runStep()
  })()

  return {
    wake() {
      woken = true
      // New work does not shorten the wait after a failure.
      if (failures === 0) endPause()
    },
    stop() {
      stopping.abort()
      endPause()
      return running
    },
  }
}
