import type { Tx } from '../../db/database.ts'
import * as webhooks from '../webhooks/service.ts'
import type { OrderRow } from './schema.ts'
import { forMerchant } from './show.ts'

type OrderEvent =
  | `commerce.order.${'held' | 'released' | 'refunded' | 'cancelled' | 'edited' | 'corrected' | 'shipped' | 'delivered' | 'payment_requested'}.v1`
  | `commerce.return.${'requested' | 'approved' | 'received' | 'exchanged' | 'exchange_released'}.v1`

/** Emits an event about an order, which shows the order as it now is. */
export const emitOrderEvent = (
  tx: Tx,
  type: OrderEvent,
  order: OrderRow,
  data: Record<string, unknown> = {},
) =>
  webhooks.emit(tx, {
    type,
    order_id: order.id,
    customer_ref: order.customer_ref,
    data: { order: forMerchant(order), ...data },
  })
