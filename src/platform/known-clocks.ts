import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Type } from 'typebox'
import type { DueLists } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { StoreClocks } from '../db/store-clocks.ts'

/**
 * How often a process reads which clocks are moved. This takes one statement, over the few stores that have moved
 * theirs.
 */
const POLL_MS = 1_000

/** How long a start waits for the first read. A database that does not respond must not delay it for longer. */
const FIRST_READ_MS = 1_000

export interface ClockState {
  offsetMs: number
  isMoving: boolean
}

export interface KnownClocksOptions {
  logger: Pick<Logger, 'debug'>
  pollMs?: number | undefined
}

const Row = Type.Object({
  tenant_ref: Type.String(),
  offset_ms: Type.Integer(),
  is_moving: Type.Boolean(),
})

/**
 * The clocks of sandbox stores, in the memory of each process, so that opening a store costs no statement. The
 * process that moves a clock knows at once; the others read all moved clocks once a second. So `settleMs` after a
 * change, every working process uses the changed clock (decision 0041).
 */
export class KnownClocks implements StoreClocks {
  readonly #logger: Pick<Logger, 'debug'>
  readonly #pollMs: number
  #states = new Map<string, ClockState>()
  #ahead = new Map<string, number>()
  #moving = new Set<string>()
  /** Numbers the changes by this process, so that an older read does not undo one. */
  #changes = 0
  readonly #changed = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor({ logger, pollMs = POLL_MS }: KnownClocksOptions) {
    this.#logger = logger
    this.#pollMs = pollMs
  }

  /**
   * How long it takes until every process knows of a change: by then each has read the clocks once since, and a slow
   * read has ended.
   */
  get settleMs(): number {
    return this.#pollMs * 2.5
  }

  offsetMs(tenant: string): number {
    return this.#states.get(tenant)?.offsetMs ?? 0
  }

  ahead(): ReadonlyMap<string, number> {
    return this.#ahead
  }

  moving(): ReadonlySet<string> {
    return this.#moving
  }

  /** Stores a change that this process has written to the database. */
  set(tenant: string, state: ClockState): void {
    this.#changed.set(tenant, ++this.#changes)
    this.#states.set(tenant, state)
    this.#sort()
  }

  /** Starts to read the clocks at regular intervals. Returns when they are known, or cannot be read for now. */
  async start(db: DueLists): Promise<void> {
    this.#timer ??= setInterval(() => this.#poll(db), this.#pollMs)
    await Promise.race([this.#poll(db), pause(FIRST_READ_MS, undefined, { ref: false })])
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Reads the clocks. A change that this process makes meanwhile stays. */
  async read(db: DueLists): Promise<void> {
    const before = this.#changes
    const rows = await db.many(Row, sql`select * from fd_moved_clocks()`)
    const read = rows.map(({ tenant_ref, offset_ms, is_moving }) => {
      return [tenant_ref, { offsetMs: offset_ms, isMoving: is_moving }] as const
    })
    const isNewer = ([tenant]: readonly [string, unknown]) => this.#changed.has(tenant)
    for (const [tenant, change] of this.#changed) if (change <= before) this.#changed.delete(tenant)
    this.#states = new Map([...read, ...[...this.#states].filter(isNewer)])
    this.#sort()
  }

  async #poll(db: DueLists): Promise<void> {
    // The next poll tries again. A database that is away, or not migrated yet, is reported elsewhere.
    await this.read(db).catch((error: unknown) =>
      this.#logger.debug({ err: error }, 'the clocks of sandbox stores could not be read'),
    )
  }

  #sort(): void {
    const states = [...this.#states]
    const ahead = states.filter(([, { offsetMs, isMoving }]) => offsetMs > 0 && !isMoving)
    this.#ahead = new Map(ahead.map(([tenant, { offsetMs }]) => [tenant, offsetMs]))
    const moving = states.filter(([, { isMoving }]) => isMoving)
    this.#moving = new Set(moving.map(([tenant]) => tenant))
  }
}
