import { type Static, Type } from 'typebox'
import { Email, Id, Nullable, Shared, TenantRef, Timestamp } from '../../kernel/schema.ts'

export const SUPPRESSION_REASONS = ['hard_bounce', 'soft_bounces', 'complaint', 'manual'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

const Reason = Type.Enum([...SUPPRESSION_REASONS], {
  description:
    '`hard_bounce`: the address does not exist. `soft_bounces`: five in 30 days. `complaint`: a mail was reported as spam; only the reader can lift it, by asking for the newsletter again. `manual`: added by the merchant.',
})

/** An address to which the store sends no marketing. Mails about orders are still sent. */
export const Suppression = Shared(
  'MailSuppression',
  Type.Object({
    id: Id,
    email: Type.String(),
    reason: Reason,
    detail: Nullable(Type.String({ description: "The mail server's words, or the merchant's." })),
    created_by: Type.String(),
    suppressed_at: Timestamp,
    created_at: Timestamp,
  }),
)
export type Suppression = Static<typeof Suppression>

const Detail = Type.String({ maxLength: 500 })

export const NewSuppression = Type.Object({ email: Email, detail: Type.Optional(Detail) })
export type NewSuppression = Static<typeof NewSuppression>

/** An address to which no store of the installation sends marketing, known by its hash. */
export const GlobalSuppression = Shared(
  'GlobalMailSuppression',
  Type.Object({
    id: Id,
    domain: Type.String({
      description: 'The part of the address after the @. The rest is a hash.',
    }),
    reason: Type.Enum(['hard_bounce', 'complaint']),
    detail: Nullable(Type.String()),
    created_at: Timestamp,
  }),
)
export type GlobalSuppression = Static<typeof GlobalSuppression>

export const LiftRequest = Type.Object({ email: Email })

export const FEEDBACK_KINDS = ['hard_bounce', 'soft_bounce', 'complaint'] as const

/** The feedback on a mail that the server had accepted, from the operator's mail provider. */
export const FeedbackEvent = Type.Object({
  event_id: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "The provider's own id. A soft bounce that is sent twice counts once.",
  }),
  kind: Type.Enum([...FEEDBACK_KINDS]),
  email: Email,
  tenant_ref: Type.Optional(
    Nullable({
      ...TenantRef,
      description: 'The store whose mail it was, if the provider knows it.',
    } as typeof TenantRef),
  ),
  detail: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
})
export type FeedbackEvent = Static<typeof FeedbackEvent>

export const Feedback = Type.Object({
  events: Type.Array(FeedbackEvent, { minItems: 1, maxItems: 100 }),
})
export type Feedback = Static<typeof Feedback>

export const FeedbackReceipt = Type.Object({
  received: Type.Integer(),
  suppressed: Type.Integer({ description: 'Events that suppress an address from now on.' }),
})
export type FeedbackReceipt = Static<typeof FeedbackReceipt>
