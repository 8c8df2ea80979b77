import { type Static, Type } from 'typebox'
import { Nullable, Timestamp } from '../../kernel/schema.ts'
import { stored } from './schema.ts'

/** A subscription as the engine that charges it reads it, with the settings of its store. */
export const DueSubscription = Type.Object({
  ...stored,
  card_blocked: Type.Boolean(),
  card_told: Nullable(Type.String()),
  retry_at: Nullable(Timestamp),
  dunning_ends_at: Nullable(Timestamp),
  charging_cycle: Nullable(Type.Integer()),
  noticed_for: Nullable(Timestamp),
  due_at: Nullable(Timestamp),
  /** The first cycle that is neither decided nor skipped. */
  next_cycle: Type.Integer(),
  /**
   * The cycle that a charge now is for: the next one, or, when several dates have passed, the last whose date has
   * come.
   */
  charge_cycle: Type.Integer(),
  /** How many charges of the next cycle were attempted. */
  attempt_count: Type.Integer(),
  /** The time by the store's clock. */
  now: Timestamp,
  /** When the card can no longer be charged. */
  card_ends_at: Nullable(Timestamp),
  time_zone: Type.String(),
  dunning_delays_days: Type.Array(Type.Integer()),
  on_exhausted: Type.Enum(['cancel', 'pause']),
  on_out_of_stock: Type.Enum(['skip', 'retry', 'backorder']),
  pre_renewal_notice_days: Nullable(Type.Integer()),
})
export type DueSubscription = Static<typeof DueSubscription>

/** The error that a subscription has changed since the row was read on which a change was decided. */
export class StaleSubscriptionError extends Error {
  constructor() {
    super('the subscription has changed since it was read')
  }
}

/** The data with which the charge of a cycle begins. */
export interface BegunCycle {
  id: string
  version: number
  cycle: number
  order_id: string
}

/** A paid cycle, with the price that its order had. */
export interface PaidCycle {
  cycle: number
  order_id: string
  unit_price_cents: number
  prices_include_tax: boolean
}

/** The state of a subscription after a declined charge. */
export interface Dunning {
  /** Null where no attempt is planned. */
  next_at: string | null
  /** Null while an attempt is planned. */
  ends_at: string | null
  attempt: number
  reason: string
  is_blocked: boolean
}

/** Why the engine ends, pauses or skips a subscription. */
export type EndReason =
  | 'unpaid'
  | 'stopped_by_bank'
  | 'period_end'
  | 'max_cycles'
  | 'fraud'
  | 'banned'
  | 'not_sellable'
  | 'currency_changed'
  | 'country_not_served'

/** The facts that a card updater sends about a card; a fact that is null stays as it is. */
export interface UpdatedCard {
  brand: string | null
  last4: string | null
  exp_month: number | null
  exp_year: number | null
}

/** The state in which the engine stops a subscription. */
export interface Stop {
  status: 'cancelled' | 'unpaid_cancelled' | 'expired' | 'paused'
  reason: EndReason
}

/** A declined charge, as it is counted against its card. */
export interface NewDecline {
  subscription_id: string
  cycle: number
  order_id: string
  card: string | null
  amount_cents: number
  currency: string
  /** The gateway's own code. */
  code: string | null
  /** The codes of the card network. */
  network_code: string | null
  advice_code: string | null
  class: string
}

/** A charge that is about to be made to a card. */
export interface CardCharge {
  card: string
  amount_cents: number
  currency: string
}

/** How many declines of one card are allowed within some days. */
export interface TryLimit {
  tries: number
  days: number
  /** Whether only charges of the same amount count. */
  ofAmount: boolean
}
