import { type Static, Type } from 'typebox'
import { Nullable, Shared } from '../../kernel/schema.ts'
import { TIER_NAMES } from './schema.ts'

const MAX = Number.MAX_SAFE_INTEGER

export const Usage = Shared(
  'Usage',
  Type.Object({
    limit: Type.String(),
    description: Type.String(),
    used: Type.Integer({ description: 'What the store has now.' }),
    max: Type.Integer({ description: 'What it may have.' }),
    source: Type.Enum(['default', 'tier', 'store'], {
      description: 'Whether the limit is that of all stores, of the tier or of this store alone.',
    }),
  }),
)
export type Usage = Static<typeof Usage>

/** Limits that apply to each thing by itself, without a count for the store. */
export const Bound = Type.Object({
  limit: Type.String(),
  description: Type.String(),
  max: Type.Integer(),
})
export type Bound = Static<typeof Bound>

const OptionalMax = Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: MAX })))

/** The shape of a change of the limits with these keys. */
export const limitChange = (keys: readonly string[]) =>
  Type.Object(Object.fromEntries(keys.map((key) => [key, OptionalMax])))
export type LimitChange = Static<ReturnType<typeof limitChange>>

export const tierLimits = (keys: readonly string[]) =>
  Type.Object({
    tier: Type.Optional(
      Type.Enum(TIER_NAMES, { description: 'Without it, the limits of all stores are set.' }),
    ),
    limits: limitChange(keys),
  })
export type TierLimits = Static<ReturnType<typeof tierLimits>>

export const LimitRow = Type.Object({
  tier: Type.String({ description: '`*`: all tiers that have no limit of their own.' }),
  limit: Type.String(),
  max: Type.Integer(),
})
