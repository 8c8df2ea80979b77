import type { IncomingMessage } from 'node:http'
import type { RouteOptions } from 'fastify'
import { forReader } from '../db/public-caller.ts'
import { ApiError } from '../errors.ts'
import { CallerTurns } from './caller-turns.ts'
import { type Guard, onPlane } from './guards.ts'
import type { NameReader } from './reader.ts'
import type { Routes } from './route.ts'

/**
 * Paces public reads, most of which are answered from memory. They cost next to nothing, but thousands a second for one
 * store still take the processor from other stores' checkouts. While another store is at work, each store has a number
 * of reads a second, and further reads wait; a store that is alone has the whole process (decision 0024).
 *
 * Waiting reads take turns by their caller, so that one caller who floods a store waits for itself. A read is not
 * refused because of the number of reads: only a caller with many waiting reads gets 429 for one more.
 */

/** How many answers a store has per second, and how many at once: more than a page of a browser asks for. */
const PER_SECOND = 500
const BURST = 250

/**
 * How many answers a routed read counts as: it costs several times as much as one that is answered before the router.
 */
const ROUTED = 4

/**
 * How many routed reads of a store run at a time. They wait for the database and for each other: with more of them, a
 * caller's turn here would be worth nothing there.
 */
const RUNNING_MAX = 6

/** How many bytes cost as much as one more answer: a list of a megabyte takes as long to send as thirty pages. */
const ANSWER_BYTES = 32_768

/** How many of them one reader may have, so that another one never waits for all reads of a flood. */
const RUNNING_PER_READER = 4

/**
 * A reader's refusals are sent one by one, this far apart, and each of them after so long at most. Sent at once, those
 * of one address took more of the processor than a store may use.
 */
const REFUSAL_MS = 20
const REFUSAL_MAX_MS = 2_000

/** How many requests may wait: of all stores, and of one. A browser behind more of them would give up. */
const WAITING_MAX = 2_000
const WAITING_PER_STORE = 500
const LOOK_MS = 20

/** How long a read waits at most. */
const WAIT_MS = 8_000

/** How many counters are kept. When there are more, those that no read waits for are removed. */
const STORES_MAX = 1_000

/** A read that waits. Exactly one of the two functions is called. */
interface Place {
  since: number
  reader: string
  start(): void
  reject(error: ApiError): void
}

interface Bucket {
  used: number
  at: number
  /** Routed reads that run, and how many of them each reader has. */
  running: number
  readonly runningOf: Map<string, number>
  /** Reads from memory that wait, and those that wait for their route. */
  memory: CallerTurns<Place>
  routed: CallerTurns<Place>
  timer: NodeJS.Timeout | undefined
}

export interface PaceOptions {
  /** Whether another store than this one is at work. For null: whether any store is. */
  othersAreAtWork(store: string | null): boolean
  /** Whether the public is known to be served this store. All other names are counted together. */
  isKnown?(store: string): boolean
  readerOf: NameReader
  /** A stopwatch in milliseconds. */
  now?: () => number
}

/** The subject of a read: a store, or an address of the platform. */
interface Read {
  store: string | null
  address: string
}

/** Whether a reader may have one more read running. */
const hasTurn =
  ({ runningOf }: Bucket) =>
  (reader: string): boolean =>
    (runningOf.get(reader) ?? 0) < RUNNING_PER_READER

function begin(bucket: Bucket, reader: string): void {
  bucket.running += 1
  bucket.runningOf.set(reader, (bucket.runningOf.get(reader) ?? 0) + 1)
}

function end(bucket: Bucket, reader: string): void {
  bucket.running -= 1
  const left = (bucket.runningOf.get(reader) ?? 1) - 1
  if (left === 0) bucket.runningOf.delete(reader)
  else bucket.runningOf.set(reader, left)
}

const overload = () =>
  new ApiError('service_unavailable', { kind: 'overload', headers: { 'retry-after': '1' } })

const tooMany = (waiting: number) =>
  new ApiError('rate_limited', {
    message: `The store is busy, and ${waiting} of your reads wait already. Wait for their answers before you send more.`,
    headers: { 'retry-after': '1' },
  })

export class ReadPace {
  readonly #othersAreAtWork: PaceOptions['othersAreAtWork']
  readonly #isKnown: (store: string) => boolean
  readonly #readerOf: NameReader
  readonly #timer: () => number
  readonly #buckets = new Map<string, Bucket>()
  /** How many reads of each reader wait. */
  readonly #waitingOf = new Map<string, number>()
  #waiting = 0
  /** When the last of the refusals that each reader waits for is sent. */
  readonly #refusing = new Map<string, number>()

  constructor(options: PaceOptions) {
    this.#othersAreAtWork = options.othersAreAtWork
    this.#isKnown = options.isKnown ?? (() => true)
    this.#readerOf = options.readerOf
    this.#timer = options.now ?? (() => performance.now())
  }

  /**
   * Counts an answer and returns true if it may be sent now. Requests that name no store are paced by their address.
   */
  take(store: string | null, address: string): boolean {
    if (!this.#othersAreAtWork(store)) return true
    const bucket = this.#bucketOf(store ?? address)
    return bucket.memory.size === 0 && this.#count(bucket, 1)
  }

  /** Counts the bytes of an answer that was sent: the store's next answers wait longer. */
  addBytes(store: string | null, address: string, bytes: number): void {
    if (bytes < ANSWER_BYTES || !this.#othersAreAtWork(store)) return
    this.#bucketOf(store ?? address).used += bytes / ANSWER_BYTES
  }

  /** Calls `start` when it is the reader's turn, or `reject`. */
  defer(
    { store, address }: Read,
    request: IncomingMessage,
    place: Pick<Place, 'start' | 'reject'>,
  ): void {
    const bucket = this.#bucketOf(store ?? address)
    this.#wait({ store, bucket, line: bucket.memory }, request, place)
  }

  /** Makes a read that has reached its route wait for its turn. `leave` ends it. */
  readonly guard: Guard = async (request) => {
    const { method, url, routeOptions } = request
    if (method !== 'GET' && method !== 'HEAD') return
    const named = storeOf(url) ?? storeOfAsset(url)
    const store = named !== null && this.#isKnown(named) ? named : null
    // A request without a store is paced by its route: a caller can write an address in any number of ways.
    const bucket = this.#bucketOf(store ?? routeOptions.url ?? '')
    const { name: reader } = this.#readerOf(request.raw)
    const isFirst = bucket.routed.size === 0 && hasTurn(bucket)(reader)
    if (isFirst && this.#mayRun(store, bucket)) begin(bucket, reader)
    else {
      const { promise, resolve: start, reject } = Promise.withResolvers<void>()
      this.#wait({ store, bucket, line: bucket.routed }, request.raw, { start, reject })
      // Those that wait may all be reads of one reader, who has as many running as one may have.
      this.#startWaiting(store, bucket)
      await promise
    }
    request.reader = reader
    request.leavePace = () => {
      request.leavePace = null
      end(bucket, reader)
      this.#startWaiting(store, bucket)
    }
  }

  #mayRun(store: string | null, bucket: Bucket): boolean {
    if (bucket.running >= RUNNING_MAX) return false
    return !this.#othersAreAtWork(store) || this.#count(bucket, ROUTED)
  }

  /** Counts answers if the store may have them now. */
  #count(bucket: Bucket, answers: number): boolean {
    const now = this.#timer()
    bucket.used = Math.max(0, bucket.used - ((now - bucket.at) * PER_SECOND) / 1_000)
    bucket.at = now
    if (bucket.used >= BURST) return false
    bucket.used += answers
    return true
  }

  #wait(
    { store, bucket, line }: { store: string | null; bucket: Bucket; line: CallerTurns<Place> },
    request: IncomingMessage,
    { start, reject }: Pick<Place, 'start' | 'reject'>,
  ): void {
    const { name: reader, waitingMax } = this.#readerOf(request)
    const waiting = this.#waitingOf.get(reader) ?? 0
    if (waiting >= waitingMax) this.#refuse(reader, () => reject(tooMany(waiting)))
    else if (this.#waiting >= WAITING_MAX || line.size >= WAITING_PER_STORE) reject(overload())
    else {
      this.#waiting += 1
      this.#waitingOf.set(reader, waiting + 1)
      line.add(reader, { since: this.#timer(), reader, start, reject })
      this.#lookLater(store, bucket)
    }
  }

  /** Refuses a read when it is the turn of that refusal among those of its reader. */
  #refuse(reader: string, send: () => void): void {
    const now = this.#timer()
    const last = Math.max(now, this.#refusing.get(reader) ?? 0)
    const at = Math.min(last + REFUSAL_MS, now + REFUSAL_MAX_MS)
    this.#refusing.set(reader, at)
    setTimeout(() => {
      if (this.#refusing.get(reader) === at) this.#refusing.delete(reader)
      send()
    }, at - now)
  }

  /** Takes the place whose turn it is. */
  #next(line: CallerTurns<Place>, mayTurn?: (reader: string) => boolean): Place | undefined {
    const place = line.next(mayTurn)
    if (place !== undefined) this.#leave(place)
    return place
  }

  /** Refuses the reads that have waited too long, whether or not it is their store's turn. */
  #rejectLate(line: CallerTurns<Place>): void {
    const now = this.#timer()
    for (const place of line.takeFirst(({ since }) => now - since > WAIT_MS)) {
      this.#leave(place)
      place.reject(overload())
    }
  }

  /** Counts a read that waits no longer. */
  #leave({ reader }: Place): void {
    this.#waiting -= 1
    const left = (this.#waitingOf.get(reader) ?? 1) - 1
    if (left === 0) this.#waitingOf.delete(reader)
    else this.#waitingOf.set(reader, left)
  }

  /** Starts the reads that may be answered now: one from memory, one by its route, and so on. */
  #startWaiting(store: string | null, bucket: Bucket): void {
    this.#rejectLate(bucket.memory)
    this.#rejectLate(bucket.routed)
    for (let any = true; any; ) {
      any = false
      if (bucket.memory.size > 0 && (!this.#othersAreAtWork(store) || this.#count(bucket, 1))) {
        this.#next(bucket.memory)?.start()
        any = true
      }
      if (bucket.routed.has(hasTurn(bucket)) && this.#mayRun(store, bucket)) {
        const place = this.#next(bucket.routed, hasTurn(bucket))
        if (place !== undefined) begin(bucket, place.reader)
        place?.start()
        any = true
      }
    }
    this.#lookLater(store, bucket)
  }

  #lookLater(store: string | null, bucket: Bucket): void {
    if (bucket.timer !== undefined || bucket.memory.size + bucket.routed.size === 0) return
    bucket.timer = setTimeout(() => {
      bucket.timer = undefined
      this.#startWaiting(store, bucket)
    }, LOOK_MS)
  }

  #bucketOf(store: string): Bucket {
    const known = this.#buckets.get(store)
    if (known !== undefined) return known
    if (this.#buckets.size >= STORES_MAX) this.#forgetIdle()
    const bucket = {
      used: 0,
      at: this.#timer(),
      running: 0,
      runningOf: new Map(),
      memory: new CallerTurns<Place>(),
      routed: new CallerTurns<Place>(),
      timer: undefined,
    }
    this.#buckets.set(store, bucket)
    return bucket
  }

  /** The counters of stores at rest would be back at 0 anyway. */
  #forgetIdle(): void {
    for (const [store, { running, memory, routed }] of this.#buckets) {
      if (running + memory.size + routed.size === 0) this.#buckets.delete(store)
    }
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Ends the turn of a public read; null without a turn. */
    leavePace: (() => void) | null
    /** Who sent a public read that has its turn. */
    reader: string
  }
  interface FastifyContextConfig {
    /** Public plane: its answer is sent piece by piece, and bounded by its own queue. It runs after its turn. */
    streams?: boolean
  }
}

/** Remembers which stores the public is served. */
interface ServedStores {
  learn(store: string): void
  forget(store: string): void
}

/** Registers public routes, whose reads take turns. */
export const publicPlane = (
  pace: ReadPace,
  served: ServedStores,
  routes: readonly Routes[],
): Routes =>
  onPlane('public', pace.guard, [
    async (app) => {
      app.addHook('onRoute', (route) => leaveAfterHandler(route, served))
      // A handler that answers with its reply ends when the answer is sent, which takes as long as its reader likes.
      app.addHook('onSend', (request, _reply, payload, done) => {
        request.leavePace?.()
        done(null, payload)
      })
      app.addHook('onResponse', async (request, { raw }) => {
        // A read that was refused never came to its handler.
        request.leavePace?.()
        // A store is not learnt from other addresses that name it: a draft shows its images, too.
        const store = storeOf(request.url)
        if (store !== null && (raw.statusCode === 200 || raw.statusCode === 304)) {
          served.learn(store)
        }
      })
      for (const add of routes) await add(app)
    },
  ])

/**
 * Ends the turn of a public read when its handler is done, also if the handler has sent the answer itself. A store that
 * the handler does not find is forgotten.
 */
function leaveAfterHandler(route: RouteOptions, served: ServedStores): void {
  const { handler, config } = route
  route.handler = async function inTurn(request, reply) {
    if (config?.streams) request.leavePace?.()
    try {
      return await forReader(request.reader, () => handler.call(this, request, reply))
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.code === 'unknown_tenant'
      const store = isUnknown ? storeOf(request.url) : null
      if (store !== null) served.forget(store)
      throw error
    } finally {
      request.leavePace?.()
    }
  }
}

/** The store that an address names, if any. */
export const storeOf = (url: string): string | null => partAfter('/v1/tenants/', url)

/** The store whose asset an address names, if any. */
const storeOfAsset = (url: string): string | null => partAfter('/stores/', url)

function partAfter(start: string, url: string): string | null {
  if (!url.startsWith(start)) return null
  const end = url.indexOf('/', start.length)
  return end === -1 ? null : url.slice(start.length, end)
}
