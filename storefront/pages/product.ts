import { QUANTITY_MAX } from '../cart.ts'
import { type Html, html, paragraphs } from '../html.ts'
import { altOf, picture } from '../pictures.ts'
import type { Product, Variant } from '../types.ts'
import { remember, type Visit } from '../visit.ts'
import { priceOf, productGrid } from './cards.ts'

/** A product with its pictures, its forms, and the way into the cart. */
export const productMain = (visit: Visit, product: Product, more: readonly Product[]): Html =>
  html`${remember(product, `main ${visit.site.hash}`, () => article(visit, product))}${
    more.length > 0 &&
    html`<section class="wrap section"><h2 class="section-title">You may also like</h2>${productGrid(
      visit,
      { products: more },
    )}</section>`
  }`

function article(visit: Visit, product: Product): Html {
  const { name, description } = product
  return html`<article class="wrap product">
<nav class="crumbs" aria-label="Breadcrumb"><ol><li><a href="/">Home</a></li><li><a href="/products">All</a></li><li aria-current="page">${name}</li></ol></nav>
<div class="product-row"><div class="product-pictures">${pictures(visit, product)}</div>
<div class="product-text"><h1>${name}</h1>
<p class="price" data-price>${priceOf(product, visit)}</p>
${buyForm(visit, product)}
${description && html`<div class="prose product-words">${paragraphs(description)}</div>`}
${deliveryNote(visit, product)}
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
      zoom: true,
    }),
  )}`
}

function buyForm(visit: Visit, { variants }: Product): Html {
  const [first, second] = variants
  if (first === undefined) return html`<p class="empty">This is not for sale at the moment.</p>`
  const choice =
    second === undefined
      ? html`<input type="hidden" name="variant" value="${first.id}">`
      : html`<fieldset class="choices"><legend>Choose</legend>${variants.map((each, at) => option(visit, each, at === 0))}</fieldset>`
  return html`<form class="buy" method="post" action="/cart/add" data-add>${choice}
<div class="buy-row"><label class="quantity"><span>Quantity</span><input type="number" name="quantity" value="1" min="1" max="${QUANTITY_MAX}" inputmode="numeric"></label>
${
  visit.site.preview === null
    ? html`<button class="button button-wide">Add to cart</button>`
    : html`<button class="button button-wide" disabled>Not for sale in a preview</button>`
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

function deliveryNote({ site }: Visit, { variants }: Product): Html | null {
  const { shipping } = site.policies
  const [first] = variants
  if (shipping === null || first === undefined) return null
  const rate = site.words.money(shipping.flat_rate_cents, first.currency)
  const from = shipping.free_shipping_threshold_cents
  return html`<p class="note">Delivery ${rate}${from !== null && html`, free from ${site.words.money(from, first.currency)}`}.</p>`
}
