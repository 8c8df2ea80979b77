import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, ref, Shared, Timestamp } from '../../kernel/schema.ts'
import { ShipTo } from '../orders/schema.ts'
import { CardInput } from '../payments/card-schema.ts'
import { LINE_QUANTITY_MAX } from '../pricing/price.ts'
import { Interval, Subscription } from './schema.ts'

/** The bodies by which merchants and shoppers change a subscription, and the settings that a store has for all. */

/** A member that every change may have. */
const versioned = {
  version: Type.Optional(
    Type.Integer({
      description:
        'The `version` that the change was decided on. Another one is 409 `stale_subscription`.',
    }),
  ),
}

export const Pause = Type.Object({
  until: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 40,
        description:
          "When the subscription resumes by itself: a time, or the beginning of a date of the store's calendar. Left out or null: only when its merchant or shopper resumes it.",
        examples: ['2027-01-31'],
      }),
    ),
  ),
  ...versioned,
})
export type Pause = Static<typeof Pause>

export const Resume = Type.Object({
  charge_now: Type.Optional(
    Type.Boolean({
      description: 'The next charge is due at once, and all later ones go by this day.',
    }),
  ),
  ...versioned,
})
export type Resume = Static<typeof Resume>

export const Skip = Type.Object({
  cycle: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Which cycle. Left out: the next one that applies. Name it, so that a request that is sent twice acts once.',
    }),
  ),
  ...versioned,
})
export type Skip = Static<typeof Skip>

export const Cancel = Type.Object({
  at_period_end: Type.Optional(
    Type.Boolean({
      description:
        'True: the subscription ends when its next charge would be due. Left out or false: at once.',
    }),
  ),
  reason: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 2_000 }))),
  ...versioned,
})
export type Cancel = Static<typeof Cancel>

const changes = {
  quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: LINE_QUANTITY_MAX })),
  variant_id: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'Any variant of a product with a subscription, in the same currency. A locked price becomes that of the new variant.',
    }),
  ),
  interval: Type.Optional(Interval),
  interval_count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  next_charge_at: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        "A date of the store's calendar (`2027-01-31`), or a time on that date. Later charges go by it.",
      examples: ['2027-01-31'],
    }),
  ),
  ship_to: Type.Optional(Nullable(ShipTo)),
  ...versioned,
}

/** The changes that a shopper may make. Only the merchant may change price and length. */
export const ShopperChange = Type.Object(changes)
export type ShopperChange = Static<typeof ShopperChange>

export const Change = Type.Object({
  ...changes,
  max_cycles: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 10_000 }))),
  price_policy: Type.Optional(Type.Enum(['locked', 'current'])),
})
export type Change = Static<typeof Change>

export const Changed = Type.Object({
  subscription: ref(Subscription),
  price_change: Type.Unsafe<{ before_cents: number; after_cents: number } | null>({
    ...Nullable(Type.Object({ before_cents: Cents, after_cents: Cents })),
    description: 'The locked price of one unit before and after the change. Null: it stays.',
  }),
})

const card = {
  card: Type.Optional(Nullable(CardInput)),
  payment_token: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 500 }))),
  ...versioned,
}

export const NewCard = Type.Object(card)
export type NewCard = Static<typeof NewCard>

export const ShopperCard = Type.Object({
  ...card,
  ip: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 64,
        description: "The shopper's address: attempts with cards are limited by it.",
      }),
    ),
  ),
})
export type ShopperCard = Static<typeof ShopperCard>

/** The settings of a store for the time before, at and after a charge. */
export const Settings = Shared(
  'SubscriptionSettings',
  Type.Object({
    dunning: Type.Object({
      delays_days: Type.Array(Type.Integer({ minimum: 1, maximum: 60 }), {
        maxItems: 10,
        description: 'Days from each declined attempt to the next.',
      }),
      on_exhausted: Type.Enum(['cancel', 'pause'], {
        description: 'What becomes of a subscription whose last attempt was declined.',
      }),
    }),
    pre_renewal_notice_days: Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 60,
        description: 'How many days before a charge its customer is told. Null: not at all.',
      }),
    ),
    on_out_of_stock: Type.Enum(['skip', 'retry', 'backorder']),
  }),
)
export type Settings = Static<typeof Settings>

const { dunning, pre_renewal_notice_days, on_out_of_stock } = Settings.properties

export const SettingsChange = Type.Object({
  dunning: Type.Optional(
    Type.Object({
      delays_days: Type.Optional(dunning.properties.delays_days),
      on_exhausted: Type.Optional(dunning.properties.on_exhausted),
    }),
  ),
  pre_renewal_notice_days: Type.Optional(pre_renewal_notice_days),
  on_out_of_stock: Type.Optional(on_out_of_stock),
})
export type SettingsChange = Static<typeof SettingsChange>

export const LinkToken = Type.Object({ token: Type.String({ minLength: 1, maxLength: 500 }) })

/** The subscription and the customer that a link opens. */
export const OpenedLink = Type.Object({
  subscription_id: Id,
  customer_ref: Type.String(),
  expires_at: Timestamp,
})
