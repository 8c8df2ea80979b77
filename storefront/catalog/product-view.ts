import type { Product, Variant } from '../api/types.ts'
import { QUANTITY_MAX } from '../cart/cart.ts'
import { type Html, html, paragraphs } from '../layout/html.ts'
import { image, imageAlt } from '../layout/images.ts'
import { taxNote } from '../layout/totals.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'
import type { Texts } from '../translations/en.ts'
import { priceBefore, priceOf, productGrid } from './product-cards.ts'

/** A product with its images, its variants and the form that adds it to the cart. */
export const productMain = (
  context: PageContext,
  product: Product,
  related: readonly Product[],
): Html => {
  const details = memoize(product, 'main', () => article(context, product), context.site.hash)
  if (related.length === 0) return details
  return html`${details}<section class="wrap section"><h2 class="section-title">${context.site.locale.texts.alsoLike}</h2>${productGrid(
    context,
    { products: related },
  )}</section>`
}

function article(context: PageContext, product: Product): Html {
  const { name, description } = product
  const { texts } = context.site.locale
  const included = taxNote(context.site)
  return html`<article class="wrap product">
<nav class="breadcrumb" aria-label="${texts.breadcrumb}"><ol><li><a href="/">${texts.home}</a></li><li><a href="/products">${texts.all}</a></li><li aria-current="page">${name}</li></ol></nav>
<div class="product-row"><div class="product-images">${images(context, product)}</div>
<div class="product-text"><h1>${name}</h1>
<p class="price">${priceBefore(product, context)}<span data-price>${priceOf(product, context)}</span></p>${included !== null && html`<p class="price-note">${included}</p>`}
${addForm(context, product)}
${description && html`<div class="prose product-description">${paragraphs(description)}</div>`}
${subscriptionNote(context, product)}${shippingNote(context, product)}
</div></div></article>`
}

function images(context: PageContext, product: Product): Html {
  const refs = product.images.length > 0 ? product.images.map((each) => each.asset_ref) : [null]
  return html`${refs.map((ref, at) =>
    image(context, {
      ref,
      alt: imageAlt(product, at),
      sizes: '(min-width: 60rem) 50vw, 100vw',
      eager: at === 0,
      zoom: context.site.locale.texts,
    }),
  )}`
}

function addForm(context: PageContext, { variants, available }: Product): Html {
  const { texts } = context.site.locale
  const [first, second] = variants
  if (first === undefined) return html`<p class="empty">${texts.notForSale}</p>`
  const chosen = variants.find((each) => each.available) ?? first
  const choice =
    second === undefined
      ? html`<input type="hidden" name="variant" value="${first.id}">`
      : html`<fieldset class="choices"><legend>${texts.chooseOption}</legend>${variants.map((each) => variantOption(context, each, each === chosen))}</fieldset>`
  return html`<form class="buy" method="post" action="/cart/add" data-add>${choice}
${second === undefined && stockNote(texts, first)}<div class="buy-row"><label class="quantity"><span>${texts.quantity}</span><input type="number" name="quantity" value="1" min="1" max="${QUANTITY_MAX}" inputmode="numeric"></label>
${buyButton(context, available)}</div></form>`
}

function buyButton({ site }: PageContext, isAvailable: boolean): Html {
  const { addToCart, buyNow, notInPreview, soldOut } = site.locale.texts
  const refusal = site.preview === null ? (isAvailable ? null : soldOut) : notInPreview
  return refusal === null
    ? html`<button class="button button-wide">${addToCart}</button><button class="button button-quiet button-wide buy-now" formaction="/checkout/now" formmethod="get">${buyNow}</button>`
    : html`<button class="button button-wide" disabled>${refusal}</button>`
}

/** Says that few are left, where the store says so. */
function stockNote(texts: Texts, { available, low_stock, available_units }: Variant): Html | null {
  if (!available || !low_stock) return null
  const words = available_units === null ? texts.fewLeft : texts.unitsLeft(available_units)
  return html`<p class="stock-note">${words}</p>`
}

function variantOption({ site }: PageContext, variant: Variant, checked: boolean) {
  const { id, label, sku, price_cents, currency, available } = variant
  const { texts, formatMoney } = site.locale
  const price = formatMoney(price_cents, currency)
  const state = available ? stockNote(texts, variant) : html`<span>${texts.soldOut}</span>`
  return html`<label class="choice"><input type="radio" name="variant" value="${id}" data-price="${price}"${checked && html` checked`}${!available && html` disabled`}><span class="choice-box"><span>${label ?? sku}</span><span class="choice-price">${price}</span>${state}</span></label>`
}

function subscriptionNote({ site }: PageContext, product: Product): Html | null {
  const { variants, subscription_interval: unit, subscription_price_cents: cents } = product
  const [first] = variants
  if (!site.offers.subscriptions || unit === null || first === undefined) return null
  const { texts, formatMoney } = site.locale
  const price = formatMoney(cents ?? first.price_cents, first.currency)
  const interval = texts.every(product.subscription_interval_count ?? 1, unit)
  return html`<p class="note">${texts.subscriptionPrice(price, interval)}</p>`
}

function shippingNote({ site }: PageContext, { variants }: Product): Html | null {
  const { shipping } = site.policies
  const [first] = variants
  if (shipping === null || first === undefined) return null
  const { texts, formatMoney } = site.locale
  const money = (cents: number) => formatMoney(cents, first.currency)
  const rate = money(Math.min(shipping.flat_rate_cents, shipping.max_cents))
  const threshold = shipping.free_shipping_threshold_cents
  return html`<p class="note">${texts.shippingCost(rate, threshold === null ? null : money(threshold))}</p>`
}
