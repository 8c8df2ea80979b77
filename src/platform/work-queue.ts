import { ApiError } from '../errors.ts'

interface WorkQueueOptions {
  /** How much work runs at a time. */
  running: number
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

/** The queue of work that belongs to no store. No store has this name. */
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

  /** Runs the work when it is its turn. Work that fails frees its slot, too. */
  async run<T>(work: () => Promise<T>, store = NO_STORE): Promise<T> {
    if (this.#running < this.#options.running) this.#running += 1
    else await this.#wait(store)
    try {
      return await work()
    } finally {
      this.#handOn()
    }
  }

  /** Ends the wait of all work that waits now. Work that runs is not touched. */
  rejectWaiting(error: Error): void {
    const places = [...this.#places.values()].flat()
    this.#places.clear()
    this.#waiting = 0
    for (const place of places) place.reject(error)
  }

  #wait(store: string): Promise<void> {
    const { waiting, waitingPerStore = waiting, refuse = overload } = this.#options
    const { refuseStore = refuse } = this.#options
    if (this.#waiting >= waiting) throw refuse(new Error('too much work is waiting'))
    const places = this.#places.get(store) ?? []
    if (store !== NO_STORE && places.length >= waitingPerStore) {
      throw refuseStore(new Error('too much work of one store is waiting'))
    }
    this.#waiting += 1
    this.#places.set(store, places)
    return new Promise((start, reject) => places.push({ start, reject }))
  }

  /** Gives the slot to the next store's first work, so that no new work takes it in between. */
  #handOn(): void {
    const [next] = this.#places
    if (next === undefined) {
      this.#running -= 1
      return
    }
    const [store, places] = next
    const place = places.shift()
    // The store stands behind the others now.
    this.#places.delete(store)
    if (places.length > 0) this.#places.set(store, places)
    this.#waiting -= 1
    place?.start()
  }
}
