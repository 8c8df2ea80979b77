import { type Static, Type } from 'typebox'
import { Cents, Email, Id, Line, Nullable, ref, Timestamp } from '../../kernel/schema.ts'
import { PaymentRequest } from '../orders/payment-request-schema.ts'
import { MerchantOrder, OrderItem, OrderRefund, ShipTo, Tender } from '../orders/schema.ts'
import { TaxPolicy } from '../pricing/schema.ts'
import { ShippingChange } from '../shipping/schema.ts'

/** Bodies and answers of corrections. */

/** How many days a shopper has to pay the difference of a correction, if the merchant does not say. */
export const PAY_DAYS = 7
const PAY_DAYS_MAX = 30

export const OrderCorrection = Type.Object({
  ship_to: Type.Optional(ShipTo),
  email: Type.Optional(Email),
  name: Type.Optional(Line(300, { description: "The shopper's name." })),
  ...ShippingChange.properties,
  tax: Type.Optional(Nullable(TaxPolicy)),
  void_labels: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'True: shipping labels that were bought for the old address are voided. Otherwise they are 409 `labels_bought`.',
    }),
  ),
  expires_in_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAY_DAYS_MAX,
      default: PAY_DAYS,
      description: 'How long the shopper has to pay, if the order costs more now.',
    }),
  ),
  expected_updated_at: Type.Optional(
    Type.Unsafe<string>({
      ...Timestamp,
      description:
        '`updated_at` of the order as it was read. If it has changed: 409 `stale_order`.',
    }),
  ),
  expected_total_cents: Type.Optional(
    Type.Integer({
      ...Cents,
      description: 'The total of the preview. If it is another by now: 409 `price_changed`.',
    }),
  ),
})
export type OrderCorrection = Static<typeof OrderCorrection>

const CHANGED = ['ship_to', 'email', 'name', 'shipping', 'tax'] as const
export type Corrected = (typeof CHANGED)[number]

/** The members of an order that a correction has changed. */
export const CorrectedMembers = Type.Array(Type.Enum([...CHANGED]), {
  description: 'What is corrected. Empty: the order was like that already.',
})

const shown = {
  changed: CorrectedMembers,
  delta_cents: Type.Integer({
    description:
      'The change of the total in cents: asked of the shopper if positive, refunded if negative.',
  }),
}

/** A shipping label that was bought for the earlier address. */
const LabelOfParcel = Type.Object({
  fulfillment_id: Id,
  fulfillment_number: Type.String(),
  tracking_number: Nullable(Type.String()),
})
export type LabelOfParcel = Static<typeof LabelOfParcel>

export const CorrectionPreview = Type.Object({
  ...shown,
  subtotal_cents: Cents,
  discount_cents: Cents,
  shipping_cents: Cents,
  tax_cents: Cents,
  total_before_cents: Cents,
  total_cents: Cents,
  currency: Type.String(),
  settlement: Type.Enum(['none', 'refund', 'payment_request'], {
    description: 'How the difference is settled. Nothing is ever charged without the shopper.',
  }),
  tenders: Type.Array(Type.Object({ charge_id: Id, tender: Tender, amount_cents: Cents }), {
    description: 'Where a refund would go.',
  }),
  labels: Type.Array(LabelOfParcel, {
    description: 'Labels with the old address, which `void_labels: true` voids.',
  }),
  updated_at: Type.Unsafe<string>({
    ...Timestamp,
    description: 'Send it as `expected_updated_at`, so that the order is corrected as it is shown.',
  }),
})
export type CorrectionPreview = Static<typeof CorrectionPreview>

export const OrderCorrected = Type.Object({
  order: ref(MerchantOrder),
  items: Type.Array(ref(OrderItem)),
  customer_name: Nullable(Type.String()),
  ...shown,
  applied: Type.Boolean({
    description:
      'False: the e-mail address and the name are corrected already, so that the payment request reaches the shopper, and stay so if it is withdrawn or expires. All else of the order is as before, and the order is held until it is paid.',
  }),
  refund: Nullable(ref(OrderRefund)),
  payment_request: Nullable(ref(PaymentRequest)),
})
