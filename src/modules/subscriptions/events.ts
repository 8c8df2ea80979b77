import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { Cents, Id, Nullable, ref, Timestamp } from '../../kernel/schema.ts'
import { defineEvent } from '../webhooks/define-event.ts'
import { SubscriptionStatus, SubscriptionTerms } from './schema.ts'
import { termsOf } from './terms.ts'

/** A row with the terms of a subscription, and with its customer if one is left. */
type Row = SubscriptionTerms & { customer_ref?: string }

/**
 * Defines an event about a subscription. It shows the terms first, and then what else it has. `order_id` is the order
 * of its charge, if there is one.
 */
function defineSubscriptionEvent<P extends TProperties>(
  type: string,
  { when, more }: { when: string; more: P },
) {
  const shape = Type.Object({ subscription: ref(SubscriptionTerms), ...more })
  const data = Type.Unsafe<{ subscription: SubscriptionTerms } & Static<TObject<P>>>(shape)
  const event = defineEvent(type, { when, data })
  const emit = (tx: Tx, row: Row, facts: Static<TObject<P>>, order_id: string | null = null) => {
    const { customer_ref = null } = row
    return event.emit(tx, { subscription: termsOf(row), ...facts }, { order_id, customer_ref })
  }
  return { ...event, emit }
}

const cycle = Type.Integer({
  description: 'The number of the cycle. The order that started the subscription is cycle 1.',
})

const status = Type.Unsafe<SubscriptionStatus>({
  ...SubscriptionStatus,
  description: 'The status of the subscription now.',
})

const standing = {
  next_charge_at: Type.Unsafe<string | null>({
    ...Nullable(Timestamp),
    description: 'When it is charged next. Null: it is not.',
  }),
  paused_until: Type.Unsafe<string | null>({
    ...Nullable(Timestamp),
    description: 'When its pause ends. Null: it is not paused, or without an end.',
  }),
  cancel_at_period_end: Type.Boolean({ description: 'Whether it ends with its period.' }),
}

/** What a merchant or a shopper has changed says more than what the engine does by itself. */
const standingIfAsked = {
  next_charge_at: Type.Optional(standing.next_charge_at),
  paused_until: Type.Optional(standing.paused_until),
  cancel_at_period_end: Type.Optional(standing.cancel_at_period_end),
}

const order = Type.Object(
  {
    id: Id,
    order_number: Type.Integer(),
    total_cents: Type.Integer({ ...Cents, description: 'What was charged.' }),
  },
  { description: 'The order of the charge.' },
)

const changed = (reason: string) => ({
  status,
  ...standingIfAsked,
  reason: Type.String({ description: reason }),
})

export const CHANGES = [
  'changed',
  'skipped',
  'unskipped',
  'card_changed',
  'cancel_scheduled',
] as const

export const subscriptionUpdated = defineSubscriptionEvent('commerce.subscription.updated.v1', {
  when: 'A merchant or a shopper has changed a subscription in a way that has no event of its own.',
  more: {
    status,
    ...standing,
    change: Type.Enum([...CHANGES], {
      description:
        '`changed`: its goods, dates, address or price. `skipped`, `unskipped`: a coming cycle. `card_changed`: its card. `cancel_scheduled`: it ends with its period.',
    }),
  },
})

export const subscriptionPaused = defineSubscriptionEvent('commerce.subscription.paused.v1', {
  when: 'A subscription was paused, or its pause has got another end.',
  more: changed(
    'Who has paused it (`merchant`, `shopper`), or why it cannot be charged: `unpaid`, `fraud`, `banned`, `not_sellable`, `currency_changed`, `country_not_served`.',
  ),
})

export const subscriptionResumed = defineSubscriptionEvent('commerce.subscription.resumed.v1', {
  when: 'The pause of a subscription has ended, or it no longer ends with its period.',
  more: changed(
    'Who has resumed it (`merchant`, `shopper`), or `paused_until`: its time had come.',
  ),
})

export const subscriptionCancelled = defineSubscriptionEvent('commerce.subscription.cancelled.v1', {
  when: 'A subscription has ended before its last cycle.',
  more: changed(
    'Who has cancelled it (`merchant`, `shopper`), or why it ended: `order_cancelled` (with the order that started it), `erased` (with the data of its customer), `period_end`, `unpaid`, `stopped_by_bank`.',
  ),
})

export const subscriptionExpired = defineSubscriptionEvent('commerce.subscription.expired.v1', {
  when: 'The last cycle of a subscription is paid.',
  more: {
    cycle: Type.Optional(cycle),
    order: Type.Optional(order),
    status,
    reason: Type.String({ description: '`max_cycles`: it had a number of cycles.' }),
  },
})

const paidCycle = { cycle, order }

export const subscriptionRenewed = defineSubscriptionEvent('commerce.subscription.renewed.v1', {
  when: 'A cycle of a subscription was charged, and its order placed. `commerce.order.placed.v1` comes before.',
  more: paidCycle,
})

export const subscriptionRecovered = defineSubscriptionEvent('commerce.subscription.recovered.v1', {
  when: 'A charge of a subscription that was declined before is paid.',
  more: paidCycle,
})

export const subscriptionSkipped = defineSubscriptionEvent('commerce.subscription.skipped.v1', {
  when: 'A cycle of a subscription is not charged.',
  more: {
    cycle,
    reason: Type.String({
      description:
        '`out_of_stock`, or why its order was cancelled before it was paid, such as `customer` or `expired`.',
    }),
  },
})

const attempt = {
  cycle,
  attempt: Type.Integer({ description: 'How many attempts of the cycle were declined.' }),
  reason: Type.String({ description: 'Why, such as `insufficient_funds` or `card_blocked`.' }),
  next_attempt_at: Type.Unsafe<string | null>({
    ...Nullable(Timestamp),
    description: 'When it is tried again. Null: not without another card.',
  }),
}

export const paymentFailed = defineSubscriptionEvent('commerce.subscription.payment_failed.v1', {
  when: 'A bank has declined a charge, or a card must not be charged. There is one event for each attempt.',
  more: {
    ...attempt,
    needs_card: Type.Boolean({
      description: 'Whether it is not tried again without another card.',
    }),
    ends_at: Type.Unsafe<string | null>({
      ...Nullable(Timestamp),
      description: 'Until when the store waits for another card. Null: it needs none.',
    }),
    tells: Type.Unsafe<'first' | 'last' | null>({
      ...Nullable(Type.Enum(['first', 'last'])),
      description:
        'Which mail the customer gets. `first`: the payment has failed; for the first decline of a cycle, or where only another card helps. `last`: the next attempt is the last one. Null: none.',
    }),
  },
})

export const subscriptionPastDue = defineSubscriptionEvent('commerce.subscription.past_due.v1', {
  when: 'The first charge of a cycle was declined: the subscription is past due.',
  more: attempt,
})

const notice = {
  cycle,
  at: Type.Unsafe<string | null>({ ...Nullable(Timestamp), description: 'When it is charged.' }),
  unit_price_cents: Type.Optional(
    Type.Integer({
      ...Cents,
      description: 'What a unit costs then. Absent: it cannot be sold now.',
    }),
  ),
  total_cents: Type.Optional(
    Type.Integer({ ...Cents, description: 'What is charged. Absent: it cannot be sold now.' }),
  ),
  previous_unit_price_cents: Type.Integer({ ...Cents, description: 'What a unit cost before.' }),
}

export const subscriptionUpcoming = defineSubscriptionEvent('commerce.subscription.upcoming.v1', {
  when: 'A charge of a subscription is near.',
  more: notice,
})

export const priceChanged = defineSubscriptionEvent('commerce.subscription.price_changed.v1', {
  when: 'A charge of a subscription is near, at another price than the last one.',
  more: notice,
})

export const cardExpiring = defineSubscriptionEvent('commerce.subscription.card_expiring.v1', {
  when: 'The card of a subscription expires in 30 days, or in 7.',
  more: {
    expires_on: Type.String({
      format: 'date',
      description: 'The first day on which the card cannot be charged any more.',
    }),
    days: Type.Enum([7, 30], { description: 'Which of the two notices this is.' }),
  },
})

export const events = [
  subscriptionUpdated,
  subscriptionPaused,
  subscriptionResumed,
  subscriptionRenewed,
  subscriptionPastDue,
  paymentFailed,
  subscriptionRecovered,
  subscriptionSkipped,
  subscriptionExpired,
  subscriptionUpcoming,
  priceChanged,
  cardExpiring,
  subscriptionCancelled,
]
