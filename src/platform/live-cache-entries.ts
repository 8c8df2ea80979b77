import type { CachedResponse, Encoding } from './cached-response.ts'

/** A cached response, and its place in the order of use. */
export interface Entry {
  readonly generation: Generation
  readonly key: string
  readonly response: CachedResponse
  /** When the response must be loaded again, by the clock of the cache. */
  freshUntil: number
  /** The compressed bodies. Null where compression did not make the body smaller. */
  readonly forms: Map<Encoding, Buffer | null>
  readonly order: Order
  /** The request address of the response, once it is known, and the route of that address. */
  address: string | null
  route: string
  bytes: number
  older: Entry | null
  newer: Entry | null
}

/** A running load, which later readers of the same key may join. */
export interface Load {
  readonly response: Promise<CachedResponse>
  readonly since: number
}

/**
 * The cached responses of a store between two changes. A change drops the generation and the next
 * read opens a new one. A load that began with a dropped generation does not cache its response.
 */
export interface Generation {
  readonly tenant: string
  readonly entries: Map<string, Entry>
  readonly loads: Map<string, Load>
  /** The bytes of its entries, without those of names that do not exist. */
  bytes: number
}

/** Entries from the least to the most recently used, with a bound of their own. */
interface Order {
  readonly maxBytes: number
  oldest: Entry | null
  newest: Entry | null
  bytes: number
  count: number
}

/**
 * The share of memory for responses of 4xx. Any caller can request any number of names that do not exist; with a
 * share of their own, those responses only evict each other.
 */
const NEGATIVE_SHARE = 1 / 8

/** The largest share of memory for one response, so that one cannot evict all others. */
const ENTRY_SHARE = 1 / 4

/**
 * The share of memory beyond which a store evicts its own responses first. Any caller can read a hundred large
 * collections in turn, and would otherwise evict the responses of all other stores.
 */
const TENANT_SHARE = 1 / 2

/** How much memory an entry takes beside its texts: objects, map slots, the buffer's header. */
const ENTRY_BYTES = 768

/** The longest key of a cached response: no real address of a storefront is longer. */
const KEY_LENGTH_MAX = 2_048

/** The longest address that finds a response directly. A longer one is parsed at each request. */
const ADDRESS_LENGTH_MAX = 300

/** The entries of the live cache: finished responses by store and key, bounded by their bytes. */
export class LiveEntries {
  readonly #generations = new Map<string, Generation>()
  readonly #entryOf = new WeakMap<CachedResponse, Entry>()
  /** Entries by request address. Most reads are of a known address: one lookup instead of five. */
  readonly #addresses = new Map<string, Entry>()
  readonly #shared = countShares()
  readonly #negative: Order
  readonly #positive: Order
  #evictions = 0

  constructor(maxBytes: number) {
    this.#negative = createOrder(Math.floor(maxBytes * NEGATIVE_SHARE))
    this.#positive = createOrder(maxBytes - this.#negative.maxBytes)
  }

  #isCurrent(generation: Generation): boolean {
    return this.#generations.get(generation.tenant) === generation
  }

  #isLarge(generation: Generation): boolean {
    return generation.bytes > this.#positive.maxBytes * TENANT_SHARE
  }

  #addBytes({ order, generation }: Entry, bytes: number) {
    order.bytes += bytes
    if (order === this.#positive) generation.bytes += bytes
  }

  #detach(entry: Entry) {
    unlink(entry)
    this.#addBytes(entry, -entry.bytes - this.#shared.release(entry.response.body))
    this.#removeAddress(entry)
    this.#entryOf.delete(entry.response)
  }

  #remove(entry: Entry) {
    this.#detach(entry)
    entry.generation.entries.delete(entry.key)
    this.deleteIfEmpty(entry.generation)
  }

  /**
   * Marks an entry as used. Only a large generation keeps its own entries in the order of use;
   * others do not need it.
   */
  #markUsed(entry: Entry) {
    moveToNewest(entry)
    const { generation, key } = entry
    if (!this.#isLarge(generation)) return
    generation.entries.delete(key)
    generation.entries.set(key, entry)
  }

  #removeAddress({ address }: Entry) {
    if (address !== null) this.#addresses.delete(address)
  }

  /** Deletes a generation that has neither entries nor loads. */
  deleteIfEmpty(generation: Generation) {
    if (generation.entries.size + generation.loads.size === 0 && this.#isCurrent(generation)) {
      this.#generations.delete(generation.tenant)
    }
  }

  #evict(order: Order, generation: Generation) {
    while (order.bytes > order.maxBytes && order.oldest !== null) {
      this.#evictions += 1
      const isOwn = order === this.#positive && this.#isLarge(generation)
      const own = isOwn
        ? generation.entries.values().find((each) => each.order === order)
        : undefined
      this.#remove(own ?? order.oldest)
    }
  }

  openGeneration(tenant: string): Generation {
    const known = this.#generations.get(tenant)
    if (known !== undefined) return known
    const generation: Generation = { tenant, entries: new Map(), loads: new Map(), bytes: 0 }
    this.#generations.set(tenant, generation)
    return generation
  }

  /** Finds a cached response. `now` is a time of the clock by which `freshUntil` was given. */
  find(tenant: string, key: string, now = 0): CachedResponse | null {
    const entry = this.#generations.get(tenant)?.entries.get(key)
    if (entry === undefined || entry.freshUntil <= now) return null
    this.#markUsed(entry)
    return entry.response
  }

  findByAddress(address: string, now = 0): Entry | null {
    // No address that long is kept, and the map would have to read all of it.
    if (address.length > ADDRESS_LENGTH_MAX) return null
    const entry = this.#addresses.get(address)
    if (entry === undefined || entry.freshUntil <= now) return null
    this.#markUsed(entry)
    return entry
  }

  /** Makes a response findable by its address. Use it only for a response that the address alone identifies. */
  addAddress(response: CachedResponse, address: string, route: string) {
    const entry = this.#entryOf.get(response)
    if (entry === undefined || entry.address !== null || address.length > ADDRESS_LENGTH_MAX) return
    entry.address = address
    entry.route = route
    this.#addresses.set(address, entry)
    entry.bytes += 2 * address.length
    this.#addBytes(entry, 2 * address.length)
    this.#evict(entry.order, entry.generation)
  }

  /** Caches a response, unless its generation was dropped. Returns the response to send. */
  put(
    generation: Generation,
    key: string,
    given: CachedResponse,
    freshUntil = Number.POSITIVE_INFINITY,
  ): CachedResponse {
    const order = given.status >= 400 ? this.#negative : this.#positive
    const bytes = sizeOf(generation.tenant, key, given)
    const whole = bytes + given.body.length
    const fits = whole <= order.maxBytes * ENTRY_SHARE && key.length <= KEY_LENGTH_MAX
    // A 5xx response is never cached.
    if (!fits || given.status >= 500 || !this.#isCurrent(generation)) return given
    const before = generation.entries.get(key)
    if (before !== undefined && isSame(before.response, given)) {
      // The compressed forms and the address of the entry stay.
      before.freshUntil = freshUntil
      return before.response
    }
    if (before !== undefined) this.#detach(before)
    const response = {
      ...given,
      body: findSameBody(generation, given) ?? copyIfPooled(given.body),
    }
    const entry: Entry = {
      generation,
      key,
      response,
      freshUntil,
      forms: new Map(),
      order,
      address: null,
      route: '',
      bytes,
      older: null,
      newer: null,
    }
    generation.entries.set(key, entry)
    this.#entryOf.set(response, entry)
    append(entry)
    this.#addBytes(entry, bytes + this.#shared.take(response.body))
    this.#evict(order, generation)
    return response
  }

  findEntry(response: CachedResponse): Entry | undefined {
    return this.#entryOf.get(response)
  }

  /** Adds a compressed body to an entry, within the same bound. Returns the body to send. */
  addForm(entry: Entry, encoding: Encoding, form: Buffer | null): Buffer | null {
    if (this.#entryOf.get(entry.response) !== entry) return form
    const body = form === null ? null : copyIfPooled(form)
    entry.forms.set(encoding, body)
    entry.bytes += body?.length ?? 0
    this.#addBytes(entry, body?.length ?? 0)
    this.#evict(entry.order, entry.generation)
    return body
  }

  drop(tenant: string) {
    const generation = this.#generations.get(tenant)
    if (generation === undefined) return
    this.#generations.delete(tenant)
    for (const entry of generation.entries.values()) this.#remove(entry)
  }

  clear() {
    for (const generation of this.#generations.values()) {
      for (const entry of generation.entries.values()) this.#entryOf.delete(entry.response)
    }
    this.#generations.clear()
    this.#addresses.clear()
    this.#shared.clear()
    for (const order of [this.#positive, this.#negative]) {
      Object.assign(order, { oldest: null, newest: null, bytes: 0, count: 0 })
    }
  }

  stats() {
    return {
      tenants: this.#generations.size,
      entries: this.#positive.count + this.#negative.count,
      bytes: this.#positive.bytes + this.#negative.bytes,
      negativeBytes: this.#negative.bytes,
      evictions: this.#evictions,
    }
  }
}

const createOrder = (maxBytes: number): Order => ({
  maxBytes,
  oldest: null,
  newest: null,
  bytes: 0,
  count: 0,
})

// A linked list of our own, because finding the oldest entry of a Map or Set of 200,000 costs 34 us: each search
// passes over the holes that deletions left at the front.
function append(entry: Entry) {
  const { order } = entry
  entry.older = order.newest
  if (order.newest === null) order.oldest = entry
  else order.newest.newer = entry
  order.newest = entry
  order.count += 1
}

function unlink(entry: Entry) {
  const { order, older, newer } = entry
  if (older === null) order.oldest = newer
  else older.newer = newer
  if (newer === null) order.newest = older
  else newer.older = older
  entry.older = null
  entry.newer = null
  order.count -= 1
}

function moveToNewest(entry: Entry) {
  if (entry.order.newest === entry) return
  unlink(entry)
  append(entry)
}

/** Copies a small buffer that is a part of a pool: it would keep the whole pool in memory, uncounted. */
function copyIfPooled(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  body.copy(copy)
  return copy
}

/** Whether two responses are sent as the same bytes. */
const isSame = (one: CachedResponse, other: CachedResponse): boolean =>
  one.status === other.status &&
  one.head === other.head &&
  one.etag === other.etag &&
  one.body.equals(other.body) &&
  JSON.stringify(one.headers) === JSON.stringify(other.headers)

/** Finds the same bytes under another key of the store, so that they are stored once. */
function findSameBody(generation: Generation, { body, head }: CachedResponse): Buffer | undefined {
  // Only responses with a `head` can share their body; the pages of a catalog have nothing in
  // common.
  if (head === undefined) return undefined
  for (const { response } of generation.entries.values()) {
    if (response.head !== undefined && response.body.equals(body)) return response.body
  }
  return undefined
}

/** Estimates the memory of an entry without its body, which it may share. */
function sizeOf(tenant: string, key: string, response: CachedResponse): number {
  const { etag = '', head = '' } = response
  let characters = tenant.length + key.length + etag.length + head.length
  for (const [name, value] of Object.entries(response.headers)) {
    characters += name.length + value.length
  }
  return ENTRY_BYTES + 2 * characters
}

/** Counts how many entries share a buffer. Both methods return by how many bytes the memory in use changes. */
function countShares() {
  const holders = new Map<Buffer, number>()
  return {
    take(body: Buffer): number {
      const before = holders.get(body) ?? 0
      holders.set(body, before + 1)
      return before === 0 ? body.length : 0
    },
    release(body: Buffer): number {
      const before = holders.get(body) ?? 0
      if (before > 1) {
        holders.set(body, before - 1)
        return 0
      }
      holders.delete(body)
      return before === 1 ? body.length : 0
    },
    clear: () => holders.clear(),
  }
}
