import { type Static, Type } from 'typebox'
import {
  AMOUNT_CENTS_MAX,
  Amount,
  Currency,
  Email,
  Id,
  Line,
  Nullable,
  Shared,
  Timestamp,
} from '../../kernel/schema.ts'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const contact = {
  name: Line(200),
  email: Nullable(Email),
  phone: Nullable(text(50)),
  address: Nullable(text(1_000)),
  lead_time_days: Nullable(
    Type.Integer({
      minimum: 0,
      maximum: 730,
      description: 'How long goods take from the order to their arrival.',
    }),
  ),
  notes: Nullable(text(2_000)),
}

/** A vendor: it sells goods to the store. */
export const Vendor = Shared(
  'Vendor',
  Type.Object({
    id: Id,
    ...contact,
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: Nullable(Timestamp),
  }),
)
export type Vendor = Static<typeof Vendor>

const optionalContact = {
  email: Type.Optional(contact.email),
  phone: Type.Optional(contact.phone),
  address: Type.Optional(contact.address),
  lead_time_days: Type.Optional(contact.lead_time_days),
  notes: Type.Optional(contact.notes),
}

export const NewVendor = Type.Object({ name: contact.name, ...optionalContact })
export type NewVendor = Static<typeof NewVendor>

export const VendorPatch = Type.Object({
  name: Type.Optional(contact.name),
  ...optionalContact,
  archived: Type.Optional(
    Type.Boolean({ description: 'An archived vendor gets no new purchase orders.' }),
  ),
})
export type VendorPatch = Static<typeof VendorPatch>

export const PO_STATES = [
  'draft',
  'ordered',
  'partially_received',
  'received',
  'closed_short',
  'cancelled',
] as const
export const PurchaseOrderState = Type.Enum([...PO_STATES])
export type PurchaseOrderState = Static<typeof PurchaseOrderState>

/** The most lines of a purchase order: as many as a vendor's sheet has. Larger deliveries are several orders. */
export const LINES_MAX = 500
export const QUANTITY_MAX = 1_000_000

export const PurchaseLine = Type.Object({
  id: Id,
  variant_id: Id,
  sku: Type.String(),
  quantity: Type.Integer({ description: 'How many were ordered.' }),
  received_quantity: Type.Integer({ description: 'How many are in stock so far.' }),
  rejected_quantity: Type.Integer({ description: 'How many came and were not accepted so far.' }),
  open_quantity: Type.Integer({ description: 'How many are still expected.' }),
  unit_cost_cents: Type.Integer(),
  unit_weight_grams: Nullable(Type.Integer()),
})
export type PurchaseLine = Static<typeof PurchaseLine>

const head = {
  id: Id,
  po_number: Type.String(),
  vendor_id: Id,
  location_id: Type.String(),
  status: PurchaseOrderState,
  currency: Type.String(),
  expected_at: Nullable(Timestamp),
  notes: Nullable(Type.String()),
  over_receipt_percent: Type.Integer(),
  subtotal_cents: Type.Integer({ description: 'What all lines cost.' }),
  shipping_cents: Type.Integer(),
  total_cents: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  ordered_at: Nullable(Timestamp),
  received_at: Nullable(Timestamp),
  closed_at: Nullable(Timestamp),
  cancelled_at: Nullable(Timestamp),
}

/** A purchase order without its lines. */
export const PurchaseOrderHead = Shared('PurchaseOrderHead', Type.Object(head))
export type PurchaseOrderHead = Static<typeof PurchaseOrderHead>

export const CostAllocation = Type.Object({
  line_id: Id,
  variant_id: Id,
  amount_cents: Type.Integer({ description: 'The share of the line.' }),
  on_hand_units: Type.Integer({ description: 'Units of the line that are still there.' }),
  on_hand_cents: Type.Integer({ description: 'What of the share raised the value of the stock.' }),
  sold_units: Type.Integer({ description: 'Units of the line that have left since.' }),
  sold_cents: Type.Integer({ description: 'What of the share raised the cost of goods sold.' }),
})
export type CostAllocation = Static<typeof CostAllocation>

export const SPLITS = ['value', 'quantity', 'weight'] as const
export const Split = Type.Enum([...SPLITS])
export type Split = Static<typeof Split>

/** A cost that became known after the goods came. */
export const LandedCost = Type.Object({
  id: Id,
  description: Type.String(),
  amount_cents: Type.Integer(),
  split_by: Split,
  allocations: Type.Array(CostAllocation),
  created_at: Timestamp,
})
export type LandedCost = Static<typeof LandedCost>

export const PurchaseOrder = Shared(
  'PurchaseOrder',
  Type.Object({ ...head, lines: Type.Array(PurchaseLine), costs: Type.Array(LandedCost) }),
)
export type PurchaseOrder = Static<typeof PurchaseOrder>

export const NewLine = Type.Object({
  variant_id: Type.String({ maxLength: 100 }),
  quantity: Type.Integer({ minimum: 1, maximum: QUANTITY_MAX }),
  unit_cost_cents: Type.Integer({ minimum: 0, maximum: AMOUNT_CENTS_MAX }),
  unit_weight_grams: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: 'The weight of one unit. Landed costs can be split by weight.',
      }),
    ),
  ),
})
export type NewLine = Static<typeof NewLine>

const order = {
  expected_at: Type.Optional(Nullable(Timestamp)),
  notes: Type.Optional(Nullable(text(2_000))),
  shipping_cents: Type.Optional(Type.Integer({ minimum: 0, maximum: AMOUNT_CENTS_MAX })),
  over_receipt_percent: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 0,
      description: 'How many percent more than was ordered may be received of each line.',
    }),
  ),
}

const Lines = Type.Array(NewLine, { minItems: 1, maxItems: LINES_MAX })

export const NewPurchaseOrder = Type.Object({
  vendor_id: Type.String({ maxLength: 100 }),
  location_id: Type.Optional(
    Type.String({
      maxLength: 63,
      description: 'The location that receives the goods. Left out: `default`.',
    }),
  ),
  currency: Type.Optional(
    Type.Unsafe<string>({ ...Currency, description: "The store's own, which is the default." }),
  ),
  ...order,
  lines: Lines,
})
export type NewPurchaseOrder = Static<typeof NewPurchaseOrder>

export const PurchaseOrderPatch = Type.Object({
  vendor_id: Type.Optional(Type.String({ maxLength: 100 })),
  location_id: Type.Optional(Type.String({ maxLength: 63 })),
  ...order,
  lines: Type.Optional(
    Type.Unsafe<Static<typeof Lines>>({ ...Lines, description: 'Replaces all lines.' }),
  ),
})
export type PurchaseOrderPatch = Static<typeof PurchaseOrderPatch>

export const ReceivedTotals = Type.Object({
  lines: Type.Array(
    Type.Object({
      line_id: Id,
      quantity: Type.Integer({
        minimum: 0,
        maximum: 2 * QUANTITY_MAX,
        description: 'How many units are in stock so far, over all receipts.',
      }),
      rejected_quantity: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 2 * QUANTITY_MAX,
          description: 'How many were not accepted so far. Left out: as many as before.',
        }),
      ),
      reason: Type.Optional(text(500)),
    }),
    { minItems: 1, maxItems: LINES_MAX },
  ),
})
export type ReceivedTotals = Static<typeof ReceivedTotals>

/** One delivery, by what it added. */
export const Receipt = Shared(
  'PurchaseReceipt',
  Type.Object({
    id: Id,
    number: Type.Integer(),
    lines: Type.Array(
      Type.Object({
        line_id: Id,
        variant_id: Id,
        added: Type.Integer({ description: 'Units that this receipt put into stock.' }),
        rejected: Type.Integer({ description: 'Units of this receipt that were not accepted.' }),
        reason: Nullable(Type.String()),
      }),
    ),
    created_at: Timestamp,
  }),
)
export type Receipt = Static<typeof Receipt>

/** The result of a receipt for a line: the totals, and the units that were added to them. */
export const ReceivedLine = Type.Object({
  line_id: Id,
  variant_id: Id,
  received_quantity: Type.Integer(),
  rejected_quantity: Type.Integer(),
  open_quantity: Type.Integer(),
  added: Type.Integer({ description: 'By how much `received_quantity` has grown.' }),
  added_rejected: Type.Integer({ description: 'By how much `rejected_quantity` has grown.' }),
})
export type ReceivedLine = Static<typeof ReceivedLine>

export const NewCost = Type.Object({
  description: text(500),
  amount_cents: Amount,
  split_by: Split,
})
export type NewCost = Static<typeof NewCost>

/** Units of a line that came together, and which of all units of the variant they were. */
export const LinePart = Type.Object({
  line_id: Id,
  added: Type.Integer(),
  arrived_after: Type.Integer(),
})
export type LinePart = Static<typeof LinePart>

/** How much of a variant to order, with the numbers it follows from. */
export const Suggestion = Type.Object({
  variant_id: Id,
  sku: Type.String(),
  sold_units: Type.Integer({ description: 'Units sold within `sold_days`.' }),
  sold_days: Type.Integer({
    description: 'The days that were looked at: 28, or fewer of a variant that sells very often.',
  }),
  velocity_per_day: Type.Number({ description: '`sold_units / sold_days`' }),
  lead_time_days: Type.Integer({
    description: 'Of the vendor it was ordered from last, else the `lead_time_days` of the query.',
  }),
  vendor_id: Nullable(Id),
  needed: Type.Integer({ description: '`velocity_per_day * lead_time_days`, rounded up' }),
  available: Type.Integer({ description: '`on_hand - allocated - reserved`, at all locations' }),
  incoming: Type.Integer(),
  suggested: Type.Integer({ description: '`needed - available - incoming`' }),
})
export type Suggestion = Static<typeof Suggestion>
