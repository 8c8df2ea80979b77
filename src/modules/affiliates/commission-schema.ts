import { type Static, Type } from 'typebox'
import { Currency, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'
import { Address, AffiliateStatus, Balance, CommissionType } from './schema.ts'

export const COMMISSION_STATES = ['pending', 'approved', 'paid', 'declined', 'reversed'] as const
export type CommissionStatus = (typeof COMMISSION_STATES)[number]

export const SOURCES = ['code', 'link', 'coupon', 'subscription', 'exchange'] as const
export type Source = (typeof SOURCES)[number]

/** The rule that chooses the affiliate of an order. Another rule gets another name: rows keep theirs. */
export const MODEL = 'last_touch.v1'

/** Why an order with the code of an affiliate earns nothing. */
export const REFUSALS = [
  'affiliate_not_active',
  'code_inactive',
  'window_expired',
  'self_person',
  'self_card',
  'self_address',
  'self_device',
  'commission_declined',
] as const
export type Refusal = (typeof REFUSALS)[number]

export const Attribution = Type.Object({
  code: Type.String(),
  source: Type.Enum([...SOURCES], { description: 'How the order named the affiliate.' }),
  touched_at: Timestamp,
  window_days: Type.Integer(),
  model: Type.String(),
})

export const Commission = Shared(
  'Commission',
  Type.Object({
    id: Id,
    affiliate_id: Id,
    order_id: Id,
    type: Type.Enum(['sale', 'renewal', 'clawback']),
    currency: Type.String(),
    base_cents: Type.Integer({
      description:
        'Goods without discount, tax, shipping and gift cards. Negative: they came back.',
    }),
    amount_cents: Type.Integer({
      description: 'What is owed. Of a declined commission: what would have been owed.',
    }),
    status: Type.Enum([...COMMISSION_STATES], {
      description: '`reversed`: all of it was clawed back before it was paid.',
    }),
    reason: Nullable(
      Type.String({ description: 'What a clawback follows from, or why it is declined.' }),
    ),
    cause_ref: Nullable(Type.String({ description: 'The id of the refund or the edit.' })),
    approves_at: Timestamp,
    payout_id: Nullable(Id),
    created_at: Timestamp,
    attribution: Attribution,
  }),
)
export type Commission = Static<typeof Commission>

export const Declined = Type.Object({
  reason: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200 }))),
})
export type Declined = Static<typeof Declined>

/** The attribution of an order: written once, with counters of what is left of the order's goods. */
export const AttributionRow = Type.Object({
  order_id: Id,
  affiliate_id: Id,
  refusal: Nullable(Type.String()),
  currency: Type.String(),
  commission_type: CommissionType,
  rate_bps: Nullable(Type.Integer()),
  amount_cents: Nullable(Type.Integer()),
  approval_delay_days: Type.Integer(),
  base_cents: Type.Integer(),
  left_cents: Type.Integer(),
  booked_cents: Type.Integer(),
  declined: Type.Boolean(),
})
export type AttributionRow = Static<typeof AttributionRow>

/** A commission that counts for its order, and may be in a payout. */
export const CountingCommission = Type.Object({
  id: Id,
  status: Type.Enum(['pending', 'approved', 'paid']),
  amount_cents: Type.Integer(),
  payout_id: Nullable(Id),
})
export type CountingCommission = Static<typeof CountingCommission>

/** The order whose goods an exchange replaces, and the refund that pays for it. */
export interface ExchangedGoods {
  order_id: string
  refund_id: string
}

/** The terms of that order, and what its affiliate has lost by the refund. */
export const ExchangedTerms = Type.Object({
  commission_type: CommissionType,
  rate_bps: Nullable(Type.Integer()),
  declined: Type.Boolean(),
  lost_cents: Type.Integer(),
})

/** The affiliate behind a code, as a checkout finds it. */
export const Referred = Type.Object({
  affiliate_id: Id,
  code: Type.String(),
  code_active: Type.Boolean(),
  status: AffiliateStatus,
  email_folded: Nullable(Type.String()),
  customer_ref: Nullable(Type.String()),
  person_id: Nullable(Id),
  address: Nullable(Address),
  commission_type: CommissionType,
  rate_bps: Nullable(Type.Integer()),
  amount_cents: Nullable(Type.Integer()),
  cookie_days: Type.Integer(),
  approval_delay_days: Type.Integer(),
  pays_renewals: Type.Boolean(),
  is_device: Type.Boolean(),
})
export type Referred = Static<typeof Referred>

export const PAYOUT_STATES = ['pending', 'paid', 'cancelled'] as const
export type PayoutStatus = (typeof PAYOUT_STATES)[number]

export const Payout = Shared(
  'AffiliatePayout',
  Type.Object({
    id: Id,
    affiliate_id: Id,
    currency: Type.String(),
    amount_cents: Type.Integer(),
    status: Type.Enum([...PAYOUT_STATES]),
    reference: Type.String({ description: 'For the bank: short, and of this payout alone.' }),
    created_by: Type.String(),
    created_at: Timestamp,
    paid_at: Nullable(Timestamp),
    cancelled_at: Nullable(Timestamp),
  }),
)
export type Payout = Static<typeof Payout>

/** Payouts that one transaction makes at most. A store with more sends another request. */
export const PAYOUTS_MAX = 100

export const NewPayouts = Type.Object({
  affiliate_ids: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: PAYOUTS_MAX,
      uniqueItems: true,
      description: 'The affiliates to pay. Left out: every active affiliate whose balance is due.',
    }),
  ),
  currency: Type.Optional(Currency),
})
export type NewPayouts = Static<typeof NewPayouts>

export const SKIPS = ['below_minimum', 'negative_balance', 'nothing_due'] as const

export const PayoutsMade = Type.Object({
  payouts: Type.Array(Payout),
  skipped: Type.Array(
    Type.Object({
      affiliate_id: Id,
      currency: Type.String(),
      approved_cents: Type.Integer(),
      reason: Type.Enum([...SKIPS]),
    }),
    { description: 'The named affiliates that are not paid, and why.' },
  ),
  has_more: Type.Boolean({
    description: 'More affiliates are due. Send the request again, with another key.',
  }),
})

/** A page of an affiliate: what they may see, without anything of a shopper. */
export const AffiliatePage = Type.Object({
  name: Type.String(),
  status: AffiliateStatus,
  codes: Type.Array(
    Type.Object({ code: Type.String(), active: Type.Boolean(), clicks: Type.Integer() }),
  ),
  commission_type: CommissionType,
  rate_bps: Nullable(Type.Integer()),
  amount_cents: Nullable(Type.Integer()),
  currency: Type.String(),
  balances: Type.Array(Balance),
  commissions: Type.Array(
    Type.Object({
      type: Commission.properties.type,
      status: Commission.properties.status,
      currency: Type.String(),
      amount_cents: Type.Integer(),
      approves_at: Timestamp,
      created_at: Timestamp,
    }),
    { description: 'The newest 50.' },
  ),
  payouts: Type.Array(
    Type.Object({
      currency: Type.String(),
      amount_cents: Type.Integer(),
      status: Payout.properties.status,
      reference: Type.String(),
      created_at: Timestamp,
      paid_at: Nullable(Timestamp),
    }),
    { description: 'The newest 50.' },
  ),
})
export type AffiliatePage = Static<typeof AffiliatePage>
