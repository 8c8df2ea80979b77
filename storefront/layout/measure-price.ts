import type { Variant } from '../api/types.ts'
import type { PageContext } from '../request-context.ts'
import { type Html, html } from './html.ts'

/** The price of a measure of a variant's content, such as a kilogram. */
export interface MeasurePrice {
  cents: number
  /** The measure: 100 g, 1 kg, 1 m². */
  amount: number
  unit: BaseUnit
}

type ContentUnit = NonNullable<Variant['content_unit']>
type BaseUnit = 'g' | 'kg' | 'ml' | 'l' | 'm' | 'm2' | 'piece'

/** For each unit: the small unit of the arithmetic, and how many of those it contains. */
const SMALL: Record<ContentUnit, readonly [unit: string, count: number]> = {
  g: ['g', 1],
  kg: ['g', 1_000],
  ml: ['ml', 1],
  l: ['ml', 1_000],
  cm: ['cm', 1],
  m: ['cm', 100],
  cm2: ['cm2', 1],
  m2: ['cm2', 10_000],
  piece: ['piece', 1],
}

/** Up to this content, in g or ml, prices are compared by 100 of them. */
const HUNDREDS_UP_TO = 250

/** The measure that prices are compared by, and its size in the small unit. */
function baseOf(
  unit: ContentUnit,
  content: number,
): Omit<MeasurePrice, 'cents'> & { size: number } {
  const [small] = SMALL[unit]
  const isLittle = content <= HUNDREDS_UP_TO
  if (small === 'g') {
    return isLittle ? { amount: 100, unit: 'g', size: 100 } : { amount: 1, unit: 'kg', size: 1_000 }
  }
  if (small === 'ml') {
    return isLittle ? { amount: 100, unit: 'ml', size: 100 } : { amount: 1, unit: 'l', size: 1_000 }
  }
  if (small === 'cm') return { amount: 1, unit: 'm', size: 100 }
  return small === 'cm2'
    ? { amount: 1, unit: 'm2', size: 10_000 }
    : { amount: 1, unit: 'piece', size: 1 }
}

/**
 * The price of a kilogram or a litre of the content; of 100 g or 100 ml if the content is 250 or less; else of a metre,
 * a square metre or a piece. Rounded half up to the smallest coin. Null if the variant names no content, or if the
 * content is exactly one such measure: then this is its price.
 */
export function measurePrice(variant: Variant, price_cents: number): MeasurePrice | null {
  const { content_amount, content_unit } = variant
  if (content_amount === null || content_unit === null) return null
  const content = content_amount * SMALL[content_unit][1]
  const { size, ...measure } = baseOf(content_unit, content)
  return size === content ? null : { ...measure, cents: divide(price_cents * size, content) }
}

/** Divides and rounds half up. Exact for all prices and contents that the platform accepts. */
function divide(cents: number, by: number): number {
  const doubled = 2 * cents + by
  return (doubled - (doubled % (2 * by))) / (2 * by)
}

const SYMBOLS: Record<Exclude<BaseUnit, 'piece'>, string> = {
  g: 'g',
  kg: 'kg',
  ml: 'ml',
  l: 'l',
  m: 'm',
  m2: 'm²',
}

/** "€1.99 / 100 g", with its name for screen readers. */
export function measurePriceText(
  { site }: PageContext,
  variant: Variant,
  price_cents = variant.price_cents,
): Html | null {
  const price = measurePrice(variant, price_cents)
  if (price === null) return null
  const { texts, formatMoney } = site.locale
  const symbol = price.unit === 'piece' ? texts.piece : SYMBOLS[price.unit]
  const measure = price.amount === 1 ? symbol : `${price.amount} ${symbol}`
  return html`<span class="unit-price"><span class="hidden">${texts.unitPrice}: </span>${formatMoney(price.cents, variant.currency)} / ${measure}</span>`
}

/** The codes of UN/CEFACT, by which schema.org names units. */
const CODES: Record<ContentUnit, string> = {
  g: 'GRM',
  kg: 'KGM',
  ml: 'MLT',
  l: 'LTR',
  cm: 'CMT',
  m: 'MTR',
  cm2: 'CMK',
  m2: 'MTK',
  piece: 'H87',
}

/** The content and the measure of an offer, as search engines read them. */
export function measureData(variant: Variant, price: string): object {
  const measure = measurePrice(variant, variant.price_cents)
  const { content_amount, content_unit } = variant
  if (measure === null || content_unit === null) return {}
  const quantity = (value: number | null, unit: ContentUnit) => ({
    '@type': 'QuantitativeValue',
    value,
    unitCode: CODES[unit],
  })
  return {
    priceSpecification: {
      '@type': 'UnitPriceSpecification',
      price,
      priceCurrency: variant.currency,
      referenceQuantity: {
        ...quantity(content_amount, content_unit),
        valueReference: quantity(measure.amount, measure.unit),
      },
    },
  }
}
