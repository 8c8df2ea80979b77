import { type Html, html } from '../html.ts'
import { safeHref } from '../links.ts'
import { altOf, picture } from '../pictures.ts'
import { asList, asText, type Section } from '../site.ts'
import type { Collection, Product } from '../types.ts'
import { remember, type Visit } from '../visit.ts'
import { priceOf, productGrid } from './cards.ts'
import * as text from './sections-text.ts'

type Shown = Html | null | Promise<Html | null>
type Render = (visit: Visit, props: text.Props) => Shown

/** Every registered type. Announcement and footer stand on all pages, so here they show nothing. */
const SECTIONS: Record<string, Render> = {
  announcement: () => null,
  footer: () => null,
  hero: text.hero,
  'product-grid': productGridSection,
  'featured-product': featuredProduct,
  'collection-list': collectionList,
  'rich-text': text.richText,
  image: text.image,
  gallery: text.gallery,
  video: text.video,
  faq: text.faq,
  newsletter: text.newsletter,
  testimonials: text.testimonials,
  contact: text.contact,
  spacer: text.spacer,
}

/** What the sections of a home page need of the catalog, before any of them is written. */
export interface HomeData {
  products: readonly Product[]
  collections: readonly Collection[]
}

/** More than anybody scrolls through, and little enough for all stores to share one memory. */
const PAGE_LENGTH_MAX = 1_000_000

/** One section at a time, each as soon as it is there. What would be too much in all is left out. */
export async function* homeSections(visit: Visit): AsyncGenerator<string> {
  const { sections, brand } = visit.site
  if (!sections.some(({ type, props }) => type === 'hero' && asText(props.heading) !== null)) {
    yield html`<h1 class="hidden">${brand.name}</h1>`.text
  }
  let length = 0
  for (const section of sections) {
    const shown = await renderSection(visit, section)
    if (shown === null) continue
    length += shown.text.length
    if (length > PAGE_LENGTH_MAX) return tooLong(visit)
    yield shown.text
  }
}

const tooLong = ({ site, note }: Visit): void =>
  remember(site, 'too long', () => {
    note(
      { tenant: site.tenant, manifest: site.hash },
      'the rest of a home page is too long to show',
    )
  })

async function renderSection(visit: Visit, { type, props }: Section): Promise<Html | null> {
  const render = Object.hasOwn(SECTIONS, type) ? SECTIONS[type] : undefined
  if (render === undefined) {
    const { tenant, hash } = visit.site
    remember(visit.site, `unknown ${type}`, () => {
      visit.note({ tenant, manifest: hash, type }, 'a section of an unknown type is not shown')
      return true
    })
    return null
  }
  return render(visit, props)
}

const GRID_MAX = 100

async function productGridSection(visit: Visit, props: text.Props): Promise<Html | null> {
  const { shop, site } = visit
  const slug = asText(props.collection)
  const found =
    slug === null
      ? await shop.products(site)
      : ((await shop.findCollection(site, slug))?.products ?? [])
  const limit = Math.min(Math.max(Number(props.limit) || 8, 1), GRID_MAX)
  const columns = Math.min(Math.max(Math.round(Number(props.columns)) || 4, 1), 6)
  const products = found.slice(0, limit)
  const more = slug === null ? '/products' : `/collections/${slug}`
  const heading = asText(props.heading)
  const { say } = site.words
  if (products.length === 0) {
    return html`<section class="wrap section">${text.headingOf(props)}<p class="empty">${say.emptyShelf}</p></section>`
  }
  return html`<section class="wrap section"><div class="section-head">${heading !== null && html`<h2 class="section-title">${heading}</h2>`}${
    found.length > products.length &&
    html`<a class="more" href="${more}">${say.seeAll(found.length)}</a>`
  }</div>${productGrid(visit, { products, columns })}</section>`
}

async function featuredProduct(visit: Visit, props: text.Props): Promise<Html | null> {
  const { shop, site, cdn } = visit
  const product = await shop.findProduct(site, asText(props.slug) ?? '')
  if (product === null) return null
  const shown = picture(
    { tenant: site.tenant, cdn },
    { ref: product.image_asset_ref, alt: altOf(product), sizes: '(min-width: 60rem) 50vw, 92vw' },
  )
  return html`<section class="wrap section feature"><div class="feature-picture">${shown}</div><div class="feature-text">${
    asText(props.heading) && html`<p class="eyebrow">${asText(props.heading)}</p>`
  }<h2>${product.name}</h2><p class="feature-price">${priceOf(product, visit)}</p>${
    product.description && html`<p>${product.description}</p>`
  }<p><a class="button" href="/products/${product.slug}">${site.words.say.closerLook}</a></p></div></section>`
}

async function collectionList(visit: Visit, props: text.Props): Promise<Html | null> {
  const { shop, site, cdn } = visit
  const all = await shop.collections(site)
  const wanted = asList(props.collections)
  const chosen =
    wanted.length === 0
      ? all
      : wanted.flatMap((slug) => all.find((collection) => collection.slug === slug) ?? [])
  if (chosen.length === 0) return null
  const tiles = await Promise.all(
    chosen.slice(0, 12).map(async ({ slug, title, description }) => {
      const first = (await shop.findCollection(site, slug))?.products[0]
      const shown = picture(
        { tenant: site.tenant, cdn },
        { ref: first?.image_asset_ref ?? null, alt: '', sizes: '(min-width: 60rem) 24rem, 92vw' },
      )
      const to = safeHref(`/collections/${slug}`) ?? '/products'
      return html`<li class="tile"><a href="${to}"><span class="tile-picture">${shown}</span><span class="tile-text"><span class="tile-title">${title}</span>${description && html`<span class="tile-words">${description}</span>`}</span></a></li>`
    }),
  )
  return html`<section class="wrap section">${text.headingOf(props)}<ul class="tiles">${tiles}</ul></section>`
}
