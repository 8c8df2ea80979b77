import { type Static, Type } from 'typebox'
import { Email, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const CONSENT_STATES = ['given', 'withdrawn'] as const
export type ConsentState = (typeof CONSENT_STATES)[number]

/** The ways to withdraw a consent, by the reader or by a record of others. */
export const WITHDRAWALS = ['link', 'one_click', 'merchant', 'complaint'] as const
export type Withdrawal = (typeof WITHDRAWALS)[number]

/** A text that readers agree to, as it was shown. */
export const ConsentText = Type.Object({
  sha256: Type.String(),
  version: Type.String(),
  locale: Type.String(),
  text: Type.String(),
})
export type ConsentText = Static<typeof ConsentText>

/** One decision of a reader. It never changes: a later decision is another one. */
export const Consent = Shared(
  'MarketingConsent',
  Type.Object({
    id: Id,
    email: Type.String(),
    channel: Type.Enum(['email']),
    state: Type.Enum([...CONSENT_STATES]),
    source: Type.Enum(['form', 'import', ...WITHDRAWALS], {
      description:
        '`form`: asked for in a storefront, and confirmed by a mailed link. `import`: the merchant vouches for it. `link`, `one_click`: by the page or the header of a mail. `merchant`: told to the merchant. `complaint`: a mail was reported as spam.',
    }),
    text: Nullable(
      Type.Object(ConsentText.properties, {
        description: 'What the reader agreed to. Null for withdrawals, and before it was recorded.',
      }),
    ),
    form: Nullable(Type.String({ description: 'Where they asked, as the storefront names it.' })),
    form_url: Nullable(Type.String()),
    requested_at: Nullable(Timestamp),
    requested_ip: Nullable(
      Type.String({ description: 'The network of the reader who asked: /24, or /48 of IPv6.' }),
    ),
    mail_id: Nullable(
      Type.String({ description: 'The mail whose link confirmed it; its message-id begins so.' }),
    ),
    ip: Nullable(Type.String({ description: 'The network of the reader who decided.' })),
    actor: Nullable(Type.String()),
    note: Nullable(Type.String()),
    created_at: Timestamp,
  }),
)
export type Consent = Static<typeof Consent>

export const WithdrawalRequest = Type.Object({
  email: Email,
  note: Type.Optional(
    Type.String({ maxLength: 500, description: 'How the merchant learned of it.' }),
  ),
})
export type WithdrawalRequest = Static<typeof WithdrawalRequest>

/** The most addresses of one import, so that the request ends within seconds. */
const IMPORT_MAX = 500

export const ConsentImport = Type.Object({
  consents: Type.Array(
    Type.Object({
      email: Email,
      given_at: Timestamp,
      text: Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: 'What the reader agreed to, word by word.',
      }),
      locale: Type.Optional(Type.String({ minLength: 2, maxLength: 35 })),
      form: Type.Optional(Type.String({ maxLength: 100 })),
      form_url: Type.Optional(Type.String({ maxLength: 2_000 })),
    }),
    { minItems: 1, maxItems: IMPORT_MAX },
  ),
})
export type ConsentImport = Static<typeof ConsentImport>

export const ImportResults = Type.Object({
  results: Type.Array(
    Type.Object({
      index: Type.Integer(),
      email: Type.String(),
      status: Type.Enum(['imported', 'already_given', 'withdrawn', 'repeated'], {
        description:
          '`withdrawn`: the reader has left, and only they can come back. `repeated`: the address stands before in this import.',
      }),
    }),
  ),
})
export type ImportResults = Static<typeof ImportResults>

export const OneWithdrawal = Type.Object({
  consent: Type.Object({ email: Type.String(), state: Type.Enum([...CONSENT_STATES]) }),
  recorded: Type.Boolean({ description: 'False: it had been withdrawn before.' }),
})
