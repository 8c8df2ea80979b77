import { type Static, Type } from 'typebox'
import { Id, Nullable, OpenObject, Shared, Timestamp } from '../../kernel/schema.ts'

/** The event of a test fire. No endpoint can subscribe to it. */
export const TEST_EVENT = 'platform.test.v1'

const core = {
  id: Id,
  url: Type.String(),
  description: Nullable(Type.String()),
  events: Type.Array(Type.String()),
  active: Type.Boolean(),
}

export const Subscription = Type.Object({
  ...core,
  consecutive_failures: Type.Integer({ minimum: 0 }),
  auto_paused_at: Nullable(Timestamp),
  created_at: Timestamp,
})
export type Subscription = Static<typeof Subscription>

/** A subscription as its merchant sees it. */
export const ListedSubscription = Shared(
  'WebhookSubscription',
  Type.Object({
    ...Subscription.properties,
    muted_events: Type.Array(Type.String(), {
      description:
        'Those of `events` that are not delivered, because the store does not have the add-on `extended_events` any more.',
    }),
  }),
)
export type ListedSubscription = Static<typeof ListedSubscription>

export const NewSubscription = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2_048 }),
  events: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
})
export type NewSubscription = Static<typeof NewSubscription>

const Secret = Type.String({
  pattern: '^whsec_',
  description: 'The signing secret. Shown only in this answer.',
})

/** The only two answers that contain the signing secret. */
export const SubscriptionCreated = Type.Object({ subscription: Type.Object(core), secret: Secret })
export const SecretRotated = Type.Object({
  subscription: Type.Object(core),
  secret: Secret,
  previous_valid_until: Timestamp,
})

export const SubscriptionDeleted = Type.Object({ id: Id, deleted: Type.Literal(true) })

/** A subscription with its encrypted signing secrets. */
export const SubscriptionWithSecrets = Type.Object({
  ...Subscription.properties,
  secret_sealed: Nullable(Type.Unsafe<Buffer>({})),
  previous_sealed: Nullable(Type.Unsafe<Buffer>({})),
  previous_until: Nullable(Timestamp),
  deleted_at: Nullable(Timestamp),
})
export type SubscriptionWithSecrets = Static<typeof SubscriptionWithSecrets>

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead_lettered'] as const
export const DeliveryStatus = Type.Enum([...DELIVERY_STATUSES])
export type DeliveryStatus = Static<typeof DeliveryStatus>

export const Delivery = Shared(
  'WebhookDelivery',
  Type.Object({
    id: Id,
    subscription_id: Id,
    event_id: Id,
    event_type: Type.String(),
    endpoint_url: Type.String(),
    payload: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description:
        'The exact envelope. Null until the event has its number, right after the commit.',
    }),
    status: DeliveryStatus,
    attempt_count: Type.Integer({ minimum: 0, description: 'The number of finished attempts.' }),
    next_retry_at: Nullable(Timestamp),
    last_status_code: Nullable(Type.Integer()),
    last_attempt_error: Nullable(Type.String()),
    created_at: Timestamp,
    delivered_at: Nullable(Timestamp),
    dead_lettered_at: Nullable(Timestamp),
    replayed_at: Nullable({
      ...Timestamp,
      description: 'When the merchant last asked for it to be sent again.',
    }),
  }),
)
export type Delivery = Static<typeof Delivery>

export const Attempt = Type.Object({
  attempt: Type.Integer({ minimum: 1 }),
  at: Timestamp,
  status_code: Nullable(Type.Integer()),
  latency_ms: Nullable(Type.Integer({ minimum: 0 })),
  error: Nullable(Type.String()),
})
export type Attempt = Static<typeof Attempt>

export const DeliveryDetail = Type.Object({
  ...Delivery.properties,
  attempts: Type.Array(Attempt),
})

export const TestOutcome = Type.Object({
  delivery_id: Id,
  event_type: Type.String(),
  outcome: Type.Enum(['delivered', 'failed']),
  status_code: Nullable(Type.Integer()),
  latency_ms: Nullable(Type.Integer({ minimum: 0 })),
  error: Nullable(
    Type.String({
      description: 'Why there was no answer. Null when the endpoint answered, with any status.',
    }),
  ),
})
export type TestOutcome = Static<typeof TestOutcome>

export const FeedEvent = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  id: Id,
  type: Type.String({ examples: ['commerce.order.placed.v1'] }),
  created_at: Timestamp,
  data: OpenObject,
})
export type FeedEvent = Static<typeof FeedEvent>

export const Feed = Type.Object({
  tenant_ref: Type.String(),
  events: Type.Array(FeedEvent),
  sealed_to: Type.Integer({ minimum: 0, description: 'The feed is complete up to this number.' }),
  after: Type.Integer({ minimum: 0 }),
  limit: Type.Integer({ minimum: 1 }),
})

export const Redrive = Type.Object({
  subscription_id: Id,
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
})
export type Redrive = Static<typeof Redrive>

export const Redriven = Type.Object({
  redriven: Type.Integer({ minimum: 0 }),
  next_from: Nullable(
    Type.String({
      format: 'date-time',
      description:
        'The `from` of the next call: there may be more dead letters. Null: there are none.',
    }),
  ),
})

/** The longest text of a time: longer than any time is. */
const FROM_LENGTH_MAX = 64

export const Replay = Type.Object({
  from: Type.Unsafe<number | string>({
    type: ['integer', 'string'],
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    maxLength: FROM_LENGTH_MAX,
    description:
      'Where the replay begins: the `sequence` of an event, as a number, or a time of RFC 3339.',
    examples: [42, '2026-01-31T08:00:00Z'],
  }),
  include_delivered: Type.Optional(
    Type.Boolean({
      description:
        'Also sends what the endpoint has accepted before, for a receiver that has lost it.',
    }),
  ),
})
export type Replay = Static<typeof Replay>

const Sequence = (description: string) => Nullable(Type.Integer({ minimum: 1, description }))

export const Replayed = Type.Object({
  subscription_id: Id,
  queued: Type.Integer({ minimum: 0, description: 'How many deliveries are sent again.' }),
  from_sequence: Type.Integer({ minimum: 1, description: 'The first event that was looked at.' }),
  to_sequence: Sequence('The last event that was looked at. Null: there was none.'),
  next_from: Sequence('The `from` of the next call: there are more events. Null: there are none.'),
  gone_before: Sequence(
    'Events with lower numbers are no longer kept, and some of them were asked for. Null: nothing is missing.',
  ),
})
export type Replayed = Static<typeof Replayed>

/** An event as the numbering loop reads it. */
export const UnnumberedEvent = Type.Object({
  id: Id,
  type: Type.String(),
  data: Type.String(),
  order_id: Nullable(Id),
  customer_ref: Nullable(Type.String()),
})
export type UnnumberedEvent = Static<typeof UnnumberedEvent>

/** A delivery with the data that the dispatcher needs for one attempt. */
export const DueDelivery = Type.Object({
  id: Id,
  event_id: Id,
  event_type: Type.String(),
  attempt_count: Type.Integer({ minimum: 0 }),
  ladder_from: Type.Integer({ minimum: 0 }),
  payload: Type.String({ description: 'The bytes of the envelope, which are UTF-8.' }),
  replay: Type.Boolean({ description: 'The merchant asked for it to be sent again.' }),
  // Facts of the endpoint: in the first delivery of a lane, and null in the others.
  url: Nullable(Type.String()),
  failing: Nullable(Type.Boolean({ description: 'The last attempt failed.' })),
  active: Nullable(Type.Boolean()),
  deleted: Nullable(Type.Boolean()),
  secret_sealed: Nullable(Type.Unsafe<Buffer>({})),
  previous_sealed: Nullable(Type.Unsafe<Buffer>({})),
})
export type DueDelivery = Static<typeof DueDelivery>

/** The lease of a lane. Every write of a result repeats the token. */
export const LaneLease = Type.Object({ subscription_id: Id, lane: Type.Integer(), lease_token: Id })
export type LaneLease = Static<typeof LaneLease>
