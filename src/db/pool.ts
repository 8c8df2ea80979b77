import type { Socket } from 'node:net'
import pg from 'pg'
import { types } from './wire-types.ts'

export interface PoolOptions {
  url: string
  /** Shown in pg_stat_activity, for whoever asks who holds a lock. */
  name: string
  max: number
  /** How long a request may wait for a free connection before it answers 503. */
  connectTimeoutMs?: number
  /** Longer than any statement may take: then the network has gone silent, and waiting is in vain. */
  answerTimeoutMs?: number
  onError?: (error: Error) => void
}

export function openPool(options: PoolOptions) {
  const { url, name, max, connectTimeoutMs = 5_000, answerTimeoutMs = 35_000, onError } = options
  const pool = new pg.Pool({
    connectionString: url,
    application_name: `fairdock:${process.pid}:${name}`,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    // A connection is retired after this, so that a server brought back elsewhere is found again.
    maxLifetimeSeconds: 3_600,
    keepAlive: true,
    // Statements travel together; each still has its own answer.
    pipeline: true,
    types,
  } as pg.PoolConfig)
  // An idle connection that dies is replaced at the next use; unheard, it would end the process.
  pool.on('error', (error) => onError?.(error))
  // Unheard errors of a connection in use would too. The statement under way rejects by itself.
  pool.on('connect', (client) => client.on('error', () => {}))
  watchClients(pool, answerTimeoutMs)
  return pool
}

/** How soon a server that is there answers a question that costs it nothing. */
export const PROMPT_MS = 2_000
const PROBE = { text: '', query_timeout: PROMPT_MS } as pg.QueryConfig

/** A connection that was used just now needs no question: under load none is ever asked. */
const RESTED_MS = 1_000

/**
 * Takes a connection. One that has rested is asked, in the same breath as what follows, whether
 * anybody is still there: a server that has vanished without a word would else be waited for as long
 * as for a slow one.
 */
export async function checkOut(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect()
  const since = restingSince.get(client) ?? Number.POSITIVE_INFINITY
  if (performance.now() - since > RESTED_MS) {
    // No answer cuts this connection, which rejects what follows. The idle ones are no better.
    client.query(PROBE).catch(() => dropIdle(pool))
  }
  return client
}

/** When a connection was put back, and when it was last given something to do. */
const restingSince = new WeakMap<pg.PoolClient, number>()
const busySince = new WeakMap<pg.PoolClient, number>()

const idle = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

const LOOK_EVERY_MS = 1_000

/**
 * Knows who rests and who works, and cuts off who has waited too long for an answer. One look a
 * second over all connections: a timer for each statement, as the driver has it, took a tenth of the
 * throughput.
 */
function watchClients(pool: pg.Pool, answerTimeoutMs: number): void {
  const resting = new Set<pg.PoolClient>()
  const busy = new Set<pg.PoolClient>()
  idle.set(pool, resting)
  pool.on('acquire', (client) => {
    resting.delete(client)
    busy.add(client)
    noteUse(client)
  })
  pool.on('release', (_error, client) => {
    busy.delete(client)
    resting.add(client)
    restingSince.set(client, performance.now())
  })
  pool.on('remove', (client) => {
    busy.delete(client)
    resting.delete(client)
  })
  const looking = setInterval(() => {
    if (pool.ended) clearInterval(looking)
    const latest = performance.now() - answerTimeoutMs
    for (const client of busy) if ((busySince.get(client) ?? 0) < latest) cut(client)
  }, LOOK_EVERY_MS)
  looking.unref()
}

/** A transaction is as patient with each of its statements as with the first. */
export const noteUse = (client: pg.PoolClient): void => {
  busySince.set(client, performance.now())
}

/** Without a farewell, since nobody would answer it. The pool notices, and opens new ones. */
function cut(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: Socket } }
  connection.stream.destroy()
}

function dropIdle(pool: pg.Pool): void {
  for (const client of idle.get(pool) ?? []) cut(client)
}
