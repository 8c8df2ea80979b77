import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Clock } from '../kernel/clock.ts'

/** The notification channel on which processes announce that a store's public responses changed. */
export const CHANNEL = 'fd_live'

/** The beginning of a probe's text. No store's name begins with it. */
const PROBE_MARK = ':'

const PROBE_EVERY_MS = 1_000
const PROBE_WITHIN_MS = 2_000

/** How long a listener may receive no probe before it is replaced: its connection may be dead without notice. */
const LISTENER_GRACE_MS = 5_000

const CONNECT_MS = 5_000
const CLOSE_MS = 1_000
/** The reason of an intended stop, which is not a fault. */
const STOPPED = 'stopped'

export interface LiveListenerOptions {
  /** Must bypass any connection pooler: a listener needs a connection of its own. */
  listenUrl: string
  database: Database
  logger: Logger
  clock: Clock
  onChange(subject: string): void
  /** Called when notifications may have been missed: no cached response may be used any more. */
  onDistrust(): void
}

interface Listener {
  client: pg.Client
  socket: Socket
  since: number
}

/**
 * Listens for changes, and knows whether it still receives them: a probe sent through the pool
 * every second must arrive on the listener within two.
 */
export class LiveListener {
  readonly #options: LiveListenerOptions
  readonly #probePrefix = `${PROBE_MARK}${randomUUID()}:`
  readonly #probes = new Map<string, number>()
  #listener: Listener | null = null
  #connecting: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #probeCount = 0
  #trusting = false
  #trustedUntil = 0

  constructor(options: LiveListenerOptions) {
    this.#options = options
  }

  /**
   * Whether notifications arrive. It is called at every read and not only by the timer, which a busy process may run
   * late.
   */
  isTrusted(): boolean {
    if (this.#trusting && this.#options.clock.now() >= this.#trustedUntil) {
      this.#distrust('no probe came back in time')
    }
    return this.#trusting
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), PROBE_EVERY_MS)
    this.#tick()
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    await this.#connecting
    const last = this.#listener
    this.#listener = null
    this.#distrust(STOPPED)
    // A dead connection does not confirm the close.
    last?.socket.setTimeout(CLOSE_MS, () => last.socket.destroy())
    await last?.client.end()
  }

  #tick(): void {
    const trusted = this.isTrusted()
    const listener = this.#listener
    if (listener !== null && !trusted) {
      const silentMs = this.#options.clock.now() - listener.since
      if (silentMs > LISTENER_GRACE_MS) {
        this.#dropListener(listener.client, 'the listener receives nothing')
      }
    }
    if (this.#listener !== null) {
      this.#probe()
      return
    }
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null
    })
  }

  async #connect(): Promise<void> {
    const { listenUrl, logger, clock } = this.#options
    const socket = new Socket()
    const client = new pg.Client({
      connectionString: listenUrl,
      application_name: `fairdock:${process.pid}:live`,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
      stream: () => socket,
    })
    client.on('error', () => this.#dropListener(client, 'the listener failed'))
    client.on('end', () => this.#dropListener(client, 'the listener was closed'))
    client.on('notification', ({ payload = '' }) => this.#onNotification(client, payload))
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      if (this.#timer === null) throw new Error('stopped while connecting')
      // Only probes sent from here on prove that this listener receives.
      this.#probes.clear()
      this.#listener = { client, socket, since: clock.now() }
      this.#probe()
    } catch (error) {
      socket.destroy()
      logger.debug({ err: error }, 'the live cache could not connect to the database')
    }
  }

  #dropListener(client: pg.Client, reason: string): void {
    if (this.#listener?.client !== client) return
    // The socket is destroyed and not closed: a dead connection would never confirm the close.
    this.#listener.socket.destroy()
    this.#listener = null
    this.#distrust(reason)
  }

  #probe(): void {
    const { database, logger, clock } = this.#options
    const now = clock.now()
    for (const [token, sentAt] of this.#probes) {
      if (now - sentAt > PROBE_WITHIN_MS) this.#probes.delete(token)
    }
    this.#probeCount += 1
    const token = this.#probePrefix + this.#probeCount
    this.#probes.set(token, now)
    database.server
      .run(sql`select pg_notify(${CHANNEL}, ${token})`)
      .catch((error: unknown) =>
        logger.debug({ err: error }, 'a probe of the live cache could not be sent'),
      )
  }

  #onNotification(from: pg.Client, payload: string): void {
    if (this.#listener?.client !== from) return
    if (!payload.startsWith(PROBE_MARK)) {
      this.#options.onChange(payload)
      return
    }
    const sentAt = this.#probes.get(payload)
    if (sentAt === undefined || !this.#probes.delete(payload)) return
    if (this.#options.clock.now() - sentAt > PROBE_WITHIN_MS) return
    // If trust ended unnoticed, this call empties the cache before trust returns.
    this.isTrusted()
    // The next probe is sent one interval after this one, and has its own time to arrive.
    const until = sentAt + PROBE_EVERY_MS + PROBE_WITHIN_MS
    this.#trustedUntil = Math.max(this.#trustedUntil, until)
    if (this.#trusting) return
    this.#trusting = true
    this.#options.logger.info('the live cache is on')
  }

  #distrust(reason: string): void {
    this.#probes.clear()
    if (!this.#trusting) return
    this.#trusting = false
    // A stop is intended, and is no reason for an operator to look.
    const level = reason === STOPPED ? 'debug' : 'warn'
    this.#options.logger[level](
      { reason },
      'the live cache is off; public answers come from the database',
    )
    this.#options.onDistrust()
  }
}
