import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { Database, Db, TenantDb, Tx } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import { Id } from '../kernel/schema.ts'
import { createTurns, type DueRows, type StoreTurns } from './store-turns.ts'

/**
 * How long a claimed row stays with a worker that was killed. Retry ladders begin at a minute, so
 * this delay is bearable.
 */
export const LEASE_SECONDS = 30

/** The lease on a row. Every write of a result repeats its token. */
export const Lease = Type.Object({ tenant_ref: Type.String(), id: Id, lease_token: Id })
export type Lease = Static<typeof Lease>

const businessTime = sql`fd_now()`

/** The error that a lease expired and another worker has claimed the row: this worker's result must not be written. */
export class LeaseLostError extends Error {
  /** The token of the lost lease: a worker may hold several. */
  readonly token: string
  constructor(what: string, token: string) {
    super(`the lease on ${what} was lost`)
    this.name = 'LeaseLostError'
    this.token = token
  }
}

/** A table as a queue. All SQL here is constant: it is code, never input. */
export interface QueueOptions<P extends TProperties> {
  /** Has the columns tenant_ref, id (uuid), lease_until and lease_token, and a policy that lets the
   * worker read over all tenants. Wants indexes on (due) and on (tenant_ref, due), both partial. */
  table: Sql
  /** The column that says when a row is due. A row with null is never due again. */
  due?: Sql
  /** What `due` is compared with: business time, or `machineTime` for the platform's own work. */
  time?: Sql
  /** A further condition that a row must meet to be claimed. */
  only?: Sql
  /** The columns of a claimed row beside its lease. */
  columns: Sql
  /** The shape of `columns`. */
  shape: TObject<P>
}

export interface FairClaimOptions {
  slots: number
  /** The most rows of one store at a time, those in `busy` included. */
  perTenant?: number
  /** How many rows of each store the caller already works on, for a caller that refills its slots one by one. */
  busy?: ReadonlyMap<string, number>
  leaseSeconds?: number
}

export interface StoreRotation extends StoreTurns {
  /** Claims up to `slots` rows by the caller's own statement, the stores taking turns. */
  claimFairlyBy<T extends { tenant_ref: string }>(
    database: Database,
    options: FairClaimOptions,
    claim: (db: TenantDb, limit: number) => Promise<T[]>,
  ): Promise<T[]>
}

export interface Queue<Row> extends StoreTurns {
  /** Claims up to `limit` due rows of one store. Two callers never get the same row. */
  claim(db: TenantDb, limit: number, leaseSeconds?: number): Promise<(Row & Lease)[]>
  /**
   * Claims up to `slots` rows, the stores taking turns: one store's backlog does not delay another.
   */
  claimFairly(database: Database, options: FairClaimOptions): Promise<(Row & Lease)[]>
  /** Locks a leased row and reads it again. Returns null where the lease was lost. */
  lockLeased(tx: Tx, lease: Lease): Promise<Row | null>
  /** Extends the lease. Returns whether it was still held. */
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

/** Defines a queue: a table whose due rows are worked on by any number of processes. Why no library: decision 0012. */
export function defineQueue<P extends TProperties>(
  options: QueueOptions<P>,
): Queue<Static<TObject<P>>> {
  const { table, due = sql`next_attempt_at`, time = businessTime, only = sql`true` } = options
  const free = sql`(lease_until is null or lease_until <= ${machineTime})`
  const turns = createTurns({ table, due, time, only, free })
  const claim = claimStatement(options, { due, time, only: sql`${only} and ${free}` })
  return {
    ...leaseStatements(options),
    ...turns,
    lockLeased: (tx, lease) => lockLeased(options, tx, lease),
    // If a crash of the database loses a claim, the row is simply due again.
    claim: (db, limit, leaseSeconds) => claim(db.asyncCommit, limit, leaseSeconds),
    claimFairly: (database, take) =>
      claimInTurn(database, turns, take, (shares) =>
        database.pipelineAsyncCommits((tenant) =>
          Promise.allSettled(
            shares.map((share) => claim(tenant(share.tenant), share.limit, take.leaseSeconds)),
          ),
        ),
      ),
  }
}

/** Makes the stores take turns in this process, whatever rows they have. */
export function defineStoreRotation(rows: DueRows): StoreRotation {
  const turns = createTurns(rows)
  return {
    ...turns,
    claimFairlyBy: (database, take, claim) =>
      claimInTurn(database, turns, take, (shares) =>
        Promise.allSettled(
          shares.map((share) => claim(database.tenant(share.tenant), share.limit)),
        ),
      ),
  }
}

/**
 * Makes the statement that claims rows. It finds them by the pair of store and time, which only the index of both
 * columns has: otherwise PostgreSQL might choose the index of the time alone, and read the rows of all stores. It
 * updates them by their keys in an array: with a join, it might read every row of the store. One plan serves all
 * stores, so it must not depend on their sizes.
 */
function claimStatement<P extends TProperties>(
  options: QueueOptions<P>,
  { due, time, only }: { due: Sql; time: Sql; only: Sql },
) {
  const { table, columns, shape } = options
  const Row = Type.Object({ ...shape.properties, ...Lease.properties })
  return async (db: Db, limit: number, leaseSeconds = LEASE_SECONDS) => {
    const rows = await db.many(
      Row,
      sql`
      with due as (
        select id as due_id
          from ${table}
         where tenant_ref = ${db.tenant}
           and (tenant_ref, ${due}) >= (${db.tenant}, '-infinity')
           and ${due} <= ${time} and ${only}
         order by ${due}
         limit ${limit}
           for update skip locked
      )
      update ${table} as q
         set lease_until = ${machineTime} + make_interval(secs => ${leaseSeconds}),
             lease_token = gen_random_uuid()
       where q.tenant_ref = ${db.tenant} and q.id = any(array(select due_id from due))
      returning tenant_ref, id, lease_token, ${columns}`,
    )
    return rows as (Static<TObject<P>> & Lease)[]
  }
}

function lockLeased<P extends TProperties>(
  { table, columns, shape }: QueueOptions<P>,
  tx: Tx,
  { id, lease_token }: Lease,
): Promise<Static<TObject<P>> | null> {
  return tx.maybe(
    shape,
    sql`
    select ${columns}
      from ${table}
     where tenant_ref = ${tx.tenant} and id = ${id} and lease_token = ${lease_token}
       for update`,
  )
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
        // A renewal that fails does not yet lose the lease: two more follow before it expires.
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

/** How many rows of one store are claimed in one round. */
interface Share {
  tenant: string
  limit: number
}

type ClaimShares<Row> = (shares: readonly Share[]) => Promise<PromiseSettledResult<Row[]>[]>

/** Claims rows of the stores whose turn is next, until some are claimed or each store had its turn. */
async function claimInTurn<Row extends { tenant_ref: string }>(
  database: Database,
  turns: StoreTurns,
  { slots, perTenant = slots, busy = new Map() }: FairClaimOptions,
  claimShares: ClaimShares<Row>,
): Promise<Row[]> {
  const roomOf = (tenant: string) => perTenant - (busy.get(tenant) ?? 0)
  const full = [...busy.keys()].filter((tenant) => roomOf(tenant) <= 0)
  const tried = new Set<string>()
  for (;;) {
    const next = await turns.next(database.due, slots, full)
    const tenants = next.map((store) => store.tenant_ref).filter((name) => !tried.has(name))
    if (tenants.length === 0) return []
    const room = new Map(tenants.map((tenant) => [tenant, roomOf(tenant)]))
    const claimed = await claimInRounds(room, slots, claimShares)
    // Other workers may have claimed the rows of all these stores, and none of the stores after them.
    if (claimed.length > 0) return claimed
    for (const tenant of tenants) tried.add(tenant)
  }
}

/** Claims a share for each store, and then gives what is left to the stores that have more rows. */
async function claimInRounds<Row extends { tenant_ref: string }>(
  room: Map<string, number>,
  slots: number,
  claimShares: ClaimShares<Row>,
): Promise<Row[]> {
  const claimed: Row[] = []
  let waiting = [...room.keys()]
  while (claimed.length < slots && waiting.length > 0) {
    const left = slots - claimed.length
    const each = Math.max(1, Math.floor(left / waiting.length))
    const shares = waiting.slice(0, left).map((tenant) => {
      return { tenant, limit: Math.min(each, room.get(tenant) ?? 0) }
    })
    const results = await claimShares(shares)
    const rows = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    const failed = results.find((result) => result.status === 'rejected')
    claimed.push(...rows)
    // The rows that are claimed already are worked on; an error that lasts is thrown at the next call.
    if (failed !== undefined && claimed.length === 0) throw failed.reason
    if (failed !== undefined) return claimed
    const counts = Map.groupBy(rows, (row) => row.tenant_ref)
    const unsatisfied = shares.filter(({ tenant, limit }) => {
      const got = counts.get(tenant)?.length ?? 0
      room.set(tenant, (room.get(tenant) ?? 0) - got)
      return got === limit && (room.get(tenant) ?? 0) > 0
    })
    waiting = [...waiting.slice(left), ...unsatisfied.map(({ tenant }) => tenant)]
  }
  return claimed
}
