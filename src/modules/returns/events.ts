import { Type } from 'typebox'
import { Cents, Nullable, ref } from '../../kernel/schema.ts'
import { EventRefund } from '../order-changes/events.ts'
import { defineOrderEvent } from '../orders/events.ts'
import { Return, ReturnExchange } from '../orders/return-schema.ts'

const returned = {
  return: Type.Unsafe<Return>({
    ...ref(Return),
    description: 'The return, with null in place of the texts of people and of its label.',
  }),
}

const exchanged = {
  ...returned,
  exchange: Type.Object(ReturnExchange.properties, {
    description: 'The exchange. `order` is the returned order, and not that of the exchange.',
  }),
}

export const returnRequested = defineOrderEvent('commerce.return.requested.v1', {
  when: 'A shopper has asked to send units back, or the merchant has made a return.',
  more: returned,
})

export const returnApproved = defineOrderEvent('commerce.return.approved.v1', {
  when: 'The merchant has approved a return, or made one: the shopper may send the units.',
  more: returned,
})

export const returnReceived = defineOrderEvent('commerce.return.received.v1', {
  when: 'Units of a return have come, and their money is settled or its refund has failed. There is one event for each receipt.',
  more: {
    ...returned,
    refund: Type.Unsafe<EventRefund | null>({
      ...Nullable(ref(EventRefund)),
      description: 'What was refunded for these units. Null: nothing was.',
    }),
  },
})

export const returnExchanged = defineOrderEvent('commerce.return.exchanged.v1', {
  when: 'The order of an exchange was placed, paid from the return.',
  more: exchanged,
})

export const exchangeReleased = defineOrderEvent('commerce.return.exchange_released.v1', {
  when: 'The order of an exchange was cancelled, and the return has its money back.',
  more: {
    ...exchanged,
    released_cents: Type.Integer({ ...Cents, description: 'What the return has got back.' }),
  },
})

export const events = [
  returnRequested,
  returnApproved,
  returnReceived,
  returnExchanged,
  exchangeReleased,
]
