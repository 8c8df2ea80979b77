import { type Static, Type } from 'typebox'
import { Cents, Nullable } from '../../kernel/schema.ts'

/** What shipping costs, as the storefront's server sends it. */
export const ShippingPolicy = Type.Object({
  mode: Type.Enum(['flat']),
  flat_rate_cents: Cents,
  expedited_rate_cents: Cents,
  max_cents: Cents,
  free_shipping_threshold_cents: Type.Optional(Nullable(Cents)),
})
export type ShippingPolicy = Static<typeof ShippingPolicy>

/** How an order is shipped and by which policy: what a checkout sends, and what orders and subscriptions store. */
export const ShippingTerms = Type.Object({
  shipping: Type.Optional(Nullable(ShippingPolicy)),
  expedited: Type.Optional(Type.Boolean()),
})
export type ShippingTerms = Static<typeof ShippingTerms>

/** The same as a change of an order sends it: what is left out or null stays as it is. */
export const ShippingChange = Type.Object({
  shipping: Type.Optional(Nullable(ShippingPolicy)),
  expedited: Type.Optional(Nullable(Type.Boolean())),
})
export type ShippingChange = Static<typeof ShippingChange>

/** The ways of shipping. */
export const ShippingMethod = Type.Enum(['standard', 'expedited'])
export type ShippingMethod = Static<typeof ShippingMethod>
