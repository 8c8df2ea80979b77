import type { ServerResponse } from 'node:http'
import { ApiError } from '../errors.ts'
import { WorkQueue } from '../platform/work-queue.ts'

/**
 * Slots for answers that are sent piece by piece. A slow reader keeps open what the answer is read from: a page of
 * products in memory, a file, a connection to the bucket. So each reader has few slots at a time, and must read what is
 * sent.
 */

/** How many answers are sent at a time, and how many wait. */
interface Bounds {
  running: number
  runningPerStore: number
  waiting: number
  waitingPerStore: number
}

/** How many bytes a reader must read in an interval while bytes wait for it. */
interface Pace {
  bytes: number
  everyMs: number
}

export interface AnswerSlotOptions {
  /** The bounds over all readers, and of each store. */
  sent: Bounds
  /** The bounds of one reader, whatever store it reads. */
  perReader: { running: number; waiting: number }
  pace: Pace
  /** How long a reader waits for a slot. */
  waitMs?: number
}

export interface AnswerSlots {
  /** Sends an answer when it is its turn. The signal is that of the closed connection. */
  run(
    of: { tenant: string; reader: string; signal: AbortSignal },
    send: () => Promise<void>,
  ): Promise<void>
  /** Ends a connection whose reader does not take what waits for it. The reader may have left before. */
  watch(response: ServerResponse): void
}

/** A reader is told to try again before it would give up by itself. */
const WAIT_MS = 10_000

/** The most readers who may wait: behind more of them no reader would start in time. */
const READERS = { running: 100_000, waiting: 4_096 }

const busy = (waitMs: number) =>
  new ApiError('service_unavailable', {
    cause: new Error('all slots for such answers are taken'),
    kind: 'overload',
    headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  })

const tooMany = (cause: Error) =>
  new ApiError('rate_limited', {
    cause,
    message: 'Too many of your requests wait already. Wait for their answers before you send more.',
    headers: { 'retry-after': '10' },
  })

export function createAnswerSlots({
  sent,
  perReader,
  pace,
  waitMs = WAIT_MS,
}: AnswerSlotOptions): AnswerSlots {
  const readers = new WorkQueue({
    ...READERS,
    runningPerStore: perReader.running,
    waitingPerStore: perReader.waiting,
    refuseStore: tooMany,
  })
  const slots = new WorkQueue({ ...sent, refuse: () => busy(waitMs) })
  return {
    async run({ tenant, reader, signal }, send) {
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(busy(waitMs)), waitMs)
      const either = AbortSignal.any([signal, late.signal])
      const inTurn = () => {
        clearTimeout(timer)
        return send()
      }
      try {
        await readers.run(() => slots.run(inTurn, tenant, either), reader, either)
      } finally {
        clearTimeout(timer)
      }
    },
    watch(response) {
      const { socket } = response
      // A reader who has left already: nothing would end the timer.
      if (socket === null || response.closed) return
      let before = socket.bytesWritten
      let waited = false
      const timer = setInterval(() => {
        const waits = response.writableNeedDrain || socket.writableLength > 0
        // Only bytes that have waited for the reader all the time prove that the reader is slow, and not we.
        if (waits && waited && socket.bytesWritten - before < pace.bytes) socket.destroy()
        before = socket.bytesWritten
        waited = waits
      }, pace.everyMs)
      response.once('close', () => clearInterval(timer))
    },
  }
}
