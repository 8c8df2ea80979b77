import { type Static, Type } from 'typebox'
import { Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

/** The parcels of an order, and what is still to be packed, as an order shows them. */

export const FULFILLMENT_STATES = ['pending', 'shipped', 'delivered', 'cancelled'] as const
export type FulfillmentState = (typeof FULFILLMENT_STATES)[number]

export const FulfillmentItem = Type.Object({
  order_item_id: Id,
  variant_id: Id,
  sku: Type.String(),
  product_name: Type.String(),
  label: Nullable(Type.String()),
  quantity: Type.Integer(),
})

/** A parcel of an order. */
export const Fulfillment = Shared(
  'Fulfillment',
  Type.Object({
    id: Id,
    order_id: Id,
    fulfillment_number: Type.String({ examples: ['1001-F1'] }),
    status: Type.Enum(FULFILLMENT_STATES),
    location_id: Type.String({ description: 'The location that the parcel leaves from.' }),
    items: Type.Array(FulfillmentItem),
    carrier: Nullable(Type.String()),
    service: Nullable(Type.String()),
    tracking_number: Nullable(Type.String()),
    tracking_url: Nullable(Type.String()),
    weight_grams: Nullable(Type.Integer()),
    cancel_reason: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    shipped_at: Nullable(Timestamp),
    delivered_at: Nullable(Timestamp),
    cancelled_at: Nullable(Timestamp),
  }),
)
export type Fulfillment = Static<typeof Fulfillment>

/** Units of a line to be packed at a location. */
export const WorkItem = Type.Object({
  order_item_id: Id,
  variant_id: Id,
  sku: Type.String(),
  product_name: Type.String(),
  label: Nullable(Type.String()),
  quantity: Type.Integer({ description: 'Units that are neither packed nor shipped.' }),
  ready: Type.Integer({
    description: 'Of these, the units that can be packed now. The others wait for stock.',
  }),
})
export type WorkItem = Static<typeof WorkItem>

/** The open units of an order at one location. */
export const Work = Shared(
  'FulfillmentWork',
  Type.Object({ location_id: Type.String(), items: Type.Array(WorkItem) }),
)
export type Work = Static<typeof Work>
