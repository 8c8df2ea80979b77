import type { Socket } from 'node:net'
import pg from 'pg'
import { types } from './wire-types.ts'

export interface PoolOptions {
  url: string
  /** Shown in pg_stat_activity, so that an operator sees which pool holds a lock. */
  name: string
  max: number
  /** How long a request waits for a free connection before it answers 503. */
  connectTimeoutMs?: number
  /**
   * How long the pool waits for an answer: longer than any statement may take. After this, the network has failed
   * silently.
   */
  answerTimeoutMs?: number
  /** Keeps idle connections open, for work that cannot wait for a new one. */
  keepsIdle?: boolean
  /** Called when an idle connection is lost, with the name of its pool. */
  onError?: (error: Error, pool: string) => void
}

export function openPool(options: PoolOptions) {
  const { url, name, max, connectTimeoutMs = 5_000, answerTimeoutMs = 35_000, onError } = options
  const pool = new pg.Pool({
    connectionString: url,
    application_name: `fairdock:${process.pid}:${name}`,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: options.keepsIdle === true ? 0 : 30_000,
    // A connection is closed after this time, so that a server that moved to another address is found again.
    maxLifetimeSeconds: 3_600,
    keepAlive: true,
    // Statements are sent without waiting for the answers before them.
    pipeline: true,
    types,
  } as pg.PoolConfig)
  // An idle connection that dies is replaced at the next use. Without this listener, its error
  // would end the process.
  pool.on('error', (error) => onError?.(withoutClient(error), name))
  // Without this listener, the error of a connection in use would end the process, too. Its current statement rejects
  // by itself.
  pool.on('connect', (client) => client.on('error', () => {}))
  watchClients(pool, answerTimeoutMs)
  return pool
}

/** Removes the client that the driver adds to an error: its settings, statements and cancel key are no part of it. */
function withoutClient(error: Error & { client?: unknown }): Error {
  delete error.client
  return error
}

/** How soon a reachable server answers an empty query. */
export const PROBE_TIMEOUT_MS = 2_000
const PROBE = { text: '', query_timeout: PROBE_TIMEOUT_MS } as pg.QueryConfig

/** A connection that was used within this time needs no probe: under load none is ever sent. */
const IDLE_BEFORE_PROBE_MS = 1_000

/**
 * Takes a connection from the pool. A connection that was idle is probed, in the same write as the statement that
 * follows: without the probe, the statement would wait for a vanished server as long as for a slow one.
 */
export async function checkOut(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect()
  const since = idleSince.get(client) ?? Number.POSITIVE_INFINITY
  if (performance.now() - since > IDLE_BEFORE_PROBE_MS) {
    // A probe without an answer closes this connection, which rejects the statements after it. The idle connections
    // are closed as well: they are no better.
    client.query(PROBE).catch(() => dropIdle(pool))
  }
  return client
}

/** When a connection was returned to the pool, and when it last got a statement. */
const idleSince = new WeakMap<pg.PoolClient, number>()
const busySince = new WeakMap<pg.PoolClient, number>()

const idleClientsOf = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

const CHECK_EVERY_MS = 1_000

/**
 * Tracks which connections are idle and which are busy, and closes those that wait too long for an
 * answer. It checks all connections once a second: a timer for each statement, as the driver has
 * it, cost a tenth of the throughput.
 */
function watchClients(pool: pg.Pool, answerTimeoutMs: number): void {
  const idleClients = new Set<pg.PoolClient>()
  const busy = new Set<pg.PoolClient>()
  idleClientsOf.set(pool, idleClients)
  pool.on('acquire', (client) => {
    idleClients.delete(client)
    busy.add(client)
    markBusy(client)
  })
  pool.on('release', (_error, client) => {
    busy.delete(client)
    idleClients.add(client)
    idleSince.set(client, performance.now())
  })
  pool.on('remove', (client) => {
    busy.delete(client)
    idleClients.delete(client)
  })
  const timer = setInterval(() => {
    if (pool.ended) clearInterval(timer)
    const latest = performance.now() - answerTimeoutMs
    for (const client of busy) if ((busySince.get(client) ?? 0) < latest) destroySocket(client)
  }, CHECK_EVERY_MS)
  timer.unref()
}

/** Restarts the time limit of a connection, since each statement of a transaction has the full time. */
export const markBusy = (client: pg.PoolClient): void => {
  busySince.set(client, performance.now())
}

/**
 * Closes the socket at once, since the server would not confirm a close. The pool notices, and
 * opens a new connection.
 */
function destroySocket(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: Socket } }
  connection.stream.destroy()
}

function dropIdle(pool: pg.Pool): void {
  for (const client of idleClientsOf.get(pool) ?? []) destroySocket(client)
}
