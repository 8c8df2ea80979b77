import { safeHref } from '../../manifest/links.ts'
import { type PropsOf, SECTION_TYPES, type SectionName } from '../../manifest/section-types.ts'
import { type Html, html } from '../layout/html.ts'
import { image, imageAlt } from '../layout/images.ts'
import type { PageContext } from '../request-context.ts'
import type { KnownSection, Section } from '../site/sections.ts'
import { defaultSections, hasOwnSections, openingSoon, ownerSteps } from './default-home.ts'
import * as sections from './manifest-sections.ts'
import { PER_PAGE } from './pager.ts'
import { priceOf, productGrid } from './product-cards.ts'

type Rendered = Html | null | Promise<Html | null>

/**
 * Every type of section that a manifest may have. Two of them stand on all pages: see `layout.ts`.
 */
const SECTIONS: {
  [Name in SectionName]: (context: PageContext, props: PropsOf<Name>) => Rendered
} = {
  announcement: () => null,
  footer: () => null,
  hero: sections.hero,
  'product-grid': productGridSection,
  'featured-product': featuredProduct,
  'featured-collection': featuredCollection,
  'collection-list': collectionList,
  'rich-text': sections.richText,
  image: sections.imageSection,
  gallery: sections.gallery,
  video: sections.video,
  'image-with-text': sections.imageWithText,
  'logo-list': sections.logoList,
  countdown: sections.countdown,
  faq: sections.faq,
  newsletter: sections.newsletter,
  testimonials: sections.testimonials,
  contact: sections.contact,
  spacer: sections.spacer,
}

/** More than a shopper scrolls through, and little enough that all stores can share the memory. */
const PAGE_LENGTH_MAX = 1_000_000

/** Renders the sections of the home page one by one, so that each can be sent when it is ready. */
export async function* homeSections(
  context: PageContext,
  hasProducts: boolean,
): AsyncGenerator<string> {
  const { site } = context
  if (!hasProducts && site.preview !== null) yield ownerSteps(context, site.preview).text
  if (!hasOwnSections(site)) for (const each of site.sections) logUnknown(context, each)
  if (!hasProducts && !hasOwnSections(site)) {
    yield openingSoon(context).text
    return
  }
  yield* renderSections(context, hasOwnSections(site) ? site.sections : defaultSections(site))
}

/** Renders the sections of a page. If no section has a heading, a hidden one comes first. */
export async function* renderSections(
  context: PageContext,
  sections: readonly Section[],
  hasTitle = false,
): AsyncGenerator<string> {
  const { brand } = context.site
  if (!hasTitle && !sections.some((each) => each.type === 'hero' && each.props.heading !== null)) {
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
    'a page is too long: its last sections are not shown',
  )

async function renderSection(context: PageContext, section: Section): Promise<Html | null> {
  if (section.type !== null) return renderKnown(context, section)
  logUnknown(context, section)
  return null
}

function logUnknown({ site, warn }: PageContext, section: Section): void {
  if (section.type !== null) return
  const fields = { tenant: site.tenant, manifest: site.hash, type: section.name }
  warn(fields, 'a section of an unknown type is not shown')
}

function renderKnown<Name extends SectionName>(
  context: PageContext,
  { type, props }: KnownSection<Name>,
): Rendered {
  return SECTIONS[type as Name](context, props as PropsOf<Name>)
}

/** The most that a grid may show. */
const GRID_MAX = SECTION_TYPES['product-grid'].props.limit.max

async function productGridSection(
  context: PageContext,
  props: PropsOf<'product-grid'>,
): Promise<Html | null> {
  const { api, site } = context
  const { collection: slug, limit, columns } = props
  // Two sizes for all sections, so that they share the answers with each other and with the lists.
  const page = { limit: limit <= PER_PAGE ? PER_PAGE : GRID_MAX }
  const found =
    slug === null ? await api.listProducts(site, page) : await api.findCollection(site, slug, page)
  const products = found?.products.slice(0, limit) ?? []
  const more = slug === null ? '/products' : `/collections/${slug}`
  const { texts } = site.locale
  if (found === null || products.length === 0) {
    return html`<section class="wrap section">${sections.headingOf(props)}<p class="empty">${texts.noProducts}</p></section>`
  }
  return html`<section class="wrap section"><div class="section-head">${sections.headingOf(props)}${
    found.total > products.length &&
    html`<a class="more" href="${more}">${found.total_is_estimate ? texts.seeAllProducts : texts.seeAll({ count: found.total })}</a>`
  }</div>${productGrid(context, { products, columns })}</section>`
}

async function featuredProduct(
  context: PageContext,
  props: PropsOf<'featured-product'>,
): Promise<Html | null> {
  const { api, site } = context
  const product = (await api.findProduct(site, props.slug ?? ''))?.product ?? null
  if (product === null) return null
  const shown = image(context, {
    ref: product.image_asset_ref,
    alt: imageAlt(product),
    sizes: `(min-width: 60rem) 50vw, ${sections.PHONE_WIDTH}`,
  })
  return html`<section class="wrap section feature"><div class="feature-image">${shown}</div><div class="feature-text">${
    props.heading && html`<p class="eyebrow">${props.heading}</p>`
  }<h2>${product.name}</h2><p class="feature-price">${priceOf(product, context)}</p>${
    product.description && html`<p>${product.description}</p>`
  }<p><a class="button" href="/products/${product.slug}">${site.locale.texts.viewProduct}</a></p></div></section>`
}

async function featuredCollection(
  context: PageContext,
  { collection: slug, heading, limit }: PropsOf<'featured-collection'>,
): Promise<Html | null> {
  const { api, site } = context
  const found = slug === null ? null : await api.findCollection(site, slug, { limit: PER_PAGE })
  if (found === null || found.products.length === 0) return null
  const { title, description } = found.collection
  const { texts } = site.locale
  const products = found.products.slice(0, limit)
  return html`<section class="wrap section featured-collection"><div class="featured-text"><h2>${heading ?? title}</h2>${
    description && html`<p>${description}</p>`
  }<p><a class="button" href="/collections/${slug}">${texts.viewCollection}</a></p></div>${productGrid(context, { products, columns: Math.min(products.length, 3) })}</section>`
}

const TILES_MAX = SECTION_TYPES['collection-list'].props.collections.countMax

async function collectionList(
  context: PageContext,
  props: PropsOf<'collection-list'>,
): Promise<Html | null> {
  const { api, site } = context
  const all = await api.listCollections(site)
  const slugs = props.collections
  const chosen =
    slugs.length === 0
      ? all
      : slugs.flatMap((slug) => all.find((collection) => collection.slug === slug) ?? [])
  if (chosen.length === 0) return null
  const tiles = await Promise.all(
    chosen.slice(0, TILES_MAX).map(async ({ slug, title, description }) => {
      const first = (await api.findCollection(site, slug, { limit: 1 }))?.products[0]
      const shown = image(context, {
        ref: first?.image_asset_ref ?? null,
        alt: '',
        sizes: `(min-width: 60rem) 24rem, ${sections.PHONE_WIDTH}`,
        name: title,
      })
      const to = safeHref(`/collections/${slug}`) ?? '/products'
      return html`<li class="tile"><a href="${to}"><span class="tile-image">${shown}</span><span class="tile-text"><span class="tile-title">${title}</span>${description && html`<span class="tile-description">${description}</span>`}</span></a></li>`
    }),
  )
  return html`<section class="wrap section">${sections.headingOf(props)}<ul class="tiles">${tiles}</ul></section>`
}
