import { type Static, Type } from 'typebox'
import { Nullable, PageOf, Shared, Timestamp } from '../../kernel/schema.ts'

const ClockState = Type.Enum(['ready', 'advancing', 'failed'], {
  description:
    '`advancing`: the time is being moved, and due work is done. `failed`: due work could not be done; the last entry of `ran` says which, and the time stands where it was due.',
})

/** The time to move to, in one of two ways. */
export const ClockMove = Type.Object({
  advance: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        "A duration of ISO 8601 in whole units, such as `P1M` or `P3DT12H`. Years to days go by the calendar of the store's time zone.",
    }),
  ),
  set: Type.Optional(Type.String({ format: 'date-time', description: 'A time of RFC 3339.' })),
})
export type ClockMove = Static<typeof ClockMove>

const time = { now: Timestamp, state: ClockState }

/** The time of a store. */
export const StoreTime = Shared('StoreTime', Type.Object(time))

export const ClockRun = Shared(
  'ClockRun',
  Type.Object({
    at: Type.String({ format: 'date-time', description: "In the store's time." }),
    kind: Type.String({ description: 'The kind of work, such as `gift_card_expiry`.' }),
    id: Nullable(Type.String({ description: 'The row that the work was done on.' })),
    outcome: Type.String(),
  }),
)

export const NextDue = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: "In the store's time." }),
    kind: Type.String({ description: 'As in `ran`.' }),
  },
  {
    description:
      'The next work of a sandbox that becomes due: a move that ends before it does nothing. Null where there is none, while the time is being moved, and for a store that is no sandbox.',
  },
)

export const TestClock = Type.Object({
  ...time,
  next_due: Nullable(NextDue),
  ...PageOf('ran', ClockRun).properties,
})

/** The row of a clock. A store that never moved its time has none, and machine time. */
export const ClockRow = Type.Object({
  ...time,
  offset_ms: Type.Integer(),
  move: Type.Integer(),
})
export type ClockRow = Static<typeof ClockRow>

/** A clock that a worker is moving. */
export const MovingClock = Type.Object({
  offset_ms: Type.Integer(),
  target: Timestamp,
  has_arrived: Type.Boolean(),
  move: Type.Integer(),
  waits: Type.Integer(),
  failures: Type.Integer(),
})
