import pg from 'pg'
import type { Logger } from 'pino'

/** The notification channel on which processes announce new work. Never used in a transaction. */
const CHANNEL = 'fd_wake'

/**
 * The shortest time between two notifications: under load one stands for all the work that came
 * meanwhile.
 */
const COALESCE_MS = 10

const CONNECT_MS = 5_000
const RETRY_MS = 1_000

export interface NotifierOptions {
  /** Must bypass any connection pooler: a listener needs a connection of its own. */
  url: string
  logger: Logger
}

export interface Notifier {
  /** Announces work: at once in this process, within some milliseconds in the others. */
  notify(topic: string): void
  /**
   * Calls back whenever there is work of that topic, in whichever process it was created. It may
   * call when there is none.
   */
  subscribe(topic: string, call: () => void): void
  /** Starts to receive the notifications of other processes. */
  listen(): void
  close(): Promise<void>
}

/**
 * Wakes loops before their next regular step. A notification may be lost, with the connection or
 * before it is open: loops also look for work by themselves.
 *
 * It has a connection of its own, because a commit that carries a notification holds a lock of the
 * whole installation until it is flushed: no transaction that matters may ever wait for that.
 */
export function createNotifier({ url, logger }: NotifierOptions): Notifier {
  const listeners = new Map<string, Set<() => void>>()
  const pending = new Set<string>()
  let client: pg.Client | null = null
  let connecting: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  let retry: NodeJS.Timeout | null = null
  let listening = false
  let closed = false

  const callListeners = (topic: string) => {
    for (const call of listeners.get(topic) ?? []) call()
  }

  async function open(): Promise<void> {
    const opening = new pg.Client({
      connectionString: url,
      application_name: `fairdock:${process.pid}:wake`,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
    })
    opening.on('error', () => dropClient(opening))
    opening.on('end', () => dropClient(opening))
    opening.on('notification', ({ payload = '', processId }) => {
      // This process was already notified when it sent this.
      if (processId !== (opening as unknown as { processID: number }).processID)
        callListeners(payload)
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

  function dropClient(lost: pg.Client): void {
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

  async function notifyOthers(): Promise<void> {
    connect()
    await connecting
    const topics = [...pending]
    pending.clear()
    await client
      ?.query('select pg_notify($1, topic) from unnest($2::text[]) as topic', [CHANNEL, topics])
      .catch(() => {})
    timer = pending.size > 0 && !closed ? setTimeout(notifyOthers, COALESCE_MS) : null
  }

  return {
    notify(topic) {
      callListeners(topic)
      if (closed) return
      pending.add(topic)
      timer ??= setTimeout(notifyOthers, COALESCE_MS)
    },
    subscribe(topic, call) {
      const known = listeners.get(topic) ?? new Set()
      listeners.set(topic, known.add(call))
    },
    listen() {
      listening = true
      if (client === null) connect()
      else dropClient(client)
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
