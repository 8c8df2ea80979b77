import type pg from 'pg'
import { type Static, Type } from 'typebox'
import { sendTogether } from '../db/batch.ts'
import { keepsConnectionUsable } from '../db/constraints.ts'
import type { Directory } from '../db/database.ts'
import { openPool } from '../db/pool.ts'
import { machineTime, prepare, Runner, sql } from '../db/sql.ts'
import { type BucketHits, batchCalls, batchHits } from './hit-batches.ts'
import { withinLoopTime } from './loop-time.ts'
import {
  CALLS_MAX,
  DEADLINE_MS,
  type LimitStore,
  type StoreOptions,
  WINDOW_SECONDS,
} from './rate-limits-store.ts'

/** The connections of the limiter. They are its own, so that neither it nor the API waits for the other. */
const CONNECTIONS = 2

/** How much earlier than our own deadline the server ends a statement, so that the connection stays usable. */
const MARGIN_MS = 50

/** How many rows one statement deletes, so that no hit waits long for its locks. */
const DELETE_MAX = 1_000

const Counter = Type.Object({ bucket: Type.String(), hits: Type.Integer() })

/** Opens counters in PostgreSQL. The login needs the rights of `fd_app`. */
export function openPostgresStore(options: StoreOptions): LimitStore {
  const { url, onError, deadlineMs = DEADLINE_MS } = options
  // A connection may take longer to open than a call waits: the next call finds it open.
  const pool = openPool({
    url,
    name: 'limits',
    max: CONNECTIONS,
    keepsIdle: true,
    ...(onError && { onError }),
  })
  const db = new Runner((query) => sendInTime(pool, query, deadlineMs))
  const count = batchHits((hits) => countHits(db, hits), deadlineMs)
  const read = batchCalls(async (buckets: readonly string[]) => {
    const counts = await readHits(db, [...new Set(buckets)])
    return buckets.map((bucket) => counts.get(bucket) ?? 0)
  }, deadlineMs)
  return {
    hit: (bucket, weight = 1, windowSeconds = WINDOW_SECONDS) =>
      count({ buckets: [bucket].flat().map(storable), weight, windowSeconds }),
    releaseHit: async (bucket) => {
      await db.run(
        sql`update limit_counters set hits = hits - 1 where bucket = ${bucket} and hits > 0`,
      )
    },
    peek: (bucket) => read(storable(bucket)),
    ping: async () => void (await db.run(sql`select from limit_counters limit 1`)),
    close: () => pool.end(),
  }
}

/** Replaces NUL in a bucket's name, which PostgreSQL does not store: one would fail the hits of other callers, too. */
const storable = (bucket: string): string => bucket.replaceAll('\0', '\uFFFD')

/** Deletes counters whose windows are over, some at a time. Returns how many. */
export function deleteOldCounters(db: Directory): Promise<number> {
  return db.run(sql`
    delete from limit_counters
     where bucket = any(array(select bucket
                                from limit_counters
                               where window_start < ${machineTime} - make_interval(secs => seconds)
                               limit ${DELETE_MAX}
                                 for update skip locked))`)
}

/**
 * Adds hits to all buckets in one statement. They are sorted, so that two callers cannot deadlock.
 */
async function countHits(db: Runner, hits: readonly BucketHits[]): Promise<Map<string, number>> {
  const windows = hits.map(({ windowSeconds }) => windowSeconds)
  const counters = await db.many(
    Counter,
    sql`with added as (
          select * from unnest(${hits.map(({ bucket }) => bucket)}::text[],
                               ${hits.map(({ weight }) => weight)}::integer[],
                               ${windows}::integer[]) as h (bucket, hits, seconds)
        )
        insert into limit_counters as c (bucket, window_start, hits, seconds)
        select bucket, ${machineTime}, hits, seconds from added order by bucket
            on conflict (bucket) do update
           set (hits, window_start) = (
             select case when is_open then c.hits + excluded.hits else excluded.hits end,
                    case when is_open then c.window_start else ${machineTime} end
               from (select c.window_start > ${machineTime} - make_interval(secs => c.seconds) as is_open) as counter)
     returning c.bucket, c.hits`,
  )
  return byBucket(counters)
}

async function readHits(db: Runner, buckets: readonly string[]): Promise<Map<string, number>> {
  const counters = await db.many(
    Counter,
    sql`select bucket, hits
          from limit_counters
         where bucket = any(${buckets}::text[])
           and window_start > ${machineTime} - make_interval(secs => ${WINDOW_SECONDS})`,
  )
  return byBucket(counters)
}

const byBucket = (counters: readonly Static<typeof Counter>[]): Map<string, number> =>
  new Map(counters.map(({ bucket, hits }) => [bucket, hits]))

/**
 * Sends one statement together with its time limit, which passes only while this process runs: a process that waits
 * for a processor must not take its own delay for one of the store. The server itself ends an overdue statement: if we
 * only closed the connection, its process would go on waiting for the lock, and each retry would add another one
 * (decision 0074).
 */
async function sendInTime(pool: pg.Pool, query: pg.QueryConfig, deadlineMs: number) {
  if (pool.waitingCount >= CALLS_MAX) throw new Error('too many calls wait for the limiter')
  const client = await connectInTime(pool, deadlineMs)
  try {
    const sent = sendTogether(client, [endAfter(deadlineMs - MARGIN_MS), query])
    // Without a result in time, the connection is closed.
    const result = await withinLoopTime(
      sent,
      deadlineMs,
      'the limiter store gave no answer in time',
    )
    client.release()
    return result
  } catch (error) {
    client.release(!keepsConnectionUsable(error))
    throw error
  }
}

async function connectInTime(pool: pg.Pool, deadlineMs: number): Promise<pg.PoolClient> {
  const connecting = pool.connect()
  try {
    const why = 'the deadline passed while waiting for a connection'
    return await withinLoopTime(connecting, deadlineMs, why)
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => {},
    )
    throw error
  }
}

const endAfter = (ms: number) =>
  prepare(sql`select set_config('statement_timeout', ${String(ms)}, true)`)
