import { Type } from 'typebox'
import type { DueLists } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import { StoreWithWork } from './store-lists.ts'

/**
 * How many due rows are read first. If there are fewer, they name every store with work. The number is part of the
 * statement: with a parameter PostgreSQL would make a new plan at every call.
 */
const SAMPLE_ROWS = 200
const sampleRows = sql`200`

/** How many stores one statement steps over: this takes some milliseconds, even if none of them has due rows. */
const STEPS_MAX = 1_000

/**
 * The pause after a walk that found nothing, as a multiple of the walk's duration: such walks take a tenth of the
 * time.
 */
const REST_FACTOR = 9

/** The due rows of a table. All SQL here is constant: it is code, never input. */
export interface DueRows {
  /** Has a policy that lets the worker read over all tenants. Wants two partial indexes, on (due) and
   * on (tenant_ref, due), both with `due is not null` and `only` as their condition. */
  table: Sql
  due: Sql
  /**
   * What `due` is compared with: business time, unless it is `machineTime`. Statements over all stores run on machine
   * time in either case; stores whose clock is ahead are listed separately.
   */
  time?: Sql
  /** The condition for rows that belong to the queue. Without it, all do. */
  only?: Sql
  /** The condition for free rows. Without it, every row is free, because claiming one deletes it. */
  free?: Sql
}

/** Lists the stores whose turn is next. */
export interface StoreTurns {
  /**
   * Lists up to `limit` stores with due rows that are free, and moves the position past them, so that
   * the next call goes on from there. `skip` are stores that can take no more work now. A store whose
   * clock is being moved is never listed.
   */
  next(worker: DueLists, limit: number, skip?: readonly string[]): Promise<StoreWithWork[]>
}

/** A store that was stepped to, its number within the statement, and whether it has work. */
const Step = Type.Object({
  tenant_ref: Type.String(),
  step: Type.Integer(),
  is_due: Type.Boolean(),
})

/**
 * Lets the stores with due rows take turns in the order of their names: each call begins after the last store of the
 * previous call. So a store waits for at most one round, however many rows the others have, and a call costs as much
 * as it lists, however many stores there are (decision 0019).
 */
export function createTurns(rows: DueRows): StoreTurns {
  const { table, due, time = sql`fd_now()`, only = sql`true`, free = sql`true` } = rows
  let position = ''

  const listSample = (worker: DueLists) =>
    worker.many(
      Type.Object({ tenant_ref: Type.String(), rows: Type.Integer() }),
      sql`
      select tenant_ref, count(*)::integer as rows
        from (select tenant_ref
                from ${table}
               where ${due} <= ${time} and ${only} and ${free}
               order by ${due}
               limit ${sampleRows}) as oldest
       group by tenant_ref`,
    )

  // The columns are compared as pairs, because only the index of both columns has them in this order: with separate
  // comparisons PostgreSQL chose the index of the time alone, and read the rows of all stores for each step.
  const listSteps = (worker: DueLists, limit: number, skip: readonly string[]) =>
    worker.many(
      Step,
      sql`
      with recursive steps as (
        select ${position}::text as tenant_ref, 0 as step, 0 as found, false as is_due
        union all
        select following.tenant_ref, step + 1, found + following.is_due::integer, following.is_due
          from steps
         cross join lateral (
           select q.tenant_ref,
                  ${due} <= ${time} and q.tenant_ref <> all(${skip}::text[])
                  and (select f.tenant_ref = q.tenant_ref and ${due} <= ${time}
                         from ${table} as f
                        where (f.tenant_ref, ${due}) >= (q.tenant_ref, '-infinity')
                          and ${due} is not null and ${only} and ${free}
                        order by f.tenant_ref, ${due}
                        limit 1) is true as is_due
             from ${table} as q
            where (q.tenant_ref, ${due}) > (steps.tenant_ref, 'infinity')
              and ${due} is not null and ${only}
            order by q.tenant_ref, ${due}
            limit 1) as following
         where step < ${STEPS_MAX} and found < ${limit}
      )
      select tenant_ref, step, is_due
        from steps
       where step > 0 and (is_due or step = (select max(step) from steps))
       order by step`,
    )

  /** Looks from the position on, begins again after the last store, and stops at the first store with work. */
  const walk = async (worker: DueLists, limit: number, skip: readonly string[]) => {
    const found = new Set<string>()
    let isWholeRound = position === ''
    for (;;) {
      const missing = limit - found.size
      const steps = await listSteps(worker, missing, skip)
      const turn = steps.filter((step) => step.is_due)
      for (const { tenant_ref } of turn) found.add(tenant_ref)
      const last = steps.at(-1)
      const isEnd = turn.length < missing && (last?.step ?? 0) < STEPS_MAX
      position = isEnd ? '' : (last?.tenant_ref ?? '')
      if (isEnd ? isWholeRound : found.size > 0) return [...found]
      isWholeRound ||= isEnd
    }
  }

  // All due rows may belong to stores that can take no more work. Then each walk visits all stores.
  let restUntil = 0
  const walkUnlessResting = async (...args: Parameters<typeof walk>) => {
    const begin = performance.now()
    if (begin < restUntil) return []
    const found = await walk(...args)
    const end = performance.now()
    if (found.length === 0) restUntil = end + REST_FACTOR * (end - begin)
    return found
  }

  const listAhead = time === machineTime ? null : createAheadList({ table, due, only, free })

  return {
    async next(worker, limit, without = []) {
      const skip = [...without, ...worker.clocks.moving()]
      const sample = await listSample(worker)
      const sampled = sample.map((row) => row.tenant_ref).filter((name) => !skip.includes(name))
      const rowCount = sample.reduce((sum, row) => sum + row.rows, 0)
      const isAll = rowCount < SAMPLE_ROWS && sampled.length <= limit
      // A full sample may be the backlog of one store, with no row of any other in it.
      const found = isAll ? [] : await walkUnlessResting(worker, limit, skip)
      const ahead = (await listAhead?.(worker, skip)) ?? []
      // Sandboxes never displace other stores, but have one place where there are many other stores.
      const others = [...new Set([...found, ...sampled])]
      const room = limit - Math.min(1, ahead.length)
      const names = [...new Set([...others.slice(0, room), ...ahead])].slice(0, limit)
      return names.map((tenant_ref) => ({ tenant_ref }))
    },
  }
}

/** How many stores with a moved clock one statement checks: this takes some milliseconds. */
const AHEAD_MAX = 1_000

/**
 * Lists the stores whose clock is ahead and that have rows due by that clock, which no statement on machine time
 * finds. They take turns, too. This costs nothing where no store has moved its clock.
 */
function createAheadList({ table, due, only, free }: Required<Omit<DueRows, 'time'>>) {
  let position = ''
  return async (worker: DueLists, skip: readonly string[]): Promise<string[]> => {
    const ahead = worker.clocks.ahead()
    const names = [...ahead.keys()].filter((name) => !skip.includes(name)).sort()
    if (names.length === 0) return []
    const later = names.filter((name) => name > position)
    const turn = [...later, ...names.filter((name) => name <= position)].slice(0, AHEAD_MAX)
    const rows = await worker.many(
      StoreWithWork,
      sql`
      select c.tenant_ref
        from unnest(${turn}::text[], ${turn.map((name) => ahead.get(name))}::bigint[])
             with ordinality as c (tenant_ref, ahead_ms, place)
       where exists (select
                       from ${table} as q
                      where q.tenant_ref = c.tenant_ref
                        and (q.tenant_ref, ${due}) >= (c.tenant_ref, '-infinity')
                        and ${due} <= ${machineTime} + c.ahead_ms * interval '1 millisecond'
                        and ${only} and ${free})
       order by c.place`,
    )
    position = rows[0]?.tenant_ref ?? turn.at(-1) ?? ''
    return rows.map((row) => row.tenant_ref)
  }
}

/**
 * Makes turns like `createTurns`, for a table in which every row that meets `only` is work. It needs an index of
 * these rows that begins with tenant_ref.
 */
export function createRowTurns({ table, only = sql`true` }: Pick<DueRows, 'table' | 'only'>) {
  let position = ''

  const listAfter = (worker: DueLists, limit: number) =>
    worker.many(
      StoreWithWork,
      sql`
      with recursive steps as (
        select (select min(tenant_ref) from ${table} where tenant_ref > ${position} and ${only})
               as tenant_ref, 1 as step
        union all
        select (select min(q.tenant_ref)
                  from ${table} as q
                 where q.tenant_ref > steps.tenant_ref and ${only}), step + 1
          from steps
         where steps.tenant_ref is not null and step < ${limit}
      )
      select tenant_ref from steps where tenant_ref is not null`,
    )

  return {
    async next(worker: DueLists, limit: number): Promise<StoreWithWork[]> {
      const isFirst = position === ''
      const stores = await listAfter(worker, limit)
      const last = stores.at(-1)
      position = stores.length === limit && last !== undefined ? last.tenant_ref : ''
      if (last === undefined && !isFirst) return this.next(worker, limit)
      const moving = worker.clocks.moving()
      return stores.filter(({ tenant_ref }) => !moving.has(tenant_ref))
    },
  }
}
