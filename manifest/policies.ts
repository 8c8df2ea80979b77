import {
  cents,
  choice,
  country,
  list,
  object,
  type Props,
  taxProvider,
  toggle,
  whole,
} from './prop.ts'
import { type Fault, listFaults, listUnknown, readProps } from './read-props.ts'

/**
 * The policies of a store, which decide what shoppers pay: `behavior.shipping` and `behavior.tax`. Other parts of a
 * manifest are read as well as possible; a policy that is there is read as a whole, or the store sells nothing by it.
 */

const RATES = {
  mode: choice('How the price is found. `flat`: one price for an order.', ['flat']),
  flat_rate_cents: cents('The price of standard shipping.', { required: true }),
  expedited_rate_cents: cents(
    'The price of expedited shipping, which is offered where it differs from the standard one.',
    { required: true },
  ),
  max_cents: cents('No order pays more for its shipping.', { required: true }),
  free_shipping_threshold_cents: cents(
    'The price of the goods, after the discount, from which standard shipping is free. Expedited shipping is never free.',
    { nullable: true },
  ),
} as const

const COUNTRIES_MAX = 300

/** Shoppers are told of a longer delivery in the store's own texts. */
const DELIVERY_DAYS_MAX = 365

const days = (meaning: string) => whole(meaning, { max: DELIVERY_DAYS_MAX, required: true })

const deliveryDays = (meaning: string) =>
  object(meaning, { min: days('The fewest.'), max: days('The most.') })

/** How long shipping takes. Unlike the prices, a wrong member here is ignored, and the others are read. */
export const DELIVERY_PROPS = {
  delivery_days: deliveryDays(
    'How many working days, Monday to Friday, standard shipping takes from the order to the arrival. Shoppers are told the dates; without it, none.',
  ),
  expedited_delivery_days: deliveryDays('The same of expedited shipping.'),
} as const

export const SHIPPING_PROPS = {
  ...RATES,
  ...DELIVERY_PROPS,
  countries: list(
    'The countries that the store ships to: a checkout refuses others. Without it, every country.',
    COUNTRIES_MAX,
    country('A country.'),
  ),
} as const

export const TAX_PROPS = {
  provider: taxProvider(
    '`flat_rate`, the name of a provider that the operator connects (it ends in `_tax`), or `null` for no tax.',
    { required: true },
  ),
  rate_bps: whole(
    'The rate of `flat_rate`, in hundredths of a percent: 1900 is 19 %. Providers ignore it; send 0.',
    { max: 10_000, required: true },
  ),
} as const

/** The member `tax` of a manifest, beside `behavior`. */
export const PRICE_PROPS = {
  prices_include_tax: toggle('Whether all prices of the store have the tax inside.', false),
} as const

/** How orders are shipped, as a checkout takes it. */
export interface ShippingPolicy {
  mode: 'flat'
  flat_rate_cents: number
  expedited_rate_cents: number
  max_cents: number
  free_shipping_threshold_cents: number | null
}

/** How orders are taxed, as a checkout takes it. */
export interface TaxPolicy {
  provider: string
  rate_bps: number
}

type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isMissing = (value: unknown): boolean => value === undefined || value === null

/** Whether the shipping names any price. */
const hasRates = (shipping: unknown): boolean =>
  isObject(shipping) && Object.keys(RATES).some((name) => Object.hasOwn(shipping, name))

/** Whether a tax policy says that there is no tax. */
const isNoTax = (tax: JsonObject): boolean =>
  Object.hasOwn(tax, 'provider') && (tax.provider === null || tax.provider === 'null')

/**
 * Lists why a shipping policy cannot be read. A missing policy has no fault. Without any price, a member that is
 * not known was most likely meant to be one: shipping would be free.
 */
export function listShippingFaults(shipping: unknown): Fault[] {
  if (isMissing(shipping)) return []
  if (!isObject(shipping)) return [{ path: '', message: 'must be an object, or null' }]
  return hasRates(shipping)
    ? faultsOfKnown(RATES, shipping)
    : listUnknown(SHIPPING_PROPS, shipping, UNKNOWN_MAX)
}

/** More unknown members than a person reads. */
const UNKNOWN_MAX = 10

/** Lists why a tax policy cannot be read. A missing policy has no fault. */
export function listTaxFaults(tax: unknown): Fault[] {
  if (isMissing(tax)) return []
  if (!isObject(tax)) return [{ path: '', message: 'must be an object, or null' }]
  return isNoTax(tax) ? [] : faultsOfKnown(TAX_PROPS, tax)
}

/** The faults of known members. Unknown members are ignored. */
function faultsOfKnown(props: Props, value: JsonObject): Fault[] {
  const known = Object.keys(props).filter((name) => Object.hasOwn(value, name))
  const given = Object.fromEntries(known.map((name) => [name, value[name]]))
  return listFaults(props, given, Object.keys(props).length)
}

/** Whether a shipping policy can be read and names no price, such as `countries` alone: shipping is then free. */
export const isFree = (shipping: unknown): boolean =>
  isObject(shipping) && !hasRates(shipping) && listShippingFaults(shipping).length === 0

/** Reads a shipping policy; null if it is missing, or cannot be read. */
export function readShippingPolicy(shipping: unknown): ShippingPolicy | null {
  if (!hasRates(shipping) || listShippingFaults(shipping).length > 0) return null
  const { flat_rate_cents, expedited_rate_cents, max_cents, ...read } = readProps(RATES, shipping)
  if (flat_rate_cents === null || expedited_rate_cents === null || max_cents === null) return null
  const { free_shipping_threshold_cents } = read
  return {
    mode: 'flat',
    flat_rate_cents,
    expedited_rate_cents,
    max_cents,
    free_shipping_threshold_cents,
  }
}

/** How many working days a delivery takes. */
export interface DeliveryDays {
  min: number
  max: number
}

/**
 * Reads how long both ways of shipping take, in whichever order the two numbers stand; null if the store does not say
 * it.
 */
export function readDeliveryDays(shipping: unknown) {
  const { delivery_days, expedited_delivery_days } = readProps(SHIPPING_PROPS, shipping)
  const read = ({ min, max }: Record<keyof DeliveryDays, number | null>): DeliveryDays | null =>
    min === null || max === null ? null : { min: Math.min(min, max), max: Math.max(min, max) }
  return { standard: read(delivery_days), expedited: read(expedited_delivery_days) }
}

/** Reads a tax policy; null where there is no tax, and where it cannot be read. */
export function readTaxPolicy(tax: unknown): TaxPolicy | null {
  if (!isObject(tax) || isNoTax(tax) || listTaxFaults(tax).length > 0) return null
  const { provider, rate_bps } = readProps(TAX_PROPS, tax)
  return provider === null || rate_bps === null ? null : { provider, rate_bps }
}

/** A policy and what it costs, as the documentation shows it. A test runs each of them. */
export interface PolicyExample {
  title: string
  manifest: {
    behavior: { shipping?: object; tax?: object }
    tax?: { prices_include_tax: boolean }
  }
  goods_cents: number
  expedited?: true
  costs: { shipping_cents: number; tax_cents: number; total_cents: number }
}

const GERMAN_RATES = {
  mode: 'flat',
  flat_rate_cents: 490,
  expedited_rate_cents: 1_290,
  max_cents: 1_290,
  free_shipping_threshold_cents: 5_000,
  countries: ['DE', 'AT'],
}

export const POLICY_EXAMPLES: readonly PolicyExample[] = [
  {
    title: 'A flat rate, free from 50.00 on, and a sales tax of 8.25 % on top',
    manifest: {
      behavior: {
        shipping: { ...GERMAN_RATES, countries: ['US'] },
        tax: { provider: 'flat_rate', rate_bps: 825 },
      },
    },
    goods_cents: 4_000,
    costs: { shipping_cents: 490, tax_cents: 330, total_cents: 4_820 },
  },
  {
    title: 'The same above the threshold',
    manifest: {
      behavior: {
        shipping: { ...GERMAN_RATES, countries: ['US'] },
        tax: { provider: 'flat_rate', rate_bps: 825 },
      },
    },
    goods_cents: 5_000,
    costs: { shipping_cents: 0, tax_cents: 413, total_cents: 5_413 },
  },
  {
    title: 'VAT of 19 % inside all prices, also inside that of the shipping',
    manifest: {
      behavior: { shipping: GERMAN_RATES, tax: { provider: 'flat_rate', rate_bps: 1_900 } },
      tax: { prices_include_tax: true },
    },
    goods_cents: 4_000,
    costs: { shipping_cents: 490, tax_cents: 717, total_cents: 4_490 },
  },
  {
    title: 'Expedited shipping, with no tax',
    manifest: { behavior: { shipping: GERMAN_RATES } },
    goods_cents: 6_000,
    expedited: true,
    costs: { shipping_cents: 1_290, tax_cents: 0, total_cents: 7_290 },
  },
]
