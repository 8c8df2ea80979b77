import { createCache } from './cache.ts'
import { isClosed, type Platform, PlatformError } from './platform.ts'
import { readSite, type Site } from './site.ts'
import type {
  Collection,
  CollectionDetail,
  Found,
  GiftCard,
  Item,
  OrderDetail,
  Placed,
  Product,
  Quote,
  Resolved,
} from './types.ts'

/** A shop's own view of the platform: what it reads is kept for a moment, what it does never is. */
export interface Shop {
  /** At once, where it is known and fresh. */
  peekSite(host: string): Site | undefined
  /** Null for a host that shows nothing: unknown, draft and suspended are alike. */
  findSite(host: string): Promise<Site | null>
  /** Never one store's draft at the address of another: whoever reads the address must not be misled. */
  findPreview(host: string, token: string): Promise<Site | null>
  /** `anew`: what was kept may be too old to trust. */
  products(site: Site, anew?: boolean): Promise<readonly Product[]>
  collections(site: Site): Promise<readonly Collection[]>
  findProduct(site: Site, slug: string): Promise<Product | null>
  findCollection(site: Site, slug: string): Promise<CollectionDetail | null>
  search(site: Site, query: URLSearchParams): Promise<Found>
  quote(site: Site, wanted: Wanted): Promise<Quote>
  place(site: Site, body: Record<string, unknown>, key: string): Promise<Placed>
  findOrder(site: Site, id: string, customerRef: string): Promise<OrderDetail | null>
  /** What became of a checkout, an edit or a refund, by its key. */
  findAttempt(site: Site, operation: Operation, key: string): Promise<Attempt | null>
  cancel(site: Site, id: string, key: string): Promise<unknown>
  edit(site: Site, id: string, body: Record<string, unknown>, key: string): Promise<unknown>
  refund(site: Site, id: string, body: RefundWish, key: string): Promise<unknown>
  /** Null for a code that is worth nothing, whatever the reason. */
  findGiftCard(site: Site, code: string): Promise<GiftCard | null>
}

export interface Wanted {
  items: readonly Item[]
  coupon: string | null
  expedited: boolean
  subscribe: boolean
  customerRef: string
}

export interface RefundWish {
  charge_id: string
  amount_cents: number
  reason: string | null
}

type Operation = 'checkout' | 'edit' | 'refund'

export interface Attempt {
  state: 'running' | 'answered'
  /** Of the order, once there is one. */
  resource_id: string | null
  /** Of the answer, once there is one. */
  status: number | null
  answer: unknown
}

/** A store that is suspended, or a new version of its site, shows within this. */
const SITE_FRESH_MS = 1_000
/** The platform has no tags for these. A price that changes is caught by the quote in any case. */
const CATALOG_FRESH_MS = 2_000

const SITES_WEIGHT_MAX = 16 * 1_024 * 1_024
const CATALOG_WEIGHT_MAX = 48 * 1_024 * 1_024

interface ShopOptions {
  platform: Platform
  /** Stores answer at `<tenant>.<zone>`; every other host is looked up by its name. */
  zone: string | null
}

interface Kept {
  site: Site
  etag: string
  weight: number
}

interface Text {
  text: string
  value: object
}

export function openShop({ platform, zone }: ShopOptions): Shop {
  const sites = createCache<Kept>({ freshMs: SITE_FRESH_MS, weightMax: SITES_WEIGHT_MAX })
  const texts = createCache<Text>({ freshMs: CATALOG_FRESH_MS, weightMax: CATALOG_WEIGHT_MAX })

  const loadSite = (path: string) => async (known: Kept | undefined) => {
    const { unchanged, text, etag } = await platform.read(path, known?.etag)
    if (unchanged && known !== undefined) return { value: known, weight: known.weight }
    const tag = etag ?? ''
    const site = readSite(JSON.parse(text) as Resolved, tag)
    const weight = 2 * text.length
    return { value: { site, etag: tag, weight }, weight }
  }

  /** The same text stays the same object. */
  async function read<T extends object>(path: string, anew = false): Promise<T> {
    const load = async (known: Text | undefined) => {
      const { text } = await platform.read(path)
      const weight = 2 * text.length
      if (known?.text === text) return { value: known, weight }
      return { value: { text, value: JSON.parse(text) as object }, weight }
    }
    return (await texts.get(path, load, anew)).value as T
  }

  const catalog = ({ tenant }: Site, path: string) => `/v1/tenants/${tenant}/catalog/${path}`

  const findSite: Shop['findSite'] = async (host) =>
    (await orNull(sites.get(host, loadSite(resolvePath(host, zone)))))?.site ?? null

  async function readDraft(token: string): Promise<Site | null> {
    if (!/^fdpv_[A-Za-z0-9_-]{1,2000}$/.test(token)) return null
    const answer = await orNull(platform.read(`/v1/preview-resolve?token=${token}`))
    if (answer === null) return null
    const resolved = JSON.parse(answer.text) as Resolved
    // A version never changes, so that its number is as good as a hash.
    return readSite(resolved, `version ${resolved.manifestVersion}`)
  }

  return {
    peekSite: (host) => sites.peek(host)?.site,
    findSite,
    async findPreview(host, token) {
      const [draft, live] = await Promise.all([readDraft(token), findSite(host)])
      // In the zone a name says whose it is, also of a store that is not open.
      const owner = labelIn(zone, host) ?? live?.tenant
      return owner === undefined || owner === draft?.tenant ? draft : null
    },
    products: async (site, anew) => {
      const asking = read<{ products: readonly Product[] }>(catalog(site, 'products'), anew)
      return (await orNullIn(site, asking))?.products ?? []
    },
    collections: async (site) => {
      const asking = read<{ collections: readonly Collection[] }>(catalog(site, 'collections'))
      return (await orNullIn(site, asking))?.collections ?? []
    },
    findProduct: async (site, slug) =>
      (
        await orNullIn(
          site,
          read<{ product: Product }>(catalog(site, `products/${encodeURIComponent(slug)}`)),
        )
      )?.product ?? null,
    findCollection: (site, slug) =>
      orNullIn(
        site,
        read<CollectionDetail>(catalog(site, `collections/${encodeURIComponent(slug)}`)),
      ),
    search: (site, query) => read<Found>(catalog(site, `search?${query}`)),
    ...openTill(platform),
  }
}

/** What concerns money, and so is never kept. */
function openTill(platform: Platform) {
  const base = ({ tenant }: Site) => `/v1/tenants/${tenant}`
  const orderPath = (site: Site, id: string) => `${base(site)}/orders/${encodeURIComponent(id)}`
  return {
    quote: (site: Site, { items, coupon, expedited, subscribe, customerRef }: Wanted) =>
      platform.ask<Quote>('POST', `${base(site)}/checkout/preview`, {
        body: {
          items,
          customer_ref: customerRef,
          coupon_code: coupon,
          expedited,
          subscribe,
          ...site.policies,
        },
      }),
    place: (site: Site, body: Record<string, unknown>, idempotencyKey: string) =>
      platform.ask<Placed>('POST', `${base(site)}/checkout`, { body, idempotencyKey }),
    findOrder: (site: Site, id: string, customerRef: string) =>
      orNullIn(
        site,
        platform.ask<OrderDetail>(
          'GET',
          `${orderPath(site, id)}?customer_ref=${encodeURIComponent(customerRef)}`,
        ),
      ),
    findAttempt: (site: Site, operation: Operation, key: string) =>
      orNullIn(site, platform.ask<Attempt>('GET', `${base(site)}/idempotency/${operation}/${key}`)),
    cancel: (site: Site, id: string, idempotencyKey: string) =>
      platform.ask('POST', `${orderPath(site, id)}/cancel`, {
        body: { reason: 'customer', actor: 'shopper' },
        idempotencyKey,
      }),
    edit: (site: Site, id: string, body: Record<string, unknown>, idempotencyKey: string) =>
      platform.ask('POST', `${orderPath(site, id)}/edit`, { body, idempotencyKey }),
    refund: (site: Site, id: string, body: RefundWish, idempotencyKey: string) =>
      platform.ask('POST', `${orderPath(site, id)}/refund`, { body, idempotencyKey }),
    findGiftCard: async (site: Site, code: string) =>
      (
        await orNullIn(
          site,
          platform.ask<{ gift_card: GiftCard }>('POST', `${base(site)}/gift-cards/balance`, {
            body: { code },
          }),
        )
      )?.gift_card ?? null,
  }
}

/** The tenant that a host of the zone names, whether there is one or not. Null for other hosts. */
function labelIn(zone: string | null, host: string): string | null {
  const label = zone !== null && host.endsWith(`.${zone}`) ? host.slice(0, -zone.length - 1) : ''
  return /^[a-z0-9-]{3,63}$/.test(label) ? label : null
}

function resolvePath(host: string, zone: string | null): string {
  const label = labelIn(zone, host)
  return label === null
    ? `/v1/resolve?hostname=${encodeURIComponent(host)}`
    : `/v1/resolve?tenant=${label}`
}

/** Not there is an answer; anything else that goes wrong is not. */
async function orNull<T>(asking: Promise<T>): Promise<T | null> {
  try {
    return await asking
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/**
 * The same of something in a store. That the store itself is gone is no such answer, but for a preview:
 * the draft of a store that was never open has nothing in it yet.
 */
async function orNullIn<T>({ preview }: Site, asking: Promise<T>): Promise<T | null> {
  try {
    return await asking
  } catch (error) {
    if (isMissing(error) && (preview !== null || !isClosed(error))) return null
    throw error
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof PlatformError && [400, 404].includes(error.status)
