import { type Static, Type } from 'typebox'
import { AMOUNT_CENTS_MAX, Cents, Id, Nullable, Pattern, ref } from '../../kernel/schema.ts'
import { Movement } from '../inventory/schema.ts'
import {
  DISPOSITIONS,
  RETURN_STATES,
  Return,
  ReturnExchange,
  ReturnLine,
} from '../orders/return-schema.ts'
import { OrderRefund, Tender } from '../orders/schema.ts'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

/** An id that may be any text: one that is no id is answered as not found. */
const SomeId = Type.String({ maxLength: 200 })

const Quantity = Type.Integer({ minimum: 1, maximum: 1_000_000 })

/** The most lines an order can have. */
const LINES_MAX = 500

const Reason = text(2_000)

const RequestedLines = Type.Array(
  Type.Object({
    order_item_id: SomeId,
    quantity: Quantity,
    reason: Type.Optional(Nullable(Reason)),
  }),
  { minItems: 1, maxItems: LINES_MAX },
)
export type RequestedUnits = Static<typeof RequestedLines>

const guidance = {
  instructions: Type.Optional(Nullable(text(5_000))),
  label_url: Type.Optional(
    Nullable(
      Pattern('^https?://\\S+$', 'must be an address that begins with http:// or https://', {
        maxLength: 2_000,
      }),
    ),
  ),
}

export const NewReturn = Type.Object({
  order_id: SomeId,
  lines: RequestedLines,
  note: Type.Optional(Nullable(text(2_000))),
  ...guidance,
})
export type NewReturn = Static<typeof NewReturn>

export const ReturnRequest = Type.Object({
  customer_ref: Type.String({
    maxLength: 200,
    description: "The customer of the order. Another customer's order is a 404.",
  }),
  lines: RequestedLines,
})
export type ReturnRequest = Static<typeof ReturnRequest>

export const Approval = Type.Object(guidance)
export type Approval = Static<typeof Approval>

export const Refusal = Type.Object({ reason: Reason })

const fee = Type.Integer({ minimum: 0, maximum: AMOUNT_CENTS_MAX })

const Location = Type.Optional(
  Type.String({ maxLength: 63, description: 'Where the units are. Left out: `default`.' }),
)

/** Refuses unknown members: this moves money, so a misspelt member must not be ignored. */
const STRICT = { additionalProperties: false }

export const Receipt = Type.Object(
  {
    lines: Type.Array(
      Type.Object(
        {
          return_line_id: SomeId,
          received_quantity: Quantity,
          disposition: Type.Enum([...DISPOSITIONS]),
        },
        STRICT,
      ),
      {
        maxItems: LINES_MAX,
        description:
          'What has come since the last receipt. A line may be named once for each disposition. Empty: only tries again to refund what came before.',
      },
    ),
    location_id: Location,
    refund: Type.Object(
      {
        method: Type.Enum(['original', 'store_credit', 'none', 'later'], {
          description:
            '`none`: the units are not refunded. `later`: nothing is decided yet; an exchange can take the money, and a receipt without lines settles the rest.',
        }),
        restocking_fee_cents: Type.Optional(fee),
        refund_shipping_cents: Type.Optional(fee),
      },
      STRICT,
    ),
  },
  STRICT,
)
export type Receipt = Static<typeof Receipt>

export const Resolution = Type.Object({
  lines: Type.Array(
    Type.Object({
      return_line_id: SomeId,
      quantity: Quantity,
      disposition: Type.Enum(['restock', 'damaged']),
    }),
    { minItems: 1, maxItems: LINES_MAX },
  ),
  location_id: Type.Optional(
    Type.String({
      maxLength: 63,
      description:
        'The location that restocked units are put into. Left out: the location where they are in quarantine.',
    }),
  ),
})
export type Resolution = Static<typeof Resolution>

export const Received = Type.Object({
  return: ref(Return),
  refund: Nullable(OrderRefund),
  movements: Type.Array(ref(Movement)),
  failure: Type.Unsafe<{ reason: string; refunded_cents: number } | null>({
    ...Nullable(Type.Object({ reason: Type.String(), refunded_cents: Cents })),
    description:
      'Not null: the gateway refused the refund, or a part of it. The goods are received all the same; a receipt without lines tries again.',
  }),
})

export const Resolved = Type.Object({
  return: ref(Return),
  movements: Type.Array(ref(Movement)),
})

export const ReceiptPreview = Type.Object({
  status: Type.Enum([...RETURN_STATES], {
    description: 'What the return becomes, if the refund succeeds.',
  }),
  lines: Type.Array(
    Type.Object({
      return_line_id: Id,
      received_quantity: Type.Integer(),
      missing_quantity: Type.Integer(),
      refunded_quantity: Type.Integer(),
      already_refunded_quantity: Type.Integer({
        description: 'Units that were refunded before: they come back without money.',
      }),
      refund_cents: Cents,
    }),
  ),
  refund: Nullable(
    Type.Object({
      method: Type.Enum(['original', 'store_credit']),
      amount_cents: Cents,
      product_cents: Cents,
      tax_cents: Cents,
      shipping_cents: Cents,
      restocking_fee_cents: Cents,
      currency: Type.String(),
      tenders: Type.Array(
        Type.Object({ charge_id: Type.String(), tender: Tender, amount_cents: Cents }),
      ),
    }),
  ),
  restocked: Type.Array(
    Type.Object({ variant_id: Id, location_id: Type.String(), quantity: Type.Integer() }),
    { description: 'Units that go back to stock.' },
  ),
  refundable_cents: Type.Integer({ description: 'What can be refunded of the order now.' }),
  remaining_cents: Type.Integer({ description: 'What could be refunded after this receipt.' }),
})
export type ReceiptPreview = Static<typeof ReceiptPreview>

/** A line as it is stored. */
const { received_quantity: _received, disposition: _disposition, ...stored } = ReturnLine.properties
export const ReturnLineRow = Type.Object({
  ...stored,
  quarantine_location_id: Nullable(Type.String()),
  waived_quantity: Type.Integer(),
})
export type ReturnLineRow = Static<typeof ReturnLineRow>

export const ReturnRow = Type.Object({
  ...Return.properties,
  lines: Type.Array(ReturnLineRow),
})
export type ReturnRow = Static<typeof ReturnRow>

const Share = Type.Object({
  return_line_id: Id,
  quantity: Type.Integer(),
  refund_cents: Type.Integer(),
})

export const ReceiptRow = Type.Object({
  id: Id,
  return_id: Id,
  status: Type.Enum(['pending', 'settled', 'failed']),
  refund_id: Nullable(Id),
  shares: Type.Array(Share),
  movement_ids: Type.Array(Id),
  created_by: Type.String(),
})
export type ReceiptRow = Static<typeof ReceiptRow>

/** An exchange as it is stored. */
export const ExchangeRow = Type.Object({
  ...ReturnExchange.properties,
  return_id: Id,
  from_waived_cents: Type.Integer(),
  pay_days: Type.Integer(),
  refund_id: Nullable(Id),
  created_by: Type.String(),
})
export type ExchangeRow = Static<typeof ExchangeRow>

/** The units that all returns of a line have settled so far. */
export const SettledUnits = Type.Object({
  order_item_id: Id,
  refunded: Type.Integer(),
  already_refunded: Type.Integer(),
  waived: Type.Integer(),
})
export type SettledUnits = Static<typeof SettledUnits>
