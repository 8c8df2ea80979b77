import { ApiError } from '../errors.ts'

/**
 * The share of a processor that the processes of a store may use while other stores are at work. It is apart from the
 * share of the database: a drawing delays the store's next drawing, and never its shop (decision 0024).
 */
export interface ChildShareOptions {
  /** Whether another store than this one is at work. */
  othersAreAtWork(store: string): boolean
  /** A stopwatch in milliseconds. */
  now?: () => number
  /** How long work waits at most; for tests. */
  waitMs?: number
}

/** The part of one processor that a store may use all the time. */
const PACE = 1 / 5

/** How much a store may use at once: a dozen ordinary invoices. */
const BURST_MS = 2_000

/** The longest time for which a store can have nothing drawn, whatever it used. */
const DEBT_MS = 30_000

/** How long a caller waits here at most. A caller who would wait longer is told at once when to try again. */
const WAIT_MS = 8_000

/** How often it checks whether the other stores are at rest. */
const LOOK_MS = 250

/** How many stores are remembered. When there are more, those at rest are removed. */
const STORES_MAX = 1_000

export class ChildShares {
  readonly #othersAreAtWork: ChildShareOptions['othersAreAtWork']
  readonly #timer: () => number
  readonly #waitMs: number
  readonly #used = new Map<string, { ms: number; at: number }>()

  constructor(options: ChildShareOptions) {
    this.#othersAreAtWork = options.othersAreAtWork
    this.#timer = options.now ?? (() => performance.now())
    this.#waitMs = options.waitMs ?? WAIT_MS
  }

  /** Counts processor time. */
  add(store: string, ms: number): void {
    if (this.#used.size >= STORES_MAX) this.#forgetIdle()
    const used = this.#usedBy(store) + ms
    this.#used.set(store, { ms: Math.min(used, BURST_MS + PACE * DEBT_MS), at: this.#timer() })
  }

  /** Waits until the store may use a processor again; 503 with `retry-after` if that takes too long. */
  async turn(store: string, signal?: AbortSignal): Promise<void> {
    const begun = this.#timer()
    for (;;) {
      const left = this.#debtOf(store)
      if (left <= 0) return
      const waited = this.#timer() - begun
      if (waited + left > this.#waitMs) throw tooEarly(left)
      signal?.throwIfAborted()
      await new Promise((resolve) => setTimeout(resolve, Math.min(left, LOOK_MS)))
    }
  }

  /** How long a store must wait now, in milliseconds. */
  #debtOf(store: string): number {
    if (!this.#othersAreAtWork(store)) return 0
    return (this.#usedBy(store) - BURST_MS) / PACE
  }

  #usedBy(store: string): number {
    const used = this.#used.get(store)
    return used === undefined ? 0 : Math.max(0, used.ms - (this.#timer() - used.at) * PACE)
  }

  #forgetIdle(): void {
    for (const store of this.#used.keys()) {
      if (this.#usedBy(store) === 0) this.#used.delete(store)
    }
  }
}

const tooEarly = (ms: number) =>
  new ApiError('service_unavailable', {
    cause: new Error('the processes of a store have used their share'),
    kind: 'overload',
    message: `Too many documents were drawn. Try again in ${Math.ceil(ms / 1_000)} seconds.`,
    headers: { 'retry-after': String(Math.ceil(ms / 1_000)) },
  })
