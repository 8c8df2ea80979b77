import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { Cents, Id, Nullable, ref } from '../../kernel/schema.ts'
import { ShippingMethod } from '../shipping/schema.ts'
import { defineEvent } from '../webhooks/define-event.ts'
import { PaymentRequest } from './payment-request-schema.ts'
import { MerchantOrder, OrderItem, type OrderRow, Tender } from './schema.ts'
import { forMerchant } from './show.ts'

/** The order as every event about one shows it: as it is after the change. */
const order = Type.Unsafe<MerchantOrder>({
  ...ref(MerchantOrder),
  description: 'The order, as it is after the change.',
})

/** Defines an event about an order. It shows the order first, and then its other members. */
export function defineOrderEvent<P extends TProperties>(
  type: string,
  { more, ...face }: { when: string; forEveryStore?: boolean; more: P },
) {
  const shape = Type.Object({ order, ...more })
  const data = Type.Unsafe<{ order: MerchantOrder } & Static<TObject<P>>>(shape)
  const event = defineEvent(type, { ...face, data })
  const emit = (tx: Tx, row: OrderRow, facts: Static<TObject<P>>) => {
    const { id: order_id, customer_ref } = row
    return event.emit(tx, { order: forMerchant(row), ...facts }, { order_id, customer_ref })
  }
  return { ...event, emit }
}

/** The event has no card data, and everything that an integrator needs to act. */
export const orderPlaced = defineOrderEvent('commerce.order.placed.v1', {
  when: 'An order was placed: its payment has been captured, at once or when its hold was released.',
  forEveryStore: true,
  more: {
    items: Type.Array(ref(OrderItem), { description: 'The lines of the order, at most 100.' }),
    items_truncated: Type.Optional(
      Type.Literal(true, {
        description: 'True: the order has more than 100 lines, and `items` has the first 100.',
      }),
    ),
    tenders: Type.Array(
      Type.Object({
        tender: Tender,
        amount_cents: Type.Integer({ ...Cents, description: 'What this tender has paid.' }),
      }),
      { description: 'What the order was paid with.' },
    ),
    shipping: Type.Object(
      { method: ShippingMethod },
      { description: 'How the order is to be shipped.' },
    ),
    subscriptions: Type.Array(Type.Object({ id: Id, variant_id: Id }), {
      description: 'The subscriptions that the order has started.',
    }),
    affiliate: Type.Unsafe<{ referral_code: string } | null>({
      ...Nullable(Type.Object({ referral_code: Type.String() })),
      description: 'The referral code that the order came with. Null: it came with none.',
    }),
  },
})
export type PlacedFacts = Parameters<typeof orderPlaced.emit>[2]

export const orderHeld = defineOrderEvent('commerce.order.held.v1', {
  when: 'An order must not ship: it was held by the merchant, for a review, or because of a dispute. `order.hold` says why.',
  more: {},
})

export const orderReleased = defineOrderEvent('commerce.order.released.v1', {
  when: 'The hold of an order has ended, and it can ship.',
  more: {},
})

export const paymentRequested = defineOrderEvent('commerce.order.payment_requested.v1', {
  when: 'The shopper was asked to pay: for the order of an exchange, or for a correction. There is one event for each mail.',
  more: { payment_request: ref(PaymentRequest) },
})

export const events = [orderPlaced, orderHeld, orderReleased, paymentRequested]
