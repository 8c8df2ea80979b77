import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { Database, Db, GlobalDb, TenantDb } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import { Id } from '../kernel/schema.ts'
import { StoreWithWork } from './store-lists.ts'

/** What a killed worker held comes back after this. A ladder that begins at a minute can bear it. */
export const LEASE_SECONDS = 30

/** Due rows looked at before the tenants behind them are searched one by one. */
const SAMPLE_ROWS = 1_000

/** Tenants that take turns in one round. Only their names are read, so there can be many. */
const TENANTS_MAX = 2_000

/** Who holds a row. Every write of a result repeats the token. */
export const Lease = Type.Object({ tenant_ref: Type.String(), id: Id, lease_token: Id })
export type Lease = Static<typeof Lease>

const businessTime = sql`fd_now()`

/** The lease ran out and somebody else has the work: what was being written must not be. */
export class LeaseLostError extends Error {
  /** Which lease: work may hold several. */
  readonly token: string
  constructor(what: string, token: string) {
    super(`the lease on ${what} was lost`)
    this.name = 'LeaseLostError'
    this.token = token
  }
}

/** All SQL here is constant: it is code, never input. */
export interface QueueOptions<P extends TProperties> {
  /** Has the columns tenant_ref, id (uuid), lease_until and lease_token, and a policy that lets the
   * worker read over all tenants. Wants indexes on (due) and on (tenant_ref, due), both partial. */
  table: Sql
  /** The column that says when a row is due. Null: never again. */
  due?: Sql
  /** What `due` is compared with: business time, or `machineTime` for the platform's own work. */
  time?: Sql
  /** A further condition that a row must meet to be taken. */
  only?: Sql
  /** What a claimed row shows beside its lease. */
  columns: Sql
  /** The shape of `columns`. */
  shape: TObject<P>
}

export interface TakeOptions {
  slots: number
  /** At most so many of one tenant, those in `busy` included. */
  perTenant?: number
  /** What each tenant has under way already, for a caller that refills its slots one by one. */
  busy?: ReadonlyMap<string, number>
  leaseSeconds?: number
}

/** For a table of due rows whose leases are kept in another way than the queue's. */
export interface TurnsOptions {
  table: Sql
  due: Sql
  /** As of a queue. Without a store in hand, both are machine time. */
  time?: Sql
  /** Whether nobody holds a row, unless who takes one takes it away. */
  free?: Sql
}

export interface Turns {
  /** Tenants with due rows that nobody holds, the longest waiting first. Takes no lock. */
  listTenants(worker: GlobalDb, limit: number): Promise<string[]>
  /** Takes up to `slots` by a claim of the caller's own, each tenant in its turn. */
  takeFairBy<T extends { tenant_ref: string }>(
    database: Database,
    options: TakeOptions,
    claim: (db: TenantDb, limit: number) => Promise<T[]>,
  ): Promise<T[]>
}

export interface Queue<Row> extends Turns {
  /** Takes up to `limit` due rows of one tenant. Two callers never get the same row. */
  claim(db: TenantDb, limit: number, leaseSeconds?: number): Promise<(Row & Lease)[]>
  /** Takes up to `slots` rows, each tenant in its turn, however many rows another one has. */
  takeFair(database: Database, options: TakeOptions): Promise<(Row & Lease)[]>
  /** Answers whether the lease is still held. */
  renew(db: Db, lease: Lease, leaseSeconds?: number): Promise<boolean>
  /** Lets a row go untouched, so that it is due at once. */
  giveBack(db: Db, lease: Lease): Promise<void>
  /** Writes a result and ends the lease, or throws `LeaseLostError` and writes nothing. */
  settle(db: Db, lease: Lease, assignments: Sql): Promise<void>
  /** Runs `work` and renews the lease under it. The signal fires should the lease be lost. */
  hold<T>(
    db: Db,
    lease: Lease,
    work: (signal: AbortSignal) => Promise<T>,
    leaseSeconds?: number,
  ): Promise<T>
}

/** A table whose due rows are a queue, worked on by any number of processes. */
export function defineQueue<P extends TProperties>(
  options: QueueOptions<P>,
): Queue<Static<TObject<P>>> {
  const { table, due = sql`next_attempt_at`, time = businessTime, only = sql`true` } = options
  const free = sql`(lease_until is null or lease_until <= ${machineTime}) and ${only}`
  const turns = defineTurns({ table, due, time, free })
  const claim = claimVerb(options, sql`${due} <= ${time} and ${free}`, due)
  return {
    ...leaseVerbs(options),
    ...turns,
    claim,
    takeFair: (database, take) =>
      turns.takeFairBy(database, take, (db, limit) => claim(db, limit, take.leaseSeconds)),
  }
}

/** Tenants take turns in this process, whatever it is that they wait for. */
export function defineTurns(options: TurnsOptions): Turns {
  const listTenants = tenantLister(options)
  // Who was served when: the tenant that waited longest for a turn is next.
  const turns = new Map<string, number>()
  return {
    listTenants,
    async takeFairBy(database, take, claim) {
      const inTurn = orderByTurn(await listTenants(database.global, TENANTS_MAX), turns)
      const claimOf = (tenant: string, limit: number) => claim(database.tenant(tenant), limit)
      return takeRounds(inTurn, take, claimOf, turns)
    },
  }
}

function tenantLister({ table, due, time = businessTime, free = sql`true` }: TurnsOptions) {
  const listOldest = (worker: GlobalDb) =>
    worker.many(
      StoreWithWork,
      sql`
      select tenant_ref
        from ${table}
       where ${due} <= ${time} and ${free}
       order by ${due}
       limit ${SAMPLE_ROWS}`,
    )

  // Steps from one tenant to the next by the index, past however many rows each has. Compared as pairs,
  // since nothing but the index of both has them in this order: PostgreSQL took that of the time alone,
  // and read through the rows of all tenants for each.
  const listBySkipping = (worker: GlobalDb, limit: number) =>
    worker.many(
      StoreWithWork,
      sql`
      with recursive tenants as (
        select min(tenant_ref) as tenant_ref from ${table} where ${due} is not null
        union all
        select (select min(q.tenant_ref)
                  from ${table} as q
                 where q.tenant_ref > tenants.tenant_ref and ${due} is not null)
          from tenants
         where tenants.tenant_ref is not null
      )
      select tenants.tenant_ref
        from tenants,
             lateral (select ${due} as since
                        from ${table} as q
                       where (q.tenant_ref, ${due}) >= (tenants.tenant_ref, '-infinity')
                         and (q.tenant_ref, ${due}) <= (tenants.tenant_ref, ${time})
                         and ${due} is not null and ${free}
                       order by q.tenant_ref, ${due}
                       limit 1) as oldest
       order by oldest.since
       limit ${limit}`,
    )

  return async (worker: GlobalDb, limit: number): Promise<string[]> => {
    const oldest = await listOldest(worker)
    // A full sample may be one tenant's backlog, with the others out of sight behind it.
    const rows = oldest.length < SAMPLE_ROWS ? oldest : await listBySkipping(worker, limit)
    return [...new Set(rows.map((row) => row.tenant_ref))].slice(0, limit)
  }
}

function claimVerb<P extends TProperties>(options: QueueOptions<P>, isDue: Sql, due: Sql) {
  const { table, columns, shape } = options
  const Row = Type.Object({ ...shape.properties, ...Lease.properties })
  return async (db: TenantDb, limit: number, leaseSeconds = LEASE_SECONDS) => {
    const rows = await db.many(
      Row,
      sql`
      with due as (
        select id as due_id
          from ${table}
         where tenant_ref = ${db.tenant} and ${isDue}
         order by ${due}
         limit ${limit}
           for update skip locked
      )
      update ${table} as q
         set lease_until = ${machineTime} + make_interval(secs => ${leaseSeconds}),
             lease_token = gen_random_uuid()
        from due
       where q.tenant_ref = ${db.tenant} and q.id = due.due_id
      returning tenant_ref, id, lease_token, ${columns}`,
    )
    return rows as (Static<TObject<P>> & Lease)[]
  }
}

function leaseVerbs({ table }: { table: Sql }) {
  const held = (db: Db, { id, lease_token }: Lease) =>
    sql`tenant_ref = ${db.tenant} and id = ${id} and lease_token = ${lease_token}`

  const renew = async (db: Db, lease: Lease, leaseSeconds = LEASE_SECONDS) => {
    const renewed = await db.run(sql`
      update ${table}
         set lease_until = ${machineTime} + make_interval(secs => ${leaseSeconds})
       where ${held(db, lease)}`)
    return renewed === 1
  }

  return {
    renew,

    async giveBack(db: Db, lease: Lease): Promise<void> {
      await db.run(sql`
        update ${table} set lease_until = null, lease_token = null where ${held(db, lease)}`)
    },

    async settle(db: Db, lease: Lease, assignments: Sql): Promise<void> {
      const settled = await db.run(sql`
        update ${table}
           set lease_until = null, lease_token = null, ${assignments}
         where ${held(db, lease)}`)
      if (settled === 0) throw new LeaseLostError(`row ${lease.id}`, lease.lease_token)
    },

    async hold<T>(
      db: Db,
      lease: Lease,
      work: (signal: AbortSignal) => Promise<T>,
      leaseSeconds = LEASE_SECONDS,
    ): Promise<T> {
      const lost = new AbortController()
      const beat = async () => {
        // A renewal that fails is no loss yet: two more follow before the lease runs out.
        const kept = await renew(db, lease, leaseSeconds).catch(() => true)
        if (!kept) lost.abort(new LeaseLostError(`row ${lease.id}`, lease.lease_token))
      }
      const timer = setInterval(beat, (leaseSeconds * 1_000) / 3)
      try {
        return await work(lost.signal)
      } finally {
        clearInterval(timer)
      }
    },
  }
}

/** The longest without a turn first; among those who never had one, the longest waiting. */
function orderByTurn(tenants: string[], turns: Map<string, number>): string[] {
  const due = new Set(tenants)
  // Whoever has no work needs no place in the line, so the map stays as small as the line.
  for (const tenant of turns.keys()) if (!due.has(tenant)) turns.delete(tenant)
  return tenants.toSorted((a, b) => (turns.get(a) ?? 0) - (turns.get(b) ?? 0))
}

async function takeRounds<Row extends { tenant_ref: string }>(
  tenants: string[],
  { slots, perTenant = slots, busy }: TakeOptions,
  claim: (tenant: string, limit: number) => Promise<Row[]>,
  turns: Map<string, number>,
): Promise<Row[]> {
  const taken: Row[] = []
  const room = new Map(tenants.map((each) => [each, perTenant - (busy?.get(each) ?? 0)]))
  let turn = Math.max(0, ...turns.values())
  let waiting = tenants.filter((each) => (room.get(each) ?? 0) > 0)
  while (taken.length < slots && waiting.length > 0) {
    const left = slots - taken.length
    const share = Math.max(1, Math.floor(left / waiting.length))
    const asked = waiting.slice(0, left).map((tenant) => {
      return { tenant, limit: Math.min(share, room.get(tenant) ?? 0) }
    })
    const answers = await Promise.allSettled(asked.map((each) => claim(each.tenant, each.limit)))
    const rows = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    const failed = answers.find((each) => each.status === 'rejected')
    taken.push(...rows)
    // What was taken is worked on all the same; a fault that lasts shows at the next turn.
    if (failed !== undefined && taken.length === 0) throw failed.reason
    if (failed !== undefined) return taken
    const counts = Map.groupBy(rows, (row) => row.tenant_ref)
    const hungry = asked.filter(({ tenant, limit }) => {
      const got = counts.get(tenant)?.length ?? 0
      if (got > 0) turns.set(tenant, ++turn)
      room.set(tenant, (room.get(tenant) ?? 0) - got)
      return got === limit && (room.get(tenant) ?? 0) > 0
    })
    waiting = [...waiting.slice(left), ...hungry.map(({ tenant }) => tenant)]
  }
  return taken
}
