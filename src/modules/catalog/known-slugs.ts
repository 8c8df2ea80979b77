import { randomInt } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { forHeavyRead } from '../../db/list.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import * as queries from './public-queries.ts'

/**
 * Which slugs a store has, in memory, so that "no such slug" costs no statement. Any caller can ask for another slug
 * that does not exist with each request, and no cache of answers helps against that.
 *
 * It is a Bloom filter: two bytes for each slug, and one in two thousand of the others is looked up after all. It is an
 * entry of the live cache and is dropped like the store's answers, so that it is never older than they are.
 */

const KEY = 'catalog/slugs'

/** How many slugs must be missing before the filter is made: reading all slugs costs as much as some of the misses. */
const MISSES_MIN = 50

/** How many stores are counted. When there are more, all counts begin anew. */
const STORES_MAX = 1_000

export type SlugKind = 'product' | 'collection'

export class KnownSlugs {
  readonly #misses = new Map<string, number>()
  readonly #deps: { database: Database; cache: LiveCache }

  constructor(deps: { database: Database; cache: LiveCache }) {
    this.#deps = deps
  }

  /** Counts a slug that a live store does not have. Many of them make its filter. */
  addMiss(tenant: string): void {
    const misses = (this.#misses.get(tenant) ?? 0) + 1
    if (this.#misses.size >= STORES_MAX) this.#misses.clear()
    this.#misses.set(tenant, misses % MISSES_MIN)
    // The caller does not wait for the filter, and a fault of the database shows to the next caller without it.
    if (misses === MISSES_MIN) this.#load(tenant).catch(() => {})
  }

  async #load(tenant: string): Promise<void> {
    const { database, cache } = this.#deps
    await cache.read(tenant, KEY, async () => {
      const found = await queries.listPublicSlugs(forHeavyRead(database.tenant(tenant)))
      // A store that is not live has no answers at all.
      const names = found === null ? null : namesOf(found)
      return { status: names === null ? 404 : 200, headers: {}, body: filterOf(names ?? []) }
    })
  }
}

/** Whether a live store certainly has no such slug. */
export function isUnknownSlug(
  cache: LiveCache,
  tenant: string,
  kind: SlugKind,
  slug: string,
): boolean {
  const known = cache.find(tenant, KEY)
  return known !== null && known.status === 200 && !mayHold(known.body, nameOf(kind, slug))
}

const nameOf = (kind: SlugKind, slug: string) => `${kind} ${slug}`

const namesOf = (found: { products: readonly string[]; collections: readonly string[] }) => [
  ...found.products.map((slug) => nameOf('product', slug)),
  ...found.collections.map((slug) => nameOf('collection', slug)),
]

const BITS_PER_NAME = 16
const HASHES = 7

/** Random in each process, so that no caller can find slugs that the filter lets through. */
const SEEDS = [randomInt(2 ** 32), randomInt(2 ** 32)] as const

/** Makes the filter of these names. */
export function filterOf(names: readonly string[]): Buffer {
  const filter = Buffer.alloc(Math.max(64, Math.ceil((names.length * BITS_PER_NAME) / 8)))
  for (const name of names) {
    for (const bit of bitsOf(filter, name)) {
      filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7))
    }
  }
  return filter
}

/** Whether a filter may have been made with this name; false is certain. */
export const mayHold = (filter: Buffer, name: string): boolean =>
  bitsOf(filter, name).every((bit) => ((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0)

function bitsOf(filter: Buffer, name: string): number[] {
  const bits = filter.length * 8
  const first = hash(name, SEEDS[0])
  const second = hash(name, SEEDS[1]) | 1
  return Array.from({ length: HASHES }, (_, n) => ((first + n * second) >>> 0) % bits)
}

/** FNV-1a over the units of a text, mixed at its end. */
function hash(text: string, seed: number): number {
  let value = seed
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b)
  return (value ^ (value >>> 15)) >>> 0
}
