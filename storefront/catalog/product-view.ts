import { shippingRate } from '../../manifest/shipping.ts'
import type { FoundProduct, Product, Variant } from '../api/types.ts'
import { QUANTITY_MAX } from '../cart/cart.ts'
import { arrivalNote } from '../layout/arrival.ts'
import { type Html, html, paragraphs } from '../layout/html.ts'
import { measurePriceText } from '../layout/measure-price.ts'
import { taxNote } from '../layout/totals.ts'
import type { PageContext } from '../request-context.ts'
import type { Site } from '../site/site.ts'
import type { Texts } from '../translations/texts.ts'
import { giftCardFields } from './gift-card-fields.ts'
import { hasFallen, lowestPriceNote, priceBefore, productGrid } from './product-cards.ts'
import { gallery } from './product-gallery.ts'
import { type Choice, type ChoiceGroup, choiceGroups, chooseVariant } from './product-options.ts'
import { planChoice, planPrice } from './purchase-plan.ts'
import { productTrail } from './structured-data.ts'
import { swatches } from './swatches.ts'

/** A product with its images, its variants and the form that adds it to the cart. */
export function productMain(
  context: PageContext,
  found: FoundProduct,
  related: readonly Product[],
): Html {
  const { texts } = context.site.locale
  return html`${article(context, found)}${
    related.length > 0 &&
    html`<section class="wrap section"><h2 class="section-title">${texts.alsoLike}</h2>${productGrid(context, { products: related })}</section>`
  }
${recentlySeen(context, found.product)}`
}

/** The place of the products seen before. The script fills and shows it, and asks first if the store wants that. */
function recentlySeen({ site }: PageContext, { slug }: Product): Html {
  const { texts } = site.locale
  const question =
    site.asksConsent &&
    html`<div class="consent" hidden><p>${texts.seenConsent}</p><p><button type="button" class="button" value="yes">${texts.seenAllow}</button> <button type="button" class="button button-quiet" value="no">${texts.seenRefuse}</button></p></div>`
  return html`<section class="wrap section" data-seen="${slug}" hidden><h2 class="section-title">${texts.recentlySeen}</h2>${question}</section>`
}

/** The way to the product, as search engines read it, too. */
function breadcrumb(context: PageContext, found: FoundProduct): Html {
  const trail = productTrail(context, found)
  const last = trail.at(-1)
  return html`<nav class="breadcrumb" aria-label="${context.site.locale.texts.breadcrumb}"><ol>${trail.map(
    (each) =>
      each === last
        ? html`<li aria-current="page">${each.name}</li>`
        : html`<li><a href="${each.path}">${each.name}</a></li>`,
  )}</ol></nav>`
}

/** Returns the variant that the address names by its id, if the product has it. */
export function namedVariant({ url }: PageContext, { variants }: Product): Variant | null {
  const id = url.searchParams.get('variant')
  return variants.find((each) => each.id === id) ?? null
}

function article(context: PageContext, found: FoundProduct): Html {
  const { product } = found
  const { name, description } = product
  const { texts } = context.site.locale
  const chosen = namedVariant(context, product) ?? chooseVariant(product)
  return html`<article class="wrap product">
${breadcrumb(context, found)}
<div class="product-row">${gallery(context, product, chosen?.image_asset_ref ?? null)}
<div class="product-text"><h1>${name}</h1>
<div aria-live="polite">${chosen && priceBlock(context, product, chosen)}</div>
${chosen ? addForm(context, product, chosen) : html`<p class="empty">${texts.notForSale}</p>`}
${description && html`<div class="prose product-description">${paragraphs(description)}</div>`}
${shippingNote(context, product)}
</div></div></article>`
}

function priceBlock(context: PageContext, product: Product, variant: Variant): Html {
  const { texts, formatMoney } = context.site.locale
  const before = priceBefore(variant, context)
  const notes = [
    variant.gift_card ? null : taxNote(context.site),
    before === null ? null : lowestPriceNote(variant, context),
  ].filter((note) => note !== null)
  const once = html`<p class="price">${before}<span data-price>${formatMoney(variant.price_cents, variant.currency)}</span>${
    hasFallen(variant) && html` <span class="tag">${texts.sale}</span>`
  }</p>${measurePriceText(context, variant)}${notes.map((note) => html`<p class="price-note">${note}</p>`)}`
  const plan = variant.available ? planPrice(context, product, variant) : null
  return html`<div id="price" class="price-block">${plan === null ? once : html`<div class="price-once">${once}</div>${plan}`}</div>`
}

function addForm(context: PageContext, product: Product, chosen: Variant): Html {
  const { texts } = context.site.locale
  return html`<form id="buy" class="buy" method="post" action="/cart/add" data-add data-image="${chosen.image_asset_ref}"><input type="hidden" name="variant" value="${chosen.id}">${choiceGroups(
    product,
    chosen,
  ).map((each) => choiceGroup(context, product, each))}
${chosen.gift_card && giftCardFields(context)}${chosen.available && planChoice(context, product, chosen)}${stockNote(texts, chosen, product)}<div class="buy-row"><label class="quantity"><span>${texts.quantity}</span><input type="number" name="quantity" value="1" min="1" max="${QUANTITY_MAX}" inputmode="numeric"></label>
${buyButton(context, chosen)}</div>${buyNow(context, chosen)}</form>`
}

function choiceGroup(context: PageContext, product: Product, group: ChoiceGroup): Html {
  const { texts } = context.site.locale
  const { name, choices } = group
  const seen = swatches(context, product, group)
  const chosen = choices.find(({ isChosen }) => isChosen)?.text
  return html`<div class="variant-choices" role="group" aria-label="${name ?? texts.chooseOption}"><p class="variant-name">${
    name === null ? texts.chooseOption : html`${name}: <strong>${chosen}</strong>`
  }</p><ul>${choices.map((each, at) => html`<li>${choiceLink(context, each, { withPrice: name === null, swatch: seen[at] ?? null })}</li>`)}</ul></div>`
}

/** Renders a choice as a link, so that the address names the variant, also without the script. */
function choiceLink(
  { site }: PageContext,
  choice: Choice,
  { withPrice, swatch }: { withPrice: boolean; swatch: Html | null },
): Html {
  const { text, variant, isChosen, notWith } = choice
  const { texts, formatMoney, formatList } = site.locale
  const { id, price_cents, currency, available } = variant
  const notes = [
    ...(withPrice ? [formatMoney(price_cents, currency)] : []),
    ...(notWith.length > 0 ? [texts.notWith({ values: formatList(notWith) })] : []),
    ...(available ? [] : [texts.soldOut]),
  ]
  const state = notWith.length > 0 ? 'other' : available ? null : 'sold-out'
  return html`<a class="variant-choice" href="?variant=${id}" rel="nofollow" data-choice${isChosen && html` aria-current="true"`}${state && html` data-state="${state}"`}${swatch && html` data-swatch`}>${swatch}<span class="choice-text">${text}</span>${notes.map((each) => html` <span class="choice-note">${each}</span>`)}</a>`
}

/** Why a variant cannot be bought here; null if it can. */
function refusalOf({ site }: PageContext, { available: isAvailable }: Variant): string | null {
  const { notInPreview, soldOut } = site.locale.texts
  if (site.preview !== null) return notInPreview
  return isAvailable ? null : soldOut
}

function buyButton(context: PageContext, variant: Variant): Html {
  const refusal = refusalOf(context, variant)
  return refusal === null
    ? html`<button class="button button-wide">${context.site.locale.texts.addToCart}</button>`
    : html`<button class="button button-wide" disabled>${refusal}</button>`
}

/** The express checkout. A gift card has none: its recipient would stand in the page's address. */
const buyNow = (context: PageContext, variant: Variant): Html | null =>
  variant.gift_card || refusalOf(context, variant) !== null
    ? null
    : html`<button class="button button-quiet button-wide buy-now" formaction="/checkout/now" formmethod="get">${context.site.locale.texts.buyNow}</button>`

/** Says that the chosen variant is sold out and others are not; or that few units are left, if the store shows that. */
function stockNote(texts: Texts, chosen: Variant, product: Product): Html | null {
  const { available, low_stock, available_units } = chosen
  if (!available) {
    return product.available ? html`<p class="stock-note">${texts.choiceSoldOut}</p>` : null
  }
  if (!low_stock) return null
  const words =
    available_units === null ? texts.fewLeft : texts.unitsLeft({ count: available_units })
  return html`<p class="stock-note">${words}</p>`
}

/** The price of shipping, and the day of arrival for goods that are ordered now. Gift cards are mailed. */
function shippingNote({ site }: PageContext, { variants }: Product): Html | null {
  const first = variants.find(({ gift_card }) => !gift_card)
  if (first === undefined) return null
  const cost = shippingCost(site, first.currency)
  const arrival = arrivalNote(site, 'standard')
  if (cost === null && arrival === null) return null
  return html`<p class="note">${cost}${cost !== null && arrival !== null && html`<br>`}${arrival}</p>`
}

function shippingCost({ policies, locale }: Site, currency: string): string | null {
  const { shipping } = policies
  if (shipping === null) return null
  const { texts, formatMoney } = locale
  const money = (cents: number) => formatMoney(cents, currency)
  const rate = money(shippingRate(shipping, false))
  const threshold = shipping.free_shipping_threshold_cents
  return threshold === null
    ? texts.shippingCost({ rate })
    : texts.shippingCostFreeFrom({ rate, freeFrom: money(threshold) })
}
