import { type Static, Type } from 'typebox'
import { Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const BASES = ['consent', 'soft_opt_in'] as const

const BASIS_MEANING =
  '`consent`: only to readers who agreed to mails. `soft_opt_in`: also to addresses that have bought before and have not left.'

const times = {
  first_after_minutes: Type.Integer({
    minimum: 30,
    maximum: 10_080,
    description: 'How long after the cart was last seen the first mail is sent.',
  }),
  second_after_minutes: Nullable(
    Type.Integer({
      minimum: 60,
      maximum: 20_160,
      description: 'How long after the first mail the second is sent. `null`: there is none.',
    }),
  ),
}

export const ReminderSettings = Type.Object({
  enabled: Type.Boolean(),
  basis: Type.Enum([...BASES], { description: BASIS_MEANING }),
  ...times,
  law_confirmed_by: Nullable(Type.String()),
  law_confirmed_at: Nullable(Timestamp),
})
export type ReminderSettings = Static<typeof ReminderSettings>

export const ReminderSettingsChange = Type.Object({
  enabled: Type.Boolean(),
  law_allows: Type.Optional(
    Type.Boolean({
      description:
        'Must be `true` to enable reminders: that the law of your shoppers allows them. Who said so, and when, is kept.',
    }),
  ),
  basis: Type.Optional(Type.Enum([...BASES], { description: BASIS_MEANING })),
  first_after_minutes: Type.Optional(times.first_after_minutes),
  second_after_minutes: Type.Optional(times.second_after_minutes),
})
export type ReminderSettingsChange = Static<typeof ReminderSettingsChange>

export const REMINDER_STATES = ['waiting', 'stopped'] as const
export type ReminderState = (typeof REMINDER_STATES)[number]

/** The reasons for which nothing more is sent. */
export const STOP_REASONS = [
  'ordered',
  'out_of_stock',
  'not_sold',
  'not_allowed',
  'claims',
  'too_old',
  'off',
  'done',
] as const
export type StopReason = (typeof STOP_REASONS)[number]

const CartItem = Type.Object({ variant_id: Id, quantity: Type.Integer() })
export type CartItem = Static<typeof CartItem>

export const Reminder = Shared(
  'CheckoutReminder',
  Type.Object({
    id: Id,
    email: Type.String(),
    customer_ref: Nullable(Type.String()),
    state: Type.Enum([...REMINDER_STATES]),
    reason: Nullable(
      Type.Enum([...STOP_REASONS], {
        description:
          'Why nothing more is sent: an order was placed, something is out of stock or no longer sold, the address may not be written to, the text makes a prohibited claim, the cart is older than a week, reminders were switched off, or all were sent (`done`).',
      }),
    ),
    sent_count: Type.Integer({ description: 'How many of the two mails were sent.' }),
    next_attempt_at: Nullable(Timestamp),
    last_sent_at: Nullable(Timestamp),
    seen_at: Timestamp,
    created_at: Timestamp,
  }),
)
export type Reminder = Static<typeof Reminder>

/** A cart whose next mail is due. */
export const DueReminder = Type.Object({
  email: Type.String(),
  email_folded: Type.String(),
  customer_ref: Nullable(Type.String()),
  items: Type.Array(CartItem),
  sent_count: Type.Integer(),
  began_at: Timestamp,
})
export type DueReminder = Static<typeof DueReminder>
