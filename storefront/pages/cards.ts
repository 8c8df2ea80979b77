import { type Html, html } from '../html.ts'
import { altOf, picture } from '../pictures.ts'
import type { Product } from '../types.ts'
import { remember, type Visit } from '../visit.ts'

/** The cheapest price, and whether others cost more. */
export function priceOf({ variants }: Product, { site }: Visit): string {
  const [first] = variants
  if (first === undefined) return ''
  const least = Math.min(...variants.map((each) => each.price_cents))
  const most = Math.max(...variants.map((each) => each.price_cents))
  const price = site.words.money(least, first.currency)
  return least === most ? price : site.words.say.from(price)
}

const SIZES: Record<number, string> = {
  1: '(min-width: 70rem) 68rem, 92vw',
  2: '(min-width: 60rem) 34rem, 92vw',
  3: '(min-width: 60rem) 24rem, 46vw',
  4: '(min-width: 60rem) 18rem, 46vw',
}

/** A product in a list. Kept with the product, since lists show the same ones over and over. */
export const productCard = (visit: Visit, product: Product, columns = 4): Html =>
  remember(
    product,
    `card ${columns}`,
    () => {
      const { slug, name, image_asset_ref: ref } = product
      const sizes = SIZES[columns] ?? SIZES[4] ?? ''
      return html`<li class="card"><a href="/products/${slug}"><span class="card-picture">${picture(
        { tenant: visit.site.tenant, cdn: visit.cdn },
        { ref, alt: altOf(product), sizes },
      )}</span><span class="card-text"><span class="card-name">${name}</span><span class="card-price">${priceOf(
        product,
        visit,
      )}</span></span></a></li>`
    },
    visit.site.hash,
  )

interface Grid {
  products: readonly Product[]
  columns?: number
}

export const productGrid = (visit: Visit, { products, columns = 4 }: Grid): Html =>
  html`<ul class="grid" data-columns="${columns}">${products.map((each) => productCard(visit, each, columns))}</ul>`
