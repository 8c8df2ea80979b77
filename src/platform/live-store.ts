import type { Answer, Encoding } from './live-answer.ts'
import { createShares } from './live-shares.ts'

/** One kept answer, and its place in the order of use. */
export interface Entry {
  readonly shelf: Shelf
  readonly key: string
  readonly answer: Answer
  /** Null: compressing made it no smaller. */
  readonly forms: Map<Encoding, Buffer | null>
  readonly order: Order
  /** The address it is asked for under, once it is known, and the route that has that address. */
  address: string | null
  route: string
  bytes: number
  older: Entry | null
  newer: Entry | null
}

/** A load under way, which later readers of the same key may join. */
export interface Load {
  readonly answer: Promise<Answer>
  readonly since: number
}

/**
 * A tenant's answers in one generation. A change puts the shelf away and the next read opens a new
 * one; a load that began with the old shelf finds that it is no longer the tenant's, and its answer
 * is not kept.
 */
export interface Shelf {
  readonly tenant: string
  readonly entries: Map<string, Entry>
  readonly loads: Map<string, Load>
  /** The room that its entries take, those of unknown names left out. */
  bytes: number
}

/** Entries from the least to the most recently used, within their own bound. */
interface Order {
  readonly maxBytes: number
  oldest: Entry | null
  newest: Entry | null
  bytes: number
  count: number
}

export type LiveStore = ReturnType<typeof createLiveStore>

/**
 * Anyone can ask for names that do not exist, as many as they like. Those answers have their own
 * eighth of the room, so that they only push out each other.
 */
const NEGATIVE_SHARE = 1 / 8

/** No single answer may take more of the room than this, or one would push out all others. */
const ENTRY_SHARE = 1 / 4

/**
 * A store with more than this makes room for its next answer among its own: anyone can read a hundred
 * large collections in turn, and would push out the answers of all other stores.
 */
const TENANT_SHARE = 1 / 2

/** What an entry takes beside its bytes: objects, map slots, the buffer's own header. */
const ENTRY_BYTES = 768

/** A longer key is no address that a shop has; it is asked for once. */
const KEY_LENGTH_MAX = 2_048

/** A longer address is looked up part by part each time. */
const ADDRESS_LENGTH_MAX = 300

export function createLiveStore(maxBytes: number) {
  const shelves = new Map<string, Shelf>()
  const entryOf = new WeakMap<Answer, Entry>()
  /** Most reads are of an address that was read before: one look instead of five. */
  const addresses = new Map<string, Entry>()
  const shared = createShares()
  const negative = createOrder(Math.floor(maxBytes * NEGATIVE_SHARE))
  const positive = createOrder(maxBytes - negative.maxBytes)
  let evictions = 0

  const isCurrent = (shelf: Shelf) => shelves.get(shelf.tenant) === shelf

  const isLarge = (shelf: Shelf) => shelf.bytes > positive.maxBytes * TENANT_SHARE

  function charge({ order, shelf }: Entry, bytes: number) {
    order.bytes += bytes
    if (order === positive) shelf.bytes += bytes
  }

  function letGo(entry: Entry) {
    unlink(entry)
    charge(entry, -entry.bytes - shared.release(entry.answer.body))
    forgetAddress(entry)
    entryOf.delete(entry.answer)
  }

  function remove(entry: Entry) {
    letGo(entry)
    entry.shelf.entries.delete(entry.key)
    forgetIfBare(entry.shelf)
  }

  /** A large shelf has its entries in the order of use as well. For any other that would be in vain. */
  function use(entry: Entry) {
    touch(entry)
    const { shelf, key } = entry
    if (!isLarge(shelf)) return
    shelf.entries.delete(key)
    shelf.entries.set(key, entry)
  }

  function forgetAddress({ address }: Entry) {
    if (address !== null) addresses.delete(address)
  }

  /** A tenant is remembered only while there is something to remember. */
  function forgetIfBare(shelf: Shelf) {
    if (shelf.entries.size + shelf.loads.size === 0 && isCurrent(shelf)) {
      shelves.delete(shelf.tenant)
    }
  }

  function evict(order: Order, shelf: Shelf) {
    while (order.bytes > order.maxBytes && order.oldest !== null) {
      evictions += 1
      const isOwn = order === positive && isLarge(shelf)
      const own = isOwn ? shelf.entries.values().find((each) => each.order === order) : undefined
      remove(own ?? order.oldest)
    }
  }

  return {
    openShelf(tenant: string): Shelf {
      const known = shelves.get(tenant)
      if (known !== undefined) return known
      const shelf: Shelf = { tenant, entries: new Map(), loads: new Map(), bytes: 0 }
      shelves.set(tenant, shelf)
      return shelf
    },

    forgetIfBare,

    find(tenant: string, key: string): Answer | null {
      const entry = shelves.get(tenant)?.entries.get(key)
      if (entry === undefined) return null
      use(entry)
      return entry.answer
    },

    findByAddress(address: string): Entry | null {
      const entry = addresses.get(address)
      if (entry === undefined) return null
      use(entry)
      return entry
    },

    /** From now on the answer is found by its address. Only for one that the address alone names. */
    noteAddress(answer: Answer, address: string, route: string) {
      const entry = entryOf.get(answer)
      if (entry === undefined || entry.address !== null || address.length > ADDRESS_LENGTH_MAX)
        return
      entry.address = address
      entry.route = route
      addresses.set(address, entry)
      entry.bytes += 2 * address.length
      charge(entry, 2 * address.length)
      evict(entry.order, entry.shelf)
    },

    /** Keeps an answer, unless its shelf was put away. Answers what readers are to be given. */
    put(shelf: Shelf, key: string, given: Answer): Answer {
      const order = given.status >= 400 ? negative : positive
      const bytes = sizeOf(shelf.tenant, key, given)
      const whole = bytes + given.body.length
      const fits = whole <= order.maxBytes * ENTRY_SHARE && key.length <= KEY_LENGTH_MAX
      // A failure is no answer to keep, whoever made it.
      if (!fits || given.status >= 500 || !isCurrent(shelf)) return given
      const before = shelf.entries.get(key)
      if (before !== undefined) letGo(before)
      const answer = { ...given, body: findTwin(shelf, given) ?? alone(given.body) }
      const links = { older: null, newer: null }
      const unasked = { address: null, route: '' }
      const forms = new Map()
      const entry: Entry = { shelf, key, answer, forms, order, ...unasked, bytes, ...links }
      shelf.entries.set(key, entry)
      entryOf.set(answer, entry)
      append(entry)
      charge(entry, bytes + shared.take(answer.body))
      evict(order, shelf)
      return answer
    },

    entryOf: (answer: Answer) => entryOf.get(answer),

    /** Keeps a compressed form beside its answer, within the same bound. Answers what to send. */
    addForm(entry: Entry, encoding: Encoding, form: Buffer | null): Buffer | null {
      if (entryOf.get(entry.answer) !== entry) return form
      const body = form === null ? null : alone(form)
      entry.forms.set(encoding, body)
      entry.bytes += body?.length ?? 0
      charge(entry, body?.length ?? 0)
      evict(entry.order, entry.shelf)
      return body
    },

    drop(tenant: string) {
      const shelf = shelves.get(tenant)
      if (shelf === undefined) return
      shelves.delete(tenant)
      for (const entry of shelf.entries.values()) remove(entry)
    },

    clear() {
      for (const shelf of shelves.values()) {
        for (const entry of shelf.entries.values()) entryOf.delete(entry.answer)
      }
      shelves.clear()
      addresses.clear()
      shared.clear()
      for (const order of [positive, negative]) {
        Object.assign(order, { oldest: null, newest: null, bytes: 0, count: 0 })
      }
    },

    figures: () => ({
      tenants: shelves.size,
      entries: positive.count + negative.count,
      bytes: positive.bytes + negative.bytes,
      negativeBytes: negative.bytes,
      evictions,
    }),
  }
}

const createOrder = (maxBytes: number): Order => ({
  maxBytes,
  oldest: null,
  newest: null,
  bytes: 0,
  count: 0,
})

// A list of our own: taking the oldest of a Map or Set of 200,000 costs 34 us, because each look
// passes over the holes that deletions left in front.
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

function touch(entry: Entry) {
  if (entry.order.newest === entry) return
  unlink(entry)
  append(entry)
}

/** A small buffer is cut from a block that it would hold in memory, uncounted. */
function alone(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  body.copy(copy)
  return copy
}

/** The same bytes under another key of the tenant, so that they are kept once. */
function findTwin(shelf: Shelf, { body, head }: Answer): Buffer | undefined {
  // Only an answer that is cut to share is looked for; a catalog's pages have nothing in common.
  if (head === undefined) return undefined
  for (const { answer } of shelf.entries.values()) {
    if (answer.head !== undefined && answer.body.equals(body)) return answer.body
  }
  return undefined
}

/** What an entry takes beside its body, which it may share. */
function sizeOf(tenant: string, key: string, answer: Answer): number {
  const { etag = '', head = '' } = answer
  let characters = tenant.length + key.length + etag.length + head.length
  for (const [name, value] of Object.entries(answer.headers)) {
    characters += name.length + value.length
  }
  return ENTRY_BYTES + 2 * characters
}
