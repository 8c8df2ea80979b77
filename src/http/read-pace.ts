import { ApiError } from '../errors.ts'
import type { Guard } from './guards.ts'

/**
 * Paces public reads, most of which are answered from memory. They cost next to nothing, but thousands a second for
 * one store still take the processor from other stores' checkouts. While another store is at work, each store has a
 * number of reads a second, and its further ones wait; a store that is alone has the whole process.
 */

/** How many answers a store has per second, and how many at once: more than a page of a browser asks for. */
const PER_SECOND = 500
const BURST = 250

/**
 * How many answers a routed read counts as: it costs several times as much as one that is answered before the router.
 */
const ROUTED = 4

/** How many bytes cost as much as one more answer: a list of a megabyte takes as long to send as thirty pages. */
const ANSWER_BYTES = 32_768

/** How many requests of all stores may wait. Behind more of them, a browser would give up. */
const WAITING_MAX = 2_000
const WAIT_MS = 20

/** How many counters are kept. When there are more, all of them are removed. */
const STORES_MAX = 1_000

interface Bucket {
  used: number
  at: number
}

export interface PaceOptions {
  /** Whether another store than this one is at work. For null: whether any store is. */
  othersAreAtWork(store: string | null): boolean
  /** A stopwatch in milliseconds. */
  now?: () => number
}

export class ReadPace {
  readonly #othersAreAtWork: PaceOptions['othersAreAtWork']
  readonly #timer: () => number
  readonly #buckets = new Map<string, Bucket>()
  #waiting = 0

  constructor({ othersAreAtWork, now = () => performance.now() }: PaceOptions) {
    this.#othersAreAtWork = othersAreAtWork
    this.#timer = now
  }

  /**
   * Counts an answer and returns true if it may be sent now. Requests that name no store are paced by their address.
   */
  take(store: string | null, address: string, answers = 1): boolean {
    if (!this.#othersAreAtWork(store)) return true
    const bucket = this.#bucketOf(store ?? address)
    const now = this.#timer()
    bucket.used = Math.max(0, bucket.used - ((now - bucket.at) * PER_SECOND) / 1_000)
    bucket.at = now
    if (bucket.used >= BURST) return false
    bucket.used += answers
    return true
  }

  /** Counts the bytes of an answer that was sent: the next answers of its store wait longer. */
  addBytes(store: string | null, address: string, bytes: number): void {
    if (bytes < ANSWER_BYTES || !this.#othersAreAtWork(store)) return
    this.#bucketOf(store ?? address).used += bytes / ANSWER_BYTES
  }

  /** Calls `retry` later, when the store may have its turn. Returns false when too many requests wait already. */
  defer(retry: () => void): boolean {
    if (this.#waiting >= WAITING_MAX) return false
    this.#waiting += 1
    setTimeout(() => {
      this.#waiting -= 1
      retry()
    }, WAIT_MS)
    return true
  }

  /** Makes a read that has reached its route wait for its turn. */
  readonly guard: Guard = async ({ method, url, routeOptions }) => {
    if (method !== 'GET' && method !== 'HEAD') return
    // A request without a store is paced by its route: a caller can write an address in any number of ways.
    while (!this.take(storeOf(url), routeOptions.url ?? '', ROUTED)) {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (!this.defer(resolve)) {
        throw new ApiError('service_unavailable', {
          kind: 'overload',
          headers: { 'retry-after': '1' },
        })
      }
      await promise
    }
  }

  #bucketOf(store: string): Bucket {
    const known = this.#buckets.get(store)
    if (known !== undefined) return known
    // The counters of stores at rest would be 0 again anyway.
    if (this.#buckets.size >= STORES_MAX) this.#buckets.clear()
    const bucket = { used: 0, at: this.#timer() }
    this.#buckets.set(store, bucket)
    return bucket
  }
}

const TENANT_PATH = '/v1/tenants/'

/** The store that an address names, if any. */
export function storeOf(url: string): string | null {
  if (!url.startsWith(TENANT_PATH)) return null
  const end = url.indexOf('/', TENANT_PATH.length)
  return end === -1 ? null : url.slice(TENANT_PATH.length, end)
}
