import { shippingPrice } from '../../manifest/shipping.ts'
import type { Product, Variant } from '../api/types.ts'
import { REPEATED } from '../cart/cart.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import type { Site } from '../site/site.ts'
import { comingDates } from '../subscriptions/coming-dates.ts'
import type { Texts } from '../translations/texts.ts'

/** How many coming dates a shopper is told. */
const DATES = 2

/** How often a product is delivered, in words; null if it cannot be subscribed to now. */
export function rhythmOf(site: Site, product: Product, variant: Variant): string | null {
  const { subscription_interval: unit, subscription_interval_count: count } = product
  const canRepeat = site.offers.newSubscriptions && product.is_subscription && !variant.gift_card
  return canRepeat && unit !== null ? site.locale.texts.every[unit]({ count: count ?? 1 }) : null
}

/** A text that begins a line. */
const begin = (text: string, language: string): string =>
  text.charAt(0).toLocaleUpperCase(language) + text.slice(1)

/**
 * The choice between a single purchase and a subscription: the price of each, and for the subscription, before it is
 * chosen, what it saves, what a delivery costs and when the next ones are. Null if a product cannot be subscribed to.
 */
export function planChoice(context: PageContext, product: Product, chosen: Variant): Html | null {
  const { site } = context
  const rhythm = rhythmOf(site, product, chosen)
  if (rhythm === null) return null
  const { texts, formatMoney, formatRate, language } = site.locale
  const words = texts.buying
  const cents = repeatedCents(site, product, chosen)
  const money = (amount: number) => formatMoney(amount, chosen.currency)
  const saved = Math.floor((1 - cents / chosen.price_cents) * 100)
  const plan = (value: string, name: string, price: number, more: Html | false) =>
    html`<label class="choice"><input type="radio" name="plan" value="${value}"${value !== REPEATED && html` checked`}${value === REPEATED && html` aria-describedby="plan-note"`}><span class="choice-box"><span>${name}${more}</span><strong>${money(price)}</strong></span></label>`
  return html`<fieldset class="choices plans"><legend>${words.plan}</legend>${plan('once', words.once, chosen.price_cents, false)}${plan(
    REPEATED,
    begin(rhythm, language),
    cents,
    saved > 0 &&
      html` <small class="choice-note">${words.save({ percent: formatRate(saved * 100) })}</small>`,
  )}<div class="plan-note note" id="plan-note">${planNotes(site, product, { cents, currency: chosen.currency }).map((each) => html`<p>${each}</p>`)}</div></fieldset>`
}

/** The price of a subscription, by the rule of the checkout: the lowest price that applies. */
function repeatedCents({ offers }: Site, product: Product, { price_cents }: Variant): number {
  const reduced = offers.subscriptionPrices ? product.subscription_price_cents : null
  return Math.min(price_cents, reduced ?? price_cents)
}

/** The price of one delivery, the dates of the next ones, and how to stop. */
function planNotes(
  { locale, policies, pricesIncludeTax }: Site,
  { subscription_interval, subscription_interval_count }: Product,
  { cents, currency }: { cents: number; currency: string },
): string[] {
  const { texts, formatMoney, formatDay, formatList, dateValue } = locale
  const { shipping, tax } = policies
  const sent = { goods_cents: cents, expedited: false }
  const price = shipping === null ? 0 : shippingPrice(shipping, sent)
  const cost = price === 0 ? null : formatMoney(price, currency)
  const isTaxed = !pricesIncludeTax && tax !== null && tax.rate_bps > 0
  const rhythm = {
    interval: subscription_interval ?? 'month',
    interval_count: subscription_interval_count ?? 1,
  }
  const dates = comingDates(dateValue(new Date().toISOString()), rhythm, DATES)
  return [
    deliveryText(texts, { price: formatMoney(cents, currency), shipping: cost, isTaxed }),
    texts.buying.nextDates({ dates: formatList(dates.map(formatDay)) }),
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
