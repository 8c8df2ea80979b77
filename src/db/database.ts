import type pg from 'pg'
import { type Clock, moveClock, systemClock } from '../kernel/clock.ts'
import {
  openBatch,
  sendTogether,
  setTenantAsyncCommit,
  setTenantAsyncGeneric,
  setTenantConfig,
  writeTogether,
} from './batch.ts'
import { isRetryable, keepsConnectionUsable, toRefusal } from './constraints.ts'
import { checkOut, markBusy, openPool, type PoolOptions } from './pool.ts'
import { publicCaller } from './public-caller.ts'
import { prepare, type Result, Runner, type Send, type Sql, sql } from './sql.ts'
import { type StoreClocks, UNMOVED } from './store-clocks.ts'
import { type Caller, StoreShares, type WorkKind } from './store-shares.ts'

/** Reads and writes the rows of one store: outside of a transaction, or in one. */
export class Db extends Runner implements StoreScope {
  readonly tenant: string
  /** The store's business time. Its statements read the same time as `fd_now()`. */
  readonly clock: Clock
  readonly source: object
  constructor({ tenant, clock, source }: StoreScope, send: Send) {
    super(send)
    this.tenant = tenant
    this.clock = clock
    this.source = source
  }
}

/** Which store a `Db` reads and writes, at which time, and where. */
interface StoreScope {
  tenant: string
  clock: Clock
  /** Identifies the database: what a process remembers about a store belongs to one database. */
  source: object
}

/** Announces that there is work for background loops, by its topic. */
export type Notify = (topic: string) => void

/** A `Db` inside an open transaction. Only `TenantDb.transaction` creates one. */
export class Tx extends Db {
  readonly kind = 'transaction'
  readonly #topics: Set<string>
  constructor(store: StoreScope, send: Send, topics: Set<string>) {
    super(store, send)
    this.#topics = topics
  }

  /** Notifies the loops of that topic once the transaction has committed, and only then. */
  notifyAfterCommit(topic: string): void {
    this.#topics.add(topic)
  }
}

/** Runs work when it is its caller's turn and its store may use the database. */
type Admit = <T>(kind: WorkKind, work: () => Promise<T>, ownMs?: number) => Promise<T>

interface OpenedStore {
  tenant: string
  clockOffsetMs: number
  admit: Admit
  addUse(ms: number): void
}

/** How much of its store's time a refusal uses: the process reads a body, and finds all its faults. */
const REFUSAL_MS = 4

/** What all `TenantDb` of one database share. */
interface Shared {
  pool: pg.Pool
  shares: StoreShares | null
  notify: Notify
  /** Machine time: each `TenantDb` moves it by its store's clock offset. */
  clock: Clock
}

/** The data of one store. Every statement runs with that store set, for that statement alone. */
export class TenantDb extends Db {
  readonly #pool: pg.Pool
  readonly #admit: Admit
  readonly #notify: Notify
  readonly #clockOffsetMs: number
  /** Counts processor time that the caller used outside of the database: their next requests wait for it. */
  readonly addUse: (ms: number) => void
  constructor({ pool, notify, clock }: Shared, store: OpenedStore) {
    const { tenant, clockOffsetMs, admit, addUse } = store
    super({ tenant, clock: moveClock(clock, clockOffsetMs), source: pool }, (query) =>
      admit('read', () => sendAlone(pool, [setTenantConfig(tenant, clockOffsetMs), query])),
    )
    this.#pool = pool
    this.#admit = admit
    this.#notify = notify
    this.#clockOffsetMs = clockOffsetMs
    this.addUse = addUse
  }

  /** Waits for the caller's turn before a refusal is sent. The refusal sends no statement, but is paced like a read. */
  pace(): Promise<void> {
    return this.#admit('read', async () => {}, REFUSAL_MS)
  }

  /**
   * A `Db` whose commits do not wait for the disk. It is for single writes that mean nothing by themselves, such as
   * reserving a number for an order. The log is written in order, so a later commit that builds on such a write
   * survives only together with it; and without a later commit, nothing was built on it.
   */
  get asyncCommit(): Db {
    return this.#opening([setTenantAsyncCommit(this.tenant, this.#clockOffsetMs)])
  }

  /**
   * Returns a `Db` that sends the given statements before each of its own, in one transaction: for single statements
   * that need others before them, such as a lock. Each statement sees everything that was committed before the
   * previous one ended. They are sent together, so that the lock is not held for a round trip.
   */
  after(...first: Sql[]): Db {
    return this.#opening([this.#enter(), ...first.map(prepare)])
  }

  #opening(first: pg.QueryConfig[]): Db {
    return new Db(this, (query) =>
      this.#admit('read', () => sendAlone(this.#pool, [...first, query])),
    )
  }

  async transaction<T>(name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const topics = new Set<string>()
    const runOnce = (send: Send) => {
      // An attempt that was rolled back notifies no loop.
      topics.clear()
      return work(new Tx(this, send, topics))
    }
    const result = await this.#admit('transaction', () =>
      inTransaction(this.#pool, name, [this.#enter()], runOnce),
    )
    for (const topic of topics) this.#notify(topic)
    return result
  }

  /**
   * Reads with many statements that all see the same moment, so that a sum can be made of slices. Nothing can be
   * written, and no row is locked.
   */
  snapshot<T>(name: string, read: (db: Db) => Promise<T>): Promise<T> {
    return inTransaction(this.#pool, name, [ONE_MOMENT, this.#enter()], (send) =>
      read(new Db(this, send)),
    )
  }

  #enter(): pg.QueryConfig {
    return setTenantConfig(this.tenant, this.#clockOffsetMs)
  }
}

/**
 * Statements without a store: on the tables that have none (`global-tables.ts`), by functions of the gate role, and
 * over all stores where the role may read them. There are four kinds of such statements, each a class of its own, so
 * that the compiler refuses one in the place of another: on several servers they would go different ways.
 */
class Storeless extends Runner {
  readonly #pool: pg.Pool
  constructor(pool: pg.Pool) {
    super((query) => sendAlone(pool, [query]))
    this.#pool = pool
  }

  /** Returns a runner that sends the given statements before each of its own, as `TenantDb.after` does. */
  after(...first: Sql[]): Runner {
    return new Runner((query) => sendAlone(this.#pool, [...first.map(prepare), query]))
  }

  transaction<T>(name: string, work: (tx: Runner) => Promise<T>): Promise<T> {
    return inTransaction(this.#pool, name, [], (send) => work(new Runner(send)))
  }
}

/**
 * Finds the store of a key, a hostname or an account, and reads and writes what belongs to no store: owners, plans,
 * limits.
 */
export class Directory extends Storeless {
  readonly kind = 'directory'
}

/** The operator's read over all stores. */
export class AllStores extends Storeless {
  readonly kind = 'all stores'
}

/** The worker's look for stores with due work. */
export class DueLists extends Storeless {
  readonly kind = 'due rows'
  /**
   * Statements without a store run on machine time. A list of due work needs these clocks to find the stores whose
   * clock was moved.
   */
  readonly clocks: StoreClocks
  constructor(pool: pg.Pool, clocks: StoreClocks) {
    super(pool)
    this.clocks = clocks
  }
}

/** The care of the server itself: partitions, plans, queues, the state of its migrations. */
export class ServerCare extends Storeless {
  readonly kind = 'server care'
}

export interface DatabaseOptions extends PoolOptions {
  notify?: Notify
  clock?: Clock
  /** Without it, no store has a clock offset. */
  clocks?: StoreClocks
  /** Whether each store has a bounded share of the database, as callers of the API have. */
  sharesByStore?: boolean
  /** How long work waits at most for its turn in its store's share. */
  shareWaitMs?: number
}

/** Work that no caller asked for, such as the scan of a text: it waits with the callers of its store. */
const OWN_WORK: Caller = { lane: 'known', name: '' }

/** One connection pool, logged in as one database role. */
export class Database {
  readonly directory: Directory
  readonly allStores: AllStores
  readonly due: DueLists
  readonly server: ServerCare
  readonly #shared: Shared
  readonly #clocks: StoreClocks
  constructor(options: DatabaseOptions) {
    const { notify = () => {}, clock = systemClock, clocks = UNMOVED, ...rest } = options
    const { sharesByStore = false, shareWaitMs: waitMs, ...pool } = rest
    const share = { connections: pool.max, ...(waitMs !== undefined && { waitMs }) }
    const shares = sharesByStore ? new StoreShares(share) : null
    this.#shared = { pool: openPool(pool), shares, notify, clock }
    this.#clocks = clocks
    const { pool: connections } = this.#shared
    this.directory = new Directory(connections)
    this.allStores = new AllStores(connections)
    this.due = new DueLists(connections, clocks)
    this.server = new ServerCare(connections)
  }

  /** Whether another store than this one is using the database now. For null: whether any store is. */
  isShared(ref: string | null): boolean {
    return this.#shared.shares?.othersAreAtWork(ref) ?? false
  }

  /**
   * Opens a store for work that waits while the store uses more than its share, behind callers who have used less of
   * it. Without a caller the work counts for the reader whose request is answered, or for the public.
   */
  tenant(ref: string, caller: Caller = publicCaller()): TenantDb {
    const { shares } = this.#shared
    if (shares === null) return this.#open(ref, admitAll)
    const by = { store: shares.nameOf(ref, caller), caller }
    return this.#open(ref, (kind, work, ownMs) => shares.run(by, kind, work, ownMs), by)
  }

  /** Opens a store for the process's own work on it, such as a scan of its texts. */
  tenantForOwnWork(ref: string): TenantDb {
    return this.tenant(ref, OWN_WORK)
  }

  /** Opens a store for work that goes first: other work of the store never delays a payment. */
  tenantForMoney(ref: string): TenantDb {
    this.#shared.shares?.note(ref)
    return this.#open(ref, admitAll, { store: ref, caller: OWN_WORK })
  }

  /** Whether the public is known to be served this store. A store that went live a moment ago may not be known yet. */
  isKnown(ref: string): boolean {
    return this.#shared.shares?.isKnown(ref) ?? true
  }

  /**
   * Remembers that the public is served this store. Public work for all other names, those of hidden stores too, has
   * one small share together: with a share of its own, the time of an answer would tell a hidden store from a name that
   * no store has.
   */
  learn(ref: string): void {
    this.#shared.shares?.learn(ref)
  }

  /** Takes back that the public is served this store, once it is hidden. */
  forget(ref: string): void {
    this.#shared.shares?.forget(ref)
  }

  #open(tenant: string, admit: Admit, by?: { store: string; caller: Caller }): TenantDb {
    const clockOffsetMs = this.#clocks.offsetMs(tenant)
    const { shares } = this.#shared
    const addUse = (ms: number) => by && shares?.addUse(by, ms)
    return new TenantDb(this.#shared, { tenant, clockOffsetMs, admit, addUse })
  }

  /**
   * Sends single statements of many stores over one connection, without waiting for the answers in
   * between. Each is a transaction of its own within its store, has one plan for all stores, and its
   * commit does not wait for the disk (`TenantDb.asyncCommit`). Not for statements that may wait for a
   * lock: those behind them would wait as well.
   */
  async pipelineAsyncCommits<T>(work: (tenant: (ref: string) => Db) => Promise<T>): Promise<T> {
    const { pool, clock } = this.#shared
    const client = await checkOut(pool)
    let isUsable = true
    const tenant = (ref: string) => {
      const offsetMs = this.#clocks.offsetMs(ref)
      const opening = setTenantAsyncGeneric(ref, offsetMs)
      const scope = { tenant: ref, clock: moveClock(clock, offsetMs), source: pool }
      return new Db(scope, async (query) => {
        try {
          return await sendTogether(client, [opening, query])
        } catch (error) {
          isUsable &&= keepsConnectionUsable(error)
          throw error
        }
      })
    }
    try {
      writeTogether(client)
      return await work(tenant)
    } finally {
      client.release(!isUsable)
    }
  }

  /** Throws unless the database answers. */
  async ping(): Promise<void> {
    await this.server.run(sql`select 1`)
  }

  /** Connections in use, and requests that wait for one. Both are 0 while idle. */
  get load() {
    const { pool } = this.#shared
    return { busy: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }
  }

  close(): Promise<void> {
    return this.#shared.pool.end()
  }
}

const admitAll: Admit = (_kind, work) => work()

const BEGIN = prepare(sql`begin`)
const COMMIT = prepare(sql`commit`)
const ONE_MOMENT = prepare(sql`set transaction isolation level repeatable read, read only`)
const ROLLBACK = { text: 'rollback' }

/** Sends statements that need no transaction block, because they share one Sync. */
async function sendAlone(pool: pg.Pool, queries: pg.QueryConfig[]): Promise<Result> {
  const client = await checkOut(pool)
  try {
    const result = await sendTogether(client, queries)
    client.release()
    return result
  } catch (error) {
    client.release(!keepsConnectionUsable(error))
    throw toRefusal(error)
  }
}

/** How many times a transaction is run at most: the loser of a deadlock wins the next time. */
const TRIES_MAX = 3

/** Runs a transaction, and runs it again if it may then succeed. That is safe: nothing but SQL happens in one. */
async function inTransaction<T>(
  pool: pg.Pool,
  name: string,
  opening: pg.QueryConfig[],
  work: (send: Send) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryTransaction(pool, name, opening, work)
    } catch (error) {
      if (tries === TRIES_MAX || !isRetryable(error)) throw error
    }
  }
}

async function tryTransaction<T>(
  pool: pg.Pool,
  name: string,
  opening: pg.QueryConfig[],
  work: (send: Send) => Promise<T>,
): Promise<T> {
  const client = await checkOut(pool)
  const batch = openBatch(client)
  let isOpen = true
  const send: Send = (query) => {
    if (!isOpen) return Promise.reject(new Error(`the transaction '${name}' is over`))
    markBusy(client)
    return batch.send(query)
  }
  try {
    // Sent with the first statements. If `begin` fails, they are skipped.
    const begun = Promise.all([BEGIN, ...opening].map(batch.send))
    begun.catch(() => {})
    const result = await work(send)
    isOpen = false
    await begun
    const { command } = await batch.send(COMMIT)
    // After a statement that failed and was caught there is nothing to commit, and PostgreSQL says
    // so only in the command tag.
    if (command !== 'COMMIT') throw new Error(`the transaction '${name}' was rolled back`)
    client.release()
    return result
  } catch (error) {
    isOpen = false
    // Statements collected in this turn go first: after the rollback they would run outside of the
    // transaction.
    batch.flush()
    await rollBackAndRelease(client)
    throw toRefusal(error)
  }
}

/** Returns a connection to the pool after a failure: rolled back, or destroyed. */
async function rollBackAndRelease(client: pg.PoolClient): Promise<void> {
  try {
    await client.query(ROLLBACK)
    client.release()
  } catch {
    client.release(true)
  }
}
