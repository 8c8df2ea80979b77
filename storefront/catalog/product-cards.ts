import type { Product, Variant } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import { image, imageAlt } from '../layout/images.ts'
import { measurePriceText } from '../layout/measure-price.ts'
import { taxNote } from '../layout/totals.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'

/** The price of the cheapest variant, with "from" if other variants cost more. */
export function priceOf({ variants }: Product, { site }: PageContext): string {
  const [first] = variants
  if (first === undefined) return ''
  const least = Math.min(...variants.map((each) => each.price_cents))
  const most = Math.max(...variants.map((each) => each.price_cents))
  const price = site.locale.formatMoney(least, first.currency)
  return least === most ? price : site.locale.texts.fromPrice({ price })
}

/** The cheapest variant: the one whose price a card shows. */
function cheapest({ variants: [first, ...others] }: Product): Variant | null {
  if (first === undefined) return null
  return others.reduce((a, b) => (b.price_cents < a.price_cents ? b : a), first)
}

/** The price of a measure of the variant whose price is shown. */
function leastMeasurePrice(product: Product, context: PageContext): Html | null {
  const least = cheapest(product)
  return least && measurePriceText(context, least)
}

/** The price before, of the variant whose price is shown. */
export function leastPriceBefore(product: Product, context: PageContext): Html | null {
  const least = cheapest(product)
  return least && priceBefore(least, context)
}

/** The price before, of a variant that has been reduced. */
export function priceBefore(variant: Variant, { site }: PageContext): Html | null {
  const { compare_at_price_cents: before, price_cents, currency } = variant
  if (before === null || before <= price_cents) return null
  const { texts, formatMoney } = site.locale
  return html`<s class="price-before"><span class="hidden">${texts.priceBefore} </span>${formatMoney(before, currency)}</s> `
}

/** Whether the price is lower than every price of the 30 days before. Only then it may be called a sale. */
export const hasFallen = ({ lowest_price_30_days_cents: lowest, price_cents }: Variant): boolean =>
  lowest !== null && lowest > price_cents

/** The lowest price of the 30 days before a reduction; null without a reduction. */
export function lowestPriceNote(variant: Variant, { site }: PageContext): string | null {
  const { lowest_price_30_days_cents: lowest, currency } = variant
  if (lowest === null) return null
  return site.locale.texts.buying.lowestPrice({ price: site.locale.formatMoney(lowest, currency) })
}

/** Shown on a card only if it differs from the price that is struck out. */
function cardLowestPrice(product: Product, context: PageContext): Html | null {
  const least = cheapest(product)
  if (least === null || least.lowest_price_30_days_cents === least.compare_at_price_cents)
    return null
  const note = lowestPriceNote(least, context)
  return note === null ? null : html`<small class="card-lowest">${note}</small>`
}

/** The badge of a product: a fact that a shopper should know before they open it. */
function badge(product: Product, { site }: PageContext): Html | null {
  const { texts } = site.locale
  if (product.variants.length > 0 && !product.available)
    return html`<span class="badge badge-quiet">${texts.soldOut}</span>`
  const least = cheapest(product)
  return least !== null && hasFallen(least) ? html`<span class="badge">${texts.sale}</span>` : null
}

/** Says beside a price that the tax is inside, if the product page names the rate. Gift cards have no tax. */
const taxWord = ({ variants }: Product, { site }: PageContext): Html | null =>
  variants.some(({ gift_card }) => !gift_card) && taxNote(site) !== null
    ? html` <small class="card-tax">${site.locale.texts.taxIncluded}</small>`
    : null

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
      const shown = image(context, { ref, alt: imageAlt(product), sizes, name })
      return html`<li class="card"><a href="/products/${slug}"><span class="card-image">${shown}${badge(product, context)}</span><span class="card-text"><span class="card-name">${name}</span><span class="card-price">${leastPriceBefore(product, context)}<span class="card-now">${priceOf(product, context)}</span>${taxWord(product, context)}</span>${leastMeasurePrice(product, context)}${cardLowestPrice(product, context)}</span></a></li>`
    },
    context.site.hash,
  )

interface Grid {
  products: readonly Product[]
  columns?: number
}

export const productGrid = (context: PageContext, { products, columns = 4 }: Grid): Html =>
  html`<ul class="grid" data-columns="${columns}">${products.map((each) => productCard(context, each, columns))}</ul>`
