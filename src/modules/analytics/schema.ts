import { type Static, type TSchema, Type } from 'typebox'
import { Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'
import {
  type Count,
  describe,
  FIGURE_NAMES,
  type Figure,
  MEASURES,
  type Measure,
  type Measures,
  type Quotient,
} from './definition-schema.ts'

/** The shapes of the answers, made from the definitions. */

const Integer = Type.Integer()
const NullableInteger = Nullable(Type.Integer())

/** Fields with the descriptions of their definitions. */
const fieldsOf = <K extends Figure | Quotient | Count, T extends TSchema>(
  names: readonly K[],
  shape: T,
) =>
  Object.fromEntries(
    names.map((name) => [name, { ...shape, description: describe(name) }]),
  ) as unknown as Record<K, T>

const figureFields = fieldsOf(FIGURE_NAMES, Integer)

export const countFields = <K extends Count>(...names: K[]) => fieldsOf(names, Integer)
export const quotientFields = <K extends Quotient>(...names: K[]) =>
  fieldsOf(names, NullableInteger)

export const Day = Type.String({ format: 'date' })

export const Drilldown = Type.Object({
  href: Type.String({
    description: 'Lists the rows whose `amount_cents` add up to the figure.',
  }),
})

const BucketDrilldown = Type.Object({
  href: Type.String({
    description:
      'Lists the rows behind the figures. Add `&figure=` and the name of a figure; without it they are those of `net_cents`.',
  }),
})

/** The address of the rows behind counts that are not figures of sales; the query member `member` chooses which. */
const countDrilldown = (member: string, otherwise: string) =>
  Type.Object({
    href: Type.String({
      description: `Lists the rows behind the counts. Add \`&${member}=\` and the name of one; without it they are those of \`${otherwise}\`.`,
    }),
  })

/** One figure with its rows. */
export const FigureValue = Type.Object({
  value: Integer,
  previous: Type.Optional(Type.Integer({ description: 'Of the period before.' })),
  drilldown: Drilldown,
})

/** The head of every answer. */
export const headFields = {
  from: Day,
  to: Type.String({ format: 'date', description: 'The last day, which is included.' }),
  timezone: Type.String({ description: 'Days begin at midnight of this zone.' }),
  currency: Type.String(),
  definition_version: Type.Integer({ description: 'Raised when a figure changes its meaning.' }),
  as_of: Nullable(
    Type.String({
      format: 'date-time',
      description: 'The ledger is counted up to this time. Null: nothing is counted yet.',
    }),
  ),
  final_until: Nullable(
    Type.String({
      format: 'date',
      description:
        'The last day whose figures do not change any more, unless the operator flags an order as a test. Null: nothing is counted yet, or `calendar` is `cohort`, where a later refund still changes the day of its sale. It says nothing of figures of the present moment, such as stock on hand and running subscriptions.',
    }),
  ),
}

export const Calendar = Type.Enum(['booked', 'cohort'], {
  default: 'booked',
  description:
    '`booked`: refunds count on the day of the refund. `cohort`: on the day of the refunded sale.',
})
export type Calendar = Static<typeof Calendar>

/** The head of answers that are made from the ledger. */
const ledgerFields = {
  ...headFields,
  calendar: Calendar,
  sealed_to: Type.Integer({ description: 'The number of the last journal that is counted.' }),
  restated_from: Nullable(
    Type.String({
      format: 'date',
      description:
        'The first day of the period whose figures changed after the day was over. Null: none did.',
    }),
  ),
  restated_at: Nullable(
    Type.String({ format: 'date-time', description: 'When that happened last.' }),
  ),
}

export const INTERVALS = ['day', 'week', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

export const Bucket = Shared(
  'AnalyticsBucket',
  Type.Object({ from: Day, to: Day, ...figureFields, drilldown: BucketDrilldown }),
)

const figureValues = Type.Object(
  Object.fromEntries(FIGURE_NAMES.map((name) => [name, FigureValue])) as Record<
    Figure,
    typeof FigureValue
  >,
  { description: 'Each figure again, with the rows that it is the sum of.' },
)

/** The fields of a report over a period: figures, their rows, and the same by interval. */
export const reportFields = {
  ...ledgerFields,
  interval: Type.Enum([...INTERVALS]),
  ...figureFields,
  ...quotientFields('average_order_cents'),
  figures: figureValues,
  previous: Type.Optional(
    Type.Object(
      { from: Day, to: Day, ...figureFields },
      { description: 'The period of the same length before, if `compare=previous`.' },
    ),
  ),
  buckets: Type.Array(Type.Unsafe<Static<typeof Bucket>>({ $ref: 'AnalyticsBucket#' })),
}

export const Summary = Type.Object(reportFields)

export const GROUPINGS = [
  'product',
  'variant',
  'collection',
  'coupon',
  'affiliate',
  'source',
] as const
export type Grouping = (typeof GROUPINGS)[number]

export const Group = Type.Object({
  key: Type.String({
    description:
      'Names the group. Empty: the group of what belongs to no other, such as orders without a coupon.',
  }),
  label: Nullable(Type.String({ description: 'A name or SKU. Null: it is no longer known.' })),
  ...figureFields,
  drilldown: BucketDrilldown,
})
export type Group = Static<typeof Group>

const groupedFields = {
  groups: Type.Array(Group),
  rest: Type.Object(figureFields, {
    description:
      'What is in none of the shown groups: those beyond the last shown, or all but the one that `key` names. Groups and rest add up to the figures, except for collections, which share products. It has no rows of its own: it is the figures less the groups, which have.',
  }),
}

export const Sales = Type.Object({
  ...reportFields,
  group_by: Type.Optional(Type.Enum([...GROUPINGS])),
  groups: Type.Optional(groupedFields.groups),
  rest: Type.Optional(groupedFields.rest),
})

export const TaxReport = Type.Object({
  ...ledgerFields,
  ...figureFields,
  figures: figureValues,
  ...groupedFields,
})

const Cohort = Type.Object({
  month: Type.String({ description: 'When its customers ordered for the first time: YYYY-MM.' }),
  ...figureFields,
  ...quotientFields('repeat_rate_bps', 'lifetime_value_cents'),
  months: Type.Array(
    Type.Object({
      month: Type.String(),
      ...fieldsOf(['active_customers_count', 'orders_count', 'net_cents'] as const, Integer),
      drilldown: BucketDrilldown,
    }),
  ),
  drilldown: BucketDrilldown,
})

export const CustomerReport = Type.Object({
  ...ledgerFields,
  ...figureFields,
  ...quotientFields('repeat_rate_bps', 'lifetime_value_cents'),
  figures: figureValues,
  new: Type.Object({ ...figureFields, drilldown: BucketDrilldown }),
  returning: Type.Object({ ...figureFields, drilldown: BucketDrilldown }),
  cohorts: Type.Array(Cohort),
})

/** A row behind a figure. */
export const Row = Type.Object({
  order_id: Id,
  order_number: Type.Integer(),
  kind: Type.String({ description: 'What happened: the kind of the journal.' }),
  journal: Type.Integer({ description: 'The number of the journal in the chain of the ledger.' }),
  at: Timestamp,
  day: Day,
  amount_cents: Type.Integer({
    description:
      'What the row adds to the figure. Cents where the name of the figure ends in `_cents`. Not money where it ends in `_count`: orders, units or customers.',
  }),
})
export type Row = Static<typeof Row>

export const RowPage = Type.Object({
  figure: Type.Enum([...FIGURE_NAMES]),
  rows: Type.Array(Row),
  next_after: Type.Optional(
    Type.String({ description: 'The `after` of the next page. Absent on the last page.' }),
  ),
})

const CountFigure = Type.Object({ value: Integer, drilldown: Drilldown })

/** The members of some counts, each with the address of its rows. */
const countFigures = <K extends Count>(...names: K[]) =>
  Type.Object(
    Object.fromEntries(names.map((name) => [name, CountFigure])) as Record<K, typeof CountFigure>,
  )

export const OUTCOMES = ['approved', 'declined', 'failed', 'open'] as const
/** A recovered attempt is an approved one, too. */
export const COUNTED_OUTCOMES = [...OUTCOMES, 'recovered'] as const
export type Outcome = (typeof COUNTED_OUTCOMES)[number]

export const PAYMENT_COUNTS = [
  'attempts_count',
  'approved_count',
  'declined_count',
  'failed_count',
  'open_count',
] as const satisfies readonly Count[]

export const PaymentReport = Type.Object({
  ...headFields,
  ...countFields(...PAYMENT_COUNTS),
  ...quotientFields('approval_rate_bps'),
  figures: countFigures(...PAYMENT_COUNTS),
  reasons: Type.Array(
    Type.Object({
      outcome: Type.Enum([...OUTCOMES]),
      reason: Type.String({
        description: 'Why it was declined or failed. Empty: approved or open.',
      }),
      attempts_count: Integer,
      amount_cents: Integer,
      drilldown: Drilldown,
    }),
  ),
  buckets: Type.Array(
    Type.Object({
      day: Day,
      ...countFields(...PAYMENT_COUNTS),
      ...quotientFields('approval_rate_bps'),
      drilldown: countDrilldown('outcome', 'attempts_count'),
    }),
  ),
})

export const AttemptRow = Type.Object({
  attempt_id: Id,
  order_id: Id,
  kind: Type.String(),
  outcome: Type.Enum([...COUNTED_OUTCOMES]),
  reason: Type.String(),
  charged_cents: Type.Integer(),
  at: Timestamp,
  amount_cents: Type.Integer({
    description:
      'Not money: always 1, as the row adds one to the count. The money is `charged_cents`.',
  }),
})

export const SUBSCRIPTION_COUNTS = [
  'active_count',
  'past_due_count',
  'mrr_cents',
  'started_count',
  'churned_count',
  'recovered_count',
] as const satisfies readonly Count[]
export type SubscriptionCount = (typeof SUBSCRIPTION_COUNTS)[number]

export const SubscriptionReport = Type.Object({
  ...headFields,
  ...countFields(...SUBSCRIPTION_COUNTS),
  ...quotientFields('churn_bps'),
  figures: countFigures(...SUBSCRIPTION_COUNTS),
})

export const SubscriptionRow = Type.Object({
  id: Id,
  status: Type.String(),
  at: Timestamp,
  amount_cents: Type.Integer({
    description:
      'What the row adds to the figure. Of `mrr_cents`: cents a month. Of any other figure: not money but 1, one subscription.',
  }),
})

export const FUNNEL_TYPES = ['view', 'search', 'add_to_cart', 'begin_checkout'] as const
export type FunnelType = (typeof FUNNEL_TYPES)[number]
const FUNNEL_COUNTS = [...FUNNEL_TYPES, 'paid'] as const

export const FunnelReport = Type.Object({
  ...headFields,
  ...countFields(...FUNNEL_COUNTS),
  figures: countFigures(...FUNNEL_COUNTS),
  buckets: Type.Array(
    Type.Object({
      day: Day,
      ...countFields(...FUNNEL_COUNTS),
      drilldown: Type.Object({
        ...countDrilldown('type', 'view').properties,
        paid_href: Type.String({ description: 'Lists the orders behind `paid`.' }),
      }),
    }),
  ),
})

export const FunnelRow = Type.Object({
  day: Day,
  type: Type.Enum([...FUNNEL_TYPES]),
  product_id: Nullable(Id),
  amount_cents: Type.Integer({
    description: 'Not money: how often it happened on this day.',
  }),
})

/**
 * Events of one call at most: more than a page of a storefront causes. A storefront may send the events of a
 * minute together.
 */
export const FUNNEL_EVENTS_MAX = 100

export const FunnelEvents = Type.Object({
  events: Type.Array(
    Type.Object({ type: Type.Enum([...FUNNEL_TYPES]), product_id: Type.Optional(Id) }),
    { minItems: 1, maxItems: FUNNEL_EVENTS_MAX },
  ),
})
export type FunnelEvents = Static<typeof FunnelEvents>

export const StockRow = Type.Object({
  variant_id: Id,
  sku: Type.String(),
  product_id: Id,
  on_hand: Type.Integer({ description: 'At all locations, now.' }),
  units_count: { ...Integer, description: describe('units_count') } as typeof Integer,
  net_cents: { ...Integer, description: describe('net_cents') } as typeof Integer,
  unit_cost_cents: Nullable(
    Type.Integer({ description: 'The moving average of today, rounded. Null: unknown.' }),
  ),
  cost_cents: Nullable(
    Type.Integer({
      description:
        'What the units sold cost, at the moving average of today: a product, which has no rows of its own.',
    }),
  ),
  ...quotientFields('sell_through_bps', 'days_of_cover', 'margin_bps'),
  drilldown: Type.Object({
    ...BucketDrilldown.properties,
    levels_href: Type.String({
      description: 'The stock at each location, whose `on_hand` add up to this one.',
    }),
  }),
})

export const StockReport = Type.Object({
  ...headFields,
  variants: Type.Array(StockRow),
  next_after: Type.Optional(
    Type.String({ description: 'The `after` of the next page. Absent on the last page.' }),
  ),
})

/* Rows of the database. */

export const GENERATION_STATES = ['serving', 'building', 'retired'] as const

export const Generation = Type.Object({
  generation: Type.Integer(),
  state: Type.Enum([...GENERATION_STATES]),
  time_zone: Type.String(),
  sequence: Type.Integer(),
  counted_at: Nullable(Timestamp),
  /** The payment attempts before it are counted. */
  payments_to: Nullable(Timestamp),
})
export type Generation = Static<typeof Generation>

export const MeasureFields = Object.fromEntries(
  MEASURES.map((name) => [name, Type.Integer()]),
) as Record<Measure, typeof Integer>

/** A part of a fact that belongs to a line of the order. Its ids are null where it belongs to none. */
export interface FactLine {
  product_id: string | null
  variant_id: string | null
  measures: Partial<Measures>
}

/** The place of a row in a list by time. */
export interface RowPlace {
  /** In microseconds since 1970. */
  at_us: number
  id: string
}

/** A range of days. Both days are included. */
export interface Period {
  from: string
  to: string
}

export const DIMENSIONS = [
  'all',
  'product',
  'variant',
  'coupon',
  'coupon_id',
  'affiliate',
  'source',
  'place',
  'customer',
  'cohort',
] as const
export type Dimension = (typeof DIMENSIONS)[number]
