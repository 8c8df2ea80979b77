import { type Static, Type } from 'typebox'
import { Email, Id, Nullable, ref, Shared, Timestamp } from '../../kernel/schema.ts'

/** Every kind of mail that a shopper gets, in the order in which an order and a subscription cause them. */
export const MAIL_KINDS = [
  'order_placed',
  'order_held',
  'order_shipped',
  'order_delivered',
  'order_refunded',
  'order_cancelled',
  'order_edited',
  'gift_card',
  'return_approved',
  'return_received',
  'payment_request',
  'subscription_upcoming',
  'subscription_price_changed',
  'subscription_payment_failed',
  'subscription_last_attempt',
  'subscription_recovered',
  'subscription_paused',
  'subscription_cancelled',
  'subscription_card_expiring',
] as const
export const MailKind = Type.Enum(MAIL_KINDS)
export type MailKind = (typeof MAIL_KINDS)[number]

/** Whether a mail is written from an order: all kinds are, except those of gift cards and subscriptions. */
export const isAboutOrder = (kind: MailKind): boolean =>
  kind !== 'gift_card' && !isAboutSubscription(kind)

export const isAboutSubscription = (kind: MailKind): boolean => kind.startsWith('subscription_')

export const MAIL_STATES = ['queued', 'sent', 'skipped', 'dead', 'erased'] as const
export const MailState = Type.Enum(MAIL_STATES, {
  description:
    '`dead`: the mail server refused every attempt. `erased`: the customer was erased before it was sent.',
})
export type MailState = (typeof MAIL_STATES)[number]

/** The languages in which there are texts: those of the storefront. */
export const MAIL_LANGUAGES = ['en', 'de', 'es', 'fr'] as const
export type MailLanguage = (typeof MAIL_LANGUAGES)[number]

/** Why a mail was not sent. */
export const MAIL_REASONS = [
  'opted_out',
  'no_address',
  'recalled',
  'too_old',
  'no_code',
  'sandbox',
  'refused',
  'interrupted',
] as const
export type MailReason = (typeof MAIL_REASONS)[number]

const fields = {
  id: Id,
  kind: MailKind,
  about_id: Type.Unsafe<string>({
    ...Id,
    description:
      'The parcel, refund, gift card, return or order that the mail is about, or the event of a hold, an edit or a subscription. One mail of a kind is sent about each.',
  }),
  order_id: Nullable(Id),
  recipient: Nullable(
    Type.String({
      description: 'The address. Null before the first attempt to send, and once it is erased.',
    }),
  ),
  language: Nullable(Type.String()),
  state: MailState,
  reason: Nullable(
    Type.Enum([...MAIL_REASONS], { description: 'Why the mail was skipped or is dead.' }),
  ),
  attempt_count: Type.Integer(),
  resend_count: Type.Integer({ description: 'How often the merchant had it sent again.' }),
  next_attempt_at: Nullable(Timestamp),
  created_at: Timestamp,
  sent_at: Nullable(Timestamp),
}

/** A mail as its merchant sees it. */
export const ShopperMail = Shared('ShopperMail', Type.Object(fields))
export type ShopperMail = Static<typeof ShopperMail>

/** A mail as the operator sees it: without its text, and with most of its address left out. */
export const OperatorMail = Shared(
  'OperatorMail',
  Type.Object({
    tenant_ref: Type.String(),
    ...fields,
    recipient: Nullable(Type.String({ examples: ['a***@example.com'] })),
    last_error: Nullable(Type.String({ description: 'What the mail server answered.' })),
  }),
)
export type OperatorMail = Static<typeof OperatorMail>

/** Facts of the event that has caused a mail, as `causes.ts` writes them. Which there are depends on the kind. */
const MailDetails = Type.Object({
  refunded_cents: Type.Optional(Type.Integer()),
  total_before_cents: Type.Optional(Type.Integer()),
  delta_cents: Type.Optional(Type.Integer()),
  return_id: Type.Optional(Nullable(Id)),
  lines: Type.Optional(
    Type.Array(
      Type.Object({
        order_item_id: Nullable(Id),
        quantity: Type.Integer(),
        received_quantity: Type.Integer(),
      }),
    ),
  ),
  subscription_id: Type.Optional(Nullable(Id)),
  at: Type.Optional(Nullable(Timestamp)),
  total_cents: Type.Optional(Nullable(Type.Integer())),
})
export type MailDetails = Static<typeof MailDetails>

/** A mail that a worker has claimed. */
export const DueMail = Type.Object({
  kind: MailKind,
  about_id: Id,
  order_id: Nullable(Id),
  details: Nullable(MailDetails),
  attempt_count: Type.Integer(),
  resend_count: Type.Integer(),
  sending_at: Nullable(Timestamp),
  interrupted: Type.Boolean(),
  resend_to: Nullable(Type.String()),
  queued_at: Timestamp,
})
export type DueMail = Static<typeof DueMail>

/** The thing that a mail is about, whether the mail is queued or a preview. */
export type MailSubject = Pick<DueMail, 'kind' | 'about_id' | 'order_id' | 'details'>

export const Resend = Type.Object(
  {
    to: Type.Optional(
      Nullable(
        Type.Unsafe<string>({
          ...Email,
          description:
            'Another address, for this time only. Left out: the address of the order as it is now.',
        }),
      ),
    ),
  },
  // With a misspelt `to`, the mail would go to the address that it must not go to.
  { additionalProperties: false },
)

/** A mail to be queued. */
export interface NewMail {
  kind: MailKind
  about_id: string
  order_id: string | null
  customer_ref: string | null
  details: MailDetails | null
  /** When it is sent; null for now. */
  send_at: string | null
}

export const MailSetting = Type.Object({ kind: MailKind, enabled: Type.Boolean() })

export const MailSettings = Type.Object({
  mails: Type.Array(MailSetting, { description: 'Every kind of mail, and whether it is sent.' }),
})
export type MailSettings = Static<typeof MailSettings>

export const MailSettingsChange = Type.Object({
  mails: Type.Array(MailSetting, {
    minItems: 1,
    maxItems: MAIL_KINDS.length,
    description: 'Kinds that are left out stay as they are.',
  }),
})
export type MailSettingsChange = Static<typeof MailSettingsChange>

export const MailPreview = Type.Object({
  kind: MailKind,
  language: Type.Enum(MAIL_LANGUAGES),
  subject: Type.String(),
  html: Type.String({
    description: 'A whole HTML document. Show it in a sandboxed frame.',
  }),
  text: Type.String(),
})
export type MailPreview = Static<typeof MailPreview>

/** A mail as it was sent, without what acts for its reader. */
export const MailCopy = Type.Omit(MailPreview, ['kind'])
export type MailCopy = Static<typeof MailCopy>

/** A mail as its shopper read it. */
export const MailContent = Type.Object({
  mail: ref(ShopperMail),
  content: Type.Unsafe<MailPreview | null>({
    ...Nullable(MailPreview),
    description:
      'The mail, in the language that it was sent in. Null where it can no longer be shown, as after an erasure. No link in it acts for the shopper, and the code of a gift card is masked.',
  }),
  as_sent: Type.Boolean({
    description:
      'True: the mail as it was last sent. False: it was not sent yet, or is that of a gift card, so that it is written anew from what it is about as that is now.',
  }),
})
