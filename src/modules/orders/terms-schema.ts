import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, OpenObject } from '../../kernel/schema.ts'
import type { Source } from '../affiliates/commission-schema.ts'
import { INTERVALS } from '../catalog/schema.ts'
import type { Rules } from '../fraud/score.ts'
import type { DiscountTerms } from '../pricing/coupon.ts'
import { TaxPolicy } from '../pricing/schema.ts'
import { ShippingTerms } from '../shipping/schema.ts'

/** What is stored with an order as JSON: the terms that it was priced by, and the findings of the fraud check. */

/** The shopper's acceptance of a statement, where the store requires one before it sells. */
export const Attestation = Type.Object({
  statement_version: Type.String({ minLength: 1, maxLength: 100 }),
  accepted_at: Type.String({ format: 'date-time' }),
})
export type Attestation = Static<typeof Attestation>

const ChangedFigure = Type.Optional(Type.Object({ quoted_cents: Cents, placed_cents: Cents }))

/** What an order costs otherwise than its quote said, which had no address. */
export const Changed = Type.Object({
  shipping_cents: ChangedFigure,
  tax_cents: ChangedFigure,
  total_cents: ChangedFigure,
})
export type Changed = Static<typeof Changed>

/** How an order's referral code came to it, stored with the order until it is placed. */
export interface Referral {
  source: Source
  /** When the link was followed. Null: the code came with the checkout itself. */
  touched_at: string | null
  /** The hash of the shopper's browser, where an affiliate may use it. */
  device: string | null
}

/**
 * The terms that an order was priced by, stored with it for edits and for the steps after payment. Members may be
 * absent: those of an erased customer are removed.
 */
export const OrderTerms = Type.Object({
  ...ShippingTerms.properties,
  tax: Type.Optional(Nullable(TaxPolicy)),
  /** Null where no coupon was applied. */
  coupon: Type.Optional(Type.Unsafe<DiscountTerms | null>(Nullable(OpenObject))),
  /** Whether renewals keep the coupon. Absent where they do not. */
  coupon_recurs: Type.Optional(Type.Literal(true)),
  subscribe: Type.Optional(Type.Boolean()),
  attestation: Type.Optional(Nullable(Attestation)),
  /** What differs from the quote by the address. Absent where nothing does. */
  changed: Type.Optional(Changed),
  /** How the order's referral code came to it. Absent without one. */
  referral: Type.Optional(Type.Unsafe<Referral>(OpenObject)),
  /** The store's time zone, whose day a subscription starts on. Absent without subscriptions. */
  time_zone: Type.Optional(Type.String()),
  /** The interval of each subscribed variant. */
  subscriptions: Type.Optional(
    Type.Array(
      Type.Object({
        variant_id: Id,
        interval: Type.Enum([...INTERVALS]),
        interval_count: Type.Integer(),
      }),
    ),
  ),
})
export type OrderTerms = Static<typeof OrderTerms>

/** The findings of the fraud check before the payment. They name no person. */
export const Risk = Type.Object({
  ban: Type.Enum(['allow', 'review', 'block']),
  ban_ids: Type.Array(Id),
  velocity: Type.Number(),
  /** The rules of a store that has its own: a payment that is resumed is scored by the same. */
  rules: Type.Optional(Type.Unsafe<Rules>(OpenObject)),
})
export type Risk = Static<typeof Risk>
