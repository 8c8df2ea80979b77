import { type Static, Type } from 'typebox'
import { Cents, Nullable } from '../../kernel/schema.ts'

/** How an order is shipped and what that costs, as the storefront's server sends it. */
export const ShippingPolicy = Type.Object({
  mode: Type.Enum(['flat']),
  flat_rate_cents: Cents,
  expedited_rate_cents: Cents,
  max_cents: Cents,
  free_shipping_threshold_cents: Type.Optional(Nullable(Cents)),
})
export type ShippingPolicy = Static<typeof ShippingPolicy>

/**
 * Who works out the tax. The contract lists `null` among words, so both the word and the value mean
 * that nobody does.
 */
export const TaxPolicy = Type.Object({
  provider: Nullable(Type.String({ pattern: '^(null|flat_rate|[a-z0-9]+_tax)$', maxLength: 64 })),
  rate_bps: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})
export type TaxPolicy = Static<typeof TaxPolicy>

/** A price of one of the customer's groups, from so many units on. */
export const GroupPrice = Type.Object({ price_cents: Cents, min_quantity: Type.Integer() })
export type GroupPrice = Static<typeof GroupPrice>
