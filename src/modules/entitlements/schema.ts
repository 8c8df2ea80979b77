import { type Static, Type } from 'typebox'
import { Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const FeatureState = Type.Object({
  feature_key: Type.String(),
  state: Type.Enum(['on', 'off', 'denied']),
  source: Type.Enum(['tier', 'self_serve', 'operator']),
})
export type FeatureState = Static<typeof FeatureState>

/** A catalog entry with its state in this store. */
export const Feature = Shared(
  'EntitlementFeature',
  Type.Object({
    key: Type.String(),
    name: Type.String(),
    category: Type.String(),
    tagline: Type.String(),
    whatItDoes: Type.Array(Type.String()),
    docsPath: Type.Optional(Type.String()),
    priceCentsMonthly: Type.Optional(Type.Integer()),
    self_serve: Type.Boolean(),
    ...FeatureState.properties,
  }),
)
export type Feature = Static<typeof Feature>

export const FeatureChoice = Type.Object({ feature_key: Type.String({ minLength: 1 }) })

export const OperatorRuling = Type.Object({ state: Type.Enum(['allow', 'deny', 'default']) })
export type OperatorRuling = Static<typeof OperatorRuling>

/** The tiers that a store can have. `catalog.ts` says which add-ons each brings. */
export const TIER_NAMES = ['standard', 'growth', 'scale'] as const

export const TierChoice = Type.Object({ tier: Type.Enum(TIER_NAMES) })

/** A row of `entitlements`: the merchant's switch, or the operator's ruling. */
export const Ruling = Type.Object({
  feature_key: Type.String(),
  source: Type.Enum(['self_serve', 'operator']),
  state: Type.Enum(['allow', 'deny']),
})
export type Ruling = Static<typeof Ruling>

export const REQUEST_STATUSES = ['pending', 'approved', 'declined', 'withdrawn'] as const

export const EntitlementRequest = Shared(
  'EntitlementRequest',
  Type.Object({
    id: Id,
    feature_key: Type.String(),
    status: Type.Enum([...REQUEST_STATUSES]),
    note: Nullable(Type.String()),
    requested_by: Type.String(),
    created_at: Timestamp,
    decided_at: Nullable(Timestamp),
    decision_note: Nullable(Type.String()),
  }),
)
export type EntitlementRequest = Static<typeof EntitlementRequest>

/** A request as the operator sees it: with its store. */
export const StoreRequest = Type.Object({
  tenant_ref: Type.String(),
  ...EntitlementRequest.properties,
})

export const NewRequest = Type.Object({
  feature_key: Type.String({ minLength: 1 }),
  note: Type.Optional(Type.String({ maxLength: 2_000 })),
})
export type NewRequest = Static<typeof NewRequest>

export const Decision = Type.Object({
  status: Type.Enum(['approved', 'declined']),
  decision_note: Type.Optional(Type.String({ maxLength: 2_000 })),
})
export type Decision = Static<typeof Decision>
