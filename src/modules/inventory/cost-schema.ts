import { type Static, Type } from 'typebox'
import { Id } from '../../kernel/schema.ts'

/** The cost of the units of a variant that are on hand at all locations. */
export const VariantCost = Type.Object({
  variant_id: Id,
  units: Type.Integer(),
  value_cents: Type.Integer(),
  /** All units that have ever come in. */
  arrived: Type.Integer(),
})
export type VariantCost = Static<typeof VariantCost>
