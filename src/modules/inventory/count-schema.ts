import { type Static, Type } from 'typebox'
import { Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'
import { QUANTITY_MAX, Reason } from './schema.ts'

export const COUNT_STATES = ['open', 'posted', 'cancelled'] as const
export const CountState = Type.Enum([...COUNT_STATES])
export type CountState = Static<typeof CountState>

/** The most lines of a count: as many as people count in a day. A larger location is counted in parts. */
export const COUNT_LINES_MAX = 1_000

export const CountLine = Type.Object({
  variant_id: Id,
  sku: Type.String(),
  expected: Type.Integer({ description: 'What was on hand when the count began.' }),
  counted: Nullable(Type.Integer({ description: 'What was found. Null: not counted yet.' })),
  moved: Type.Integer({
    description:
      'What came and went between the beginning and the counting; 0 if the count is of the beginning.',
  }),
  difference: Nullable(
    Type.Integer({ description: '`counted - expected - moved`: what is posted.' }),
  ),
  reason: Nullable(Type.String()),
})
export type CountLine = Static<typeof CountLine>

const head = {
  id: Id,
  location_id: Type.String(),
  status: CountState,
  created_at: Timestamp,
  updated_at: Timestamp,
  posted_at: Nullable(Timestamp),
  cancelled_at: Nullable(Timestamp),
}

/** A cycle count without its lines. */
export const CountHead = Shared('StockCountHead', Type.Object(head))
export type CountHead = Static<typeof CountHead>

export const Count = Shared('StockCount', Type.Object({ ...head, lines: Type.Array(CountLine) }))
export type Count = Static<typeof Count>

export const NewCount = Type.Object({
  location_id: Type.String({ maxLength: 63 }),
  variant_ids: Type.Optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      minItems: 1,
      maxItems: COUNT_LINES_MAX,
      description: 'Left out: every variant that has stock at the location, or had some.',
    }),
  ),
})
export type NewCount = Static<typeof NewCount>

export const CountedLines = Type.Object({
  lines: Type.Array(
    Type.Object({
      variant_id: Type.String({ maxLength: 100 }),
      counted: Nullable(Type.Integer({ minimum: 0, maximum: QUANTITY_MAX })),
      as_of: Type.Optional(
        Type.Enum(['beginning', 'now'], {
          default: 'beginning',
          description:
            'Which moment `counted` describes. `beginning`: the units on the shelf when the count began; add units that left since, and leave out units that came since. `now`: the units on the shelf at this moment.',
        }),
      ),
      reason: Type.Optional(Nullable(Reason)),
    }),
    { minItems: 1, maxItems: COUNT_LINES_MAX },
  ),
})
export type CountedLines = Static<typeof CountedLines>

export const CountPosting = Type.Object({
  reason: Type.Optional(
    Type.Unsafe<string>({ ...Reason, description: 'For lines without a reason of their own.' }),
  ),
})
export type CountPosting = Static<typeof CountPosting>
