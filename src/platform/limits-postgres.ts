import type pg from 'pg'
import { Type } from 'typebox'
import { sendTogether } from '../db/batch.ts'
import { sparesConnection } from '../db/constraints.ts'
import type { GlobalDb } from '../db/database.ts'
import { openPool } from '../db/pool.ts'
import { machineTime, prepare, Runner, sql } from '../db/sql.ts'
import {
  CALLS_MAX,
  DEADLINE_MS,
  type LimitStore,
  type StoreOptions,
  WINDOW_SECONDS,
} from './limits-store.ts'

/** Of the limiter's own, so that neither it nor the shop waits for the other's connections. */
const CONNECTIONS = 2

/** The server gives up this much before we do: then the connection is still good. */
const MARGIN_MS = 50

/** Deleted at a time, so that no hit waits long behind the cleaning. */
const FORGET_MAX = 1_000

const Counter = Type.Object({ hits: Type.Integer() })

/** Counters in PostgreSQL. Whoever logs in needs what `fd_app` was granted. */
export function openPostgresStore(options: StoreOptions): LimitStore {
  const { url, onError, deadlineMs = DEADLINE_MS } = options
  const pool = openPool({
    url,
    name: 'limits',
    max: CONNECTIONS,
    connectTimeoutMs: deadlineMs,
    ...(onError && { onError }),
  })
  const db = new Runner((query) => sendInTime(pool, query, deadlineMs))
  return {
    hit: (bucket, weight = 1) => countHit(db, [bucket].flat(), weight),
    unhit: async (bucket) => {
      await db.run(
        sql`update limit_counters set hits = hits - 1 where bucket = ${bucket} and hits > 0`,
      )
    },
    peek: (bucket) => countHits(db, bucket),
    ping: async () => void (await db.run(sql`select from limit_counters limit 1`)),
    close: () => pool.end(),
  }
}

/** Deletes counters of windows long over, some at a time. Answers how many. */
export function forgetOldCounters(db: GlobalDb): Promise<number> {
  return db.run(sql`
    delete from limit_counters
     where bucket in (select bucket
                        from limit_counters
                       where window_start < ${machineTime} - interval '1 hour'
                       limit ${FORGET_MAX}
                         for update skip locked)`)
}

/** In one order for everybody, so that nobody waits in a circle. */
async function countHit(db: Runner, buckets: readonly string[], weight: number): Promise<number> {
  const open = sql`c.window_start > ${machineTime} - make_interval(secs => ${WINDOW_SECONDS})`
  const counters = await db.many(
    Counter,
    sql`insert into limit_counters as c (bucket, window_start, hits)
        select distinct bucket, ${machineTime}, ${weight}::integer
          from unnest(${buckets}::text[]) as bucket
         order by bucket
            on conflict (bucket) do update
           set hits = case when ${open} then c.hits + excluded.hits else excluded.hits end,
               window_start = case when ${open} then c.window_start else ${machineTime} end
     returning c.hits`,
  )
  return Math.max(0, ...counters.map(({ hits }) => hits))
}

async function countHits(db: Runner, bucket: string): Promise<number> {
  const counter = await db.maybe(
    Counter,
    sql`select hits
          from limit_counters
         where bucket = ${bucket}
           and window_start > ${machineTime} - make_interval(secs => ${WINDOW_SECONDS})`,
  )
  return counter?.hits ?? 0
}

/**
 * One statement, in one write with its own time limit. What waiting for a connection took is no
 * longer there for the statement. The server ends an overdue one by itself: were only the connection
 * dropped, its process would wait on for the lock, and each new try would add another.
 */
async function sendInTime(pool: pg.Pool, query: pg.QueryConfig, deadlineMs: number) {
  if (pool.waitingCount >= CALLS_MAX) throw new Error('too many calls wait for the limiter')
  const until = performance.now() + deadlineMs
  const client = await pool.connect()
  const left = Math.floor(until - performance.now())
  if (left <= MARGIN_MS) {
    client.release()
    throw new Error('the deadline passed while waiting for a connection')
  }
  try {
    // No answer in time cuts the connection.
    const result = await sendTogether(client, [endAfter(left - MARGIN_MS), query], left)
    client.release()
    return result
  } catch (error) {
    client.release(!sparesConnection(error))
    throw error
  }
}

const endAfter = (ms: number) =>
  prepare(sql`select set_config('statement_timeout', ${String(ms)}, true)`)
