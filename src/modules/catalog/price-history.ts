import type { Tx } from '../../db/database.ts'
import * as stores from '../stores/service.ts'
import { insertPastPrice, lowestPastPrice } from './price-queries.ts'
import type { VariantFields } from './queries.ts'
import type { ProductRow, Variant } from './schema.ts'

/** The days before a reduction whose lowest price is shown with it, as directive 98/6/EC asks in article 6a. */
const DAYS = 30

/** Whether shoppers see the price as reduced: struck out beside it is a higher one. */
const isReduced = (price: Pick<VariantFields, 'price_cents' | 'compare_at_price_cents'>): boolean =>
  (price.compare_at_price_cents ?? 0) > price.price_cents

/**
 * Keeps the price that a change of a variant ends, and returns the lowest price of the 30 days before the reduction
 * that is announced after it; null if none is announced, and if nothing was sold at another price before.
 *
 * A reduction begins with its price, or when an unchanged price is first shown as reduced; it keeps what it began with
 * as long as its price stays. A price counts that shoppers could buy at: one of a draft or of a closed store does not.
 */
export async function keepPrice(
  tx: Tx,
  product: ProductRow,
  before: Variant,
  after: VariantFields,
): Promise<number | null> {
  const isNew = before.price_cents !== after.price_cents || before.currency !== after.currency
  if (!isNew && isReduced(before) && isReduced(after)) return before.lowest_price_30_days_cents
  if (!isNew && !isReduced(after)) return null
  const wasSold =
    product.status === 'active' &&
    before.archived_at === null &&
    (await stores.get(tx)).status === 'live'
  if (isNew && wasSold) await insertPastPrice(tx, before.id, before)
  if (!isReduced(after)) return null
  const { lowest } = await lowestPastPrice(tx, before.id, after.currency, DAYS)
  // A price that continues is not a past one yet.
  const prices = [lowest, isNew || !wasSold ? null : before.price_cents]
  const known = prices.filter((cents) => cents !== null)
  return known.length === 0 ? null : Math.min(...known)
}
