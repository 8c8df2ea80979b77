import pg from 'pg'
import type { Logger } from 'pino'

/** Processes tell each other here that there is work of a kind. Never used in a transaction. */
const CHANNEL = 'fd_wake'

/** At most so often: under load one word stands for all the work that came meanwhile. */
const COALESCE_MS = 10

const CONNECT_MS = 5_000
const RETRY_MS = 1_000

export interface WakeOptions {
  /** Past any pooler: a listener needs a connection of its own. */
  url: string
  logger: Logger
}

export interface Wake {
  /** Says that there is work: at once to this process, in some milliseconds to the others. */
  tell(topic: string): void
  /** Calls whenever there is work of that kind, wherever it was made. It may call for nothing. */
  on(topic: string, call: () => void): void
  /** Hears other processes from now on. */
  listen(): void
  close(): Promise<void>
}

/**
 * Spares loops the wait for their next look. A word may be lost, with the connection or before it is
 * there: loops look by themselves as well.
 *
 * A connection of its own, because a commit that carries a notification holds a lock of the whole
 * installation until it is flushed: no transaction that matters may ever wait for that.
 */
export function createWake({ url, logger }: WakeOptions): Wake {
  const calls = new Map<string, Set<() => void>>()
  const untold = new Set<string>()
  let client: pg.Client | null = null
  let connecting: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  let retry: NodeJS.Timeout | null = null
  let listening = false
  let closed = false

  const callAll = (topic: string) => {
    for (const call of calls.get(topic) ?? []) call()
  }

  async function open(): Promise<void> {
    const opening = new pg.Client({
      connectionString: url,
      application_name: `fairdock:${process.pid}:wake`,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
    })
    opening.on('error', () => lose(opening))
    opening.on('end', () => lose(opening))
    opening.on('notification', ({ payload = '', processId }) => {
      // Our own word was heard when it was said.
      if (processId !== (opening as unknown as { processID: number }).processID) callAll(payload)
    })
    try {
      await opening.connect()
      if (listening) await opening.query(`listen ${CHANNEL}`)
      client = opening
      if (closed) await opening.end()
    } catch (error) {
      logger.debug({ err: error }, 'no connection to notify other processes')
      await opening.end().catch(() => {})
      reopenLater()
    }
  }

  function connect(): void {
    if (closed || client !== null) return
    connecting ??= open().finally(() => {
      connecting = null
    })
  }

  function lose(lost: pg.Client): void {
    if (client !== lost) return
    client = null
    lost.end().catch(() => {})
    reopenLater()
  }

  function reopenLater(): void {
    if (closed || !listening || retry !== null) return
    retry = setTimeout(() => {
      retry = null
      connect()
    }, RETRY_MS)
  }

  async function tellOthers(): Promise<void> {
    connect()
    await connecting
    const topics = [...untold]
    untold.clear()
    await client
      ?.query('select pg_notify($1, topic) from unnest($2::text[]) as topic', [CHANNEL, topics])
      .catch(() => {})
    timer = untold.size > 0 && !closed ? setTimeout(tellOthers, COALESCE_MS) : null
  }

  return {
    tell(topic) {
      callAll(topic)
      if (closed) return
      untold.add(topic)
      timer ??= setTimeout(tellOthers, COALESCE_MS)
    },
    on(topic, call) {
      const known = calls.get(topic) ?? new Set()
      calls.set(topic, known.add(call))
    },
    listen() {
      listening = true
      if (client === null) connect()
      else lose(client)
    },
    async close() {
      closed = true
      if (timer !== null) clearTimeout(timer)
      if (retry !== null) clearTimeout(retry)
      await connecting
      await client?.end().catch(() => {})
    },
  }
}
