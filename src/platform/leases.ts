import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { Database, Db, GlobalDb, TenantDb } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import { Id } from '../kernel/schema.ts'
import { StoreWithWork } from './store-lists.ts'

/**
 * How long a claimed row stays with a worker that was killed. Retry ladders begin at a minute, so
 * this delay is bearable.
 */
export const LEASE_SECONDS = 30

/** Due rows that are read before the stores are searched one by one. */
const SAMPLE_ROWS = 1_000

/** Stores that take turns in one round. Only their names are read, so there can be many. */
const TENANTS_MAX = 2_000

/** The lease on a row. Every write of a result repeats its token. */
export const Lease = Type.Object({ tenant_ref: Type.String(), id: Id, lease_token: Id })
export type Lease = Static<typeof Lease>

const businessTime = sql`fd_now()`

/** The lease expired and another worker has the row: this worker's result must not be written. */
export class LeaseLostError extends Error {
  /** The token of the lost lease: a worker may hold several. */
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
  /** The columns of a claimed row beside its lease. */
  columns: Sql
  /** The shape of `columns`. */
  shape: TObject<P>
}

export interface FairClaimOptions {
  slots: number
  /** At most this many rows of one store, those in `busy` included. */
  perTenant?: number
  /**
   * How many rows of each store the caller works on already, for a caller that refills its slots
   * one by one.
   */
  busy?: ReadonlyMap<string, number>
  leaseSeconds?: number
}

/** Options for a table of due rows that has no lease columns of the queue's kind. */
export interface RotationOptions {
  table: Sql
  due: Sql
  /** As in `QueueOptions`. Statements over all stores run on machine time in either case. */
  time?: Sql
  /** Whether a row is free. Absent: every row is, because claiming one deletes it. */
  free?: Sql
}

export interface StoreRotation {
  /** Lists stores with due rows that are free, the longest waiting first. Takes no lock. */
  listTenants(worker: GlobalDb, limit: number): Promise<string[]>
  /** Claims up to `slots` rows by the caller's own statement, the stores taking turns. */
  claimFairlyBy<T extends { tenant_ref: string }>(
    database: Database,
    options: FairClaimOptions,
    claim: (db: TenantDb, limit: number) => Promise<T[]>,
  ): Promise<T[]>
}

export interface Queue<Row> extends StoreRotation {
  /** Claims up to `limit` due rows of one store. Two callers never get the same row. */
  claim(db: TenantDb, limit: number, leaseSeconds?: number): Promise<(Row & Lease)[]>
  /**
   * Claims up to `slots` rows, the stores taking turns: one store's backlog does not delay another.
   */
  claimFairly(database: Database, options: FairClaimOptions): Promise<(Row & Lease)[]>
  /** Extends the lease. Answers whether it was still held. */
  renew(db: Db, lease: Lease, leaseSeconds?: number): Promise<boolean>
  /** Ends the lease and changes nothing else, so that the row is due at once. */
  release(db: Db, lease: Lease): Promise<void>
  /** Writes a result and ends the lease, or throws `LeaseLostError` and writes nothing. */
  finish(db: Db, lease: Lease, assignments: Sql): Promise<void>
  /** Runs `work` and renews the lease meanwhile. The signal fires when the lease is lost. */
  runWithLease<T>(
    db: Db,
    lease: Lease,
    work: (signal: AbortSignal) => Promise<T>,
    leaseSeconds?: number,
  ): Promise<T>
}

/** Defines a queue: a table whose due rows are worked on by any number of processes. */
export function defineQueue<P extends TProperties>(
  options: QueueOptions<P>,
): Queue<Static<TObject<P>>> {
  const { table, due = sql`next_attempt_at`, time = businessTime, only = sql`true` } = options
  const free = sql`(lease_until is null or lease_until <= ${machineTime}) and ${only}`
  const rotation = defineStoreRotation({ table, due, time, free })
  const claim = claimStatement(options, sql`${due} <= ${time} and ${free}`, due)
  return {
    ...leaseStatements(options),
    ...rotation,
    claim,
    claimFairly: (database, take) =>
      rotation.claimFairlyBy(database, take, (db, limit) => claim(db, limit, take.leaseSeconds)),
  }
}

/** Makes the stores take turns in this process, whatever their rows are. */
export function defineStoreRotation(options: RotationOptions): StoreRotation {
  const listTenants = tenantLister(options)
  // The number of each store's last turn: the store whose turn was longest ago is next.
  const lastTurns = new Map<string, number>()
  return {
    listTenants,
    async claimFairlyBy(database, take, claim) {
      const inTurn = orderByTurn(await listTenants(database.global, TENANTS_MAX), lastTurns)
      const claimOf = (tenant: string, limit: number) => claim(database.tenant(tenant), limit)
      return claimInRounds(inTurn, take, claimOf, lastTurns)
    },
  }
}

function tenantLister({ table, due, time = businessTime, free = sql`true` }: RotationOptions) {
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

  // Steps from one store to the next by the index, past however many rows each has. The columns are
  // compared as pairs, because only the index of both has them in this order: with separate
  // comparisons PostgreSQL chose the index of the time alone, and read the rows of all stores for
  // each.
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
    // A full sample may be the backlog of one store, with no row of any other in it.
    const rows = oldest.length < SAMPLE_ROWS ? oldest : await listBySkipping(worker, limit)
    return [...new Set(rows.map((row) => row.tenant_ref))].slice(0, limit)
  }
}

function claimStatement<P extends TProperties>(options: QueueOptions<P>, isDue: Sql, due: Sql) {
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

function leaseStatements({ table }: { table: Sql }) {
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

    async release(db: Db, lease: Lease): Promise<void> {
      await db.run(sql`
        update ${table} set lease_until = null, lease_token = null where ${held(db, lease)}`)
    },

    async finish(db: Db, lease: Lease, assignments: Sql): Promise<void> {
      const settled = await db.run(sql`
        update ${table}
           set lease_until = null, lease_token = null, ${assignments}
         where ${held(db, lease)}`)
      if (settled === 0) throw new LeaseLostError(`row ${lease.id}`, lease.lease_token)
    },

    async runWithLease<T>(
      db: Db,
      lease: Lease,
      work: (signal: AbortSignal) => Promise<T>,
      leaseSeconds = LEASE_SECONDS,
    ): Promise<T> {
      const lost = new AbortController()
      const renewOrAbort = async () => {
        // A renewal that fails does not lose the lease: two more follow before it expires.
        const kept = await renew(db, lease, leaseSeconds).catch(() => true)
        if (!kept) lost.abort(new LeaseLostError(`row ${lease.id}`, lease.lease_token))
      }
      const timer = setInterval(renewOrAbort, (leaseSeconds * 1_000) / 3)
      try {
        return await work(lost.signal)
      } finally {
        clearInterval(timer)
      }
    },
  }
}

/**
 * Sorts the store without a turn for longest first; stores that never had one stay as they wait.
 */
function orderByTurn(tenants: string[], lastTurns: Map<string, number>): string[] {
  const due = new Set(tenants)
  // A store without work needs no entry, so the map stays as small as the list of due stores.
  for (const tenant of lastTurns.keys()) if (!due.has(tenant)) lastTurns.delete(tenant)
  return tenants.toSorted((a, b) => (lastTurns.get(a) ?? 0) - (lastTurns.get(b) ?? 0))
}

async function claimInRounds<Row extends { tenant_ref: string }>(
  tenants: string[],
  { slots, perTenant = slots, busy }: FairClaimOptions,
  claim: (tenant: string, limit: number) => Promise<Row[]>,
  lastTurns: Map<string, number>,
): Promise<Row[]> {
  const claimed: Row[] = []
  const room = new Map(tenants.map((each) => [each, perTenant - (busy?.get(each) ?? 0)]))
  let turn = Math.max(0, ...lastTurns.values())
  let waiting = tenants.filter((each) => (room.get(each) ?? 0) > 0)
  while (claimed.length < slots && waiting.length > 0) {
    const left = slots - claimed.length
    const share = Math.max(1, Math.floor(left / waiting.length))
    const requests = waiting.slice(0, left).map((tenant) => {
      return { tenant, limit: Math.min(share, room.get(tenant) ?? 0) }
    })
    const results = await Promise.allSettled(requests.map((each) => claim(each.tenant, each.limit)))
    const rows = results.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    const failed = results.find((each) => each.status === 'rejected')
    claimed.push(...rows)
    // The rows already claimed are worked on; an error that lasts is thrown at the next call.
    if (failed !== undefined && claimed.length === 0) throw failed.reason
    if (failed !== undefined) return claimed
    const counts = Map.groupBy(rows, (row) => row.tenant_ref)
    const unsatisfied = requests.filter(({ tenant, limit }) => {
      const got = counts.get(tenant)?.length ?? 0
      if (got > 0) lastTurns.set(tenant, ++turn)
      room.set(tenant, (room.get(tenant) ?? 0) - got)
      return got === limit && (room.get(tenant) ?? 0) > 0
    })
    waiting = [...waiting.slice(left), ...unsatisfied.map(({ tenant }) => tenant)]
  }
  return claimed
}
