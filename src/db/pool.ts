import pg from 'pg'

const BIGINT = 20
const TIMESTAMPTZ = 1184
const DATE = 1082

/** Rows leave the driver in the shape of the wire: ISO timestamps, safe integers, plain dates. */
const parsers: Partial<Record<number, (text: string) => unknown>> = {
  [BIGINT]: (text) => {
    const value = Number(text)
    if (!Number.isSafeInteger(value)) throw new RangeError('a bigint is beyond 2^53 - 1')
    return value
  },
  [TIMESTAMPTZ]: (text) => new Date(text).toISOString(),
  [DATE]: (text) => text,
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : parsers[oid]) ?? pg.types.getTypeParser(oid, format),
}

export interface PoolOptions {
  url: string
  /** Shown in pg_stat_activity, for whoever asks who holds a lock. */
  name: string
  max: number
  /** How long a request may wait for a free connection before it answers 503. */
  connectTimeoutMs?: number
  onError?: (error: Error) => void
}

export function openPool({ url, name, max, connectTimeoutMs = 5_000, onError }: PoolOptions) {
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
  return pool
}
