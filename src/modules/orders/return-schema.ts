import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

/** The returns of an order, and what a shopper can still send back, as an order shows them. */

export const RETURN_STATES = [
  'requested',
  'approved',
  'declined',
  'partially_received',
  'received',
  'closed',
  'cancelled',
] as const
export type ReturnState = (typeof RETURN_STATES)[number]

export const DISPOSITIONS = ['restock', 'damaged', 'quarantine', 'missing'] as const
export type Disposition = (typeof DISPOSITIONS)[number]

/** Units of one line of an order that come back. */
export const ReturnLine = Type.Object({
  id: Id,
  order_item_id: Id,
  variant_id: Id,
  sku: Type.String(),
  product_name: Type.String(),
  label: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  quantity: Type.Integer(),
  received_quantity: Type.Integer({ description: 'Units that have come back.' }),
  restocked_quantity: Type.Integer(),
  damaged_quantity: Type.Integer(),
  quarantined_quantity: Type.Integer({
    description: 'Units that are set aside until `/resolve` says what becomes of them.',
  }),
  missing_quantity: Type.Integer({
    description: 'Expected units that the merchant has marked as not coming.',
  }),
  disposition: Type.Unsafe<Disposition | 'mixed' | null>({
    ...Nullable(Type.Enum([...DISPOSITIONS, 'mixed'])),
    description: 'What became of the units so far; `mixed` if not of all of them the same.',
  }),
  refunded_quantity: Type.Integer({ description: 'Units that a receipt has refunded.' }),
  already_refunded_quantity: Type.Integer({
    description: 'Units that had been refunded before they came back.',
  }),
  refund_cents: Cents,
})
export type ReturnLine = Static<typeof ReturnLine>

export const EXCHANGE_STATES = ['waiting', 'placed', 'released'] as const

/** An order with new goods that takes the money of a return. */
export const ReturnExchange = Type.Object({
  id: Id,
  order_id: Type.Unsafe<string>({ ...Id, description: 'The order with the new goods.' }),
  status: Type.Enum([...EXCHANGE_STATES], {
    description:
      '`waiting`: the shopper has been asked to pay the rest. `placed`: its order is paid. `released`: its order was cancelled.',
  }),
  advance: Type.Boolean({
    description: 'True: the new goods are sent before the returned ones came.',
  }),
  amount_cents: Type.Unsafe<number>({
    ...Cents,
    description:
      "How much of the return's refund pays for the exchange. Of a cancelled exchange: only what its order has refunded to the shopper.",
  }),
  created_at: Timestamp,
  placed_at: Nullable(Timestamp),
  released_at: Nullable(Timestamp),
})
export type ReturnExchange = Static<typeof ReturnExchange>

/** Units of an order that come back. */
export const Return = Shared(
  'Return',
  Type.Object({
    id: Id,
    order_id: Id,
    return_number: Type.String({ examples: ['1001-R1'] }),
    status: Type.Enum([...RETURN_STATES]),
    requested_by: Type.Enum(['shopper', 'merchant']),
    note: Nullable(Type.String()),
    instructions: Nullable(Type.String()),
    label_url: Nullable(Type.String()),
    decline_reason: Nullable(Type.String()),
    lines: Type.Array(ReturnLine),
    refund_ids: Type.Array(Id),
    exchanges: Type.Array(ReturnExchange),
    created_at: Timestamp,
    updated_at: Timestamp,
    approved_at: Nullable(Timestamp),
    declined_at: Nullable(Timestamp),
    received_at: Type.Unsafe<string | null>({
      ...Nullable(Timestamp),
      description: 'When the last unit that was expected came, or was found missing.',
    }),
    closed_at: Nullable(Timestamp),
    cancelled_at: Nullable(Timestamp),
  }),
)
export type Return = Static<typeof Return>

export const NOT_RETURNABLE = [
  'not_shipped',
  'nothing_left',
  'window_closed',
  'final_sale',
] as const

/** How many units of a line a shopper can send back. */
export const Returnable = Type.Object({
  order_item_id: Id,
  quantity: Type.Integer({ description: 'Units that the shopper can send back now.' }),
  until: Type.Unsafe<string | null>({
    ...Nullable(Timestamp),
    description:
      'The end of the time for a return. Null: the store sets no limit, or nothing can be sent back.',
  }),
  reason: Type.Unsafe<(typeof NOT_RETURNABLE)[number] | null>({
    ...Nullable(Type.Enum([...NOT_RETURNABLE])),
    description: 'Why none can be sent back.',
  }),
})
export type Returnable = Static<typeof Returnable>
