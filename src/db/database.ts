import type pg from 'pg'
import { type Clock, moveClock, systemClock } from '../kernel/clock.ts'
import { enterLightly, enterTenant, gathering, sendTogether } from './batch.ts'
import { isRetryable, sparesConnection } from './constraints.ts'
import { checkOut, noteUse, openPool, type PoolOptions } from './pool.ts'
import { prepare, type Result, Runner, type Send, type Sql, sql } from './sql.ts'

/** Where a tenant's rows are read and written: the handle of the store, or a transaction on it. */
export class Db extends Runner {
  readonly tenant: string
  /** The store's time. Its statements read the same one as `fd_now()`. */
  readonly clock: Clock
  constructor(tenant: string, clock: Clock, send: Send) {
    super(send)
    this.tenant = tenant
    this.clock = clock
  }
}

/** How far a store's clock is moved, in milliseconds. Looked up whenever a handle is made. */
export type ClockOffsets = (tenant: string) => number

/** Tells whoever works in the background that there is something to do, by the name of the work. */
export type OnWake = (topic: string) => void

/** A Db inside an open transaction. Only `TenantDb.transaction` makes one. */
export class Tx extends Db {
  readonly kind = 'transaction'
  readonly #topics: Set<string>
  constructor(tenant: string, clock: Clock, send: Send, topics: Set<string>) {
    super(tenant, clock, send)
    this.#topics = topics
  }

  /** Wakes the loop of that name once the transaction has committed, and only then. */
  wakeAfterCommit(topic: string): void {
    this.#topics.add(topic)
  }
}

/** What the handles of one database have in common. */
interface Shared {
  pool: pg.Pool
  onWake: OnWake
  /** Not moved: each handle moves it by its store's offset. */
  clock: Clock
}

/** One tenant's data. Every statement runs with that tenant set, and for that statement alone. */
export class TenantDb extends Db {
  readonly #pool: pg.Pool
  readonly #onWake: OnWake
  readonly #clockOffsetMs: number
  constructor({ pool, onWake, clock }: Shared, tenant: string, clockOffsetMs: number) {
    super(tenant, moveClock(clock, clockOffsetMs), (query) =>
      sendAlone(pool, [enterTenant(tenant, clockOffsetMs), query]),
    )
    this.#pool = pool
    this.#onWake = onWake
    this.#clockOffsetMs = clockOffsetMs
  }

  /**
   * For single writes that mean nothing by themselves, such as a number that is taken for an order:
   * their commit does not wait for the disk. The log is written in order, so that whatever a later
   * commit builds upon survives with it; and where none came, nothing was built.
   */
  get lightly(): Db {
    const opening = enterLightly(this.tenant, this.#clockOffsetMs)
    return new Db(this.tenant, this.clock, (query) => sendAlone(this.#pool, [opening, query]))
  }

  /**
   * For single statements that need others before them in their transaction, such as a lock: each sees
   * all that was committed until the one before it was done. They travel together, so that the lock is
   * held for no turn of ours.
   */
  behind(...first: Sql[]): Db {
    const opening = [this.#enter(), ...first.map(prepare)]
    return new Db(this.tenant, this.clock, (query) => sendAlone(this.#pool, [...opening, query]))
  }

  async transaction<T>(name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const topics = new Set<string>()
    const result = await inTransaction(this.#pool, name, [this.#enter()], (send) => {
      // A try that was rolled back has nothing to tell.
      topics.clear()
      return work(new Tx(this.tenant, this.clock, send, topics))
    })
    for (const topic of topics) this.#onWake(topic)
    return result
  }

  #enter(): pg.QueryConfig {
    return enterTenant(this.tenant, this.#clockOffsetMs)
  }
}

/** What has no tenant: the gate's functions, and the few tables listed in `global-tables.ts`. */
export class GlobalDb extends Runner {
  readonly #pool: pg.Pool
  constructor(pool: pg.Pool) {
    super((query) => sendAlone(pool, [query]))
    this.#pool = pool
  }

  transaction<T>(name: string, work: (tx: Runner) => Promise<T>): Promise<T> {
    return inTransaction(this.#pool, name, [], (send) => work(new Runner(send)))
  }
}

export interface DatabaseOptions extends PoolOptions {
  onWake?: OnWake
  clock?: Clock
  /** No store's clock is moved, unless this says so. */
  clockOffsets?: ClockOffsets
}

/** One pool, logged in as one role. */
export class Database {
  readonly global: GlobalDb
  readonly #shared: Shared
  readonly #clockOffsets: ClockOffsets
  constructor(options: DatabaseOptions) {
    const { onWake = () => {}, clock = systemClock, clockOffsets = () => 0, ...rest } = options
    this.#shared = { pool: openPool(rest), onWake, clock }
    this.#clockOffsets = clockOffsets
    this.global = new GlobalDb(this.#shared.pool)
  }

  tenant(ref: string): TenantDb {
    return new TenantDb(this.#shared, ref, this.#clockOffsets(ref))
  }

  /** Throws unless the server answers. */
  async ping(): Promise<void> {
    await this.global.run(sql`select 1`)
  }

  /** Connections in use and requests waiting for one. Both are 0 at rest. */
  get load() {
    const { pool } = this.#shared
    return { busy: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }
  }

  close(): Promise<void> {
    return this.#shared.pool.end()
  }
}

const BEGIN = prepare(sql`begin`)
const COMMIT = prepare(sql`commit`)
const ROLLBACK = { text: 'rollback' }

/** What needs no transaction block, since it travels before one Sync. */
async function sendAlone(pool: pg.Pool, queries: pg.QueryConfig[]): Promise<Result> {
  const client = await checkOut(pool)
  try {
    const result = await sendTogether(client, queries)
    client.release()
    return result
  } catch (error) {
    client.release(!sparesConnection(error))
    throw error
  }
}

/** How often a transaction that lost to another is tried: a deadlock's loser wins the next time. */
const TRIES_MAX = 3

/** Nothing but SQL happens in a transaction, so one that was rolled back can be run again. */
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
  const gathered = gathering(client)
  let open = true
  const send: Send = (query) => {
    if (!open) return Promise.reject(new Error(`the transaction '${name}' is over`))
    noteUse(client)
    return gathered.send(query)
  }
  try {
    // Travels with the first statements. Should it fail, they are skipped.
    const opened = Promise.all([BEGIN, ...opening].map(gathered.send))
    opened.catch(() => {})
    const result = await work(send)
    open = false
    await opened
    const { command } = await gathered.send(COMMIT)
    // A statement that failed and was caught leaves nothing to commit, and PostgreSQL only says so
    // in the tag of its answer.
    if (command !== 'COMMIT') throw new Error(`the transaction '${name}' was rolled back`)
    client.release()
    return result
  } catch (error) {
    open = false
    // Whatever was gathered in this turn goes first: behind the rollback it would be nobody's.
    gathered.depart()
    await giveBack(client)
    throw error
  }
}

/** Returns a connection after a failure: rolled back, or not at all. */
async function giveBack(client: pg.PoolClient): Promise<void> {
  try {
    await client.query(ROLLBACK)
    client.release()
  } catch {
    client.release(true)
  }
}
