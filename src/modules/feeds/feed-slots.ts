import type { ServerResponse } from 'node:http'
import { ApiError } from '../../errors.ts'
import { WorkQueue } from '../../platform/work-queue.ts'

/** The feeds that are sent at a time: a reader holds a page of products in memory, and may be slow. */
const SENT = { running: 32, runningPerStore: 8, waiting: 64, waitingPerStore: 16 }

/** One reader has one feed at a time, so that it cannot take the slots of all others. */
const READERS = { running: 1_000, runningPerStore: 1, waiting: 256, waitingPerStore: 8 }

/** How long a reader waits for a slot. It is told to come again before it would give up by itself. */
const WAIT_MS = 10_000

/** The pace that a reader must keep: one that takes less could not take a large feed in its time. */
const PACE = { bytes: 1_024 * 1_024, everyMs: 10_000 }

export interface FeedSlotOptions {
  waitMs?: number
  pace?: typeof PACE
}

export interface FeedSlots {
  /** Sends a feed when it is its turn. The signal is that of the closed connection. */
  run(
    of: { tenant: string; reader: string; signal: AbortSignal },
    send: () => Promise<void>,
  ): Promise<void>
  /** Ends a connection whose reader does not take what waits for it. */
  watch(response: ServerResponse): void
}

const busy = (waitMs: number) =>
  new ApiError('service_unavailable', {
    cause: new Error('all slots for feeds are taken'),
    kind: 'overload',
    headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  })

const tooMany = (cause: Error) =>
  new ApiError('rate_limited', {
    cause,
    message: 'Feeds are sent to you one after another, and too many of yours wait already.',
    headers: { 'retry-after': '10' },
  })

export function createFeedSlots({
  waitMs = WAIT_MS,
  pace = PACE,
}: FeedSlotOptions = {}): FeedSlots {
  const readers = new WorkQueue({ ...READERS, refuseStore: tooMany })
  const slots = new WorkQueue({ ...SENT, refuse: () => busy(waitMs) })
  return {
    async run({ tenant, reader, signal }, send) {
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(busy(waitMs)), waitMs)
      const either = AbortSignal.any([signal, late.signal])
      try {
        await readers.run(
          () =>
            slots.run(
              () => {
                clearTimeout(timer)
                return send()
              },
              tenant,
              either,
            ),
          reader,
          either,
        )
      } finally {
        clearTimeout(timer)
      }
    },
    watch(response) {
      const { socket } = response
      if (socket === null) return
      let before = socket.bytesWritten
      let waited = false
      const timer = setInterval(() => {
        const waits = response.writableNeedDrain || socket.writableLength > 0
        // Only what has waited for the reader all the time says that it is slow, and not we.
        if (waits && waited && socket.bytesWritten - before < pace.bytes) socket.destroy()
        before = socket.bytesWritten
        waited = waits
      }, pace.everyMs)
      response.once('close', () => clearInterval(timer))
    },
  }
}
