import { ref } from '../../kernel/schema.ts'
import { defineOrderEvent } from '../orders/events.ts'
import { Fulfillment } from '../orders/parcel-schema.ts'

export const orderShipped = defineOrderEvent('commerce.order.shipped.v1', {
  when: 'A parcel of an order was shipped. There is one event for each parcel.',
  more: { fulfillment: ref(Fulfillment) },
})

export const orderDelivered = defineOrderEvent('commerce.order.delivered.v1', {
  when: 'A parcel of an order has arrived. There is one event for each parcel.',
  more: { fulfillment: ref(Fulfillment) },
})

export const events = [orderShipped, orderDelivered]
