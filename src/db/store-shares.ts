import { ApiError } from '../errors.ts'

/** The reason for which a store's work holds a connection: one statement, or a transaction of several. */
export type WorkKind = 'read' | 'transaction'

/**
 * A caller for whom work of a store is done. `known` callers have shown a credential; all others are `public`, and have
 * a lane of their own.
 */
export interface Caller {
  lane: LaneName
  name: string
}

export type LaneName = 'known' | 'public'

/** Public work that counts for no particular caller. */
export const ANONYMOUS: Caller = { lane: 'public', name: '' }

export interface ShareOptions {
  /** The connections of the pool. */
  connections: number
  /** A stopwatch in milliseconds. */
  now?: () => number
  /** How long work waits for the share of its store at most. */
  waitMs?: number
}

/** How much time a lane may use at once before it is paced: a page of a dashboard needs a fraction of it. */
const BURST_MS = 300

/** How much of one of ten connections a store may use continuously while others are at work. */
const PACE_OF_TEN = 1 / 5

/**
 * The pace of public work while callers with a credential are at work, as a part of the store's pace, in addition to
 * theirs.
 */
const PUBLIC_BESIDE = 1 / 2

/**
 * How long a lane waits at most for the time that it used too much. After a statement of seconds, all callers of the
 * store would otherwise wait, who did not send it.
 */
const DEBT_MS = 2_000

/**
 * How long the caller who sent the heavy work waits at most: a caller who sends heavy work again waits for all of it.
 */
const OWN_DEBT_MS = 6_000

/**
 * A caller who used less than this lately need not wait for the time that other callers of the lane have used, up to
 * its debt: a page of a shopper goes before the flood of another caller.
 */
const LIGHT_MS = 50

/** How much the last piece of work says about the cost of the next one. */
const LAST_WEIGHT = 0.3

/**
 * How much time one piece of work costs beside its time in the database: the process reads its request, checks it and
 * writes its answer. Without this, many small requests would use the processor and count for nothing.
 */
const OWN_MS = 3

/** Another store, or another lane, that used the database within this time counts as at work. */
const RECENT_MS = 1_000

/**
 * How long work waits at most, and how many pieces wait in one lane. No caller should wait longer, and work behind this
 * many pieces would not start in time.
 */
const WAIT_MS = 8_000
const WAITING_MAX = 500

/** The longest time until waiting work is looked at again: the other stores may be at rest by then. */
const LOOK_MAX_MS = 250

/** How many stores, and callers of a lane, are remembered. When there are more, those at rest are removed. */
const STORES_MAX = 1_000
/** How many stores are known to be served. When there are more, all of them are forgotten and learnt again. */
const LEARNT_MAX = 100_000
const CALLERS_MAX = 500

/** Time used, less what has leaked since `at`. */
interface Bucket {
  usedMs: number
  at: number
}

interface Place {
  since: number
  caller: Bucket
  start(): void
  reject(error: Error): void
}

/** Work of one kind in a lane. */
interface Line {
  running: number
  waiting: Place[]
  /** How much time one piece of this work used lately, on average. */
  usualMs: number
}

/** The work of one group of callers of a store. */
interface Lane extends Bucket {
  name: LaneName
  /** One for each kind, so that a transaction that also reads outside of itself never waits for another one. */
  lines: Record<WorkKind, Line>
  callers: Map<string, Bucket>
  /** When work of this lane last came. */
  noted: number
}

/** What one store uses. */
interface Share {
  lanes: Record<LaneName, Lane>
  timer: NodeJS.Timeout | undefined
}

const KINDS: readonly WorkKind[] = ['read', 'transaction']
const LANES: readonly LaneName[] = ['known', 'public']

const overload = (why: string) =>
  new ApiError('service_unavailable', {
    cause: new Error(why),
    kind: 'overload',
    headers: { 'retry-after': '1' },
  })

const openLine = (): Line => ({ running: 0, waiting: [], usualMs: 0 })

const openLane = (name: LaneName, at: number): Lane => ({
  name,
  lines: { read: openLine(), transaction: openLine() },
  callers: new Map(),
  noted: Number.NEGATIVE_INFINITY,
  usedMs: 0,
  at,
})

/** The name for work of stores that are not known to exist. */
const NO_STORE = ''

/**
 * Divides the database of a process among its stores, so that a store with many or heavy requests waits for itself.
 * Two bounds hold for each store: how many connections it has at a time, and, while other stores are at work, how
 * much of the database's time it uses. The second is a bucket that leaks: one more connection does no harm while the
 * work ends soon, but heavy statements one after another would use a processor that another store's checkouts need
 * (decision 0024).
 *
 * Within a store, callers with a credential have a lane apart from the public, and in each lane those that used the
 * least go first.
 *
 * Work of the money path never waits here; it still counts as work of its store towards the others.
 */
export class StoreShares {
  readonly #timer: () => number
  readonly #waitMs: number
  readonly #pace: number
  /** How many connections a lane has for one kind of work, and all lanes together. */
  readonly #laneMax: number
  readonly #storeMax: number
  readonly #shares = new Map<string, Share>()
  readonly #learnt = new Set<string>()
  /** The store that was at work last, and the other store that was at work last. */
  #last = { store: '', at: Number.NEGATIVE_INFINITY }
  #other = { store: '', at: Number.NEGATIVE_INFINITY }

  constructor({ connections, now = () => performance.now(), waitMs = WAIT_MS }: ShareOptions) {
    this.#timer = now
    this.#waitMs = waitMs
    this.#pace = (PACE_OF_TEN * connections) / 10
    this.#laneMax = Math.max(1, Math.floor(connections / 3))
    this.#storeMax = this.#laneMax + 1
  }

  /** How many stores are remembered. */
  get size(): number {
    return this.#shares.size
  }

  /** Notes that a store is at work. */
  note(store: string): void {
    // Names of no store must not pace existing stores.
    if (store === NO_STORE) return
    const at = this.#timer()
    if (store !== this.#last.store) this.#other = this.#last
    this.#last = { store, at }
  }

  /** Runs the work when it is its caller's turn and its store may use the database. */
  async run<T>(
    { store, caller }: { store: string; caller: Caller },
    kind: WorkKind,
    work: () => Promise<T>,
    ownMs = OWN_MS,
  ): Promise<T> {
    this.note(store)
    const share = this.#shareOf(store)
    const lane = share.lanes[caller.lane]
    lane.noted = this.#timer()
    const own = this.#callerOf(lane, caller.name)
    const line = lane.lines[kind]
    if (line.waiting.length === 0 && this.#mayRun(store, share, { lane, kind, own })) {
      line.running += 1
    } else await this.#wait(store, share, { line, own })
    const begun = this.#timer()
    try {
      return await work()
    } finally {
      const usedMs = this.#timer() - begun + ownMs
      line.running -= 1
      line.usualMs += LAST_WEIGHT * (usedMs - line.usualMs)
      this.#use(share, lane, own, usedMs)
      this.#startWaiting(store, share)
    }
  }

  /** Counts time that a caller used outside of the database, as if the database had worked for it. */
  addUse({ store, caller }: { store: string; caller: Caller }, ms: number): void {
    const share = this.#shareOf(store)
    const lane = share.lanes[caller.lane]
    const own = this.#callerOf(lane, caller.name)
    // The buckets leak up to now first: the time in which the store rested must not pay for this use.
    for (const bucket of [lane, own]) this.#leak(bucket, this.#paceOf(share, lane))
    this.#use(share, lane, own, ms)
  }

  isKnown(store: string): boolean {
    return this.#learnt.has(store)
  }

  /** Remembers that the public is served a store. */
  learn(store: string): void {
    if (this.#learnt.has(store)) return
    if (this.#learnt.size >= LEARNT_MAX) this.#learnt.clear()
    this.#learnt.add(store)
  }

  forget(store: string): void {
    this.#learnt.delete(store)
  }

  /**
   * The name under which the work of a caller counts. Any caller can ask for a thousand names that no store has: until
   * a name is known to be a store's, public work for it counts under one name for all.
   */
  nameOf(store: string, { lane }: Caller): string {
    return lane === 'known' || this.#learnt.has(store) ? store : NO_STORE
  }

  #shareOf(store: string): Share {
    const known = this.#shares.get(store)
    if (known !== undefined) return known
    if (this.#shares.size >= STORES_MAX) this.#forgetIdle()
    const at = this.#timer()
    const lanes = { known: openLane('known', at), public: openLane('public', at) }
    const share = { lanes, timer: undefined }
    this.#shares.set(store, share)
    return share
  }

  #callerOf(lane: Lane, name: string): Bucket {
    const known = lane.callers.get(name)
    if (known !== undefined) return known
    if (lane.callers.size >= CALLERS_MAX) {
      for (const [each, bucket] of lane.callers) {
        if (this.#leak(bucket, this.#pace) === 0) lane.callers.delete(each)
      }
    }
    const bucket = { usedMs: 0, at: this.#timer() }
    lane.callers.set(name, bucket)
    return bucket
  }

  #forgetIdle(): void {
    for (const [store, share] of this.#shares) {
      const isIdle = LANES.every((name) => {
        const lane = share.lanes[name]
        const runs = KINDS.some((kind) => lane.lines[kind].running > 0)
        return !runs && this.#usedBy(share, lane) === 0
      })
      if (isIdle) this.#shares.delete(store)
    }
  }

  #leak(bucket: Bucket, pace: number): number {
    const now = this.#timer()
    bucket.usedMs = Math.max(0, bucket.usedMs - (now - bucket.at) * pace)
    bucket.at = now
    return bucket.usedMs
  }

  /** The part of one connection that a lane may use all the time. */
  #paceOf(share: Share, lane: Lane): number {
    const isBeside = lane.name === 'public' && this.#timer() - share.lanes.known.noted < RECENT_MS
    return isBeside ? this.#pace * PUBLIC_BESIDE : this.#pace
  }

  #usedBy(share: Share, lane: Lane): number {
    return this.#leak(lane, this.#paceOf(share, lane))
  }

  /** Counts use, up to the debt that a lane and a caller may have. */
  #use(share: Share, lane: Lane, own: Bucket, ms: number): void {
    const pace = this.#paceOf(share, lane)
    lane.usedMs += ms
    own.usedMs += ms
    lane.usedMs = Math.min(this.#leak(lane, pace), BURST_MS + pace * DEBT_MS)
    own.usedMs = Math.min(this.#leak(own, pace), BURST_MS + pace * OWN_DEBT_MS)
  }

  /** Whether another store than this one is at work. For null: whether any store is. */
  othersAreAtWork(store: string | null): boolean {
    const other = store === this.#last.store ? this.#other : this.#last
    return this.#timer() - other.at < RECENT_MS
  }

  #mayRun(
    store: string,
    share: Share,
    { lane, kind, own }: { lane: Lane; kind: WorkKind; own: Bucket },
  ): boolean {
    const line = lane.lines[kind]
    if (line.running >= this.#laneMax) return false
    const { known, public: open } = share.lanes
    if (known.lines[kind].running + open.lines[kind].running >= this.#storeMax) return false
    // Running work is counted only when it ends, so its usual cost is added: three heavy ones at once would use far
    // more than is left.
    const expectedMs = line.running * line.usualMs
    const pace = this.#paceOf(share, lane)
    const ownMs = this.#leak(own, pace)
    const usedMs = Math.max(this.#leak(lane, pace), ownMs)
    if (usedMs + expectedMs < BURST_MS || !this.othersAreAtWork(store)) return true
    const mayOwe = expectedMs < BURST_MS && usedMs < BURST_MS + pace * DEBT_MS
    return mayOwe && ownMs < LIGHT_MS
  }

  #wait(store: string, share: Share, { line, own }: { line: Line; own: Bucket }): Promise<void> {
    if (line.waiting.length >= WAITING_MAX) throw overload('too much work of one store is waiting')
    return new Promise((start, reject) => {
      line.waiting.push({ since: this.#timer(), caller: own, start, reject })
      if (share.timer === undefined) this.#lookLater(store, share)
    })
  }

  /** Starts the waiting work that may run now: first that of the caller who used the least lately. */
  #startWaiting(store: string, share: Share): void {
    for (const name of LANES) {
      const lane = share.lanes[name]
      for (const kind of KINDS) this.#startLine(store, share, { lane, kind })
    }
    if (share.timer === undefined) this.#lookLater(store, share)
  }

  #startLine(store: string, share: Share, { lane, kind }: { lane: Lane; kind: WorkKind }): void {
    const line = lane.lines[kind]
    if (line.waiting.length === 0) return
    this.#rejectLate(line)
    for (;;) {
      const next = this.#nextOf(share, lane, line.waiting)
      const place = line.waiting[next]
      if (place === undefined) return
      if (!this.#mayRun(store, share, { lane, kind, own: place.caller })) return
      line.waiting.splice(next, 1)
      line.running += 1
      place.start()
    }
  }

  #rejectLate(line: Line): void {
    const now = this.#timer()
    // Work is in the order in which it came, so that late work stands at the front.
    let late = 0
    for (const place of line.waiting) {
      if (now - place.since <= this.#waitMs) break
      place.reject(overload('work waited too long'))
      late += 1
    }
    line.waiting.splice(0, late)
  }

  #nextOf(share: Share, lane: Lane, waiting: readonly Place[]): number {
    const pace = this.#paceOf(share, lane)
    let next = 0
    let least = Number.POSITIVE_INFINITY
    let looked: Bucket | undefined
    for (const [at, { caller }] of waiting.entries()) {
      // Most waiting work is usually one caller's, whose first piece comes first.
      if (caller === looked) continue
      looked = caller
      const usedMs = this.#leak(caller, pace)
      if (usedMs >= least) continue
      next = at
      least = usedMs
      if (least === 0) break
    }
    return next
  }

  /**
   * Looks at the waiting work again later. Work that ends starts waiting work; if none is running, the passing of time
   * or the rest of other stores does.
   */
  #lookLater(store: string, share: Share): void {
    const waits = LANES.map((name) => share.lanes[name]).filter((lane) =>
      KINDS.some((kind) => lane.lines[kind].waiting.length > 0),
    )
    if (waits.length === 0) return
    const paced = waits.map(
      (lane) => (this.#usedBy(share, lane) - BURST_MS) / this.#paceOf(share, lane),
    )
    const delay = Math.min(Math.max(Math.min(...paced), 1), LOOK_MAX_MS)
    share.timer = setTimeout(() => {
      share.timer = undefined
      this.#startWaiting(store, share)
    }, delay)
  }
}
