import { Type } from 'typebox'
import { FeatureState } from '../entitlements/schema.ts'
import { Store } from '../stores/schema.ts'

/** A store and what it may use, as its own keys see it. */
export const MyStore = Type.Object({
  store: Type.Object({ ...Store.properties, features: Type.Array(FeatureState) }),
})

/** A store and how much is in it, for the operator. */
export const StoreDetail = Type.Object({
  store: Type.Object({
    ...Store.properties,
    tier: Type.String(),
    features: Type.Array(FeatureState),
    counts: Type.Object({
      active_credentials: Type.Integer(),
      open_requests: Type.Integer(),
    }),
  }),
})
