import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, ref, Timestamp } from '../../kernel/schema.ts'
import { MerchantOrder, OrderItem, Tender } from '../orders/schema.ts'

/** The data of the event of a placed order. */
const PlacedData = Type.Object({
  order: ref(MerchantOrder),
  items: Type.Array(ref(OrderItem)),
  items_truncated: Type.Optional(
    Type.Literal(true, {
      description: 'True: the order has more than 100 lines, and `items` has the first 100.',
    }),
  ),
  tenders: Type.Array(Type.Object({ tender: Tender, amount_cents: Cents })),
  shipping: Type.Object({ method: Type.Enum(['standard', 'expedited']) }),
  subscriptions: Type.Array(Type.Object({ id: Id, variant_id: Id })),
  affiliate: Nullable(Type.Object({ referral_code: Type.String() })),
  sequence: Type.Integer({
    minimum: 1,
    description: "The position of this event in the store's feed.",
  }),
})
/** Without `sequence`, which the event gets after the commit. */
export type PlacedData = Omit<Static<typeof PlacedData>, 'sequence'>

/** The event as endpoints receive it. */
export const PlacedEvent = Type.Object({
  id: Type.String({
    ...Id,
    description: 'The id of the event, the same in every attempt. Skip an id that you have seen.',
  }),
  type: Type.Literal('commerce.order.placed.v1'),
  tenant_ref: Type.String(),
  created_at: Timestamp,
  data: PlacedData,
})
