import { awaitAll } from '../../db/await-all.ts'
import type { Db } from '../../db/database.ts'
import type { SaleVariant } from '../catalog/schema.ts'
import * as catalog from '../catalog/service.ts'
import * as entitlements from '../entitlements/service.ts'
import {
  type GroupPrices,
  groupPrices,
  FEATURE as PRICING_GROUPS,
  pricesOf,
} from '../pricing/groups.ts'
import { PriceLimitError, priceOrder, repriceGoods, unitPrice } from '../pricing/price.ts'
import { rateOf } from '../pricing/tax.ts'
import { resolveShipping } from '../shipping/resolve.ts'
import type { SubscriptionRow } from './schema.ts'

/** The amount of a renewal: the same sums as those of the order that it becomes. */

type Sold = Pick<SubscriptionRow, 'id' | 'customer_ref' | 'variant_id' | 'quantity'>

/**
 * Returns the catalog's price now for one unit of each subscription, by its id: the lowest of the list price, the
 * prices of the customer's groups and the subscription price. A running subscription keeps the subscription price,
 * whether or not the store still has the add-on. A subscription whose variant is no longer sold has no entry.
 */
export async function catalogPrices(
  db: Db,
  sold: readonly Sold[],
): Promise<ReadonlyMap<string, number>> {
  if (sold.length === 0) return new Map()
  const ids = [...new Set(sold.map(({ variant_id }) => variant_id))]
  const [variants, { state }] = await awaitAll([
    catalog.variantsForSale(db, ids),
    entitlements.findState(db, PRICING_GROUPS),
  ])
  const byId = new Map(variants.map((variant) => [variant.variant_id, variant]))
  const groups = new Map<string, GroupPrices>()
  if (state === 'on') {
    for (const ref of new Set(sold.map(({ customer_ref }) => customer_ref)))
      groups.set(ref, await groupPrices(db, ref, ids))
  }
  return new Map(
    sold.flatMap(({ id, customer_ref, variant_id, quantity }) => {
      const variant = byId.get(variant_id)
      if (variant === undefined) return []
      return [[id, priceOf(variant, quantity, groups.get(customer_ref) ?? null)] as const]
    }),
  )
}

export const priceOf = (
  variant: SaleVariant,
  quantity: number,
  groups: GroupPrices | null,
): number =>
  unitPrice(
    {
      list_price_cents: variant.price_cents,
      group_prices: groups === null ? [] : pricesOf(groups, variant),
      subscription_price_cents: variant.is_subscription ? variant.subscription_price_cents : null,
    },
    quantity,
    true,
  )

type Priced = Pick<
  SubscriptionRow,
  | 'product_id'
  | 'variant_id'
  | 'quantity'
  | 'currency'
  | 'pricing'
  | 'unit_price_cents'
  | 'prices_include_tax'
>

export interface RenewalAmount {
  amount_cents: number
  /** A tax provider computes the tax when the charge is made; this amount has the tax share of the origin order. */
  is_estimate: boolean
}

/**
 * Computes the amount of one renewal, with discount, shipping and tax: at the price of the catalog, whose tax the
 * store's site now says to be inside or not, or else at the price of the row, as it was set. Returns null where it is
 * more than an order may be.
 */
export function renewalAmount(
  row: Priced,
  current: number | undefined,
  pricesIncludeTax: boolean,
): RenewalAmount | null {
  const { product_id, variant_id, quantity, currency, pricing } = row
  const unit_price_cents = current ?? row.unit_price_cents
  const prices_include_tax = current === undefined ? row.prices_include_tax : pricesIncludeTax
  const terms = pricing ?? {}
  const { tax = null, coupon = null } = terms
  const isProviders = tax !== null && ![null, 'null', 'flat_rate'].includes(tax.provider)
  const rate_bps = isProviders ? (terms.tax_estimate_bps ?? 0) : (rateOf(tax) ?? 0)
  const prices = { unit_price_cents, list_price_cents: unit_price_cents }
  const line = { variant_id, product_id, quantity, collection_slugs: [], ...prices }
  try {
    const goods = repriceGoods({ lines: [line], currency, coupon })
    const shipping = resolveShipping({ kept: terms }, goods)
    const { total_cents } = priceOrder(goods, { shipping, tax: { rate_bps }, prices_include_tax })
    return { amount_cents: total_cents, is_estimate: isProviders }
  } catch (error) {
    if (error instanceof PriceLimitError) return null
    throw error
  }
}
