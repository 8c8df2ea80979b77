import { type Static, Type } from 'typebox'
import { Nullable, ref, Shared, Timestamp } from '../../kernel/schema.ts'

/** The settings of a store's fraud check. A member that a body leaves out gets its default. */

const POINTS_MAX = 1_000

const Score = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: POINTS_MAX, description }))

const SIGNAL_ACTIONS = ['score', 'hold', 'refuse'] as const

const rule = {
  points: Type.Optional(Type.Integer({ minimum: 0, maximum: POINTS_MAX })),
  action: Type.Optional(
    Type.Enum([...SIGNAL_ACTIONS], {
      description:
        '`score`: the points count, and no more. `hold`: the order is held for review. `refuse`: it is refused.',
    }),
  ),
}

const Rule = (description: string) => Type.Optional(Type.Object(rule, { description }))

export const FraudSettingsChange = Type.Object({
  review_from: Score('The score from which an order is held for review.'),
  reject_from: Score('The score from which an order is refused. At least `review_from`.'),
  signals: Type.Optional(
    Type.Object({
      avs_mismatch: Rule('Neither street nor postcode are those of the card.'),
      avs_partial: Rule('One of street and postcode is that of the card.'),
      cvv_mismatch: Rule('The security code is wrong.'),
      gateway_warning: Rule('The gateway says that the card is lost, stolen or to be picked up.'),
      velocity: Type.Optional(
        Type.Object(
          {
            ...rule,
            from_percent: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: 100,
                description: 'The share of the attempts per minute from which it counts.',
              }),
            ),
          },
          { description: 'The shopper tries often.' },
        ),
      ),
    }),
  ),
  attempts_per_minute: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description:
          "Attempts of one shopper, at most the platform's own number. Null: that number.",
      }),
    ),
  ),
})
export type FraudSettingsChange = Static<typeof FraudSettingsChange>

const required = { points: Type.Integer(), action: Type.Enum([...SIGNAL_ACTIONS]) }

export const FraudSettings = Shared(
  'FraudSettings',
  Type.Object({
    review_from: Type.Integer(),
    reject_from: Type.Integer(),
    signals: Type.Object({
      avs_mismatch: Type.Object(required),
      avs_partial: Type.Object(required),
      cvv_mismatch: Type.Object(required),
      gateway_warning: Type.Object(required),
      velocity: Type.Object({ ...required, from_percent: Type.Integer() }),
    }),
    attempts_per_minute: Nullable(Type.Integer()),
  }),
)
export type FraudSettings = Static<typeof FraudSettings>

export interface SignalRule {
  points: number
  action: (typeof SIGNAL_ACTIONS)[number]
}

export const FraudSettingsAnswer = Type.Object({
  settings: Type.Unsafe<FraudSettings>({
    ...ref(FraudSettings),
    description: 'What the store has set, or the defaults.',
  }),
  defaults: ref(FraudSettings),
  in_use: Type.Boolean({
    description: 'Whether the settings count: the store has set them, and has `advanced_fraud`.',
  }),
  attempts_per_minute_max: Type.Integer({ description: "The platform's own number." }),
  updated_at: Nullable(Timestamp),
})
export type FraudSettingsAnswer = Static<typeof FraudSettingsAnswer>
