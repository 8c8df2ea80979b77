import { type Static, Type } from 'typebox'
import { Nullable, Pattern, Shared, Timestamp } from '../../kernel/schema.ts'
import type { Topic } from '../../platform/outbox.ts'
import { ADAPTERS } from '../payments/adapters/all.ts'

/** How a provider signs its events. */
const SCHEMES = [
  ...ADAPTERS.flatMap(({ name, events }) => (events === null ? [] : [name])),
  'stripe',
  'standard',
]
/** Rows may have a scheme that only a newer process knows, so that the type is a text. */
export const Scheme = Type.Unsafe<string>(Type.Enum(SCHEMES))
export type Scheme = Static<typeof Scheme>

export const PROVIDER = /^[a-z0-9][a-z0-9_-]{0,39}$/
export const ACCOUNT_REF = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/

/** The provider and the account, as the path names them. */
export interface AccountName {
  provider: string
  account_ref: string
}

/** An account whose events are accepted. The signing key is never shown. */
export const GatewayAccount = Shared(
  'GatewayAccount',
  Type.Object({
    provider: Type.String(),
    account_ref: Type.String(),
    tenant_ref: Type.String(),
    scheme: Scheme,
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type GatewayAccount = Static<typeof GatewayAccount>

export const AccountChange = Type.Object({
  tenant_ref: Type.String({ minLength: 1, maxLength: 63 }),
  scheme: Scheme,
  // With a copied space or line end, every event would be refused.
  signing_key: Pattern('^[\\x21-\\x7e]+$', 'must be visible ASCII characters without spaces', {
    minLength: 8,
    maxLength: 500,
    description:
      'The signing key as the provider shows it. With the scheme `standard`: base64, with or without `whsec_`.',
  }),
})
export type AccountChange = Static<typeof AccountChange>

/** An account as the gate role finds it, before its store is known. */
export const FoundAccount = Type.Object({
  tenant_ref: Type.String(),
  scheme: Scheme,
  signing_key: Type.Unsafe<Buffer>({}),
})

export const Receipt = Type.Object({
  received: Type.Boolean(),
  deduped: Type.Boolean({
    description: 'True: the event was received before, and is not processed again.',
  }),
})
export type Receipt = Static<typeof Receipt>

/**
 * The event that is published once for each stored event of a provider. It names the row,
 * and has none of its content.
 */
export const WEBHOOK_RECEIVED = {
  type: 'webhook.received.v1',
  payload: Type.Object({
    provider: Type.String(),
    account_ref: Type.String(),
    provider_event_id: Type.String(),
    event_type: Nullable(Type.String()),
  }),
} satisfies Topic
export type WebhookReceived = Static<typeof WEBHOOK_RECEIVED.payload>

/** `received`: the worker has not handled it, or retries. `unhandled`: an operator must act on it. */
export const EVENT_STATUSES = ['received', 'applied', 'ignored', 'unhandled'] as const
const EventStatus = Type.Enum([...EVENT_STATUSES])
export type EventStatus = Static<typeof EventStatus>

/** The outcome of an event, and its reason. */
export type Outcome =
  | {
      status: 'applied'
      reason: 'lookup_hastened' | 'dispute_recorded' | 'parcel_followed' | 'card_updated'
    }
  /**
   * No action: the type needs none, or the event names nothing of the store, or nothing
   * was waiting, or nothing is new.
   */
  | {
      status: 'ignored'
      reason:
        | 'other_type'
        | 'no_payment_of_ours'
        | 'nothing_waiting'
        | 'no_parcel_of_ours'
        | 'no_card_of_ours'
        | 'nothing_new'
    }
  | { status: 'unhandled'; reason: 'unreadable' | 'dispute_not_shown' | 'dispute_not_recorded' }

export const EVENT_REASONS = [
  'lookup_hastened',
  'dispute_recorded',
  'parcel_followed',
  'card_updated',
  'other_type',
  'no_payment_of_ours',
  'nothing_waiting',
  'no_parcel_of_ours',
  'no_card_of_ours',
  'nothing_new',
  'unreadable',
  'dispute_not_shown',
  'dispute_not_recorded',
] as const satisfies readonly Outcome['reason'][]

/** An event as it is stored. */
export const EventRow = Type.Object({
  scheme: Scheme,
  status: EventStatus,
  event_type: Nullable(Type.String()),
  body: Nullable(Type.Unsafe<Buffer>({})),
})

/** An event as an operator sees it in a list. */
export const GatewayEvent = Shared(
  'GatewayEvent',
  Type.Object({
    tenant_ref: Type.String(),
    provider: Type.String(),
    account_ref: Type.String(),
    event_id: Type.String(),
    event_type: Nullable(Type.String()),
    scheme: Scheme,
    status: EventStatus,
    reason: Nullable(Type.Enum([...EVENT_REASONS])),
    received_at: Timestamp,
    handled_at: Nullable(Timestamp),
  }),
)

/** An event with its headers and body, as long as these are stored. */
export const GatewayEventDetail = Type.Object({
  ...GatewayEvent.properties,
  headers: Type.Record(Type.String(), Type.String()),
  body: Nullable(Type.String({ description: 'Kept for 30 days, then null.' })),
  body_encoding: Nullable(Type.Enum(['utf8', 'base64'])),
})
export type GatewayEventDetail = Static<typeof GatewayEventDetail>
