import { type Static, Type } from 'typebox'
import { Email, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const SUBSCRIBER_STATES = ['pending', 'subscribed', 'unsubscribed'] as const
export type SubscriberState = (typeof SUBSCRIBER_STATES)[number]

/** A reader who asked for the newsletter of a store. */
export const Subscriber = Shared(
  'NewsletterSubscriber',
  Type.Object({
    id: Id,
    email: Type.String(),
    status: Type.Enum(SUBSCRIBER_STATES, {
      description:
        '`pending` until the mailed link is confirmed. Send the newsletter to `subscribed` ones alone.',
    }),
    source: Nullable(Type.String({ description: 'Where they asked, as the storefront names it.' })),
    requested_at: Timestamp,
    confirmed_at: Nullable(Timestamp),
    unsubscribed_at: Nullable(Timestamp),
    created_at: Timestamp,
  }),
)
export type Subscriber = Static<typeof Subscriber>

export const NewsletterRequest = Type.Object({
  email: Email,
  source: Type.Optional(
    Type.String({ maxLength: 100, description: 'The page or the form, kept as proof.' }),
  ),
  form_url: Type.Optional(
    Type.String({ maxLength: 2_000, description: 'The address of the page, kept as proof.' }),
  ),
  ip: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 64,
        description:
          "The shopper's address: requests are limited by it. Its network is kept as proof, and not more of it.",
      }),
    ),
  ),
})
export type NewsletterRequest = Static<typeof NewsletterRequest>
