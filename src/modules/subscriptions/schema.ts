import { type Static, Type } from 'typebox'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import type { CardFacts } from '../payments/schema.ts'

/** A subscription as the checkout that started it shows it. */
export const StartedSubscription = Type.Object({
  id: Id,
  product_id: Id,
  variant_id: Id,
  interval: Type.Enum(['day', 'week', 'month', 'year']),
  interval_count: Type.Integer(),
  next_charge_at: Nullable(Timestamp),
})
export type StartedSubscription = Static<typeof StartedSubscription>

/** A subscription as the order that started it shows it. */
export const SubscriptionOfOrder = Type.Object({
  id: Id,
  variant_id: Id,
  status: Type.Enum(['active', 'paused', 'past_due', 'cancelled', 'unpaid_cancelled', 'expired']),
  next_charge_at: Nullable(Timestamp),
})
export type SubscriptionOfOrder = Static<typeof SubscriptionOfOrder>

export interface NewSubscription {
  id: string
  product_id: string
  variant_id: string
  quantity: number
  interval: StartedSubscription['interval']
  interval_count: number
  unit_price_cents: number
}

/** What all subscriptions of one order have in common. */
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
  /** Whom renewals are told to. */
  email: string | null
  /** The policies of shipping and tax that renewals are priced by. */
  pricing: Record<string, unknown>
  /** The gateway that stores the card. */
  gateway: string | null
  /** The gateway's reference to the card. Null: the customer must give a card. */
  vault_id: string | null
  initial_txn_id: string | null
  card: CardFacts | { brand: string | null; last4: string | null } | null
  card_fingerprint: string | null
}
