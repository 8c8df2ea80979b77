import { type Static, Type } from 'typebox'
import { Cents, Id, Line, Nullable, OpenObject, Shared, Timestamp } from '../../kernel/schema.ts'

export const MATCHES = ['all', 'any'] as const
export type Match = (typeof MATCHES)[number]

export const FIELDS = [
  'total_spent_cents',
  'orders_count',
  'first_order_at',
  'last_order_at',
  'product',
  'subscription',
  'place',
  'consent',
] as const
export type Field = (typeof FIELDS)[number]

export const OPS = [
  'gte',
  'lte',
  'eq',
  'within_days',
  'not_within_days',
  'before',
  'after',
  'bought',
  'not_bought',
  'is',
  'is_not',
  'in',
  'not_in',
] as const

export const CONSENTS = ['given', 'withdrawn', 'none'] as const

/** How many conditions a segment may have in all its groups, and how deep groups may lie in groups. */
export const CONDITIONS_MAX = 50
export const DEPTH_MAX = 3

/** How many products, places or states one condition may name, and all conditions of a segment together. */
export const VALUES_MAX = 50
export const ALL_VALUES_MAX = 500

/** A condition or a group, as `conditions.ts` has checked it. */
export type Condition =
  | { field: 'total_spent_cents' | 'orders_count'; op: 'gte' | 'lte' | 'eq'; value: number }
  | {
      field: 'first_order_at' | 'last_order_at'
      op: 'within_days' | 'not_within_days'
      value: number
    }
  | { field: 'first_order_at' | 'last_order_at'; op: 'before' | 'after'; value: string }
  | { field: 'product'; op: 'bought' | 'not_bought'; value: string[] }
  | { field: 'subscription'; op: 'is' | 'is_not'; value: string[] }
  | { field: 'place'; op: 'in' | 'not_in'; value: string[] }
  | { field: 'consent'; op: 'is' | 'is_not'; value: (typeof CONSENTS)[number] }
  | Group

export interface Group {
  match: Match
  conditions: Condition[]
}

const MatchShape = Type.Enum([...MATCHES], {
  description: '`all`: every condition must hold. `any`: one of them.',
})

/**
 * The shape of a condition on the wire: which values go with which field is checked by `conditions.ts`,
 * whose refusals name the member that is wrong.
 */
const WireCondition = Type.Object(
  {
    field: Type.Optional(Type.Enum([...FIELDS])),
    op: Type.Optional(
      Type.Enum([...OPS], {
        description:
          '`total_spent_cents`, `orders_count`: `gte`, `lte`, `eq` with an integer. `first_order_at`, `last_order_at`: `within_days`, `not_within_days` with days, `before`, `after` with a time; they hold only for people who have ordered. `product`: `bought`, `not_bought` with product ids. `subscription`: `is`, `is_not` with states. `place`: `in`, `not_in` with countries (`US`) or states (`US-CA`) of the latest order. `consent`: `is`, `is_not` with `given`, `withdrawn` or `none`.',
      }),
    ),
    value: Type.Optional(
      Type.Unsafe<number | string | string[]>({
        anyOf: [
          { type: 'integer' },
          { type: 'string', maxLength: 100 },
          {
            type: 'array',
            items: { type: 'string', maxLength: 100 },
            minItems: 1,
            maxItems: VALUES_MAX,
          },
        ],
      }),
    ),
    match: Type.Optional(MatchShape),
    conditions: Type.Optional(
      Type.Array(OpenObject, {
        description: `In place of \`field\`, \`op\` and \`value\`: a group of conditions, with its \`match\`. Groups lie at most ${DEPTH_MAX} deep, and a segment has at most ${CONDITIONS_MAX} conditions in all of them.`,
      }),
    ),
  },
  { description: 'A condition on a person, or a group of conditions.' },
)

const tree = {
  match: MatchShape,
  conditions: Type.Array(WireCondition, { minItems: 1, maxItems: CONDITIONS_MAX }),
}

const Name = Line(100)

export const Segment = Shared(
  'Segment',
  Type.Object({
    id: Id,
    name: Name,
    match: MatchShape,
    conditions: Type.Array(WireCondition),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type Segment = Static<typeof Segment>

export const NewSegment = Type.Object({ name: Name, ...tree })
export type NewSegment = Static<typeof NewSegment>

export const SegmentPatch = Type.Object({
  name: Type.Optional(Name),
  match: Type.Optional(MatchShape),
  conditions: Type.Optional(tree.conditions),
})
export type SegmentPatch = Static<typeof SegmentPatch>

export const PreviewRequest = Type.Object(tree)
export type PreviewRequest = Static<typeof PreviewRequest>

/** A person as a preview shows them. */
export const SamplePerson = Type.Object({
  email: Type.String(),
  customer_ref: Nullable(Type.String()),
  orders_count: Type.Integer({ minimum: 0 }),
  total_spent_cents: Cents,
  last_order_at: Nullable(Timestamp),
  consent: Type.Enum([...CONSENTS]),
})

export const Counted = Type.Object({
  count: Type.Integer({ minimum: 0, description: 'People who meet the conditions.' }),
  consented_count: Type.Integer({
    minimum: 0,
    description: 'People among them who agreed to marketing mail. A campaign is sent to no others.',
  }),
})

export const SegmentPreview = Type.Object({
  ...Counted.properties,
  sample: Type.Array(SamplePerson, {
    description: 'Some of these people, in the order of their e-mail addresses.',
  }),
})

/** A person of a segment, to whom a mail may be written. */
export const Member = Type.Object({
  email: Type.String(),
  /** The key after which the next page begins. */
  email_folded: Type.String(),
  customer_ref: Nullable(Type.String()),
})
export type Member = Static<typeof Member>
