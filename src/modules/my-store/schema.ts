import { Type } from 'typebox'
import { ref } from '../../kernel/schema.ts'
import { Bound, Usage } from '../entitlements/limit-schema.ts'
import { FeatureState } from '../entitlements/schema.ts'
import { Store } from '../stores/schema.ts'

/** A store with its add-ons, as its own keys see it. */
export const MyStore = Type.Object({
  store: Type.Object({ ...Store.properties, features: Type.Array(FeatureState) }),
})

/** The limits of a store. */
export const MyLimits = Type.Object({
  limits: Type.Array(ref(Usage)),
  bounds: Type.Array(Bound, { description: 'Limits of single things, which are not counted.' }),
})

/** A store with its tier, add-ons and counts, as the operator sees it. */
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
