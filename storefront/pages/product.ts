import { QUANTITY_MAX } from '../cart.ts'
import { type Html, html, paragraphs } from '../html.ts'
import { altOf, picture } from '../pictures.ts'
import type { Product, Variant } from '../types.ts'
import { remember, type Visit } from '../visit.ts'
import { priceOf, productGrid } from './cards.ts'

/** A product with its pictures, its forms, and the way into the cart. */
export const productMain = (visit: Visit, product: Product, more: readonly Product[]): Html =>
  html`${remember(product, 'main', () => article(visit, product), visit.site.hash)}${
    more.length > 0 &&
    html`<section class="wrap section"><h2 class="section-title">${visit.site.words.say.alsoLike}</h2>${productGrid(
      visit,
      { products: more },
    )}</section>`
  }`

function article(visit: Visit, product: Product): Html {
  const { name, description } = product
  const { say } = visit.site.words
  return html`<article class="wrap product">
<nav class="crumbs" aria-label="${say.breadcrumb}"><ol><li><a href="/">${say.home}</a></li><li><a href="/products">${say.all}</a></li><li aria-current="page">${name}</li></ol></nav>
<div class="product-row"><div class="product-pictures">${pictures(visit, product)}</div>
<div class="product-text"><h1>${name}</h1>
<p class="price" data-price>${priceOf(product, visit)}</p>
${buyForm(visit, product)}
${description && html`<div class="prose product-words">${paragraphs(description)}</div>`}
${subscriptionNote(visit, product)}${deliveryNote(visit, product)}
</div></div></article>`
}

function pictures({ site, cdn }: Visit, product: Product): Html {
  const album = { tenant: site.tenant, cdn }
  const refs = product.images.length > 0 ? product.images.map((each) => each.asset_ref) : [null]
  return html`${refs.map((ref, at) =>
    picture(album, {
      ref,
      alt: altOf(product, at),
      sizes: '(min-width: 60rem) 50vw, 100vw',
      eager: at === 0,
      zoom: site.words.say,
    }),
  )}`
}

function buyForm(visit: Visit, { variants }: Product): Html {
  const { say } = visit.site.words
  const [first, second] = variants
  if (first === undefined) return html`<p class="empty">${say.notForSale}</p>`
  const choice =
    second === undefined
      ? html`<input type="hidden" name="variant" value="${first.id}">`
      : html`<fieldset class="choices"><legend>${say.choose}</legend>${variants.map((each, at) => option(visit, each, at === 0))}</fieldset>`
  return html`<form class="buy" method="post" action="/cart/add" data-add>${choice}
<div class="buy-row"><label class="quantity"><span>${say.quantity}</span><input type="number" name="quantity" value="1" min="1" max="${QUANTITY_MAX}" inputmode="numeric"></label>
${
  visit.site.preview === null
    ? html`<button class="button button-wide">${say.addToCart}</button>`
    : html`<button class="button button-wide" disabled>${say.notInPreview}</button>`
}</div></form>`
}

function option(
  { site }: Visit,
  { id, label, sku, price_cents, currency }: Variant,
  checked: boolean,
) {
  const price = site.words.money(price_cents, currency)
  return html`<label class="choice"><input type="radio" name="variant" value="${id}" data-price="${price}"${checked && html` checked`}><span class="choice-box"><span>${label ?? sku}</span><span class="choice-price">${price}</span></span></label>`
}

function subscriptionNote({ site }: Visit, product: Product): Html | null {
  const { variants, subscription_interval: unit, subscription_price_cents: cents } = product
  const [first] = variants
  if (!site.offers.subscriptions || unit === null || first === undefined) return null
  const { say, money } = site.words
  const price = money(cents ?? first.price_cents, first.currency)
  const every = say.every(product.subscription_interval_count ?? 1, unit)
  return html`<p class="note">${say.subscription(price, every)}</p>`
}

function deliveryNote({ site }: Visit, { variants }: Product): Html | null {
  const { shipping } = site.policies
  const [first] = variants
  if (shipping === null || first === undefined) return null
  const { say, money } = site.words
  const rate = money(Math.min(shipping.flat_rate_cents, shipping.max_cents), first.currency)
  const from = shipping.free_shipping_threshold_cents
  const free = from === null ? null : money(from, first.currency)
  return html`<p class="note">${say.deliveryFrom(rate, free)}</p>`
}
