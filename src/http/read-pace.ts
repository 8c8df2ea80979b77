import { ApiError } from '../errors.ts'
import type { Guard } from './guards.ts'

/**
 * Paces public reads, most of which are answered from memory. They cost next to nothing, and thousands a
 * second of one store still take the processor from other stores' checkouts. While another store is at
 * work, each store has so many a second, and its further ones wait; a store that is alone has all of the
 * process.
 */

/** Answers per second and store, and how many may come at once: more than a page of a browser asks for. */
const PER_SECOND = 500
const BURST = 250

/** What an answer of a route counts: it costs several times as much as one that is sent before the router. */
const ROUTED = 4

/** Bytes that cost as much as one more answer: a list of a megabyte takes as long to send as thirty pages. */
const ANSWER_BYTES = 32_768

/** Requests of all stores that may wait. Behind so many, no browser would. */
const WAITING_MAX = 2_000
const WAIT_MS = 20

/** Counters that are kept until those of stores at rest are cleared away. */
const STORES_MAX = 1_000

interface Bucket {
  used: number
  at: number
}

export interface PaceOptions {
  /** Whether another store than this one is at work. Null: whether any is. */
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

  /** Whether an answer may be sent now. An address that names no store is paced by itself. */
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

  /** Counts the bytes of an answer that was sent: further ones of its store wait the longer. */
  addBytes(store: string | null, address: string, bytes: number): void {
    if (bytes < ANSWER_BYTES || !this.#othersAreAtWork(store)) return
    this.#bucketOf(store ?? address).used += bytes / ANSWER_BYTES
  }

  /** Calls later, when the store may have its turn. False: too many wait already. */
  defer(retry: () => void): boolean {
    if (this.#waiting >= WAITING_MAX) return false
    this.#waiting += 1
    setTimeout(() => {
      this.#waiting -= 1
      retry()
    }, WAIT_MS)
    return true
  }

  /** Lets a read that has come to its route wait for its turn. */
  readonly guard: Guard = async ({ method, url, routeOptions }) => {
    if (method !== 'GET' && method !== 'HEAD') return
    // Without a store, the route: a caller can write an address in any number of ways.
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
    // Those at rest would start from nothing again anyway.
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
