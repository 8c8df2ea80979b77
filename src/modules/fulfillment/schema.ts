import { type Static, Type } from 'typebox'
import { Id, Nullable, Pattern, ref, Timestamp } from '../../kernel/schema.ts'
import { Fulfillment, FulfillmentItem, Work } from '../orders/parcel-schema.ts'
import { OrderWithWork } from '../orders/schema.ts'

/** The operations whose keys are optional, as their answers are stored. */
export const KEYED = { ship: 'fulfillment_ship', bulk: 'fulfillment_bulk' } as const

export const RECALL_REASONS = ['lost', 'returned_to_sender', 'error'] as const

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const carrier = text(100)
const service = text(100)
const tracking_number = text(200)
const tracking_url = Type.Unsafe<string>({
  ...Pattern('^https?://\\S+$', 'must be an address that begins with http:// or https://', {
    maxLength: 2_000,
  }),
  description: 'Left out: made from the carrier and the tracking number, if the carrier is known.',
})
const weight_grams = Type.Integer({ minimum: 1, maximum: 1_000_000_000 })

/** A parcel as it is stored: how many of its units come from stock is not shown. */
export const FulfillmentRow = Type.Object({
  ...Fulfillment.properties,
  items: Type.Array(Type.Object({ ...FulfillmentItem.properties, stock_quantity: Type.Integer() })),
})
export type FulfillmentRow = Static<typeof FulfillmentRow>

const RequestedUnits = Type.Array(
  Type.Object({ order_item_id: Id, quantity: Type.Integer({ minimum: 1 }) }),
  { minItems: 1, maxItems: 500 },
)

const details = {
  carrier: Type.Optional(carrier),
  service: Type.Optional(service),
  weight_grams: Type.Optional(weight_grams),
}

const tracking = {
  tracking_number: Type.Optional(tracking_number),
  tracking_url: Type.Optional(tracking_url),
}

export const NewFulfillment = Type.Object({
  items: Type.Optional(
    Type.Unsafe<Static<typeof RequestedUnits>>({
      ...RequestedUnits,
      description: 'Left out: all units of the order that can be packed.',
    }),
  ),
  location_id: Type.Optional(
    Type.String({
      maxLength: 63,
      description: 'Left out: wherever the units lie; a parcel for each location.',
    }),
  ),
  ...details,
  ...tracking,
})
export type NewFulfillment = Static<typeof NewFulfillment>

export const Shipment = Type.Object({
  ...details,
  ...tracking,
  shipped_at: Type.Optional(
    Type.Unsafe<string>({ ...Timestamp, description: 'Left out: now. Never in the future.' }),
  ),
})
export type Shipment = Static<typeof Shipment>

export const Delivery = Type.Object({
  delivered_at: Type.Optional(
    Type.Unsafe<string>({ ...Timestamp, description: 'Left out: now. Never in the future.' }),
  ),
})
export type Delivery = Static<typeof Delivery>

export const Cancellation = Type.Object({
  reason: Type.Optional(
    Type.Enum(RECALL_REASONS, {
      description:
        'Required for a parcel that was shipped. Unless it is `lost`, its units are on hand again.',
    }),
  ),
})
export type Cancellation = Static<typeof Cancellation>

export const TrackingPatch = Type.Object({
  carrier: Type.Optional(Nullable(carrier)),
  service: Type.Optional(Nullable(service)),
  tracking_number: Type.Optional(Nullable(tracking_number)),
  tracking_url: Type.Optional(Nullable(tracking_url)),
})
export type TrackingPatch = Static<typeof TrackingPatch>

export const BULK_MAX = 500

export const BulkFulfillment = Type.Object({
  orders: Type.Array(
    Type.Object({
      order_id: Type.String({ maxLength: 100 }),
      items: Type.Optional(RequestedUnits),
      location_id: Type.Optional(Type.String({ maxLength: 63 })),
      ...details,
      ...tracking,
      ship: Type.Optional(
        Type.Boolean({ default: false, description: 'Ship the parcel in the same step.' }),
      ),
    }),
    { minItems: 1, maxItems: BULK_MAX },
  ),
})
export type BulkFulfillment = Static<typeof BulkFulfillment>

export const BulkResult = Type.Object({
  index: Type.Integer(),
  order_id: Type.String(),
  status: Type.Enum(['ok', 'error']),
  fulfillment: Type.Optional(ref(Fulfillment)),
  fulfillments: Type.Optional(Type.Array(ref(Fulfillment))),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
})
export type BulkResult = Static<typeof BulkResult>

/** An order of the pick queue. */
export const QueuedOrder = Type.Object({
  ...OrderWithWork.properties,
  open: Type.Array(ref(Work)),
})
