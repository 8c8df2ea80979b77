import { ApiError } from '../errors.ts'

interface WorkQueueOptions {
  /** How much work runs at a time. */
  running: number
  /** How much work of one store runs at a time. Without it, `running` is the only bound. */
  runningPerStore?: number
  /** How much work may wait. */
  waiting: number
  /** How much work of one store may wait. Without it, `waiting` is the only bound. */
  waitingPerStore?: number
  /** The error that refuses work when too much is waiting. */
  refuse?: (cause: Error) => ApiError
  /** The error that refuses work of one store with too much waiting; by default `refuse`. */
  refuseStore?: (cause: Error) => ApiError
}

/** Work that waits to run: exactly one of the two is called. */
interface Place {
  start(): void
  reject(error: Error): void
}

const overload = (cause: Error) => new ApiError('service_unavailable', { cause, kind: 'overload' })

/** The name under which work that belongs to no store waits. No store has this name. */
const NO_STORE = ''

/**
 * Bounds how much work of one kind runs and waits in this process. Work that finds no free slot waits,
 * and the stores take turns, so that one store's flood does not delay another store. Work that finds
 * too much waiting is refused at once: it would wait longer than its caller does.
 *
 * The libraries for this (p-limit, p-queue, bottleneck) bound either the work that runs or the length
 * of one queue; none has a queue for each store.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #places = new Map<string, Place[]>()
  readonly #runningOf = new Map<string, number>()
  #running = 0
  #waiting = 0

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  /** How much work waits for a slot. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether nothing runs, and so nothing waits. */
  get isIdle(): boolean {
    return this.#running === 0
  }

  /** How much work of a store waits for a slot. */
  waitingOf(store: string): number {
    return this.#places.get(store)?.length ?? 0
  }

  /**
   * Runs the work when it is its turn. Work that fails releases its slot, too. The signal ends the wait; running work
   * must listen to the signal itself.
   */
  async run<T>(work: () => Promise<T>, store = NO_STORE, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#hasSlot(store)) this.#occupy(store)
    else await this.#wait(store, signal)
    try {
      return await work()
    } finally {
      this.#release(store)
    }
  }

  /** Ends the wait of all work that waits now. Running work is not affected. */
  rejectWaiting(error: Error): void {
    const places = [...this.#places.values()].flat()
    this.#places.clear()
    this.#waiting = 0
    for (const place of places) place.reject(error)
  }

  /** Whether work of a store may run now. Work that belongs to no store has no bound per store. */
  #hasSlot(store: string): boolean {
    const { running, runningPerStore = running } = this.#options
    if (this.#running >= running) return false
    return store === NO_STORE || (this.#runningOf.get(store) ?? 0) < runningPerStore
  }

  #occupy(store: string): void {
    this.#running += 1
    this.#runningOf.set(store, (this.#runningOf.get(store) ?? 0) + 1)
  }

  async #wait(store: string, signal?: AbortSignal): Promise<void> {
    const { waiting, waitingPerStore = waiting, refuse = overload } = this.#options
    const { refuseStore = refuse } = this.#options
    if (this.#waiting >= waiting) throw refuse(new Error('too much work is waiting'))
    if (store !== NO_STORE && this.waitingOf(store) >= waitingPerStore) {
      throw refuseStore(new Error('too much work of one store is waiting'))
    }
    const { promise, resolve: start, reject } = Promise.withResolvers<void>()
    const place = { start, reject }
    const leave = () => this.#leave(store, place, signal?.reason)
    this.#waiting += 1
    this.#places.set(store, [...(this.#places.get(store) ?? []), place])
    signal?.addEventListener('abort', leave, { once: true })
    return promise.finally(() => signal?.removeEventListener('abort', leave))
  }

  /** Ends the wait of one place, if it still waits. */
  #leave(store: string, place: Place, reason: Error): void {
    const places = this.#places.get(store) ?? []
    if (!places.includes(place)) return
    this.#keepPlaces(
      store,
      places.filter((each) => each !== place),
    )
    this.#waiting -= 1
    place.reject(reason)
  }

  #keepPlaces(store: string, places: Place[]): void {
    if (places.length === 0) this.#places.delete(store)
    else this.#places.set(store, places)
  }

  /** Releases a slot and starts the first work of the next store that may have it. */
  #release(store: string): void {
    const left = (this.#runningOf.get(store) ?? 1) - 1
    this.#running -= 1
    if (left === 0) this.#runningOf.delete(store)
    else this.#runningOf.set(store, left)
    const next = [...this.#places.keys()].find((each) => this.#hasSlot(each))
    if (next === undefined) return
    const [place, ...others] = this.#places.get(next) ?? []
    // The store is now behind the others.
    this.#places.delete(next)
    this.#keepPlaces(next, others)
    this.#waiting -= 1
    // The slot is occupied at once, so that no new work takes it in between.
    this.#occupy(next)
    place?.start()
  }
}
