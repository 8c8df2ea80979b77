import { readSite, type Site } from '../site/site.ts'
import { createCache } from './cache.ts'
import { orNull, orNullIn } from './or-null.ts'
import type { PlatformClient } from './platform-client.ts'
import type {
  Collection,
  CollectionPage,
  FoundProduct,
  Product,
  ProductPage,
  Resolved,
  SearchResult,
  SitemapPart,
  Suggestions,
} from './types.ts'

/** Which page of a list: the first, or the one beside a cursor. */
export interface PageRequest {
  limit: number
  after?: string | null
  before?: string | null
}

/** Reads sites and catalogs. The platform's answers are cached for a moment. */
export interface CatalogApi {
  /** Returns the site of a host if it is known and fresh; sends no request. */
  peekSite(host: string): Site | undefined
  /** Finds the site of a host. Returns null for unknown, draft and suspended stores alike. */
  findSite(host: string): Promise<Site | null>
  /**
   * Finds the draft that a preview token opens. Returns null for a token of another store than the
   * host's: an address must not show another store's draft.
   */
  findPreview(host: string, token: string): Promise<Site | null>
  /** Returns a page of all products, newest first. No page reads the whole list: it may be very long. */
  listProducts(site: Site, page: PageRequest): Promise<ProductPage>
  /**
   * Returns the products that sell these variants. `reload` asks the platform even if its answer is
   * still fresh.
   */
  listProductsOf(
    site: Site,
    variantIds: readonly string[],
    reload?: boolean,
  ): Promise<readonly Product[]>
  /** Returns some products to show beside one. */
  listRelated(site: Site, product: Product): Promise<readonly Product[]>
  listCollections(site: Site): Promise<readonly Collection[]>
  findProduct(site: Site, slug: string): Promise<FoundProduct | null>
  findCollection(site: Site, slug: string, page: PageRequest): Promise<CollectionPage | null>
  readSitemap(site: Site, part: number): Promise<SitemapPart>
  search(site: Site, query: URLSearchParams): Promise<SearchResult>
  /** Returns some products for a text that a shopper is typing. It costs less than a search. */
  suggest(site: Site, q: string, limit: number): Promise<Suggestions>
}

/** A suspended store, or a new version of a site, shows after this time at the latest. */
const SITE_FRESH_MS = 1_000
/** Catalog routes have no ETag. A price that changes meanwhile is caught by the quote. */
const CATALOG_FRESH_MS = 2_000

const SITES_WEIGHT_MAX = 16 * 1_024 * 1_024
const DRAFTS_WEIGHT_MAX = 8 * 1_024 * 1_024
const CATALOG_WEIGHT_MAX = 48 * 1_024 * 1_024

export interface CatalogApiOptions {
  client: PlatformClient
  /** Stores answer at `<tenant>.<zone>`; every other host is looked up by its name. */
  zone: string | null
}

export function openCatalogApi({ client, zone }: CatalogApiOptions): CatalogApi {
  const sites = openSites(client, zone)
  const catalog = openCatalog(client)
  const pathOf = ({ tenant }: Site, path: string) => `/v1/tenants/${tenant}/catalog/${path}`
  return {
    ...sites,
    listProducts: async (site, page) => {
      const answer = catalog.read<ProductPage>(pathOf(site, `products?${pageQuery(page)}`))
      return (await orNullIn(site, answer)) ?? NO_PRODUCTS
    },
    listProductsOf: async (site, variantIds, reload) => {
      if (variantIds.length === 0) return []
      const path = pathOf(site, `products?variants=${variantIds.toSorted()}`)
      const answer = catalog.read<{ products: readonly Product[] }>(path, reload)
      return (await orNullIn(site, answer))?.products ?? []
    },
    listRelated: async (site, { slug }) => {
      const path = pathOf(site, `products?related_to=${encodeURIComponent(slug)}`)
      const answer = catalog.read<{ products: readonly Product[] }>(path)
      return (await orNullIn(site, answer))?.products ?? []
    },
    listCollections: async (site) => {
      const answer = catalog.read<{ collections: readonly Collection[] }>(
        pathOf(site, 'collections'),
      )
      return (await orNullIn(site, answer))?.collections ?? []
    },
    findProduct: async (site, slug) => {
      if (slug.length > SLUG_LENGTH_MAX) return null
      const path = pathOf(site, `products/${encodeURIComponent(slug)}`)
      return orNullIn(site, catalog.read<FoundProduct>(path))
    },
    findCollection: async (site, slug, page) => {
      if (slug.length > SLUG_LENGTH_MAX) return null
      const path = pathOf(site, `collections/${encodeURIComponent(slug)}?${pageQuery(page)}`)
      return orNullIn(site, catalog.read<CollectionPage>(path))
    },
    readSitemap: async (site, part) => {
      const answer = catalog.read<SitemapPart>(pathOf(site, `sitemap?part=${part}`))
      return (await orNullIn(site, answer)) ?? { products: [], parts: 1 }
    },
    search: (site, query) => catalog.read<SearchResult>(pathOf(site, `search?${query}`)),
    suggest: (site, q, limit) => {
      const query = new URLSearchParams({ q, limit: String(limit) })
      return catalog.read<Suggestions>(pathOf(site, `suggestions?${query}`))
    },
  }
}

/** Longer than any slug. The platform refuses an address with a longer one as a whole. */
const SLUG_LENGTH_MAX = 400

/** The list of a store that was never open, in its preview. */
const NO_PRODUCTS: ProductPage = {
  products: [],
  total: 0,
  total_is_estimate: false,
  next_after: null,
  prev_before: null,
}

/** An empty `after` asks for the first page. Without a place the list would be whole. */
const pageQuery = ({ limit, after, before }: PageRequest): string =>
  `limit=${limit}&` +
  (before && !after
    ? `before=${encodeURIComponent(before)}`
    : `after=${encodeURIComponent(after ?? '')}`)

interface CachedAnswer {
  text: string
  value: object
}

/** Catalog answers by path. An answer with the same text stays the same object. */
function openCatalog(client: PlatformClient) {
  const answers = createCache<CachedAnswer>({
    freshMs: CATALOG_FRESH_MS,
    weightMax: CATALOG_WEIGHT_MAX,
    keeperOf: ({ value }) => value,
  })
  return {
    async read<T extends object>(path: string, reload = false): Promise<T> {
      const load = async (known: CachedAnswer | undefined) => {
        const { text } = await client.readPublic(path)
        const weight = 2 * text.length
        if (known?.text === text) return { value: known, weight }
        return { value: { text, value: JSON.parse(text) as object }, weight }
      }
      return (await answers.get(path, load, reload)).value as T
    },
  }
}

interface CachedSite {
  site: Site
  etag: string
  /** How many bytes the platform's answer has. */
  weight: number
}

/** A draft that a preview shows. A version never changes: while its answer is the same, so is its site. */
interface CachedDraft {
  site: Site
  text: string
}

function openSites(client: PlatformClient, zone: string | null) {
  const keeperOf = ({ site }: { site: Site }) => site
  const sites = createCache<CachedSite>({
    freshMs: SITE_FRESH_MS,
    weightMax: SITES_WEIGHT_MAX,
    keeperOf,
  })
  // Never fresh: each request asks whether the preview may still be shown. The rendered parts of a draft are kept.
  const drafts = createCache<CachedDraft>({ freshMs: 0, weightMax: DRAFTS_WEIGHT_MAX, keeperOf })

  const loadSite = (path: string) => async (known: CachedSite | undefined) => {
    const { unchanged, text, etag } = await client.readPublic(path, known?.etag)
    if (unchanged && known !== undefined) return { value: known, weight: known.weight }
    const tag = etag ?? ''
    const site = readSite(JSON.parse(text) as Resolved, tag)
    const weight = 2 * text.length
    return { value: { site, etag: tag, weight }, weight }
  }

  const findSite: CatalogApi['findSite'] = async (host) =>
    (await orNull(sites.get(host, loadSite(resolvePath(host, zone)))))?.site ?? null

  async function loadDraft(path: string, known: CachedDraft | undefined) {
    const { text } = await client.readPublic(path)
    const isSame = known?.text === text
    const value = isSame ? known : { site: readDraft(text), text }
    return { value, weight: 2 * text.length }
  }

  async function findDraft(token: string, hostname: string | null): Promise<Site | null> {
    if (!/^fdpv_[A-Za-z0-9_-]{1,2000}$/.test(token)) return null
    const query = new URLSearchParams({ token, ...(hostname !== null && { hostname }) })
    const path = `/v1/preview-resolve?${query}`
    return (await orNull(drafts.get(path, (known) => loadDraft(path, known))))?.site ?? null
  }

  return {
    peekSite: (host: string) => sites.peek(host)?.site,
    findSite,
    async findPreview(host: string, token: string) {
      // A name in the zone belongs to its store, also while that store is not open. The platform
      // knows which store any other host belongs to.
      const owner = tenantInZone(zone, host)
      const draft = await findDraft(token, owner === null ? host : null)
      return owner === null || owner === draft?.tenant ? draft : null
    },
  }
}

function readDraft(text: string): Site {
  const resolved = JSON.parse(text) as Resolved
  // A version never changes, so its number serves as its hash.
  return readSite(resolved, `version ${resolved.manifestVersion}`)
}

/**
 * Returns the id of the store that a host of the zone names, whether that store exists or not; null
 * for any other host.
 */
function tenantInZone(zone: string | null, host: string): string | null {
  const label = zone !== null && host.endsWith(`.${zone}`) ? host.slice(0, -zone.length - 1) : ''
  return /^[a-z0-9-]{3,63}$/.test(label) ? label : null
}

function resolvePath(host: string, zone: string | null): string {
  const tenant = tenantInZone(zone, host)
  return tenant === null
    ? `/v1/resolve?hostname=${encodeURIComponent(host)}`
    : `/v1/resolve?tenant=${tenant}`
}
