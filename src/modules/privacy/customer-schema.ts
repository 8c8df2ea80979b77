import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'
import { Customer } from '../customers/schema.ts'
import { CustomerStats, GiftCardUse, SavedAddress } from '../orders/customer-schema.ts'
import { Return } from '../orders/return-schema.ts'
import { MerchantOrder } from '../orders/schema.ts'
import { Subscription } from '../subscriptions/schema.ts'

const { customer_ref, person_id, email, name, tags } = Customer.properties
const { customer_ref: _, ...stats } = CustomerStats.properties

const fields = {
  customer_ref,
  person_id,
  email,
  name,
  ...stats,
  currency: Type.String({ description: "The store's currency. All sums are of payments in it." }),
  store_credit_cents: Cents,
  active_subscriptions: Type.Integer({ minimum: 0 }),
  pricing_groups: Type.Array(Type.Object({ id: Id, name: Type.String() })),
  tags,
}

/** A customer of a store, with the sums of their orders. */
export const CustomerRow = Shared('MerchantCustomer', Type.Object(fields))
export type CustomerRow = Static<typeof CustomerRow>

export const CustomerProfile = Shared(
  'MerchantCustomerProfile',
  Type.Object({
    ...fields,
    first_seen_at: Timestamp,
    addresses: Type.Array(SavedAddress),
    orders: Type.Array(MerchantOrder, { description: 'The ten latest orders.' }),
    returns: Type.Array(Return, { description: 'The returns of these orders.' }),
    subscriptions: Type.Array(Subscription, { description: 'The ten latest subscriptions.' }),
    gift_cards_used: Type.Array(GiftCardUse),
    affiliate: Nullable(Type.Object({ id: Id })),
  }),
)
