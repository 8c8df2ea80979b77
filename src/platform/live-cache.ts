import type { Logger } from 'pino'
import type { Database, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import {
  type Answer,
  bodyBytes,
  COMPRESS_FROM_BYTES,
  compress,
  type Encoded,
  type Encoding,
  pickEncoding,
  wholeBody,
} from './live-answer.ts'
import { CHANNEL, createLiveChannel } from './live-channel.ts'
import { createLiveStore, type Entry, type Load } from './live-store.ts'

const MAX_BYTES = 64 * 1_024 * 1_024

/**
 * The database ends our statements after 10 s. A load that is older hangs on a dead connection, and
 * no new reader is made to wait for it.
 */
const LOAD_MS = 10_000

/** Cannot be set back, as the time of day can: trust would last longer. */
const monotonicClock: Clock = { now: () => performance.now() }

export interface LiveCacheOptions {
  /** Past any pooler, since notifications arrive on it. */
  listenUrl: string
  database: Database
  maxBytes?: number
  logger: Logger
  clock?: Clock
}

export type LoadAnswer = () => Promise<Answer>

export interface LiveCache {
  /** What is kept under the key, or else what the loader gives. */
  read(tenant: string, key: string, load: LoadAnswer): Promise<Answer>
  /** Only what is kept, at once. */
  find(tenant: string, key: string): Answer | null
  /** The same by the address that `noteAddress` was told. */
  findByAddress(address: string): { readonly answer: Answer; readonly route: string } | null
  /** Lets a kept answer be found by its address, if that alone names it and always will. */
  noteAddress(answer: Answer, address: string, route: string): void
  /**
   * The smallest form the caller understands, or null for the answer as it is. Made once for an
   * answer that is kept.
   */
  encoded(answer: Answer, acceptEncoding: string | undefined): Promise<Encoded | null>
  /** The same, but only what is made already; undefined when it is yet to be made. */
  findEncoded(answer: Answer, acceptEncoding: string | undefined): Encoded | null | undefined
  /**
   * Forgets a tenant. A writer calls this when its commit has returned or its outcome is unknown,
   * and before it answers. Other processes learn by `notifyChanged`.
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
  /** Reads while nothing was kept. */
  bypassed: number
}

/**
 * Tells every process, once this transaction commits, that what the public sees of the tenant has
 * changed. Not for money: a commit that notifies takes a lock of the whole installation.
 */
export async function notifyChanged(tx: Tx, subject: string = tx.tenant): Promise<void> {
  await tx.run(sql`select pg_notify(${CHANNEL}, ${subject})`)
}

/**
 * Finished public answers, kept in memory and never wrong for longer than a notification travels.
 * While notifications cannot be relied on nothing is kept, and every read asks the database.
 */
export function createLiveCache(options: LiveCacheOptions): LiveCache {
  const clock = options.clock ?? monotonicClock
  const store = createLiveStore(options.maxBytes ?? MAX_BYTES)
  const counts = { hits: 0, misses: 0, bypassed: 0 }
  const channel = createLiveChannel({
    ...options,
    clock,
    onChange: (subject) => store.drop(subject),
    onDistrust: () => store.clear(),
  })
  const loadAfresh = createFreshLoads(clock)

  function loadShared(tenant: string, key: string, load: LoadAnswer): Promise<Answer> {
    const shelf = store.openShelf(tenant)
    const running = shelf.loads.get(key)
    if (running !== undefined && clock.now() - running.since < LOAD_MS) return running.answer
    const answer = attempt(load)
      // Trust that lapsed meanwhile puts the shelf away, so it is asked about first.
      .then((loaded) => (channel.isTrusted() ? store.put(shelf, key, loaded) : loaded))
      .finally(() => {
        if (shelf.loads.get(key) === started) shelf.loads.delete(key)
        store.forgetIfBare(shelf)
      })
    const started: Load = { answer, since: clock.now() }
    shelf.loads.set(key, started)
    return answer
  }

  function find(tenant: string, key: string): Answer | null {
    const found = channel.isTrusted() ? store.find(tenant, key) : null
    if (found !== null) counts.hits += 1
    return found
  }

  return {
    find,
    findByAddress(address) {
      const found = channel.isTrusted() ? store.findByAddress(address) : null
      if (found !== null) counts.hits += 1
      return found
    },
    noteAddress: (answer, address, route) => store.noteAddress(answer, address, route),
    read(tenant, key, load) {
      const found = find(tenant, key)
      if (found !== null) return Promise.resolve(found)
      if (channel.isTrusted()) {
        counts.misses += 1
        return loadShared(tenant, key, load)
      }
      counts.bypassed += 1
      return loadAfresh(`${tenant}\n${key}`, load)
    },
    ...createEncoder(store),
    drop: (tenant) => store.drop(tenant),
    get trusted() {
      return channel.isTrusted()
    },
    start: () => channel.start(),
    stop: () => channel.stop(),
    stats: () => ({ trusted: channel.isTrusted(), ...store.figures(), ...counts }),
  }
}

/** A loader that throws before its first await fails like any other. */
const attempt = async (load: LoadAnswer) => load()

interface Line {
  readonly over: Promise<void>
  readonly since: number
  next: Promise<Answer> | null
}

/**
 * Loads while nothing is known of other processes' writes. A reader may not join a load that began
 * before it, which may have missed the write the reader knows of; it shares the next one instead.
 * So a crowd costs two loads and not one each, at the moment the database is least able to bear it.
 */
function createFreshLoads(clock: Clock) {
  const lines = new Map<string, Line>()

  function begin(id: string, load: LoadAnswer): Promise<Answer> {
    const answer = attempt(load)
    const over = answer.then(
      () => {},
      () => {},
    )
    const line: Line = { over, since: clock.now(), next: null }
    lines.set(id, line)
    over.then(() => {
      if (line.next === null && lines.get(id) === line) lines.delete(id)
    })
    return answer
  }

  return (id: string, load: LoadAnswer): Promise<Answer> => {
    const line = lines.get(id)
    if (line === undefined || clock.now() - line.since >= LOAD_MS) return begin(id, load)
    line.next ??= line.over.then(() => begin(id, load))
    return line.next
  }
}

/** Compresses each kept answer once, and one form of it at a time. */
function createEncoder(store: ReturnType<typeof createLiveStore>) {
  const lines = new WeakMap<Entry, Promise<unknown>>()

  async function addForm(entry: Entry, encoding: Encoding): Promise<Buffer | null> {
    const before = lines.get(entry) ?? Promise.resolve()
    const made = before
      .catch(() => {})
      .then(async () => {
        const known = entry.forms.get(encoding)
        if (known !== undefined) return known
        const whole = wholeBody(entry.answer)
        const form = await compress(whole, encoding)
        const smaller = form.length < whole.length ? form : null
        return store.addForm(entry, encoding, smaller)
      })
    lines.set(entry, made)
    // Held for longer it would keep a second copy of the form, uncounted.
    const leave = () => lines.get(entry) === made && lines.delete(entry)
    made.then(leave, leave)
    return made
  }

  /** Which form to send. What is not kept would be compressed for one reader, and again for the next. */
  function pick(answer: Answer, acceptEncoding: string | undefined) {
    const entry = store.entryOf(answer)
    const encoding = pickEncoding(acceptEncoding)
    if (entry === undefined || encoding === null) return null
    return bodyBytes(answer) <= COMPRESS_FROM_BYTES ? null : { entry, encoding }
  }

  const asEncoded = (body: Buffer | null, encoding: Encoding) =>
    body === null ? null : { body, encoding }

  return {
    async encoded(answer: Answer, acceptEncoding: string | undefined): Promise<Encoded | null> {
      const picked = pick(answer, acceptEncoding)
      if (picked === null) return null
      const { entry, encoding } = picked
      const known = entry.forms.get(encoding)
      return asEncoded(known === undefined ? await addForm(entry, encoding) : known, encoding)
    },

    findEncoded(answer: Answer, acceptEncoding: string | undefined): Encoded | null | undefined {
      if (acceptEncoding === undefined) return null
      const picked = pick(answer, acceptEncoding)
      if (picked === null) return null
      const known = picked.entry.forms.get(picked.encoding)
      return known === undefined ? undefined : asEncoded(known, picked.encoding)
    },
  }
}
