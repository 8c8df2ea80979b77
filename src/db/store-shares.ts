import { ApiError } from '../errors.ts'

/** What a store's work holds a connection for: one statement, or a transaction of several. */
export type WorkKind = 'read' | 'transaction'

export interface ShareOptions {
  /** The connections of the pool. */
  connections: number
  /** A stopwatch in milliseconds. */
  now?: () => number
  /** How long work waits for the share of its store at most. */
  waitMs?: number
}

/** How much time a store may use at once before it is paced: a page of a dashboard needs a fraction of it. */
const BURST_MS = 300

/** How much of one of ten connections a store may use all the time while others are at work. */
const PACE_OF_TEN = 1 / 5

/** How much the last piece of work says about the cost of the next one. */
const LAST_WEIGHT = 0.3

/**
 * How much time one piece of work costs beside its time in the database: the process reads its request, checks it and
 * writes its answer. Without this, many small requests would use the processor and count for nothing.
 */
const OWN_MS = 3

/** Another store that used the database within this time counts as at work. */
const RECENT_MS = 1_000

/**
 * How long work waits at most, and how many pieces wait in one lane. No caller should wait longer, and behind more of
 * them none would start in time.
 */
const WAIT_MS = 8_000
const WAITING_MAX = 500

/** The longest time until waiting work is looked at again: the other stores may be at rest by then. */
const LOOK_MAX_MS = 250

/** How many stores are remembered before those at rest are removed. */
const STORES_MAX = 1_000

interface Place {
  since: number
  start(): void
  reject(error: Error): void
}

/** A store's work of one kind. */
interface Lane {
  running: number
  waiting: Place[]
  /** How much time one piece of this work used lately, on average. */
  usualMs: number
}

/** What one store uses. */
interface Share {
  /** One lane for each kind, so that a transaction that also reads outside of itself never waits for another one. */
  lanes: Record<WorkKind, Lane>
  /** How much time of the database the store used, less what has leaked since, in milliseconds. */
  usedMs: number
  /** When `usedMs` was last brought up to date. */
  at: number
  timer: NodeJS.Timeout | undefined
}

const KINDS: readonly WorkKind[] = ['read', 'transaction']

const overload = (why: string) =>
  new ApiError('service_unavailable', {
    cause: new Error(why),
    kind: 'overload',
    headers: { 'retry-after': '1' },
  })

/**
 * Divides the database of a process among its stores, so that a store with many or heavy requests waits for itself.
 * Two bounds hold for each store: how many connections it has at a time, and, while other stores are at work, how
 * much of the database's time it uses. The second is a bucket that leaks: one more connection does no harm while the
 * work ends soon, but heavy statements one after another would use a processor that another store's checkouts need.
 *
 * Work of the money path never waits here; it still counts as work of its store towards the others.
 */
export class StoreShares {
  readonly #timer: () => number
  readonly #waitMs: number
  readonly #pace: number
  /** How many connections a store has for one kind of work. */
  readonly #runningMax: number
  readonly #shares = new Map<string, Share>()
  /** The store at work last, and the last other one. */
  #last = { store: '', at: Number.NEGATIVE_INFINITY }
  #other = { store: '', at: Number.NEGATIVE_INFINITY }

  constructor({ connections, now = () => performance.now(), waitMs = WAIT_MS }: ShareOptions) {
    this.#timer = now
    this.#waitMs = waitMs
    this.#pace = (PACE_OF_TEN * connections) / 10
    this.#runningMax = Math.max(1, Math.floor(connections / 3))
  }

  /** How many stores are remembered. */
  get size(): number {
    return this.#shares.size
  }

  /** Notes that a store is at work. */
  note(store: string): void {
    const at = this.#timer()
    if (store !== this.#last.store) this.#other = this.#last
    this.#last = { store, at }
  }

  /** Runs the work when its store may use the database. */
  async run<T>(store: string, kind: WorkKind, work: () => Promise<T>, ownMs = OWN_MS): Promise<T> {
    this.note(store)
    const share = this.#shareOf(store)
    const lane = share.lanes[kind]
    if (lane.waiting.length === 0 && this.#mayRun(store, share, lane)) lane.running += 1
    else await this.#wait(store, share, lane)
    const begun = this.#timer()
    try {
      return await work()
    } finally {
      const usedMs = this.#timer() - begun + ownMs
      lane.running -= 1
      lane.usualMs += LAST_WEIGHT * (usedMs - lane.usualMs)
      share.usedMs += usedMs
      this.#startWaiting(store, share)
    }
  }

  /** Counts time that a store used outside of the database, as if the database had worked for it. */
  addUse(store: string, ms: number): void {
    const share = this.#shareOf(store)
    // The bucket leaks up to now first: time in which the store rested must not pay for this use.
    share.usedMs = this.#usedBy(share) + ms
  }

  #shareOf(store: string): Share {
    const known = this.#shares.get(store)
    if (known !== undefined) return known
    if (this.#shares.size >= STORES_MAX) this.#forgetIdle()
    const openLane = (): Lane => ({ running: 0, waiting: [], usualMs: 0 })
    const lanes = { read: openLane(), transaction: openLane() }
    const share = { lanes, usedMs: 0, at: this.#timer(), timer: undefined }
    this.#shares.set(store, share)
    return share
  }

  #forgetIdle(): void {
    for (const [store, share] of this.#shares) {
      const isIdle = KINDS.every((kind) => share.lanes[kind].running === 0)
      if (isIdle && this.#usedBy(share) === 0) this.#shares.delete(store)
    }
  }

  #usedBy(share: Share): number {
    const now = this.#timer()
    share.usedMs = Math.max(0, share.usedMs - (now - share.at) * this.#pace)
    share.at = now
    return share.usedMs
  }

  /** Whether another store than this one is at work. For null: whether any store is. */
  othersAreAtWork(store: string | null): boolean {
    const other = store === this.#last.store ? this.#other : this.#last
    return this.#timer() - other.at < RECENT_MS
  }

  #mayRun(store: string, share: Share, lane: Lane): boolean {
    if (lane.running >= this.#runningMax) return false
    // Running work is counted only when it ends, so its usual cost is added: three heavy ones at once would use far
    // more than is left.
    const expectedMs = lane.running * lane.usualMs
    return this.#usedBy(share) + expectedMs < BURST_MS || !this.othersAreAtWork(store)
  }

  #wait(store: string, share: Share, lane: Lane): Promise<void> {
    if (lane.waiting.length >= WAITING_MAX) throw overload('too much work of one store is waiting')
    return new Promise((start, reject) => {
      lane.waiting.push({ since: this.#timer(), start, reject })
      if (share.timer === undefined) this.#lookLater(store, share)
    })
  }

  /** Starts the waiting work that may run now, in the order in which it came. */
  #startWaiting(store: string, share: Share): void {
    for (const kind of KINDS) {
      const lane = share.lanes[kind]
      for (let first = lane.waiting[0]; first !== undefined; first = lane.waiting[0]) {
        const waitedMs = this.#timer() - first.since
        if (waitedMs > this.#waitMs) first.reject(overload('work waited too long'))
        else if (!this.#mayRun(store, share, lane)) break
        else {
          lane.running += 1
          first.start()
        }
        lane.waiting.shift()
      }
    }
    if (share.timer === undefined) this.#lookLater(store, share)
  }

  /**
   * Looks at the waiting work again later. Work that ends starts what waits; where none is running, the passing of
   * time or the rest of other stores does.
   */
  #lookLater(store: string, share: Share): void {
    if (KINDS.every((kind) => share.lanes[kind].waiting.length === 0)) return
    const paced = (this.#usedBy(share) - BURST_MS) / this.#pace
    const delay = Math.min(Math.max(paced, 1), LOOK_MAX_MS)
    share.timer = setTimeout(() => {
      share.timer = undefined
      this.#startWaiting(store, share)
    }, delay)
  }
}
