import type { Answer } from './answer.ts'
import { countOf } from './cart.ts'
import { html } from './html.ts'
import { homeSections } from './pages/home.ts'
import { ending, middle, opening, type Page } from './pages/layout.ts'
import { collectionMain, listMain, searchMain, searchQuery } from './pages/lists.ts'
import { missing } from './pages/notices.ts'
import { ordersMain } from './pages/order.ts'
import { productMain } from './pages/product.ts'
import { productFacts, robots, sitemap, storeFacts } from './seo.ts'
import type { Collection, Product } from './types.ts'
import { remember, type Visit } from './visit.ts'

/** The pages that only show. Those with a cart or an order in them are in till.ts. */

/** A page around its own part. */
export async function show(visit: Visit, page: Page): Promise<Answer> {
  return { status: page.status ?? 200, body: whole(visit, page, await navigation(visit)) }
}

const whole = (visit: Visit, page: Page, named: readonly Collection[]): string =>
  opening(visit, page) + middle(visit, named) + page.main.text + ending(visit)

const navigation = ({ shop, site }: Visit): Promise<readonly Collection[]> => shop.collections(site)

/** As many as there are usual numbers of things in a cart. */
const KEPT_MAX = 16
/** A larger page is made anew each time: nobody's page may fill the memory of all. */
const KEPT_BYTES_MAX = 262_144

/**
 * A whole page as bytes, kept with what it was made from. It differs by the address it was asked for at
 * and by what the cart shows; the ribbon of a preview changes with the clock.
 */
function keepPage(visit: Visit, from: readonly object[], make: () => string): Buffer | string {
  const { site, origin, cart } = visit
  const [first] = from
  if (first === undefined || site.preview !== null) return make()
  const kept = remember(
    first,
    'page',
    () => ({ from, pages: new Map<string, Buffer>() }),
    site.hash,
  )
  if (kept.from.some((each, at) => each !== from[at])) {
    kept.from = from
    kept.pages.clear()
  }
  const key = `${origin} ${countOf(cart)}`
  const known = kept.pages.get(key)
  if (known !== undefined) return known
  const page = Buffer.from(make())
  if (page.length > KEPT_BYTES_MAX) return page
  const [oldest] = kept.pages.keys()
  if (kept.pages.size >= KEPT_MAX && oldest !== undefined) kept.pages.delete(oldest)
  kept.pages.set(key, page)
  return page
}

export async function home(visit: Visit): Promise<Answer> {
  const { site } = visit
  const page = {
    title: site.seo.title ?? site.brand.name,
    canonical: '/',
    facts: [storeFacts(visit)],
  }
  // Asked for before anything is sent: a store that cannot be read is no half page.
  const [named, all] = await Promise.all([navigation(visit), allProducts(visit)])
  const kept = remember<KeptHome>(all, 'home', () => ({ last: null }), site.hash)
  const { last } = kept
  if (last !== null && last.named === named && Date.now() - last.at < HOME_FRESH_MS) {
    const made = () => opening(visit, page) + middle(visit, named) + last.text + ending(visit)
    return { status: 200, body: keepPage(visit, [last, named], made) }
  }
  async function* parts() {
    yield opening(visit, page) + middle(visit, named)
    let text = ''
    for await (const section of homeSections(visit)) {
      text += section
      yield section
    }
    yield ending(visit)
    kept.last = { named, text, at: Date.now() }
  }
  return { status: 200, body: parts() }
}

/** As long as what the sections ask for is kept: some of them show what neither list tells of. */
const HOME_FRESH_MS = 2_000

interface KeptHome {
  last: { named: readonly Collection[]; text: string; at: number } | null
}

const allProducts = ({ shop, site }: Visit): Promise<readonly Product[]> => shop.products(site)

const titled = ({ site }: Visit, title: string) => `${title} · ${site.brand.name}`

const RELATED = 4

export async function product(visit: Visit, slug: string): Promise<Answer> {
  const { shop, site } = visit
  const found = await shop.findProduct(site, slug)
  if (found === null) return notFound(visit, site.words.say.noProduct)
  const [all, named] = await Promise.all([allProducts(visit), navigation(visit)])
  const more = remember(all, `beside ${found.id}`, () => beside(all, found))
  const page = (): Page => ({
    title: titled(visit, found.name),
    description: found.description ?? site.seo.description,
    canonical: `/products/${found.slug}`,
    imageRef: found.image_asset_ref,
    kind: 'product',
    facts: [productFacts(visit, found)],
    main: productMain(visit, found, more),
  })
  return {
    status: 200,
    body: keepPage(visit, [found, all, named], () => whole(visit, page(), named)),
  }
}

/** Its neighbours in the list, going round at the end. */
function beside(all: readonly Product[], { id }: Product): readonly Product[] {
  const at = all.findIndex((each) => each.id === id)
  return [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))].slice(0, RELATED)
}

export async function products(visit: Visit): Promise<Answer> {
  const all = await allProducts(visit)
  const collections = await navigation(visit)
  const title = visit.site.words.say.allProducts
  return show(visit, {
    title: titled(visit, title),
    canonical: '/products',
    main: listMain(visit, { title, products: all, collections }),
  })
}

export async function collections(visit: Visit): Promise<Answer> {
  const all = await navigation(visit)
  const { say } = visit.site.words
  const tiles = all.map(
    ({ slug, title, description }) =>
      html`<li class="tile tile-plain"><a href="/collections/${slug}"><span class="tile-text"><span class="tile-title">${title}</span>${description && html`<span class="tile-words">${description}</span>`}</span></a></li>`,
  )
  return show(visit, {
    title: titled(visit, say.collections),
    canonical: '/collections',
    main: html`<div class="wrap list"><header class="list-head"><h1>${say.collections}</h1></header>${
      all.length === 0
        ? html`<p class="empty">${say.noCollections}</p>`
        : html`<ul class="tiles">${tiles}</ul>`
    }</div>`,
  })
}

export async function collection(visit: Visit, slug: string): Promise<Answer> {
  const found = await visit.shop.findCollection(visit.site, slug)
  if (found === null) return notFound(visit, visit.site.words.say.noCollection)
  return show(visit, {
    title: titled(visit, found.collection.title),
    description: found.collection.description ?? visit.site.seo.description,
    canonical: `/collections/${found.collection.slug}`,
    imageRef: found.products[0]?.image_asset_ref ?? null,
    main: collectionMain(visit, found),
  })
}

export async function search(visit: Visit): Promise<Answer> {
  const query = searchQuery(visit.url)
  const found =
    query === null || visit.site.preview !== null
      ? null
      : await visit.shop.search(visit.site, query)
  return show(visit, {
    title: titled(visit, visit.site.words.say.search),
    main: searchMain(visit, found),
  })
}

export const orders = (visit: Visit): Promise<Answer> =>
  show(visit, { title: titled(visit, visit.site.words.say.yourOrders), main: ordersMain(visit) })

export function notFound(visit: Visit, text = visit.site.words.say.nothingHere): Promise<Answer> {
  const { words } = visit.site
  return show(visit, {
    title: titled(visit, words.say.notFound),
    main: missing(words, text),
    status: 404,
  })
}

export async function siteMap(visit: Visit): Promise<Answer> {
  const [all, named] = await Promise.all([allProducts(visit), navigation(visit)])
  const body = sitemap(visit, all, named)
  return { status: 200, body, type: 'application/xml; charset=utf-8' }
}

export const robotsText = async (visit: Visit): Promise<Answer> => ({
  status: 200,
  body: robots(visit),
  type: 'text/plain; charset=utf-8',
})
