import { type Static, Type } from 'typebox'
import type { Db, DueLists, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { join, machineTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Nullable, Timestamp } from '../../kernel/schema.ts'
import type { DueWork, Ran } from '../../platform/due-work.ts'
import { defineQueue, type Lease, LeaseLostError } from '../../platform/leases.ts'
import { StoreWithWork } from '../../platform/store-lists.ts'
import { ClockRow, ClockRun, MovingClock, NextDue } from './schema.ts'

const milliseconds = (ms: Sql) => sql`${ms} * interval '1 millisecond'`
const after = (ms: number) => sql`${machineTime} + ${milliseconds(sql`${ms}::float8`)}`

const columns = sql`
  offset_ms, state, move, ${machineTime} + ${milliseconds(sql`offset_ms`)} as now`

/** Reads the clock of a store from the database: the time that this process knows may be a second old. */
export const findClock = (db: Db) =>
  db.maybe(ClockRow, sql`select ${columns} from test_clocks where tenant_ref = ${db.tenant}`)

export const findMachineTime = async (db: Db): Promise<string> =>
  (await db.one(Type.Object({ now: Timestamp }), sql`select ${machineTime} as now`)).now

/** Begins a move. It becomes due once every process knows of it. */
export const beginMove = (tx: Tx, target: string, settleMs: number) =>
  tx.one(
    ClockRow,
    sql`
    insert into test_clocks as c (tenant_ref, state, target, move, next_attempt_at)
    values (${tx.tenant}, 'advancing', ${target}, 1, ${after(settleMs)})
        on conflict (tenant_ref) do update
       set state = 'advancing', target = excluded.target, has_arrived = false, move = c.move + 1,
           ran_count = 0, waits = 0, failures = 0, next_attempt_at = excluded.next_attempt_at
    returning ${columns}`,
  )

/** Sets a clock back to machine time. */
export const resetClock = (tx: Tx) =>
  tx.run(sql`
    update test_clocks
       set offset_ms = 0, state = 'ready', target = null, move = move + 1, ran_count = 0
     where tenant_ref = ${tx.tenant}`)

/** Lists the work that the last move ran, in its order. */
export const listRuns = (db: Db, move: number, page: Page) =>
  readList(
    db,
    {
      shape: ClockRun,
      table: sql`test_clock_runs`,
      as: sql`r`,
      scope: sql`r.tenant_ref = ${db.tenant} and r.move = ${move}`,
      filters: [],
      key: [{ name: sql`place`, type: 'integer' }],
      descending: false,
      columns: sql`r.at, r.kind, r.subject as id, r.outcome`,
    },
    page,
  )

/** The clocks that are being moved. They have a list of stores of their own: other queues leave such stores out. */
export const movingClocks = defineQueue({
  table: sql`test_clocks`,
  time: machineTime,
  columns: sql`offset_ms, target, has_arrived, move, waits, failures`,
  shape: MovingClock,
})
export type ClaimedClock = Static<typeof MovingClock> & Lease

/** Lists the stores whose clocks are being moved, those that have waited longest first. */
export const listMoving = (worker: DueLists, limit: number) =>
  worker.many(
    StoreWithWork,
    sql`
    select tenant_ref
      from test_clocks
     where next_attempt_at <= ${machineTime}
       and (lease_until is null or lease_until <= ${machineTime})
     order by next_attempt_at
     limit ${limit}`,
  )

/** How many entries of earlier moves are deleted at once. */
const OLD_RUNS = 1_000

export async function deleteOldRuns(db: Db, move: number): Promise<void> {
  for (let deleted = OLD_RUNS; deleted === OLD_RUNS; ) {
    deleted = await db.run(sql`
      delete from test_clock_runs
       where tenant_ref = ${db.tenant}
         and (move, place) in (select move, place
                                 from test_clock_runs
                                where tenant_ref = ${db.tenant} and move < ${move}
                                limit ${OLD_RUNS})`)
  }
}

const DueTimes = Type.Object({
  /** The places of the kinds of work that are due now. */
  due: Type.Array(Type.Integer()),
  /** When the next work is due, rounded up to the API's milliseconds; null if none is by `until`. */
  next: Nullable(Timestamp),
})

/** Reads the next due time of every kind of work, in one statement. */
export const readDueTimes = (db: Db, work: readonly DueWork[], until: string) =>
  db.one(
    DueTimes,
    sql`
    with due (place, at) as (
      values ${join(
        work.map((each, place) => sql`(${place}::int, (${each.nextDue(db)}))`),
        ', ',
      )}
    )
    select array(select place from due where at <= fd_now() order by place) as due,
           (select date_trunc('milliseconds', min(at)) + interval '1 millisecond'
              from due
             where at > fd_now() and at <= ${until}) as next`,
  )

/** The kind of work that is due first, and when. Null where nothing is ever due. */
export const findNextDue = (db: Db, work: readonly DueWork[]) =>
  db.maybe(
    NextDue,
    sql`
    select at, kind
      from (values ${join(
        work.map((each, place) => sql`(${place}::int, ${each.kind}, (${each.nextDue(db)}))`),
        ', ',
      )}) as due (place, kind, at)
     where at is not null
     order by at, place
     limit 1`,
  )

const held = (db: Db, { id, lease_token }: Lease) =>
  sql`tenant_ref = ${db.tenant} and id = ${id} and lease_token = ${lease_token}`

/** Moves the clock forward to a time of the store, and returns its new offset. */
export async function moveTo(tx: Tx, lease: Lease, at: string): Promise<number> {
  const moved = await tx.maybe(
    Type.Object({ offset_ms: Type.Integer() }),
    sql`
    update test_clocks
       set offset_ms = greatest(offset_ms, ceil(extract(epoch from ${at}::timestamptz - ${machineTime})
                                                * 1000)::bigint),
           waits = 0, failures = 0
     where ${held(tx, lease)}
    returning offset_ms`,
  )
  if (moved === null) throw new LeaseLostError('a test clock', lease.lease_token)
  return moved.offset_ms
}

/** How many entries of one move are kept. A year of a busy store has fewer. */
const RUNS_MAX = 100_000

/** Records the work that was done, at the store's time. */
export const recordRuns = (db: Db, lease: Lease, kind: string, ran: readonly Ran[]) =>
  db.run(sql`
    with counted as (
      update test_clocks set ran_count = ran_count + ${ran.length}, waits = 0
       where ${held(db, lease)}
      returning move, ran_count - ${ran.length} as before
    )
    insert into test_clock_runs (tenant_ref, move, place, at, kind, subject, outcome)
    select ${db.tenant}, move, before + place, fd_now(), ${kind}, left(subject, 200), left(outcome, 200)
      from counted, unnest(${ran.map(({ id }) => id)}::text[], ${ran.map(({ outcome }) => outcome)}::text[])
           with ordinality as r (subject, outcome, place)
     where before + place <= ${RUNS_MAX}`)

/** Ends the work on a clock that is at its target: it is ready once every process knows. */
export const arrive = (db: Db, lease: Lease, settleMs: number) =>
  movingClocks.finish(db, lease, sql`has_arrived = true, next_attempt_at = ${after(settleMs)}`)

export const endMove = (db: Db, lease: Lease) =>
  movingClocks.finish(
    db,
    lease,
    sql`state = 'ready', target = null, has_arrived = false, next_attempt_at = null`,
  )

/** Makes a clock due again later, because other loops or processes still work on what is due. */
export const waitForOthers = (db: Db, lease: Lease, ms: number) =>
  movingClocks.finish(db, lease, sql`waits = waits + 1, next_attempt_at = ${after(ms)}`)

/** Makes a clock due again later, after a failure. */
export const retryLater = (db: Db, lease: Lease, ms: number) =>
  movingClocks.finish(db, lease, sql`failures = failures + 1, next_attempt_at = ${after(ms)}`)

export const giveUp = (db: Db, lease: Lease) =>
  movingClocks.finish(db, lease, sql`state = 'failed', next_attempt_at = null`)
