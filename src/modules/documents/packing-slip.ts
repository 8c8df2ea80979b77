import type { Fulfillment } from '../orders/parcel-schema.ts'
import type { OrderRow } from '../orders/schema.ts'
import { deliveryAddress } from '../orders/ship-to.ts'
import type { DocumentStore } from './invoice.ts'
import type { PackingSlip } from './schema.ts'

/** The packing slip of a parcel: its content, without price or picture (decision 0081). */
export function packingSlipOf(
  store: DocumentStore,
  parcel: Fulfillment,
  order: OrderRow,
): PackingSlip {
  return {
    kind: 'packing_slip',
    ...store,
    order_number: order.order_number,
    ordered_at: order.placed_at ?? order.created_at,
    ship_to: deliveryAddress(order),
    is_test: order.is_test,
    cancelled_at: parcel.cancelled_at,
    fulfillment_number: parcel.fulfillment_number,
    carrier: parcel.carrier,
    service: parcel.service,
    tracking_number: parcel.tracking_number,
    lines: parcel.items.map(({ product_name: name, label, sku, quantity }) => ({
      name,
      label,
      sku,
      quantity,
    })),
    open_units: order.q_ordered - order.q_cancelled - order.q_packed - order.q_shipped,
  }
}
