import { shippingPrice } from '../../manifest/shipping.ts'
import type { Product, Subscription, Variant } from '../api/types.ts'
import { REPEATED } from '../cart/cart.ts'
import { type Html, html } from '../layout/html.ts'
import { measurePriceText } from '../layout/measure-price.ts'
import { taxNote } from '../layout/totals.ts'
import type { PageContext } from '../request-context.ts'
import type { Site } from '../site/site.ts'
import { comingDates } from '../subscriptions/coming-dates.ts'
import type { Texts } from '../translations/texts.ts'

/** How many coming dates a shopper is told. */
export const DATES = 2

/** How often a product is delivered, in words; null if it cannot be subscribed to now. */
export function rhythmOf(site: Site, product: Product, variant: Variant): string | null {
  const { subscription_interval: unit, subscription_interval_count: count } = product
  const canRepeat = site.offers.newSubscriptions && product.is_subscription && !variant.gift_card
  return canRepeat && unit !== null ? site.locale.texts.every[unit]({ count: count ?? 1 }) : null
}

/** A text that begins a line. */
const begin = (text: string, language: string): string =>
  text.charAt(0).toLocaleUpperCase(language) + text.slice(1)

/** What is told of buying a product again and again. */
interface Plan {
  rhythm: string
  cents: number
  /** "10%", of the price of a single purchase; null where it saves nothing. */
  saved: string | null
  /** The days on which the next deliveries are charged. */
  dates: readonly string[]
}

/** The plan of a variant; null where it is sold once only. */
function planOf(site: Site, product: Product, variant: Variant): Plan | null {
  const rhythm = rhythmOf(site, product, variant)
  if (rhythm === null) return null
  const { formatRate } = site.locale
  const cents = repeatedCents(site, product, variant)
  const percent = Math.floor((1 - cents / variant.price_cents) * 100)
  const saved = percent > 0 ? formatRate(percent * 100) : null
  return { rhythm, cents, saved, dates: coming(site, intervalOf(product), DATES) }
}

/** The coming days of deliveries that begin today, as texts. */
export const coming = (
  { locale: { dateValue, formatDay } }: Site,
  every: Pick<Subscription, 'interval' | 'interval_count'>,
  count: number,
): string[] => comingDates(dateValue(new Date().toISOString()), every, count).map(formatDay)

const intervalOf = ({ subscription_interval, subscription_interval_count }: Product) => ({
  interval: subscription_interval ?? ('month' as const),
  interval_count: subscription_interval_count ?? 1,
})

/**
 * The choice between a single purchase and a subscription: the price of each, and for the subscription, before it is
 * chosen, what it saves, what a delivery costs and when the next ones are. Null if a product cannot be subscribed to.
 */
export function planChoice({ site }: PageContext, product: Product, chosen: Variant): Html | null {
  const repeated = planOf(site, product, chosen)
  if (repeated === null) return null
  const { rhythm, cents, saved } = repeated
  const { texts, formatMoney, language } = site.locale
  const words = texts.buying
  const plan = (value: string, name: string, price: number, more: Html | false) =>
    html`<label class="choice"><input type="radio" name="plan" value="${value}"${value !== REPEATED && html` checked`}${value === REPEATED && html` aria-describedby="plan-note"`}><span class="choice-box"><span>${name}${more}</span><strong>${formatMoney(price, chosen.currency)}</strong></span></label>`
  return html`<fieldset class="choices plans"><legend>${words.plan}</legend>${plan('once', words.once, chosen.price_cents, false)}${plan(
    REPEATED,
    begin(rhythm, language),
    cents,
    saved !== null && html` <small class="choice-note">${words.save({ percent: saved })}</small>`,
  )}<div class="plan-note note" id="plan-note">${planNotes(site, repeated, chosen.currency).map((each) => html`<p>${each}</p>`)}</div></fieldset>`
}

/** The price of the plan, which the style shows in the place of that of a single purchase while it is chosen. */
export function planPrice(context: PageContext, product: Product, chosen: Variant): Html | null {
  const { site } = context
  const repeated = planOf(site, product, chosen)
  if (repeated === null) return null
  const { rhythm, cents, saved, dates } = repeated
  const { texts, formatMoney } = site.locale
  const notes = [taxNote(site), texts.buying.nextDelivery({ date: dates[0] ?? '' })]
  return html`<div class="price-plan"><p class="price"><span data-plan-price>${formatMoney(cents, chosen.currency)}</span> <small>${rhythm}</small>${saved !== null && html` <span class="tag">${texts.buying.save({ percent: saved })}</span>`}</p>${measurePriceText(context, chosen, cents)}${notes.map((each) => each !== null && html`<p class="price-note">${each}</p>`)}</div>`
}

/** The price of a subscription, by the rule of the checkout: the lowest price that applies. */
function repeatedCents({ offers }: Site, product: Product, { price_cents }: Variant): number {
  const reduced = offers.subscriptionPrices ? product.subscription_price_cents : null
  return Math.min(price_cents, reduced ?? price_cents)
}

/** The price of one delivery, the dates of the next ones, and how to stop. */
function planNotes(
  { locale, policies, pricesIncludeTax }: Site,
  { cents, dates }: Plan,
  currency: string,
): string[] {
  const { texts, formatMoney, formatList } = locale
  const { shipping, tax } = policies
  const sent = { goods_cents: cents, expedited: false }
  const price = shipping === null ? 0 : shippingPrice(shipping, sent)
  const cost = price === 0 ? null : formatMoney(price, currency)
  const isTaxed = !pricesIncludeTax && tax !== null && tax.rate_bps > 0
  return [
    deliveryText(texts, { price: formatMoney(cents, currency), shipping: cost, isTaxed }),
    texts.buying.nextDates({ dates: formatList(dates) }),
    texts.buying.anyTime,
  ]
}

interface DeliveryPrice {
  price: string
  /** Null where it is free. */
  shipping: string | null
  isTaxed: boolean
}

function deliveryText(texts: Texts, { price, shipping, isTaxed }: DeliveryPrice): string {
  const { free, freeTaxed, paid, paidTaxed } = texts.buying.delivery
  if (shipping === null) return (isTaxed ? freeTaxed : free)({ price })
  return (isTaxed ? paidTaxed : paid)({ price, shipping })
}
