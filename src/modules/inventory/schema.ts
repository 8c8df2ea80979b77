import { type Static, Type } from 'typebox'
import { Id, Line, Nullable, Pattern, Shared, Timestamp } from '../../kernel/schema.ts'

/**
 * The location of stock unless the merchant names another. Every store that tracks stock has it.
 */
export const DEFAULT_LOCATION = 'default'

/** The highest quantity: more units than any store has, and few enough that sums stay exact integers. */
export const QUANTITY_MAX = 1_000_000_000

export const MOVEMENT_KINDS = [
  'received',
  'allocated',
  'shipped',
  'released',
  'adjusted',
  'transferred',
] as const
export const MovementKind = Type.Enum([...MOVEMENT_KINDS])
export type MovementKind = Static<typeof MovementKind>

/** Units of a variant: those of an order line, or those that an edit adds or keeps. */
export interface StockLine {
  variant_id: string
  quantity: number
}

/** A locked level, and what the order at hand has `reserved` and `allocated` of it. */
export const LockedLevel = Type.Object({
  variant_id: Id,
  location_id: Type.String(),
  on_hand: Type.Integer(),
  /**
   * Units neither sold nor reserved. Negative where the merchant counted fewer units than were
   * sold.
   */
  free: Type.Integer(),
  allow_backorder: Type.Boolean(),
  tracked: Type.Boolean(),
  reserved: Type.Integer(),
  allocated: Type.Integer(),
  /** How many of the allocated units are in parcels. */
  packed: Type.Integer(),
  /** The order has a reservation here, though perhaps of no units. */
  has_reservation: Type.Boolean(),
  /** That reservation was released for good. */
  released: Type.Boolean(),
})
export type LockedLevel = Static<typeof LockedLevel>

/** A change of one level's counters. A move with a kind is recorded as a movement. */
export interface Move {
  variant_id: string
  location_id: string
  kind: MovementKind | null
  on_hand: number
  allocated: number
  reserved: number
  incoming?: number
  /** What all its units cost, where that is known. */
  cost_cents?: number
  /** The move's own reason, which replaces that of the cause. */
  reason?: string | null
}

/** The actor and the reason of a movement, and what it belongs to: a column of the movement each. */
export interface Cause {
  actor: string
  reason?: string | null
  order_id?: string
  purchase_order_id?: string
  transfer_id?: string
  count_id?: string
}

/** Units that an order has allocated at a location and not packed. */
export const WorkUnits = Type.Object({
  order_id: Id,
  variant_id: Id,
  location_id: Type.String(),
  /** Allocated and not packed. */
  open: Type.Integer(),
  /** How many of the open units are there. The others wait for stock, behind older orders. */
  ready: Type.Integer(),
})
export type WorkUnits = Static<typeof WorkUnits>

/** The units of a parcel that come from the stock of its location. */
export interface ParcelStock {
  order_id: string
  fulfillment_id: string
  location_id: string
  lines: readonly StockLine[]
}

/** A change of the counters of one level, and of its order's share of them, by a parcel. */
export interface ParcelMove {
  order_id: string
  fulfillment_id: string
  variant_id: string
  location_id: string
  /** A move with a kind is recorded as a movement. */
  kind: MovementKind | null
  on_hand: number
  allocated: number
  packed: number
  reason: string | null
}

const counters = {
  on_hand: Type.Integer({ description: 'Units at the location.' }),
  allocated: Type.Integer({ description: 'Units sold and not yet shipped.' }),
  reserved: Type.Integer({
    description: 'Units reserved for orders whose payment is in progress.',
  }),
  incoming: Type.Integer({
    description: 'Units ordered from vendors. They count as stock once received.',
  }),
  available: Type.Integer({ description: '`on_hand - allocated - reserved`' }),
}

export const Level = Type.Object({ location_id: Type.String(), ...counters })
export type Level = Static<typeof Level>

const item = {
  variant_id: Id,
  product_id: Id,
  sku: Type.String(),
  track_inventory: Type.Boolean(),
  allow_backorder: Type.Boolean(),
  low_stock_threshold: Nullable(Type.Integer()),
  ...counters,
  low: Type.Boolean({
    description:
      'True: stock is tracked, and `on_hand - allocated` is at or below `low_stock_threshold`.',
  }),
}

/** A variant and its stock over all locations. */
export const InventoryItem = Shared('InventoryItem', Type.Object(item))
export type InventoryItem = Static<typeof InventoryItem>

/** What the units on hand have cost, at all locations. */
export const StockCost = Type.Object({
  units: Type.Integer({ description: 'The units on hand at all locations.' }),
  value_cents: Type.Integer({ description: 'What these units have cost together, to the cent.' }),
  unit_cost_cents: Type.Integer({
    description: 'Their moving average, rounded. Without units, the last one.',
  }),
})
export type StockCost = Static<typeof StockCost>

/** A variant and its stock at each location. */
export const InventoryDetail = Shared(
  'InventoryDetail',
  Type.Object({
    ...item,
    levels: Type.Array(Level),
    cost: Type.Unsafe<StockCost | null>({
      ...Nullable(StockCost),
      description: 'Null until a purchase order with costs was received.',
    }),
  }),
)
export type InventoryDetail = Static<typeof InventoryDetail>

export const Settings = Type.Object({
  track_inventory: Type.Boolean(),
  allow_backorder: Type.Optional(Type.Boolean()),
  low_stock_threshold: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: QUANTITY_MAX }))),
})
export type Settings = Static<typeof Settings>

export const Reason = Type.String({ minLength: 1, maxLength: 500 })

const adjustment = {
  location_id: Type.Optional(Type.String({ maxLength: 63 })),
  delta: Type.Optional(Type.Integer({ minimum: -QUANTITY_MAX, maximum: QUANTITY_MAX })),
  set_on_hand: Type.Optional(Type.Integer({ minimum: 0, maximum: QUANTITY_MAX })),
  expected_on_hand: Type.Optional(Type.Integer({ minimum: -QUANTITY_MAX, maximum: QUANTITY_MAX })),
}

/** An adjustment of a level, by either `delta` or `set_on_hand`. */
export const Adjustment = Type.Object({ ...adjustment, reason: Reason })
export type Adjustment = Static<typeof Adjustment>

export const BULK_MAX = 500

export const BulkAdjustment = Type.Object({
  reason: Reason,
  adjustments: Type.Array(Type.Object({ variant_id: Type.String(), ...adjustment }), {
    minItems: 1,
    maxItems: BULK_MAX,
  }),
})
export type BulkAdjustment = Static<typeof BulkAdjustment>

/** The result of one row of a bulk adjustment. */
export const BulkResult = Type.Object({
  variant_id: Type.String(),
  level: Nullable(Level),
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
})
export type BulkResult = Static<typeof BulkResult>

export const Movement = Shared(
  'InventoryMovement',
  Type.Object({
    id: Id,
    variant_id: Id,
    location_id: Type.String(),
    kind: MovementKind,
    quantity: Type.Integer({ description: 'The number of units, negative for a decrease.' }),
    on_hand_after: Type.Integer(),
    allocated_after: Type.Integer(),
    order_id: Nullable(Id),
    fulfillment_id: Nullable(Id),
    return_id: Nullable(Id),
    purchase_order_id: Nullable(Id),
    transfer_id: Nullable(Id),
    count_id: Nullable(Id),
    actor: Type.String(),
    reason: Nullable(Type.String()),
    created_at: Timestamp,
  }),
)
export type Movement = Static<typeof Movement>

/** Units of a variant that are put on hand at a location. */
export interface PlacedUnits extends StockLine {
  location_id: string
}

/** Units that come back by a return. */
export interface ReturnedStock {
  order_id: string
  return_id: string
  units: readonly PlacedUnits[]
}

/** Units that go from one location to another. */
export const NewTransfer = Type.Object({
  variant_id: Type.String({ maxLength: 100 }),
  from_location_id: Type.String({ maxLength: 63 }),
  to_location_id: Type.String({ maxLength: 63 }),
  quantity: Type.Integer({ minimum: 1, maximum: QUANTITY_MAX }),
  reason: Reason,
})
export type NewTransfer = Static<typeof NewTransfer>

export const Transfer = Type.Object({
  id: Id,
  variant_id: Id,
  quantity: Type.Integer(),
  reason: Type.String(),
  from: Level,
  to: Level,
})
export type Transfer = Static<typeof Transfer>

/** A change of the cost of a variant's units. */
export const CostEntry = Shared(
  'InventoryCostEntry',
  Type.Object({
    id: Id,
    variant_id: Id,
    kind: Type.Enum(['opening', 'received', 'shipped', 'adjusted', 'landed_cost']),
    units: Type.Integer({ description: 'How many units came, negative for those that left.' }),
    cost_cents: Type.Integer({ description: 'What came from outside: a price or a landed cost.' }),
    value_cents: Type.Integer({ description: 'By how much the value of the stock has changed.' }),
    sold_cents: Type.Integer({ description: 'By how much the cost of goods sold has changed.' }),
    units_after: Type.Integer(),
    value_after_cents: Type.Integer(),
    movement_id: Nullable(Id),
    order_id: Nullable(Id),
    purchase_order_id: Nullable(Id),
    created_at: Timestamp,
  }),
)

export const Location = Shared(
  'InventoryLocation',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: Nullable(Timestamp),
  }),
)
export type Location = Static<typeof Location>

const LocationName = Line(200)

const LOCATION_ID = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'
const locationId = new RegExp(LOCATION_ID)

/** Whether a text has the form of a location's id. A text without it needs no query. */
export const isLocationId = (text: string): boolean => locationId.test(text)

export const NewLocation = Type.Object({
  id: Pattern(
    LOCATION_ID,
    'must be 1 to 63 lower-case letters, digits or hyphens, with no hyphen at either end',
  ),
  name: LocationName,
})
export type NewLocation = Static<typeof NewLocation>

export const LocationChange = Type.Object({ name: LocationName })

/** A variant whose unsold units have reached its threshold. */
export const LowStock = Type.Object({
  variant_id: Id,
  remaining: Type.Integer({ description: 'Units on hand and not sold.' }),
  low_stock_threshold: Type.Integer(),
})
export type LowStock = Static<typeof LowStock>

/** The place of a level, by which levels are listed. */
export const LevelKey = Type.Object({ variant_id: Id, location_id: Type.String() })
export type LevelKey = Static<typeof LevelKey>

/** A level, and the sums of its movements up to `seq`. */
export const CountedLevel = Type.Object({
  ...LevelKey.properties,
  on_hand: Type.Integer(),
  allocated: Type.Integer(),
  reserved: Type.Integer(),
  packed: Type.Integer(),
  /** The last movement in the sums. */
  seq: Type.Integer(),
  moved_on_hand: Type.Integer(),
  moved_allocated: Type.Integer(),
  /** Movements that were added to the sums just now. */
  added: Type.Integer(),
  /** Whether the sums started again from the first movement just now. */
  is_again: Type.Boolean(),
})
export type CountedLevel = Static<typeof CountedLevel>

/** A stored counter that differs from the recount. */
export const Discrepancy = Type.Object({
  variant_id: Id,
  location_id: Type.String(),
  counter: Type.Enum(['on_hand', 'allocated', 'reserved', 'held', 'packed'], {
    description:
      '`on_hand` and `allocated` differ from the movements; `reserved`, `held` (allocated) and `packed` from what orders have.',
  }),
  kept: Type.Integer({ description: 'The counter as it is stored.' }),
  counted: Type.Integer({ description: 'What the recount found.' }),
})
export type Discrepancy = Static<typeof Discrepancy>

export const SeenDiscrepancy = Shared(
  'InventoryDiscrepancy',
  Type.Object({
    ...Discrepancy.properties,
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
  }),
)
