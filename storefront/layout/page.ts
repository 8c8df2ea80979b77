import type { Collection } from '../api/types.ts'
import { cartCount } from '../cart/cart.ts'
import type { HttpResponse } from '../http/response.ts'
import { countKept } from '../kept-bytes.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'
import { notFoundMain } from './error-pages.ts'
import { type Page, pageEnd, pageHeader, pageStart } from './layout.ts'

/** Renders a page: its main part, between the store's header and footer. */
export async function renderPage(context: PageContext, page: Page): Promise<HttpResponse> {
  const collections = await context.api.listCollections(context.site)
  return { status: page.status ?? 200, body: pageHtml(context, page, collections) }
}

export const pageHtml = (
  context: PageContext,
  page: Page,
  collections: readonly Collection[],
): string =>
  pageStart(context, page) + pageHeader(context, collections) + page.main.text + pageEnd(context)

export const pageTitle = ({ site }: PageContext, title: string): string =>
  `${title} · ${site.brand.name}`

export function notFoundPage(
  context: PageContext,
  text = context.site.locale.texts.noPage,
  isOrder = false,
): Promise<HttpResponse> {
  const { texts } = context.site.locale
  return renderPage(context, {
    title: pageTitle(context, isOrder ? texts.yourOrder : texts.notFound),
    main: notFoundMain(texts, text, isOrder),
    status: 404,
  })
}

/** How many versions of a page are kept: one for each usual number of items in a cart. */
const CACHED_MAX = 16
/** A larger page is rendered again each time, so that one store cannot fill the memory of all. */
const CACHED_BYTES_MAX = 262_144

/**
 * Renders a page once, and keeps its bytes with the first of the objects that it is made from, an answer of the
 * platform, in whose weight they count; when one of these objects is replaced, the bytes are dropped. There is one
 * version for each address of a request and number of items in the cart. Pages of a preview are not kept.
 */
export function cachedPage(
  context: PageContext,
  from: readonly object[],
  render: () => string,
): Buffer | string {
  const { site, origin, cart } = context
  const [first] = from
  if (first === undefined || site.preview !== null) return render()
  const { hash } = site
  const kept = memoize(first, 'page', () => ({ from, hash, pages: new Map<string, Buffer>() }))
  if (kept.hash !== hash || kept.from.some((each, at) => each !== from[at])) {
    for (const old of kept.pages.keys()) dropPage(first, kept.pages, old)
    Object.assign(kept, { from, hash })
  }
  const key = `${origin} ${cartCount(cart)}`
  const known = kept.pages.get(key)
  if (known !== undefined) return known
  const page = Buffer.from(render())
  if (page.length > CACHED_BYTES_MAX) return page
  const [oldest] = kept.pages.keys()
  if (kept.pages.size >= CACHED_MAX && oldest !== undefined) dropPage(first, kept.pages, oldest)
  kept.pages.set(key, page)
  countKept(first, page.length)
  return page
}

function dropPage(from: object, pages: Map<string, Buffer>, key: string): void {
  countKept(from, -(pages.get(key)?.length ?? 0))
  pages.delete(key)
}
