import { type Html, html } from '../layout/html.ts'
import { image, imageAlt } from '../layout/images.ts'
import type { PageContext } from '../request-context.ts'
import { safeHref } from '../site/links.ts'
import { asList, asNumber, asText } from '../site/manifest.ts'
import type { Section } from '../site/site.ts'
import * as sections from './manifest-sections.ts'
import { PER_PAGE } from './pager.ts'
import { priceOf, productGrid } from './product-cards.ts'

type Render = (context: PageContext, props: sections.Props) => Html | null | Promise<Html | null>

/**
 * Every type of section that a manifest may have. Two of them stand on all pages: see `layout.ts`.
 */
const SECTIONS: Record<string, Render> = {
  announcement: () => null,
  footer: () => null,
  hero: sections.hero,
  'product-grid': productGridSection,
  'featured-product': featuredProduct,
  'collection-list': collectionList,
  'rich-text': sections.richText,
  image: sections.imageSection,
  gallery: sections.gallery,
  video: sections.video,
  faq: sections.faq,
  newsletter: sections.newsletter,
  testimonials: sections.testimonials,
  contact: sections.contact,
  spacer: sections.spacer,
}

/** More than a shopper scrolls through, and little enough for all stores to share the memory. */
const PAGE_LENGTH_MAX = 1_000_000

/** Renders the sections of the home page one by one, so that each can be sent when it is ready. */
export async function* homeSections(context: PageContext): AsyncGenerator<string> {
  const { sections, brand } = context.site
  if (!sections.some(({ type, props }) => type === 'hero' && asText(props.heading) !== null)) {
    yield html`<h1 class="hidden">${brand.name}</h1>`.text
  }
  let length = 0
  for (const section of sections) {
    const shown = await renderSection(context, section)
    if (shown === null) continue
    length += shown.text.length
    if (length > PAGE_LENGTH_MAX) return logTooLong(context)
    yield shown.text
  }
}

const logTooLong = ({ site, warn }: PageContext): void =>
  warn(
    { tenant: site.tenant, manifest: site.hash },
    'the home page is too long: its last sections are not shown',
  )

async function renderSection(context: PageContext, { type, props }: Section): Promise<Html | null> {
  const render = Object.hasOwn(SECTIONS, type) ? SECTIONS[type] : undefined
  if (render === undefined) {
    const { tenant, hash } = context.site
    context.warn({ tenant, manifest: hash, type }, 'a section of an unknown type is not shown')
    return null
  }
  return render(context, props)
}

const GRID_MAX = 100

async function productGridSection(
  context: PageContext,
  props: sections.Props,
): Promise<Html | null> {
  const { api, site } = context
  const slug = asText(props.collection)
  const limit = Math.min(Math.max(asNumber(props.limit) || 8, 1), GRID_MAX)
  // Two sizes for all sections, so that they share the answers with each other and with the lists.
  const page = { limit: limit <= PER_PAGE ? PER_PAGE : GRID_MAX }
  const found =
    slug === null ? await api.listProducts(site, page) : await api.findCollection(site, slug, page)
  const columns = Math.min(Math.max(Math.round(asNumber(props.columns)) || 4, 1), 6)
  const products = found?.products.slice(0, limit) ?? []
  const more = slug === null ? '/products' : `/collections/${slug}`
  const { texts } = site.locale
  if (found === null || products.length === 0) {
    return html`<section class="wrap section">${sections.headingOf(props)}<p class="empty">${texts.noProducts}</p></section>`
  }
  return html`<section class="wrap section"><div class="section-head">${sections.headingOf(props)}${
    found.total > products.length &&
    html`<a class="more" href="${more}">${found.total_is_estimate ? texts.seeAllProducts : texts.seeAll(found.total)}</a>`
  }</div>${productGrid(context, { products, columns })}</section>`
}

async function featuredProduct(context: PageContext, props: sections.Props): Promise<Html | null> {
  const { api, site } = context
  const product = await api.findProduct(site, asText(props.slug) ?? '')
  if (product === null) return null
  const shown = image(context, {
    ref: product.image_asset_ref,
    alt: imageAlt(product),
    sizes: '(min-width: 60rem) 50vw, 92vw',
  })
  return html`<section class="wrap section feature"><div class="feature-image">${shown}</div><div class="feature-text">${
    asText(props.heading) && html`<p class="eyebrow">${asText(props.heading)}</p>`
  }<h2>${product.name}</h2><p class="feature-price">${priceOf(product, context)}</p>${
    product.description && html`<p>${product.description}</p>`
  }<p><a class="button" href="/products/${product.slug}">${site.locale.texts.viewProduct}</a></p></div></section>`
}

const TILES_MAX = 12

async function collectionList(context: PageContext, props: sections.Props): Promise<Html | null> {
  const { api, site } = context
  const all = await api.listCollections(site)
  const wanted = asList(props.collections)
  const chosen =
    wanted.length === 0
      ? all
      : wanted.flatMap((slug) => all.find((collection) => collection.slug === slug) ?? [])
  if (chosen.length === 0) return null
  const tiles = await Promise.all(
    chosen.slice(0, TILES_MAX).map(async ({ slug, title, description }) => {
      const first = (await api.findCollection(site, slug, { limit: 1 }))?.products[0]
      const shown = image(context, {
        ref: first?.image_asset_ref ?? null,
        alt: '',
        sizes: '(min-width: 60rem) 24rem, 92vw',
      })
      const to = safeHref(`/collections/${slug}`) ?? '/products'
      return html`<li class="tile"><a href="${to}"><span class="tile-image">${shown}</span><span class="tile-text"><span class="tile-title">${title}</span>${description && html`<span class="tile-description">${description}</span>`}</span></a></li>`
    }),
  )
  return html`<section class="wrap section">${sections.headingOf(props)}<ul class="tiles">${tiles}</ul></section>`
}
