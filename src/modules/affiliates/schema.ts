import { type Static, Type } from 'typebox'
import {
  AMOUNT_CENTS_MAX,
  CustomerRef,
  Email,
  Id,
  Line,
  Nullable,
  Pattern,
  ref,
  Shared,
  Timestamp,
} from '../../kernel/schema.ts'

export const AFFILIATE_STATES = ['applied', 'invited', 'active', 'suspended', 'declined'] as const
export const AffiliateStatus = Type.Enum([...AFFILIATE_STATES])
export type AffiliateStatus = Static<typeof AffiliateStatus>

export const CommissionType = Type.Enum(['percent', 'fixed'])

/** A referral code as a checkout accepts it. A coupon may carry one. */
export const Code = Pattern(
  '^[A-Za-z0-9_-]{1,64}$',
  'must be 1 to 64 letters, digits, hyphens or underscores',
)

const Days = (minimum: number) => Type.Integer({ minimum, maximum: 365 })
const Cents = Type.Integer({ minimum: 0, maximum: AMOUNT_CENTS_MAX })

/** The terms as they are stored: `percent` has a rate, `fixed` an amount. */
const storedTerms = {
  commission_type: CommissionType,
  rate_bps: Nullable(Type.Integer({ description: 'Of `percent`: hundredths of a percent.' })),
  amount_cents: Nullable(
    Type.Integer({
      description: 'Of `fixed`: for each order, never more than its goods cost.',
    }),
  ),
  cookie_days: Type.Integer({
    description: 'The window: how long after a link was followed an order counts.',
  }),
  approval_delay_days: Type.Integer({
    description: 'How long a commission is pending, so that most refunds come before it is paid.',
  }),
  payout_minimum_cents: Type.Integer(),
}

export const Terms = Type.Object(storedTerms)
export type Terms = Static<typeof Terms>

const terms = {
  commission_type: Type.Optional(CommissionType),
  rate_bps: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 10_000 }))),
  amount_cents: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: AMOUNT_CENTS_MAX }))),
  cookie_days: Type.Optional(Days(1)),
  approval_delay_days: Type.Optional(Days(0)),
  payout_minimum_cents: Type.Optional(Cents),
}
export type TermsPatch = Partial<Terms>

export const Settings = Shared(
  'AffiliateSettings',
  Type.Object({
    applications_open: Type.Boolean({
      description: 'Whether shoppers can apply on the storefront, at `/affiliates`.',
    }),
    pays_renewals: Type.Boolean({
      description: 'Whether renewals of a subscription earn a commission, too.',
    }),
    ...storedTerms,
  }),
)
export type Settings = Static<typeof Settings>

export const SettingsPatch = Type.Object({
  applications_open: Type.Optional(Type.Boolean()),
  pays_renewals: Type.Optional(Type.Boolean()),
  ...terms,
})
export type SettingsPatch = Static<typeof SettingsPatch>

const AddressPart = Type.Optional(Nullable(Type.String({ maxLength: 200 })))

export const Address = Type.Object({
  line1: AddressPart,
  line2: AddressPart,
  city: AddressPart,
  state: AddressPart,
  postal_code: AddressPart,
  country: AddressPart,
})
export type Address = Static<typeof Address>

export const AffiliateCode = Type.Object({
  code: Type.String(),
  active: Type.Boolean(),
  clicks: Type.Integer({
    description: 'How often its link was followed. Clicks are counted without personal data.',
  }),
  created_at: Timestamp,
})
export type AffiliateCode = Static<typeof AffiliateCode>

export const Affiliate = Shared(
  'Affiliate',
  Type.Object({
    id: Id,
    name: Type.String(),
    email: Nullable(Type.String({ description: 'Null once the person is erased.' })),
    status: AffiliateStatus,
    referral_codes: Type.Array(AffiliateCode),
    ...storedTerms,
    customer_ref: Nullable(Type.String()),
    person_id: Nullable(Id),
    website: Nullable(Type.String()),
    message: Nullable(Type.String({ description: 'What the applicant wrote.' })),
    address: Nullable(Address),
    payout_account_end: Nullable(
      Type.String({ description: 'The last characters of the bank account. It is never shown.' }),
    ),
    decline_reason: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type Affiliate = Static<typeof Affiliate>

export const Balance = Type.Object({
  currency: Type.String(),
  pending_cents: Type.Integer({ description: 'Earned, and within the approval delay.' }),
  approved_cents: Type.Integer({
    description: 'What the next payout pays. Negative: it carries over, and nothing is paid.',
  }),
  in_payout_cents: Type.Integer({
    description: 'Commissions in payouts that are not marked as paid yet.',
  }),
  paid_cents: Type.Integer(),
})
export type Balance = Static<typeof Balance>

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const about = {
  customer_ref: Type.Optional(Nullable(CustomerRef)),
  person_id: Type.Optional(Nullable(Id)),
  website: Type.Optional(Nullable(text(2_000))),
  address: Type.Optional(Nullable(Address)),
  payout_account: Type.Optional(
    Nullable(
      Pattern('^[^\\p{C}]{4,200}$', 'must be 4 to 200 characters without control characters', {
        description: 'The bank account, such as an IBAN. It is encrypted, and only the CSV has it.',
      }),
    ),
  ),
}

export const NewAffiliate = Type.Object({
  name: Line(200),
  email: Email,
  status: Type.Optional(Type.Enum(['invited', 'active'])),
  code: Type.Optional(Code),
  ...about,
  ...terms,
})
export type NewAffiliate = Static<typeof NewAffiliate>

export const AffiliatePatch = Type.Object({
  name: Type.Optional(Line(200)),
  email: Type.Optional(Email),
  ...about,
  ...terms,
})
export type AffiliatePatch = Static<typeof AffiliatePatch>

export const NewCode = Type.Object({ code: Code })
export const CodePatch = Type.Object({ active: Type.Boolean() })

export const Decision = Type.Object({ reason: Type.Optional(Nullable(text(2_000))) })
export type Decision = Static<typeof Decision>

/** The id of a device, as any text: a text that is not such an id is ignored, like a text that is not a code. */
export const DeviceRef = Type.Optional(Nullable(Type.String({ maxLength: 200 })))

export const Application = Type.Object({
  name: Line(200),
  email: Email,
  website: Type.Optional(Nullable(text(2_000))),
  message: Type.Optional(Nullable(text(2_000))),
  address: Type.Optional(Nullable(Address)),
  ip: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
  device_ref: DeviceRef,
})
export type Application = Static<typeof Application>

/** The terms of the program, as applicants see them. */
export const Program = Type.Object({
  applications_open: Type.Boolean(),
  commission_type: CommissionType,
  rate_bps: Nullable(Type.Integer()),
  amount_cents: Nullable(Type.Integer()),
  currency: Type.String(),
  cookie_days: Type.Integer(),
})

export const NewTouch = Type.Object({ code: Type.String({ maxLength: 200 }) })

export const Touch = Type.Object({
  referral_code: Type.String({ description: 'Send it with the checkout.' }),
  referral_touch: Type.String({
    description: 'Proves when the link was followed. Send it with the checkout, too.',
  }),
  window_days: Type.Integer(),
  expires_at: Timestamp,
})
export type Touch = Static<typeof Touch>

/** A row with the columns that are not shown. */
export const AffiliateRow = Type.Object({
  ...Affiliate.properties,
  erased_at: Nullable(Timestamp),
})
export type AffiliateRow = Static<typeof AffiliateRow>

export const PageLink = Type.Object({
  url: Nullable(Type.String({ description: 'Null where the store has no host of its own yet.' })),
  token: Type.String(),
  expires_at: Timestamp,
})

export const OpenPage = Type.Object({
  token: Type.String({ maxLength: 500 }),
  device_ref: DeviceRef,
})

export const Erasure = Type.Object({
  confirm: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
})

export const ErasureAnswer = Type.Object({
  affiliate: ref(Affiliate),
  erased: Type.Boolean(),
  confirm: Nullable(
    Type.String({ description: 'Send it back within ten minutes to erase the person.' }),
  ),
})
