import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Clock } from '../kernel/clock.ts'

/** The notification channel on which processes announce that a store's public responses changed. */
export const CHANNEL = 'fd_live'

/** Marks a probe. No store's name begins with this. */
const PROBE_MARK = ':'

const PROBE_EVERY_MS = 1_000
const PROBE_WITHIN_MS = 2_000

/**
 * A listener that received no probe for this long is replaced: its connection may be dead
 * unnoticed.
 */
const LISTENER_GRACE_MS = 5_000

const CONNECT_MS = 5_000
const CLOSE_MS = 1_000

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
export function createLiveListener(options: LiveListenerOptions) {
  const { database, logger, clock } = options
  const probePrefix = `${PROBE_MARK}${randomUUID()}:`
  const probes = new Map<string, number>()
  let listener: Listener | null = null
  let connecting: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  let probeCount = 0
  let trusting = false
  let trustedUntil = 0

  function distrust(reason: string) {
    probes.clear()
    if (!trusting) return
    trusting = false
    logger.warn({ reason }, 'the live cache is off; public answers come from the database')
    options.onDistrust()
  }

  // Called at every read and not only by the timer, which a busy process may run late.
  function isTrusted(): boolean {
    if (trusting && clock.now() >= trustedUntil) distrust('no probe came back in time')
    return trusting
  }

  function onNotification(from: pg.Client, payload: string) {
    if (listener?.client !== from) return
    if (!payload.startsWith(PROBE_MARK)) return options.onChange(payload)
    const sentAt = probes.get(payload)
    if (sentAt === undefined || !probes.delete(payload)) return
    if (clock.now() - sentAt > PROBE_WITHIN_MS) return
    // If trust ended unnoticed, this call empties the cache before trust returns.
    isTrusted()
    // The next probe is sent one interval after this one, and has its own time to arrive.
    trustedUntil = Math.max(trustedUntil, sentAt + PROBE_EVERY_MS + PROBE_WITHIN_MS)
    if (trusting) return
    trusting = true
    logger.info('the live cache is on')
  }

  function probe() {
    const now = clock.now()
    for (const [token, sentAt] of probes) if (now - sentAt > PROBE_WITHIN_MS) probes.delete(token)
    probeCount += 1
    const token = probePrefix + probeCount
    probes.set(token, now)
    database.global
      .run(sql`select pg_notify(${CHANNEL}, ${token})`)
      .catch((error: unknown) =>
        logger.debug({ err: error }, 'a probe of the live cache could not be sent'),
      )
  }

  function dropListener(client: pg.Client, reason: string) {
    if (listener?.client !== client) return
    // The socket is destroyed and not closed: a dead connection would never confirm the close.
    listener.socket.destroy()
    listener = null
    distrust(reason)
  }

  async function connect() {
    const socket = new Socket()
    const client = new pg.Client({
      connectionString: options.listenUrl,
      application_name: `fairdock:${process.pid}:live`,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
      stream: () => socket,
    })
    client.on('error', () => dropListener(client, 'the listener failed'))
    client.on('end', () => dropListener(client, 'the listener was closed'))
    client.on('notification', ({ payload = '' }) => onNotification(client, payload))
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      if (timer === null) throw new Error('stopped while connecting')
      // Only probes sent from here on prove that this listener receives.
      probes.clear()
      listener = { client, socket, since: clock.now() }
      probe()
    } catch (error) {
      socket.destroy()
      logger.debug({ err: error }, 'the live cache could not connect to the database')
    }
  }

  function tick() {
    const trusted = isTrusted()
    if (listener !== null && !trusted && clock.now() - listener.since > LISTENER_GRACE_MS) {
      dropListener(listener.client, 'the listener receives nothing')
    }
    if (listener !== null) return probe()
    connecting ??= connect().finally(() => {
      connecting = null
    })
  }

  return {
    isTrusted,
    start() {
      timer ??= setInterval(tick, PROBE_EVERY_MS)
      tick()
    },
    async stop() {
      if (timer !== null) clearInterval(timer)
      timer = null
      await connecting
      const last = listener
      listener = null
      distrust('stopped')
      // A dead connection does not confirm the close.
      last?.socket.setTimeout(CLOSE_MS, () => last.socket.destroy())
      await last?.client.end()
    },
  }
}
