import { type Static, Type } from 'typebox'
import { Cents, Id, Line, Nullable, Pattern, Shared, Timestamp } from '../../kernel/schema.ts'

/** The highest tax rate: the whole price. No sales tax is higher, and a rate beyond it is a typing error. */
const RATE_BPS_MAX = 10_000

/**
 * How the tax is computed. The contract lists `null` among the names, so both the text `null` and
 * the value null mean no tax.
 */
export const TaxPolicy = Type.Object({
  provider: Nullable(
    Pattern(
      '^(null|flat_rate|[a-z0-9]+_tax)$',
      'must be null, flat_rate or a name ending in _tax',
      {
        maxLength: 64,
      },
    ),
  ),
  rate_bps: Type.Integer({ minimum: 0, maximum: RATE_BPS_MAX }),
})
export type TaxPolicy = Static<typeof TaxPolicy>

/** A price of one of the customer's groups, from `min_quantity` units on. */
export const GroupPrice = Type.Object({ price_cents: Cents, min_quantity: Type.Integer() })
export type GroupPrice = Static<typeof GroupPrice>

/** The longest `customer_ref`: the storefront's name for a customer, any text in any script. */
export const CUSTOMER_REF_LENGTH_MAX = 200
const CustomerRef = Type.String({ minLength: 1, maxLength: CUSTOMER_REF_LENGTH_MAX })

const GroupName = Line(200)
const Adjustment = Type.Integer({
  minimum: 1,
  maximum: 10_000,
  description: 'The discount on the list price of every variant, in hundredths of a percent.',
})

export const PricingGroup = Shared(
  'PricingGroup',
  Type.Object({
    id: Id,
    name: Type.String(),
    adjustment_bps: Nullable(Adjustment),
    member_count: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type PricingGroup = Static<typeof PricingGroup>

export const NewGroup = Type.Object({
  name: GroupName,
  adjustment_bps: Type.Optional(Nullable(Adjustment)),
})
export type NewGroup = Static<typeof NewGroup>

export const GroupPatch = Type.Object({
  name: Type.Optional(GroupName),
  adjustment_bps: Type.Optional(Nullable(Adjustment)),
})
export type GroupPatch = Static<typeof GroupPatch>

export const NewMember = Type.Object({ customer_ref: CustomerRef })

export const Member = Type.Object({ customer_ref: Type.String(), created_at: Timestamp })
export type Member = Static<typeof Member>

export const NewPrice = Type.Object({
  variant_id: Type.String(),
  price_cents: Type.Integer({ minimum: 0, maximum: 100_000_000_000 }),
  min_quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1 })),
})
export type NewPrice = Static<typeof NewPrice>

export const VariantPrice = Type.Object({
  variant_id: Id,
  price_cents: Cents,
  min_quantity: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type VariantPrice = Static<typeof VariantPrice>

/** One of a customer's groups, with one of its prices for the variants at hand, if any. */
export const GroupTerms = Type.Object({
  adjustment_bps: Nullable(Type.Integer()),
  variant_id: Nullable(Id),
  price_cents: Nullable(Cents),
  min_quantity: Nullable(Type.Integer()),
})
