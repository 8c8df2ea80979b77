import { type Static, Type } from 'typebox'
import { Currency, Line, Nullable, Pattern, Shared, Timestamp } from '../../kernel/schema.ts'
import { TIER_NAMES } from '../entitlements/schema.ts'

/** Plans: those that the operator offers, and the plan of a store. */

/** What usage is measured in. `media_bytes` is the mean of the days of a month. */
export const METERS = [
  'orders',
  'gross_volume',
  'webhook_deliveries',
  'media_bytes',
  'api_calls',
] as const
export type Meter = (typeof METERS)[number]

/** More than any store uses of anything in a month, and small enough that its price stays exact. */
const UNITS_MAX = 1_000_000_000_000_000

/** 10,000 of the usual currencies for one step. */
const PRICE_CENTS_MAX = 1_000_000

const Tier = Type.Object({
  up_to: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: UNITS_MAX,
      description: 'The last unit of the month that has this price. `null`, in the last tier: all.',
    }),
  ),
  price_cents: Type.Integer({ minimum: 0, maximum: PRICE_CENTS_MAX }),
  per: Type.Integer({
    minimum: 1,
    maximum: UNITS_MAX,
    description: 'How many units `price_cents` is the price of.',
  }),
})
export type Tier = Static<typeof Tier>

/** What one meter costs: the included units are free, and each further unit has the price of its tier. */
export const MeterPrice = Type.Object({
  included: Type.Integer({ minimum: 0, maximum: UNITS_MAX }),
  tiers: Type.Array(Tier, { minItems: 1, maxItems: 10 }),
})
export type MeterPrice = Static<typeof MeterPrice>

const Meters = Type.Object(
  {
    orders: Type.Optional(MeterPrice),
    gross_volume: Type.Optional(MeterPrice),
    webhook_deliveries: Type.Optional(MeterPrice),
    media_bytes: Type.Optional(MeterPrice),
    api_calls: Type.Optional(MeterPrice),
  },
  {
    description:
      'What is billed beside the base, by meter. One that is absent is never billed. ' +
      '`gross_volume` is counted in cents, `media_bytes` in bytes.',
  },
)

const PLAN_KEY = '^[a-z0-9_-]{1,40}$'

const PlanKey = Pattern(
  PLAN_KEY,
  'must be 1 to 40 lower-case letters, digits, hyphens or underscores',
)

/** Whether a text can name a plan at all, so that PostgreSQL is not queried with garbage. */
export const isPlanKey = (text: string): boolean => new RegExp(PLAN_KEY).test(text)

const terms = {
  name: Line(100),
  tier: Type.Enum([...TIER_NAMES], {
    description: 'The tier that a store has by this plan, and with it its add-ons.',
  }),
  currency: Currency,
  base_cents: Type.Integer({
    minimum: 0,
    maximum: 100_000_000_000,
    description: 'For a month.',
  }),
  meters: Meters,
}

const Features = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  maxItems: 20,
  description: 'What the plan includes, as a merchant reads it.',
})

export const Plan = Shared(
  'BillingPlan',
  Type.Object({
    plan_key: Type.String(),
    version: Type.Integer(),
    ...terms,
    features: Features,
    is_public: Type.Boolean({
      description: 'Whether every merchant may see it and ask what it would cost.',
    }),
    created_at: Timestamp,
  }),
)
export type Plan = Static<typeof Plan>

export const NewPlan = Type.Object({
  plan_key: PlanKey,
  ...terms,
  features: Type.Optional(Features),
  is_public: Type.Optional(Type.Boolean()),
})
export type NewPlan = Static<typeof NewPlan>

export const PlanChoice = Type.Object({
  plan_key: PlanKey,
  version: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Absent: the newest.' }),
  ),
})
export type PlanChoice = Static<typeof PlanChoice>

/** A row of `billing_store_plans` with the terms of its plan. */
export const StorePlanRow = Type.Object({ from_day: Type.String(), ...Plan.properties })

/** A plan, and the day from which a store has it. */
export interface StorePlan {
  from_day: string
  plan: Plan
}

/** When a store changed its plan. */
export const PlanChange = Type.Object({
  plan_key: Type.String(),
  version: Type.Integer(),
  from_day: Type.String({ format: 'date' }),
  set_at: Timestamp,
})
export type PlanChange = Static<typeof PlanChange>

const Reminder = Type.Object({
  days: Type.Integer({
    minimum: 0,
    maximum: 365,
    description: 'How many days after the invoice was due the mail is sent.',
  }),
  text: Type.String({ minLength: 1, maxLength: 2_000, description: 'What the mail says first.' }),
})
export type Reminder = Static<typeof Reminder>

const Prefix = Pattern('^[A-Z0-9-]{1,12}$', 'must be 1 to 12 capital letters, digits or hyphens')

const issuerTerms = {
  name: Line(200),
  lines: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 10,
    description: 'Address, register and tax number, as documents show them.',
  }),
  note: Nullable(
    Type.String({
      maxLength: 1_000,
      description: 'A text on every document, for example how to pay.',
    }),
  ),
  invoice_prefix: Prefix,
  credit_prefix: Prefix,
  payment_days: Type.Integer({ minimum: 0, maximum: 120 }),
  reminders: Type.Array(Reminder, {
    maxItems: 10,
    description: 'The mails about an unpaid invoice. They end when it is paid.',
  }),
}

/** Who sends the invoices. */
export const Issuer = Shared(
  'BillingIssuer',
  Type.Object({ id: Type.String(), ...issuerTerms, updated_at: Timestamp }),
)
export type Issuer = Static<typeof Issuer>

export const IssuerChange = Type.Object({
  name: issuerTerms.name,
  lines: issuerTerms.lines,
  note: Type.Optional(issuerTerms.note),
  invoice_prefix: Type.Optional(Prefix),
  credit_prefix: Type.Optional(Prefix),
  payment_days: Type.Optional(issuerTerms.payment_days),
  reminders: Type.Optional(issuerTerms.reminders),
})
export type IssuerChange = Static<typeof IssuerChange>

/** A row of `billing_accounts` without its lease: how far a store is metered and billed. */
export const Account = Type.Object({
  open_month: Type.String(),
  currency: Nullable(Type.String()),
  ledger_position: Type.Integer(),
  ledger_start: Type.Integer(),
  event_position: Type.Integer(),
  media_day: Nullable(Type.String()),
  counted_at: Nullable(Timestamp),
})
export type Account = Static<typeof Account>
