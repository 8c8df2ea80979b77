import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, OpenObject, ref, Shared, Timestamp } from '../../kernel/schema.ts'
import { INTERVALS } from '../catalog/schema.ts'
import { ShownShipTo } from '../orders/schema.ts'
import type { CardFacts } from '../payments/adapters/schema.ts'
import type { DiscountTerms } from '../pricing/coupon.ts'
import { TaxPolicy } from '../pricing/schema.ts'
import { ShippingTerms } from '../shipping/schema.ts'

export const Interval = Type.Enum([...INTERVALS])
export type Interval = Static<typeof Interval>

export const STATUSES = [
  'active',
  'paused',
  'past_due',
  'cancelled',
  'unpaid_cancelled',
  'expired',
] as const
export const SubscriptionStatus = Type.Enum([...STATUSES])
export type SubscriptionStatus = Static<typeof SubscriptionStatus>

/** A subscription as the checkout that started it shows it. */
export const StartedSubscription = Type.Object({
  id: Id,
  product_id: Id,
  variant_id: Id,
  interval: Interval,
  interval_count: Type.Integer(),
  next_charge_at: Nullable(Timestamp),
})
export type StartedSubscription = Static<typeof StartedSubscription>

/**
 * The terms of a subscription, which are in every event about it, from a verb or from the engine. They contain
 * nothing about the person.
 */
export const SubscriptionTerms = Shared(
  'SubscriptionTerms',
  Type.Object(
    {
      id: Id,
      subscription_number: Type.Integer(),
      product_id: Id,
      variant_id: Id,
      quantity: Type.Integer(),
      interval: Interval,
      interval_count: Type.Integer(),
      unit_price_cents: Type.Integer(),
      currency: Type.String(),
    },
    { description: 'The terms of a subscription, the same in every event about it.' },
  ),
)
export type SubscriptionTerms = Static<typeof SubscriptionTerms>

/** A subscription as the order that started it shows it. */
export const SubscriptionOfOrder = Type.Object({
  id: Id,
  variant_id: Id,
  status: SubscriptionStatus,
  next_charge_at: Nullable(Timestamp),
})
export type SubscriptionOfOrder = Static<typeof SubscriptionOfOrder>

/** A coupon that renewals keep, as the order that started the subscription has it. */
export interface RecurringCoupon extends DiscountTerms {
  code: string
}

export interface NewSubscription {
  id: string
  product_id: string
  variant_id: string
  quantity: number
  interval: Interval
  interval_count: number
  unit_price_cents: number
  coupon: RecurringCoupon | null
}

/** The terms that renewals are priced by, beside the price of the goods. */
export const RenewalTerms = Type.Object({
  ...ShippingTerms.properties,
  tax: Type.Optional(Nullable(TaxPolicy)),
  coupon: Type.Optional(Type.Unsafe<RecurringCoupon | null>(Nullable(OpenObject))),
  /** The share of the goods that a tax provider computed for the origin order, in basis points. */
  tax_estimate_bps: Type.Optional(Type.Integer()),
  /** The code of the affiliate who also earns commission on the renewals. */
  referral_code: Type.Optional(Type.String()),
})
export type RenewalTerms = Static<typeof RenewalTerms>

/** The facts that all subscriptions of one order have in common. */
export interface Origin {
  order_id: string
  customer_ref: string
  person_id: string | null
  currency: string
  /** When the first period began. */
  at: string
  /** The store's time zone, whose calendar the periods follow. */
  time_zone: string
  ship_to: Record<string, unknown> | null
  /** The recipient of mails about renewals. */
  email: string | null
  /** Whether the prices of the order have the tax inside. */
  prices_include_tax: boolean
  /** The policies of shipping and tax that renewals are priced by. */
  pricing: RenewalTerms
  /** The gateway that stores the card. */
  gateway: string | null
  /** The gateway's reference to the card. Without one, the customer must enter a card. */
  vault_id: string | null
  initial_txn_id: string | null
  card: CardFacts | { brand: string | null; last4: string | null } | null
  card_fingerprint: string | null
}

/** The actions that are possible with a subscription. */
export const ACTIONS = [
  'pause',
  'resume',
  'skip',
  'unskip',
  'change',
  'change_card',
  'cancel',
] as const
export type Action = (typeof ACTIONS)[number]

const Charge = Type.Object({
  cycle: Type.Integer(),
  at: Timestamp,
  amount_cents: Cents,
  is_estimate: Type.Optional(
    Type.Literal(true, {
      description: 'Present where a tax provider computes the tax when the charge is made.',
    }),
  ),
})
export type UpcomingCharge = Static<typeof Charge>

const shown = {
  id: Id,
  subscription_number: Type.Integer(),
  customer_ref: Type.String(),
  person_id: Nullable(Id),
  email: Nullable(Type.String()),
  product_id: Id,
  variant_id: Id,
  product_name: Nullable(Type.String()),
  label: Nullable(Type.String({ description: 'The name of the variant.' })),
  sku: Nullable(Type.String()),
  quantity: Type.Integer(),
  interval: Interval,
  interval_count: Type.Integer(),
  unit_price_cents: Cents,
  currency: Type.String(),
  price_policy: Type.Enum(['locked', 'current'], {
    description:
      '`locked`: renewals cost `unit_price_cents`. `current`: what the catalog says on the day.',
  }),
  coupon_code: Nullable(Type.String({ description: 'The coupon that renewals keep.' })),
  status: SubscriptionStatus,
  origin_order_id: Id,
  last_order_id: Nullable(Id),
  cycle: Type.Integer({ description: 'The last cycle that is over. The origin order is cycle 1.' }),
  paid_cycles: Type.Integer(),
  max_cycles: Nullable(
    Type.Integer({
      description:
        'The subscription ends after this number of paid cycles, with the period of the last one. Null: no limit.',
    }),
  ),
  current_period_start: Timestamp,
  next_charge_at: Nullable(Timestamp),
  anchor_day: Type.Integer({
    description: 'The day of the month on which it is charged; in a shorter month the last day.',
  }),
  paused_until: Nullable(Timestamp),
  cancel_at_period_end: Type.Boolean(),
  cancelled_at: Nullable(Timestamp),
  cancel_reason: Nullable(Type.String()),
  ship_to: Nullable(ShownShipTo),
  payment_method: Nullable(
    Type.Object({
      brand: Nullable(Type.String()),
      last4: Nullable(Type.String()),
      exp_month: Nullable(Type.Integer()),
      exp_year: Nullable(Type.Integer()),
      updatable: Type.Boolean({ description: 'Whether another card can be given now.' }),
    }),
  ),
  dunning: Nullable(
    Type.Object({
      attempt: Type.Integer({ description: 'Declined attempts at the charge that is due.' }),
      next_attempt_at: Nullable(Timestamp),
      last_reason: Nullable(Type.String()),
    }),
  ),
  next_charges: Type.Array(Charge, {
    maxItems: 3,
    description:
      'The next three charges, without skipped ones: what the card will be charged, with shipping and tax.',
  }),
  skipped: Type.Array(Type.Object({ cycle: Type.Integer(), at: Timestamp }), {
    description: 'Coming cycles that are skipped, and can be unskipped.',
  }),
  allowed: Type.Array(Type.Enum([...ACTIONS]), { description: 'What can be done with it now.' }),
  version: Type.Integer({
    description: 'Grows with every change. A change that names another version is refused.',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Subscription = Shared('Subscription', Type.Object(shown))
export type Subscription = Static<typeof Subscription>

export const OneSubscription = Type.Object({ subscription: ref(Subscription) })

const Dated = Type.Object({ cycle: Type.Integer(), at: Timestamp })

/** The columns that both the verbs and the API (here) and the engine that charges (`cycle-schema.ts`) read. */
export const stored = {
  id: Id,
  subscription_number: Type.Integer(),
  customer_ref: Type.String(),
  person_id: Nullable(Id),
  email: Nullable(Type.String()),
  product_id: Id,
  variant_id: Id,
  quantity: Type.Integer(),
  interval: Interval,
  interval_count: Type.Integer(),
  unit_price_cents: Type.Integer(),
  /** Whether that price has the tax inside. */
  prices_include_tax: Type.Boolean(),
  currency: Type.String(),
  price_policy: Type.Enum(['locked', 'current']),
  pricing: Nullable(RenewalTerms),
  status: SubscriptionStatus,
  origin_order_id: Id,
  paid_cycles: Type.Integer(),
  max_cycles: Nullable(Type.Integer()),
  next_charge_at: Nullable(Timestamp),
  paused_until: Nullable(Timestamp),
  cancel_at_period_end: Type.Boolean(),
  gateway: Nullable(Type.String()),
  vault_id: Nullable(Type.String()),
  initial_txn_id: Nullable(Type.String()),
  card_brand: Nullable(Type.String()),
  card_last4: Nullable(Type.String()),
  card_exp_month: Nullable(Type.Integer()),
  card_exp_year: Nullable(Type.Integer()),
  card_fingerprint: Nullable(Type.String()),
  dunning_attempt: Type.Integer(),
  dunning_next_at: Nullable(Timestamp),
  dunning_reason: Nullable(Type.String()),
  ship_to: Nullable(OpenObject),
  version: Type.Integer(),
}

/** A subscription as it is stored, with the dates that follow from its row. */
export const SubscriptionRow = Type.Object({
  ...stored,
  last_order_id: Nullable(Id),
  cycle: Type.Integer(),
  anchor_on: Type.String(),
  anchor_cycle: Type.Integer(),
  current_period_start: Timestamp,
  cancelled_at: Nullable(Timestamp),
  cancel_reason: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Whether a charge is under way. */
  charging: Type.Boolean(),
  /** The next cycles that are not skipped, by the calendar. */
  coming: Type.Array(Dated),
  /** Coming cycles that are skipped. */
  skipped: Type.Array(Dated),
})
export type SubscriptionRow = Static<typeof SubscriptionRow>

/** The classes of declines, from those after which another attempt is allowed to those after which none ever is. */
export const DECLINE_CLASSES = [
  'soft',
  'funds',
  'wait',
  'update',
  'hard',
  'stop',
  'stop_all',
] as const

export const CYCLE_STATES = ['scheduled', 'skipped', 'charging', 'paid', 'failed'] as const

/** A charge of a cycle that the bank has declined. Shoppers see nothing of it. */
const Decline = Type.Object({
  declined_at: Timestamp,
  order_id: Id,
  amount_cents: Cents,
  currency: Type.String(),
  code: Nullable(Type.String({ description: "The gateway's own code." })),
  network_code: Nullable(
    Type.String({
      description: 'The code of the card network, such as `51`, where the gateway passes it on.',
    }),
  ),
  advice_code: Nullable(
    Type.String({
      description:
        "The network's advice about another attempt, such as Mastercard's `03`, where the gateway passes it on.",
    }),
  ),
  class: Type.Enum([...DECLINE_CLASSES], {
    description:
      'What may follow: `soft`, `funds` and `wait` are tried again, `update` and `hard` need another card, `stop` and `stop_all` end the agreement.',
  }),
})

const cycle = {
  cycle: Type.Integer(),
  state: Type.Enum([...CYCLE_STATES]),
  due_at: Timestamp,
  order_id: Nullable(Id),
  reason: Nullable(
    Type.String({
      description: 'Why it was skipped (`merchant`, `shopper`, ...) or has failed.',
    }),
  ),
  attempt_count: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

/** One cycle of a subscription, and its outcome. */
export const Cycle = Shared('SubscriptionCycle', Type.Object(cycle))

/** One cycle of a subscription as its merchant sees it, with the declines. */
export const MerchantCycle = Shared(
  'MerchantSubscriptionCycle',
  Type.Object({
    ...cycle,
    declines: Type.Array(Decline, {
      description: 'The last 20 declined charges of the cycle, the newest first.',
    }),
  }),
)
