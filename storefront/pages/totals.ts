import { couponWords } from '../explain.ts'
import { type Html, html } from '../html.ts'
import type { Charge, Product, Quote, Variant } from '../types.ts'
import { remember, type Visit } from '../visit.ts'
import type { Phrases } from '../words/en.ts'
import type { Words } from '../words.ts'

/** What a cart line shows: the catalog knows the words, the quote the money. */
export interface Line {
  product: Product
  variant: Variant
  quantity: number
  /** Null while nothing could be priced. */
  quoted: Quote['items'][number] | null
}

type Catalog = ReadonlyMap<string, { product: Product; variant: Variant }>

const byVariant = (products: readonly Product[]): Catalog =>
  remember(
    products,
    'variants',
    () =>
      new Map(
        products.flatMap((product) =>
          product.variants.map((variant) => [variant.id, { product, variant }] as const),
        ),
      ),
  )

/** Those lines of the cart that are still sold. */
export function linesOf(visit: Visit, products: readonly Product[], quote: Quote | null): Line[] {
  const known = byVariant(products)
  return visit.cart.items.flatMap(({ variant_id, quantity }) => {
    const found = known.get(variant_id)
    if (found === undefined) return []
    const quoted = quote?.items.find((each) => each.variant_id === variant_id) ?? null
    return [{ ...found, quantity, quoted }]
  })
}

export const isSold = (products: readonly Product[], variantId: string): boolean =>
  byVariant(products).has(variantId)

interface Money {
  subtotal_cents: number
  discount_cents: number
  shipping_cents: number
  tax_cents: number
  total_cents: number
  currency: string
}

/** The sums below a list of things: the same for a cart, a checkout and an order. */
export function sums({ site }: Visit, money: Money, coupon: string | null): Html {
  const { say } = site.words
  const cents = (value: number) => site.words.money(value, money.currency)
  return html`<dl class="sums"><div><dt>${say.subtotal}</dt><dd>${cents(money.subtotal_cents)}</dd></div>
${money.discount_cents > 0 && html`<div class="sums-good"><dt>${say.discount}${coupon && html` <span class="code">${coupon}</span>`}</dt><dd>−${cents(money.discount_cents)}</dd></div>`}
<div><dt>${say.delivery}</dt><dd>${money.shipping_cents === 0 ? say.free : cents(money.shipping_cents)}</dd></div>
${money.tax_cents > 0 && html`<div><dt>${say.tax}</dt><dd>${cents(money.tax_cents)}</dd></div>`}
<div class="sums-total"><dt>${say.total}</dt><dd data-total>${cents(money.total_cents)}</dd></div></dl>`
}

/** What to say about a coupon that was typed. */
export function couponNote(words: Words, { coupon }: Quote): Html | null {
  if (coupon.code === null) return null
  return coupon.applied
    ? html`<p class="ok" role="status">${words.say.codeApplied(coupon.code)}</p>`
    : html`<p class="fault" role="alert">${couponWords(words, coupon.reason)}</p>`
}

export function freeDeliveryNote({ site }: Visit, quote: Quote): Html | null {
  const left = quote.free_shipping_remaining_cents
  if (left === null || left === 0) return null
  const { say, money } = site.words
  return html`<p class="note">${say.freeDeliveryAfter(money(left, quote.currency))}</p>`
}

/** What paid, as its owner knows it. */
export function tenderName(say: Phrases, { tender, card, gift_card_last4 }: Charge): string {
  const brand = card?.brand ? card.brand.charAt(0).toUpperCase() + card.brand.slice(1) : null
  const last4 = card?.last4 ?? gift_card_last4
  const what = brand ?? say.tenders[tender]
  return last4 ? say.endingIn(what, last4) : what
}
