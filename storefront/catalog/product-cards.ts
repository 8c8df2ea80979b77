import type { Product } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import { image, imageAlt } from '../layout/images.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'

/** The price of the cheapest variant, with "from" where others cost more. */
export function priceOf({ variants }: Product, { site }: PageContext): string {
  const [first] = variants
  if (first === undefined) return ''
  const least = Math.min(...variants.map((each) => each.price_cents))
  const most = Math.max(...variants.map((each) => each.price_cents))
  const price = site.locale.formatMoney(least, first.currency)
  return least === most ? price : site.locale.texts.fromPrice(price)
}

const SIZES: Record<number, string> = {
  1: '(min-width: 70rem) 68rem, 92vw',
  2: '(min-width: 60rem) 34rem, 92vw',
  3: '(min-width: 60rem) 24rem, 46vw',
  4: '(min-width: 60rem) 18rem, 46vw',
}

/** A product in a grid. Kept with the product, since many pages show the same ones. */
const productCard = (context: PageContext, product: Product, columns: number): Html =>
  memoize(
    product,
    `card ${columns}`,
    () => {
      const { slug, name, image_asset_ref: ref } = product
      const sizes = SIZES[columns] ?? SIZES[4] ?? ''
      const shown = image(context, { ref, alt: imageAlt(product), sizes })
      return html`<li class="card"><a href="/products/${slug}"><span class="card-image">${shown}</span><span class="card-text"><span class="card-name">${name}</span><span class="card-price">${priceOf(
        product,
        context,
      )}</span></span></a></li>`
    },
    context.site.hash,
  )

interface Grid {
  products: readonly Product[]
  columns?: number
}

export const productGrid = (context: PageContext, { products, columns = 4 }: Grid): Html =>
  html`<ul class="grid" data-columns="${columns}">${products.map((each) => productCard(context, each, columns))}</ul>`
