import type { Db } from '../../db/database.ts'
import { type AssetBase, toStorefrontProduct } from './product-json.ts'
import { loadPublicProducts } from './public-queries.ts'
import {
  NO_STOCK,
  type ProductStock,
  type ReadStock,
  readStockOf,
  stampOf,
} from './public-stock.ts'
import type { StorefrontProduct } from './schema.ts'

/** A product of a list, in the version that the list shows. */
export interface ProductVersion {
  id: string
  version: string
}

/** The products of a list as JSON texts, in its order. */
export interface LoadedFragments<T extends ProductVersion> {
  parts: { row: T; json: string }[]
  /** Whether all products fit into the bytes. A product that is no longer active is left out, and does not count. */
  isWhole: boolean
  /** Whether the stock of any product is tracked, so that a sale may change the list. */
  isStockBound: boolean
}

/** The conditions under which every product of a batch is loaded. */
interface Within {
  base: AssetBase
  bytesMax: number
  stock: ReadonlyMap<string, ProductStock>
}

interface Fragment {
  version: string
  /** The part of the version that stands for the stock. */
  stamp: string
  json: string
  /** The length of the text in UTF-8. */
  bytes: number
}

/** The fragments of one store, in the order in which they were added. */
interface Shelf {
  fragments: Map<string, Fragment>
  bytes: number
}

/** Products loaded by one statement: enough to be quick, and few enough to parse in one go. */
const BATCH = 500

/** The memory of a fragment beside its text. */
const FRAGMENT_BYTES = 200

/** The share of one store: a crawler in a large catalog must not evict the products of others. */
const STORE_SHARE = 1 / 2

/**
 * Products as finished JSON, by id and version. A list is put together from them, so that after a change of
 * one product only that product is read and serialised again (decision 0023).
 *
 * Nothing is invalidated: the list names the version that it shows, and a fragment of another version is
 * loaded again. So it needs no notifications, and also serves while the live cache is off.
 */
export class ProductFragments {
  readonly #maxBytes: number
  /** From the least to the most recently used. */
  readonly #shelves = new Map<string, Shelf>()
  #bytes = 0
  #loads = 0

  readonly #readStock: ReadStock

  constructor(maxBytes: number, readStock: ReadStock) {
    this.#maxBytes = maxBytes
    this.#readStock = readStock
  }

  /** Loads the products of a list, as many as fit into so many bytes; always at least one. */
  async load<T extends ProductVersion>(
    db: Db,
    rows: readonly T[],
    { base, bytesMax }: { base: AssetBase; bytesMax: number },
  ): Promise<LoadedFragments<T>> {
    const parts: { row: T; json: string }[] = []
    let bytes = 0
    let isStockBound = false
    for (let at = 0; at < rows.length; at += BATCH) {
      const { batch, stock } = await this.#stamp(db, rows.slice(at, at + BATCH))
      if (stock.size > 0) isStockBound = true
      const within = { base, bytesMax: bytesMax - bytes, stock }
      const found = await this.#loadBatch(db, batch, within)
      for (const { row } of batch) {
        const fragment = found.get(row.id)
        if (fragment === undefined) continue
        bytes += fragment?.bytes ?? 0
        const fits = parts.length === 0 || bytes <= bytesMax
        if (fragment === null || !fits) return { parts, isWhole: false, isStockBound }
        parts.push({ row, json: fragment.json })
      }
    }
    return { parts, isWhole: true, isStockBound }
  }

  /** The rows with their stock, which is a part of the version of a fragment. */
  async #stamp<T extends ProductVersion>(db: Db, rows: readonly T[]) {
    const ids = rows.map(({ id }) => id)
    const stock =
      ids.length === 0
        ? new Map<string, ProductStock>()
        : await readStockOf(this.#readStock, db, ids)
    const batch = rows.map((row) => {
      const stamp = stampOf(stock.get(row.id) ?? NO_STOCK)
      return { row, id: row.id, version: row.version, stamp }
    })
    return { batch, stock }
  }

  /**
   * Loads the fragments of a batch, by id. A fragment beyond the bytes is null; one of a product that is no
   * longer active is missing.
   */
  async #loadBatch(
    db: Db,
    batch: readonly (ProductVersion & { stamp: string })[],
    { base, bytesMax, stock }: Within,
  ): Promise<Map<string, Fragment | null>> {
    const found = new Map<string, Fragment | null>()
    const missing: string[] = []
    const stamps = new Map(batch.map(({ id, stamp }) => [id, stamp]))
    for (const { id, version, stamp } of batch) {
      const known = this.#shelves.get(db.tenant)?.fragments.get(id)
      if (known?.version === version && known.stamp === stamp) found.set(id, known)
      else missing.push(id)
    }
    if (missing.length > 0) {
      this.#loads += missing.length
      for (const { id, version, product } of await loadPublicProducts(db, missing, bytesMax)) {
        const shown = product && toStorefrontProduct(base, product, stock.get(id) ?? NO_STOCK)
        const fragment = shown && toFragment({ version, stamp: stamps.get(id) ?? '' }, shown)
        found.set(id, fragment)
        if (fragment !== null) this.#put(db.tenant, id, fragment)
      }
    }
    this.#markUsed(db.tenant)
    return found
  }

  #put(tenant: string, id: string, fragment: Fragment) {
    const shelf = this.#shelves.get(tenant) ?? { fragments: new Map(), bytes: 0 }
    this.#shelves.set(tenant, shelf)
    this.#remove(shelf, id)
    shelf.fragments.set(id, fragment)
    this.#count(shelf, sizeOf(fragment))
    for (const oldest of shelf.fragments.keys()) {
      if (shelf.bytes <= this.#maxBytes * STORE_SHARE) break
      this.#remove(shelf, oldest)
    }
    for (const [other, { bytes }] of this.#shelves) {
      if (this.#bytes <= this.#maxBytes) break
      if (other === tenant) continue
      this.#shelves.delete(other)
      this.#bytes -= bytes
    }
  }

  #remove(shelf: Shelf, id: string) {
    const fragment = shelf.fragments.get(id)
    if (fragment === undefined) return
    shelf.fragments.delete(id)
    this.#count(shelf, -sizeOf(fragment))
  }

  #count(shelf: Shelf, bytes: number) {
    shelf.bytes += bytes
    this.#bytes += bytes
  }

  #markUsed(tenant: string) {
    const shelf = this.#shelves.get(tenant)
    if (shelf === undefined) return
    this.#shelves.delete(tenant)
    this.#shelves.set(tenant, shelf)
  }

  /** `loads`: how many products were read and serialised since the start. */
  stats() {
    return { bytes: this.#bytes, stores: this.#shelves.size, loads: this.#loads }
  }
}

function toFragment(
  version: Pick<Fragment, 'version' | 'stamp'>,
  product: StorefrontProduct,
): Fragment {
  const json = JSON.stringify(product)
  return { ...version, json, bytes: Buffer.byteLength(json) }
}

const sizeOf = ({ bytes }: Fragment): number => FRAGMENT_BYTES + bytes
