import type { SubscriptionTerms } from './schema.ts'

/** Picks the terms from a row that has more columns. */
export const termsOf = (row: SubscriptionTerms): SubscriptionTerms => ({
  id: row.id,
  subscription_number: row.subscription_number,
  product_id: row.product_id,
  variant_id: row.variant_id,
  quantity: row.quantity,
  interval: row.interval,
  interval_count: row.interval_count,
  unit_price_cents: row.unit_price_cents,
  currency: row.currency,
})
