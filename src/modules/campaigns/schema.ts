import { type Static, Type } from 'typebox'
import {
  Cents,
  Email,
  Id,
  Line,
  Nullable,
  Pattern,
  Shared,
  Timestamp,
} from '../../kernel/schema.ts'

export const CAMPAIGN_STATUSES = [
  'draft',
  'scheduled',
  'active',
  'paused',
  'ended',
  'cancelled',
] as const
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]

/**
 * Why a campaign is paused. `merchant`: the merchant paused it. Any other: it paused by itself, and the
 * merchant decides.
 */
export const PAUSED_BY_ITSELF = ['late', 'claims', 'segment'] as const
export const PAUSE_REASONS = ['merchant', ...PAUSED_BY_ITSELF] as const
export type PauseReason = (typeof PAUSE_REASONS)[number]

/** The channel whose campaigns send mails. */
export const EMAIL = 'email'

const Channel = Pattern(
  '^[a-z][a-z0-9_-]{0,39}$',
  'must be 1 to 40 lower-case letters, digits, underscores or hyphens, beginning with a letter',
  { description: '`email` sends mails to a segment. Any other name is your own, as `social`.' },
)

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

export const BUDGET_TYPES = ['spend', 'uses'] as const

const BUDGET_MEANING =
  '`spend`: what coupons take off the goods, in cents of the store; free shipping counts nothing. `uses`: orders with a coupon.'

export const Budget = Type.Object({
  type: Type.Enum([...BUDGET_TYPES], { description: BUDGET_MEANING }),
  limit: Type.Integer(),
  used: Cents,
})

export const MAILING_STATES = ['listing', 'sending', 'done'] as const

export const Mailing = Type.Object({
  state: Type.Enum([...MAILING_STATES], {
    description:
      '`listing`: the recipients are being written down, and mailed meanwhile. `done`: none is left to send.',
  }),
  recipients_count: Type.Integer({ description: 'Addresses of the segment that may be mailed.' }),
  left_out_count: Type.Integer({
    description: 'Addresses of the segment without consent, or suppressed, when it was read.',
  }),
  queued_count: Type.Integer({ description: 'Not sent yet, or being sent.' }),
  sent_count: Type.Integer({ description: 'The mail server has accepted the mail.' }),
  skipped_count: Type.Integer({
    description: 'Consent was withdrawn, or the address was suppressed or erased, before its turn.',
  }),
  failed_count: Type.Integer({ description: 'The mail server has refused the mail.' }),
  unknown_count: Type.Integer({
    description:
      'A crash or a lost connection left open whether the mail was sent. It is never sent again by itself.',
  }),
})

export const Utm = Type.Object({
  source: Nullable(Type.String()),
  medium: Nullable(Type.String()),
  campaign: Nullable(Type.String()),
})

const campaignFields = {
  id: Id,
  name: Type.String(),
  channel: Type.String(),
  status: Type.Enum([...CAMPAIGN_STATUSES]),
  pause_reason: Nullable(
    Type.Enum([...PAUSE_REASONS], {
      description:
        '`merchant`: you paused it. `late`: its time had passed by more than an hour before it could start. `claims`: its text makes a prohibited health claim: change the text. `segment`: its segment no longer exists, or cannot be read: create another campaign if it stays so. `resume` goes on with it.',
    }),
  ),
  starts_at: Nullable(Timestamp),
  ends_at: Nullable(Timestamp),
  send_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When a campaign of the channel `email` starts to send: its `starts_at`.',
    }),
  ),
  budget: Nullable(Budget),
  utm: Utm,
  coupon_count: Type.Integer({ description: 'How many coupons belong to it.' }),
  segment_id: Nullable(Id),
  subject: Nullable(Type.String()),
  body_markdown: Nullable(Type.String()),
  sender_name: Nullable(Type.String()),
  reply_to: Nullable(Type.String()),
  mailing: Nullable(Mailing),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Campaign = Shared('Campaign', Type.Object(campaignFields))
export type Campaign = Static<typeof Campaign>

/** The longest text of a mail. */
export const BODY_LENGTH_MAX = 16_000

const optional = {
  starts_at: Type.Optional(Nullable(Timestamp)),
  ends_at: Type.Optional(Nullable(Timestamp)),
  send_at: Type.Optional(
    Nullable(
      Type.String({
        format: 'date-time',
        description: 'Another name of `starts_at`, for a campaign of the channel `email`.',
      }),
    ),
  ),
  budget: Type.Optional(
    Nullable(
      Type.Object({
        type: Type.Enum([...BUDGET_TYPES], { description: BUDGET_MEANING }),
        limit: Type.Integer({ minimum: 1, maximum: 100_000_000_000_000 }),
      }),
    ),
  ),
  utm: Type.Optional(
    Nullable(
      Type.Object({
        source: Type.Optional(Nullable(text(200))),
        medium: Type.Optional(Nullable(text(200))),
        campaign: Type.Optional(Nullable(text(200))),
      }),
    ),
  ),
  segment_id: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  subject: Type.Optional(Nullable(Line(200))),
  body_markdown: Type.Optional(Nullable(text(BODY_LENGTH_MAX))),
  sender_name: Type.Optional(Nullable(Line(100))),
  reply_to: Type.Optional(Nullable(Email)),
}

export const NewCampaign = Type.Object({ name: Line(200), channel: Channel, ...optional })
export type NewCampaign = Static<typeof NewCampaign>

/** The channel cannot change: it decides what kind of campaign it is. */
export const CampaignPatch = Type.Object({ name: Type.Optional(Line(200)), ...optional })
export type CampaignPatch = Static<typeof CampaignPatch>

export const Schedule = Type.Object({
  starts_at: optional.starts_at,
  send_at: optional.send_at,
  ends_at: optional.ends_at,
})
export type Schedule = Static<typeof Schedule>

/** The members that a merchant sets, as they are stored. */
export interface CampaignTerms {
  name: string
  starts_at: string | null
  ends_at: string | null
  budget: { type: (typeof BUDGET_TYPES)[number]; limit: number } | null
  utm: Static<typeof Utm>
  segment_id: string | null
  subject: string | null
  body_markdown: string | null
  sender_name: string | null
  reply_to: string | null
}

/** The state that decides whether a coupon of the campaign can be used. */
export const CampaignState = Type.Object({
  status: Type.Enum([...CAMPAIGN_STATUSES]),
  starts_at: Nullable(Timestamp),
  is_over: Type.Boolean(),
  budget_type: Nullable(Type.Enum([...BUDGET_TYPES])),
  budget_left: Nullable(Type.Integer()),
})
export type CampaignState = Static<typeof CampaignState>

export const RECIPIENT_STATES = ['queued', 'sent', 'skipped', 'failed', 'unknown'] as const
export type RecipientState = (typeof RECIPIENT_STATES)[number]

export const Recipient = Shared(
  'CampaignRecipient',
  Type.Object({
    id: Id,
    email: Nullable(Type.String({ description: 'Null: the person was erased.' })),
    customer_ref: Nullable(Type.String()),
    state: Type.Enum([...RECIPIENT_STATES]),
    reason: Nullable(
      Type.String({
        description:
          'Why it is not sent: `not_allowed` (no consent, or suppressed), `erased`, `refused` (by the mail server), `interrupted` (a crash), `no_reply` (the connection was lost after the mail was handed over). Of one that is tried again: `deferred` (by the mail server), `unavailable` (the mail server).',
      }),
    ),
    attempt_count: Type.Integer(),
    next_attempt_at: Nullable(Timestamp),
    sent_at: Nullable(Timestamp),
    created_at: Timestamp,
  }),
)
export type Recipient = Static<typeof Recipient>

/** A mailing that a worker has leased. */
export const DueMailing = Type.Object({
  state: Type.Enum([...MAILING_STATES]),
})
export type DueMailing = Static<typeof DueMailing>

/** A recipient whose mail is to be sent. */
export const QueuedRecipient = Type.Object({
  id: Id,
  email: Type.String(),
  attempt_count: Type.Integer(),
})
export type QueuedRecipient = Static<typeof QueuedRecipient>
