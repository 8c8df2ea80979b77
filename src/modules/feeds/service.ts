import { createHash } from 'node:crypto'
import { RULES_VERSION } from '@fairdock/claim-scanner/rules-version'
import type { Database, Db } from '../../db/database.ts'
import { forHeavyRead } from '../../db/list.ts'
import { ApiError } from '../../errors.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import type { LiveCache } from '../../platform/live-cache.ts'
import {
  type ActiveProduct,
  listActiveProducts,
  listMarked,
  readActiveVersion,
} from '../catalog/active-products.ts'
import type { ProductFragments } from '../catalog/product-fragments.ts'
import type { AssetBase } from '../catalog/product-json.ts'
import type { StorefrontProduct } from '../catalog/schema.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import { readStockVersion } from '../inventory/service.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import type { FeedFormat } from './formats.ts'
import { type FeedStore, MARKS, type Marked, toItems } from './items.ts'
import { leaveOutRefused } from './screen.ts'
import { siteFactsOf } from './site-facts.ts'
import { toLine } from './texts.ts'

export interface FeedDeps {
  database: Database
  cache: LiveCache
  fragments: ProductFragments
  scanner: Scanner
  assetBase(): AssetBase
  /** The address of a store's pages; null where it has no host that shoppers reach. */
  storefrontUrl(store: Pick<Store, 'tenant_ref' | 'primary_hostname'>): string | null
}

/** A feed of one store. */
export interface Feed {
  etag: string
  /** Its text in parts, none larger than a page of products. */
  read(): AsyncGenerator<string>
}

/** Products read at once, and their bytes: what a slow reader of a feed holds in memory. */
const PAGE = { products: 500, bytes: 1_024 * 1_024 }

/** A part of every ETag: raise it when the lines of a feed change. */
const LINES_VERSION = 1

const NAME_MAX = 100

/**
 * Opens a feed of a live store. Drafts, archived products and other stores have no part in it: its
 * products are those of the public catalog. Why no file is kept: decision 0047.
 */
export async function open(deps: FeedDeps, tenant: string, format: FeedFormat): Promise<Feed> {
  const db = isTenantRef(tenant) ? deps.database.tenant(tenant) : null
  const store = db && (await stores.find(db))
  if (db === null || store?.status !== 'live') throw new ApiError('unknown_tenant')
  const shop = await readFeedStore(deps, db, store)
  const version = await readVersion(deps, db)
  const parts = [format.file, LINES_VERSION, RULES_VERSION, deps.assetBase(), shop, version]
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
  return {
    // Weak: it is taken before the body is read, which may be newer by then and never older.
    etag: `W/"${hash}"`,
    read: () => readLines(deps, db, shop, format),
  }
}

async function readFeedStore(deps: FeedDeps, db: Db, store: Store): Promise<FeedStore> {
  const origin = deps.storefrontUrl(store)
  if (origin === null) throw refuse('feed_not_found')
  const facts = await siteFactsOf(db, store.activeVersion)
  return { ...facts, origin, name: toLine(store.display_name, NAME_MAX) || store.tenant_ref }
}

/** How old a version may be that depends on stock, which changes without a notification. */
const STOCK_FRESH_MS = 5_000

/** Reads a text that changes when the products of the store do. It is kept in memory until the store changes. */
async function readVersion({ cache }: FeedDeps, db: Db): Promise<string> {
  const { body } = await cache.read(db.tenant, 'feeds/version', async () => {
    const heavy = forHeavyRead(db)
    const [products, stock] = await Promise.all([readActiveVersion(heavy), readStockVersion(heavy)])
    return {
      status: 200,
      headers: {},
      body: Buffer.from(`${products} ${stock.version}`),
      ...(stock.counted > 0 && { freshMs: STOCK_FRESH_MS }),
    }
  })
  return body.toString()
}

async function* readLines(
  deps: FeedDeps,
  db: Db,
  shop: FeedStore,
  format: FeedFormat,
): AsyncGenerator<string> {
  yield format.head
  let after: ActiveProduct | null = null
  for (;;) {
    const page: ProductPage = await readPage(deps, db, after)
    const items = page.products.flatMap((product) => toItems(shop, product, page.marked))
    yield items.map((item) => format.toLine(shop, item)).join('')
    if (page.next === null) return
    after = page.next
  }
}

interface ProductPage {
  products: readonly StorefrontProduct[]
  marked: Marked
  /** The place of the next page; null on the last page. */
  next: ActiveProduct | null
}

async function readPage(
  { fragments, scanner, assetBase }: FeedDeps,
  db: Db,
  after: ActiveProduct | null,
): Promise<ProductPage> {
  const rows = await listActiveProducts(db, after, PAGE.products)
  const bounds = { base: assetBase(), bytesMax: PAGE.bytes }
  const { parts, isWhole } = await fragments.load(db, rows, bounds)
  const all = parts.map(({ json }) => JSON.parse(json) as StorefrontProduct)
  const products = await leaveOutRefused(scanner, db, all)
  const ids = products.map(({ id }) => id)
  const found = ids.length === 0 ? [] : await listMarked(db, ids, MARKS)
  const isLast = isWhole && rows.length < PAGE.products
  const last = isWhole ? rows.at(-1) : parts.at(-1)?.row
  return {
    products,
    marked: new Map(found.map(({ id, metadata }) => [id, metadata])),
    next: isLast ? null : (last ?? null),
  }
}
