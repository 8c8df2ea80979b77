import type { Logger } from 'pino'
import type { Database, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import {
  bodyBytes,
  type CachedResponse,
  COMPRESS_FROM_BYTES,
  compress,
  type EncodedBody,
  type Encoding,
  pickEncoding,
  wholeBody,
} from './cached-response.ts'
import { type Entry, LiveEntries, type Load } from './live-cache-entries.ts'
import { CHANNEL, LiveListener } from './live-cache-listener.ts'

const MAX_BYTES = 64 * 1_024 * 1_024

/**
 * How long readers may join a running load. The database ends our statements after 10 s, so an older load waits for a
 * dead connection.
 */
const LOAD_MS = 10_000

/** A monotonic clock: the time of day can be set back, and the cache would then be trusted for longer. */
const monotonicClock: Clock = { now: () => performance.now() }

export interface LiveCacheOptions {
  /** Must bypass any connection pooler, since notifications arrive on this connection. */
  listenUrl: string
  database: Database
  maxBytes?: number
  logger: Logger
  clock?: Clock
}

export type LoadResponse = () => Promise<CachedResponse>

export interface LiveCache {
  /** Returns the cached response of the key, or else the response that the loader returns. */
  read(tenant: string, key: string, load: LoadResponse): Promise<CachedResponse>
  /** Returns a response only from the cache, without a wait. */
  find(tenant: string, key: string): CachedResponse | null
  /** Finds a response like `find`, by the address that was given to `addAddress`. */
  findByAddress(
    address: string,
  ): { readonly response: CachedResponse; readonly route: string } | null
  /** Lets a cached response be found by its address, if that address alone always identifies it. */
  addAddress(response: CachedResponse, address: string, route: string): void
  /**
   * Returns the smallest encoding that the client accepts, or null for the plain body. A cached response is
   * compressed once per encoding.
   */
  encoded(response: CachedResponse, acceptEncoding: string | undefined): Promise<EncodedBody | null>
  /** Returns an encoding like `encoded`, but only if it exists already; undefined when it must still be made. */
  findEncoded(
    response: CachedResponse,
    acceptEncoding: string | undefined,
  ): EncodedBody | null | undefined
  /**
   * Drops the responses of a store. A writer calls this when its commit has returned or its outcome
   * is unknown, and before it answers. Other processes learn of the change by `notifyChanged`.
   */
  drop(tenant: string): void
  readonly trusted: boolean
  start(): void
  stop(): Promise<void>
  stats(): LiveCacheStats
}

export interface LiveCacheStats {
  trusted: boolean
  tenants: number
  entries: number
  bytes: number
  negativeBytes: number
  evictions: number
  hits: number
  misses: number
  /** How many reads came while the cache was off. */
  bypassed: number
}

/**
 * Notifies every process, once this transaction commits, that public responses of the store have changed. Not to be
 * used in transactions that move money: a commit that notifies takes a lock of the whole installation.
 */
export async function notifyChanged(tx: Tx, subject: string = tx.tenant): Promise<void> {
  await tx.run(sql`select pg_notify(${CHANNEL}, ${subject})`)
}

/**
 * Creates the live cache: finished responses of public routes, in memory, never outdated for longer
 * than a notification takes, or than their `freshMs`. While notifications cannot be relied on,
 * nothing is cached and every read queries the database. Why no library: decision 0013.
 */
export function createLiveCache(options: LiveCacheOptions): LiveCache {
  const clock = options.clock ?? monotonicClock
  const entries = new LiveEntries(options.maxBytes ?? MAX_BYTES)
  const counts = { hits: 0, misses: 0, bypassed: 0 }
  const listener = new LiveListener({
    ...options,
    clock,
    onChange: (subject) => entries.drop(subject),
    onDistrust: () => entries.clear(),
  })
  const loadUncached = createUncachedLoads(clock)

  function loadShared(tenant: string, key: string, load: LoadResponse): Promise<CachedResponse> {
    const generation = entries.openGeneration(tenant)
    const running = generation.loads.get(key)
    if (running !== undefined && clock.now() - running.since < LOAD_MS) return running.response
    const since = clock.now()
    // Freshness counts from the start of the load: the data that it read may be as old.
    const keep = (loaded: CachedResponse) =>
      entries.put(generation, key, loaded, since + (loaded.freshMs ?? Number.POSITIVE_INFINITY))
    const response = startLoad(load)
      // Trust is checked first: if it has ended meanwhile, this call also drops the generation.
      .then((loaded) => (listener.isTrusted() ? keep(loaded) : loaded))
      .finally(() => {
        if (generation.loads.get(key) === started) generation.loads.delete(key)
        entries.deleteIfEmpty(generation)
      })
    const started: Load = { response, since }
    generation.loads.set(key, started)
    return response
  }

  function find(tenant: string, key: string): CachedResponse | null {
    const found = listener.isTrusted() ? entries.find(tenant, key, clock.now()) : null
    if (found !== null) counts.hits += 1
    return found
  }

  return {
    find,
    findByAddress(address) {
      const found = listener.isTrusted() ? entries.findByAddress(address, clock.now()) : null
      if (found !== null) counts.hits += 1
      return found
    },
    addAddress: (response, address, route) => entries.addAddress(response, address, route),
    read(tenant, key, load) {
      const found = find(tenant, key)
      if (found !== null) return Promise.resolve(found)
      if (listener.isTrusted()) {
        counts.misses += 1
        return loadShared(tenant, key, load)
      }
      counts.bypassed += 1
      return loadUncached(`${tenant}\n${key}`, load)
    },
    ...createEncoder(entries),
    drop: (tenant) => entries.drop(tenant),
    get trusted() {
      return listener.isTrusted()
    },
    start: () => listener.start(),
    stop: () => listener.stop(),
    stats: () => ({ trusted: listener.isTrusted(), ...entries.stats(), ...counts }),
  }
}

/** Starts a load. A loader that throws before its first await rejects like any other. */
const startLoad = async (load: LoadResponse) => load()

interface LoadChain {
  readonly over: Promise<void>
  readonly since: number
  next: Promise<CachedResponse> | null
}

/**
 * Creates the loads that run while the cache is off. A reader may not join a load that began before it, because that
 * load may have missed a write the reader knows of; it shares the next load instead. So many readers cost two loads
 * and not one each, at the moment when the database can bear it least.
 */
function createUncachedLoads(clock: Clock) {
  const chains = new Map<string, LoadChain>()

  function begin(id: string, load: LoadResponse): Promise<CachedResponse> {
    const response = startLoad(load)
    const over = response.then(
      () => {},
      () => {},
    )
    const chain: LoadChain = { over, since: clock.now(), next: null }
    chains.set(id, chain)
    over.then(() => {
      if (chain.next === null && chains.get(id) === chain) chains.delete(id)
    })
    return response
  }

  return (id: string, load: LoadResponse): Promise<CachedResponse> => {
    const chain = chains.get(id)
    if (chain === undefined || clock.now() - chain.since >= LOAD_MS) return begin(id, load)
    chain.next ??= chain.over.then(() => begin(id, load))
    return chain.next
  }
}

/** Compresses each cached response once per encoding, and one encoding at a time. */
function createEncoder(entries: LiveEntries) {
  const running = new WeakMap<Entry, Promise<unknown>>()

  async function addForm(entry: Entry, encoding: Encoding): Promise<Buffer | null> {
    const before = running.get(entry) ?? Promise.resolve()
    const made = before
      .catch(() => {})
      .then(async () => {
        const known = entry.forms.get(encoding)
        if (known !== undefined) return known
        const whole = wholeBody(entry.response)
        const form = await compress(whole, encoding)
        const smaller = form.length < whole.length ? form : null
        return entries.addForm(entry, encoding, smaller)
      })
    running.set(entry, made)
    // Otherwise the promise would keep a second copy of the body that is not counted.
    const leave = () => running.get(entry) === made && running.delete(entry)
    made.then(leave, leave)
    return made
  }

  /**
   * Picks the encoding to send. A response that is not cached is sent uncompressed: it would be compressed again for
   * every reader.
   */
  function pick(response: CachedResponse, acceptEncoding: string | undefined) {
    const entry = entries.findEntry(response)
    const encoding = pickEncoding(acceptEncoding)
    if (entry === undefined || encoding === null) return null
    return bodyBytes(response) <= COMPRESS_FROM_BYTES ? null : { entry, encoding }
  }

  const asEncoded = (body: Buffer | null, encoding: Encoding) =>
    body === null ? null : { body, encoding }

  return {
    async encoded(
      response: CachedResponse,
      acceptEncoding: string | undefined,
    ): Promise<EncodedBody | null> {
      const picked = pick(response, acceptEncoding)
      if (picked === null) return null
      const { entry, encoding } = picked
      const known = entry.forms.get(encoding)
      return asEncoded(known === undefined ? await addForm(entry, encoding) : known, encoding)
    },

    findEncoded(
      response: CachedResponse,
      acceptEncoding: string | undefined,
    ): EncodedBody | null | undefined {
      if (acceptEncoding === undefined) return null
      const picked = pick(response, acceptEncoding)
      if (picked === null) return null
      const known = picked.entry.forms.get(picked.encoding)
      return known === undefined ? undefined : asEncoded(known, picked.encoding)
    },
  }
}
