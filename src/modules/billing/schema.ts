import { type Static, Type } from 'typebox'
import {
  Amount,
  Cents,
  Id,
  Nullable,
  Pattern,
  ref,
  Shared,
  Timestamp,
} from '../../kernel/schema.ts'
import { METERS, type Meter, MeterPrice, Plan, PlanChange } from './plan-schema.ts'

/** Invoices with their records, and what a merchant reads of usage and costs. */

/** A month of UTC by its first day: `2026-11-01`. Months compare as texts. */
export type Month = string

export const INVOICE_STATUSES = ['draft', 'open', 'paid', 'void'] as const
export const InvoiceStatus = Type.Enum([...INVOICE_STATUSES], {
  description:
    '`draft`: the month is not closed, and everything may change. `open`: issued and final, and ' +
    'something is owed. `paid`: nothing is owed. `void`: credited as a whole, and never paid.',
})
export type InvoiceStatus = Static<typeof InvoiceStatus>

const Period = Type.String({ description: 'A month of UTC, as YYYY-MM.' })
const Day = Type.String({ format: 'date' })

/** One side of a document, as it was when it was issued. */
export const Party = Type.Object({ name: Type.String(), lines: Type.Array(Type.String()) })
export type Party = Static<typeof Party>

export const IssuerParty = Type.Object({
  ...Party.properties,
  note: Nullable(Type.String()),
})
export type IssuerParty = Static<typeof IssuerParty>

const summary = {
  id: Id,
  number: Nullable(Type.String({ description: '`null` until it is issued.' })),
  status: InvoiceStatus,
  period: Period,
  currency: Type.String(),
  total_cents: Cents,
  paid_cents: Cents,
  credited_cents: Cents,
  balance_cents: Type.Integer({
    description: 'What is owed. Negative: what the operator owes the store after a credit note.',
  }),
  issued_at: Nullable(Timestamp),
  due_at: Nullable(Timestamp),
  created_at: Timestamp,
  pdf_url: Type.String(),
}

export const InvoiceSummary = Shared('BillingInvoiceSummary', Type.Object(summary))
export type InvoiceSummary = Static<typeof InvoiceSummary>

export const StoreInvoice = Type.Object({ tenant_ref: Type.String(), ...summary })

export const InvoiceLine = Type.Object({
  id: Id,
  kind: Type.Enum(['plan', 'usage', 'charge']),
  description: Type.String(),
  amount_cents: Cents,
  plan_key: Nullable(Type.String()),
  plan_version: Nullable(Type.Integer()),
  from_day: Nullable(Day),
  to_day: Nullable(Day),
  meter: Nullable(Type.Enum([...METERS])),
  quantity: Nullable(Type.Integer()),
  price: Nullable(MeterPrice),
  from_position: Nullable(
    Type.Integer({
      description:
        'The first fact that is counted in it: of orders and gross volume the number of a journal, ' +
        'of deliveries that of an event, otherwise a day as 20261231.',
    }),
  ),
  to_position: Nullable(Type.Integer({ description: 'The last fact that is counted in it.' })),
  created_at: Timestamp,
})
export type InvoiceLine = Static<typeof InvoiceLine>

/** A line before it is stored. */
export interface PricedLine {
  kind: 'plan' | 'usage'
  description: string
  amount_cents: number
  plan_key: string
  plan_version: number
  from_day: string | null
  to_day: string | null
  meter: Meter | null
  quantity: number | null
  price: MeterPrice | null
  from_position: number | null
  to_position: number | null
}

export const CreditNote = Type.Object({
  id: Id,
  number: Type.String(),
  amount_cents: Cents,
  reason: Type.String(),
  created_at: Timestamp,
  pdf_url: Type.String(),
})
export type CreditNote = Static<typeof CreditNote>

export const Payment = Type.Object({
  id: Id,
  kind: Type.Enum(['payment', 'payout']),
  amount_cents: Cents,
  paid_on: Day,
  reference: Nullable(Type.String()),
  created_at: Timestamp,
})
export type Payment = Static<typeof Payment>

const SentReminder = Type.Object({
  step: Type.Integer(),
  recipient: Nullable(Type.String({ description: '`null`: the store has no valid address.' })),
  created_at: Timestamp,
})

export const Invoice = Shared(
  'BillingInvoice',
  Type.Object({
    ...summary,
    issuer: Nullable(IssuerParty),
    recipient: Nullable(Party),
    lines: Type.Array(InvoiceLine),
    credit_notes: Type.Array(CreditNote),
    payments: Type.Array(Payment),
    reminders: Type.Array(SentReminder),
  }),
)
export type Invoice = Static<typeof Invoice>

/** A row of `billing_invoices`, with what its PDF and its mails say. */
export const InvoiceRow = Type.Object({
  ...summary,
  month: Type.String(),
  issuer_id: Nullable(Type.String()),
  issuer: Nullable(IssuerParty),
  recipient: Nullable(Party),
  reminders_sent: Type.Integer(),
})
export type InvoiceRow = Static<typeof InvoiceRow>

/** A number that was taken for an invoice or a credit note, and who issues it. */
export const TakenNumber = Type.Object({
  issuer_id: Type.String(),
  sequence: Type.Integer(),
  number: Type.String(),
  issuer: IssuerParty,
  payment_days: Type.Integer(),
  first_reminder_days: Nullable(Type.Integer()),
})
export type TakenNumber = Static<typeof TakenNumber>

/** A credit note with the invoice that it corrects, for its PDF. */
export const CreditNoteRow = Type.Object({
  ...CreditNote.properties,
  issuer: IssuerParty,
  recipient: Party,
  currency: Type.String(),
  invoice_number: Type.String(),
  invoice_issued_at: Timestamp,
})
export type CreditNoteRow = Static<typeof CreditNoteRow>

export const NewCharge = Type.Object({
  description: Pattern('^[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}$', 'must be 1 to 200 characters'),
  amount_cents: Amount,
})
export type NewCharge = Static<typeof NewCharge>

export const Charge = Type.Object({
  id: Id,
  invoice_id: Id,
  period: Period,
  description: Type.String(),
  amount_cents: Cents,
  currency: Type.String(),
  created_at: Timestamp,
})
export type Charge = Static<typeof Charge>

export const NewPayment = Type.Object({
  amount_cents: Amount,
  kind: Type.Optional(
    Type.Enum(['payment', 'payout'], {
      description:
        '`payment` (default): the store has paid. `payout`: the operator has paid back what it owed.',
    }),
  ),
  paid_on: Type.Optional(
    Pattern('^2\\d{3}-\\d\\d-\\d\\d$', 'must be a day, such as 2026-12-31', {
      description: 'Absent: today, in UTC.',
    }),
  ),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
})
export type NewPayment = Static<typeof NewPayment>

export const NewCreditNote = Type.Object({
  amount_cents: Type.Optional(Amount),
  reason: Pattern('^[^\\u0000-\\u001f\\u007f-\\u009f]{1,500}$', 'must be 1 to 500 characters'),
})
export type NewCreditNote = Static<typeof NewCreditNote>

/** What a store has used in a month. */
export const Usage = Shared(
  'BillingUsage',
  Type.Object({
    period: Period,
    is_final: Type.Boolean({ description: 'Whether the month is closed: it never changes again.' }),
    as_of: Nullable(
      Type.String({ format: 'date-time', description: 'Until when everything is counted.' }),
    ),
    orders: Type.Integer({ description: 'Captured orders, without test orders.' }),
    gmv_cents: Type.Integer({
      description:
        'Gross volume: what orders brought in for goods and shipping, after discounts and without ' +
        'tax, less what was refunded in this month.',
    }),
    currency: Type.String({ description: 'The currency of `gmv_cents`.' }),
    webhook_deliveries: Type.Integer(),
    storage_bytes: Type.Integer({
      description: 'The mean over the days of the month; days to come have none.',
    }),
    api_calls: Type.Integer(),
    api_calls_by_key: Type.Array(
      Type.Object({
        credential_id: Id,
        label: Nullable(Type.String()),
        calls: Type.Integer(),
      }),
      { description: 'The 100 keys with the most calls.' },
    ),
    counted: Type.Array(
      Type.Object({
        meter: Type.Enum([...METERS]),
        from_position: Type.Integer(),
        to_position: Type.Integer(),
      }),
      { description: 'The facts behind each number, as in the lines of an invoice.' },
    ),
  }),
)
export type Usage = Static<typeof Usage>

/** A row of `billing_usage`, all keys together. */
export const UsageRow = Type.Object({
  meter: Type.String(),
  currency: Type.String(),
  quantity: Type.Integer(),
  from_position: Type.Integer(),
  to_position: Type.Integer(),
})
export type UsageRow = Static<typeof UsageRow>

const QuotedLine = Type.Omit(InvoiceLine, ['id', 'created_at', 'from_position', 'to_position'])

const Quote = Type.Object({
  plan_key: Type.String(),
  version: Type.Integer(),
  currency: Type.String(),
  lines: Type.Array(QuotedLine),
  total_cents: Cents,
})
export type Quote = Static<typeof Quote>

/** What the running month would cost. */
export const Preview = Shared(
  'BillingPreview',
  Type.Object({
    period: Period,
    as_of: Nullable(Timestamp),
    projected_usage: Type.Object({
      orders: Type.Integer(),
      gross_volume: Type.Integer(),
      webhook_deliveries: Type.Integer(),
      media_bytes: Type.Integer(),
      api_calls: Type.Integer(),
    }),
    to_date_cents: Type.Integer({
      description: 'The total if the store used nothing more until the end of the month.',
    }),
    current: Quote,
    other: Nullable(Quote),
    difference_cents: Nullable(
      Type.Integer({ description: 'How much more the other plan would cost than this one.' }),
    ),
  }),
)
export type Preview = Static<typeof Preview>

/** The plan of a store, as its merchant sees it. */
export const MyPlan = Shared(
  'MyBillingPlan',
  Type.Object({
    tier: Type.String(),
    status: Type.Enum(['active', 'sandbox'], {
      description: '`sandbox`: the store is a sandbox, and is never billed.',
    }),
    period_start: Day,
    period_end: Day,
    plan: ref(Plan),
    since: Nullable(Day),
    history: Type.Array(PlanChange, { description: 'The newest 50 changes, newest first.' }),
    features: Type.Array(
      Type.Object({
        feature_key: Type.String(),
        price_cents_monthly: Nullable(Type.Integer()),
        billed: Type.Literal(false),
      }),
      { description: 'The add-ons that are on. They are never billed.' },
    ),
  }),
)
export type MyPlan = Static<typeof MyPlan>
