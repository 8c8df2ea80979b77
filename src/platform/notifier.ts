import pg from 'pg'
import type { Logger } from 'pino'

/** The notification channel on which processes announce new work. Never used in a transaction. */
const CHANNEL = 'fd_wake'

/** The shortest time between two notifications: under load one notification stands for all the work of that time. */
const COALESCE_MS = 10

const CONNECT_MS = 5_000
const RETRY_MS = 1_000

export interface NotifierOptions {
  /** Must bypass any connection pooler: a listener needs a connection of its own. */
  url: string
  logger: Logger
}

/**
 * Wakes loops before their next regular step. A notification may be lost, with the connection or before it is open:
 * loops also look for work at regular intervals.
 *
 * It has a connection of its own, because a commit that carries a notification holds a lock of the whole installation
 * until it is flushed: no transaction that matters may ever wait for that.
 */
export class Notifier {
  readonly #url: string
  readonly #logger: Logger
  readonly #listeners = new Map<string, Set<() => void>>()
  readonly #pending = new Set<string>()
  #client: pg.Client | null = null
  #connecting: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #retry: NodeJS.Timeout | null = null
  #listening = false
  #closed = false

  constructor({ url, logger }: NotifierOptions) {
    this.#url = url
    this.#logger = logger
  }

  /** Announces work: at once in this process, within some milliseconds in the others. */
  notify(topic: string): void {
    this.#callListeners(topic)
    if (this.#closed) return
    this.#pending.add(topic)
    this.#timer ??= setTimeout(() => this.#notifyOthers(), COALESCE_MS)
  }

  /**
   * Calls back whenever there is work for that topic, in whichever process it was created. It may also call when
   * there is none.
   */
  subscribe(topic: string, call: () => void): void {
    const known = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, known.add(call))
  }

  /** Starts to receive the notifications of other processes. */
  listen(): void {
    this.#listening = true
    if (this.#client === null) this.#connect()
    else this.#dropClient(this.#client)
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#retry !== null) clearTimeout(this.#retry)
    await this.#connecting
    await this.#client?.end().catch(() => {})
  }

  #callListeners(topic: string): void {
    for (const call of this.#listeners.get(topic) ?? []) call()
  }

  #connect(): void {
    if (this.#closed || this.#client !== null) return
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = null
    })
  }

  async #open(): Promise<void> {
    const opening = new pg.Client({
      connectionString: this.#url,
      application_name: `fairdock:${process.pid}:wake`,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
    })
    opening.on('error', () => this.#dropClient(opening))
    opening.on('end', () => this.#dropClient(opening))
    opening.on('notification', ({ payload = '', processId }) => {
      // This process was already notified when it sent this.
      const { processID: own } = opening as unknown as { processID: number }
      if (processId !== own) this.#callListeners(payload)
    })
    try {
      await opening.connect()
      if (this.#listening) await opening.query(`listen ${CHANNEL}`)
      this.#client = opening
      if (this.#closed) await opening.end()
    } catch (error) {
      this.#logger.debug({ err: error }, 'no connection to notify other processes')
      await opening.end().catch(() => {})
      this.#reopenLater()
    }
  }

  #dropClient(lost: pg.Client): void {
    if (this.#client !== lost) return
    this.#client = null
    lost.end().catch(() => {})
    this.#reopenLater()
  }

  #reopenLater(): void {
    if (this.#closed || !this.#listening || this.#retry !== null) return
    this.#retry = setTimeout(() => {
      this.#retry = null
      this.#connect()
    }, RETRY_MS)
  }

  async #notifyOthers(): Promise<void> {
    this.#connect()
    await this.#connecting
    const topics = [...this.#pending]
    this.#pending.clear()
    await this.#client
      ?.query('select pg_notify($1, topic) from unnest($2::text[]) as topic', [CHANNEL, topics])
      .catch(() => {})
    const again = this.#pending.size > 0 && !this.#closed
    this.#timer = again ? setTimeout(() => this.#notifyOthers(), COALESCE_MS) : null
  }
}
