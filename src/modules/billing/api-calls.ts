import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Runner } from '../../db/sql.ts'
import type { ApiCall } from '../../kernel/api-call.ts'
import { newId } from '../../kernel/id.ts'
import { addCalls, type CountedCalls } from './api-call-queries.ts'
import { dayOf } from './months.ts'

/** Counts the API calls of every key. */
export interface ApiCalls {
  /** Counts a call in memory, without a statement or a wait. */
  count(call: ApiCall): void
  /** Writes down the counted calls. Returns how many rows it took, 0 where there was nothing. */
  flush(): Promise<number>
  close(): Promise<void>
}

/** A process that is killed loses the calls of at most this time; the store does not pay for them. */
const FLUSH_MS = 5_000

/** How long a stop waits for the last calls. A database that does not respond must not delay it. */
const CLOSE_MS = 3_000

interface Options {
  db: Runner
  logger: Pick<Logger, 'warn'>
}

/**
 * Counts calls in memory and writes them down every few seconds, all stores in one statement. A batch whose
 * outcome is not known is sent again under its number, and the database adds each number once: so no call is
 * ever billed twice (decision 0056).
 */
export function createApiCalls({ db, logger }: Options): ApiCalls {
  const writer = newId()
  let counts = new Map<string, CountedCalls>()
  /** The batch that is being written, or whose outcome is unknown. */
  let batch: CountedCalls[] = []
  let sequence = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<number> | null = null

  const write = async (): Promise<number> => {
    if (batch.length === 0) {
      if (counts.size === 0) return 0
      batch = [...counts.values()]
      counts = new Map()
      sequence += 1
    }
    const { added } = await addCalls(db, { writer, sequence, counts: batch })
    batch = []
    return added
  }

  const flush = (): Promise<number> => {
    writing ??= write().finally(() => {
      writing = null
    })
    return writing
  }

  const flushLater = () => {
    if (timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      flush().then(
        () => counts.size > 0 && flushLater(),
        (error: unknown) => {
          logger.warn({ err: error }, 'the calls of keys could not be written down yet')
          flushLater()
        },
      )
    }, FLUSH_MS)
    timer.unref()
  }

  return {
    count({ tenant, credentialId, atMs }) {
      const day = dayOf(atMs)
      const name = `${credentialId} ${day}`
      const known = counts.get(name)
      if (known === undefined) counts.set(name, { tenant, credentialId, day, calls: 1 })
      else known.calls += 1
      flushLater()
    },
    flush,
    async close() {
      clearTimeout(timer)
      timer = undefined
      // The first flush writes the batch that a failed write has left, the second the calls counted since.
      const last = flush().then(flush)
      const late = pause(CLOSE_MS, undefined, { ref: false }).then(() => {
        throw new Error(`the database did not answer within ${CLOSE_MS} ms`)
      })
      await Promise.race([last, late]).catch((error: unknown) => {
        logger.warn({ err: error }, 'the last calls of keys were not written down')
      })
    },
  }
}
