import type { Resources } from '../../harness/resources.ts'
import { packOrder } from '../fulfillment/resources.ts'
import { placeOrder } from '../orders/resources.ts'

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/orders/:id/invoice.html': placeOrder,
    'GET /v1/merchant/orders/:id/invoice.pdf': placeOrder,
    'GET /v1/merchant/fulfillments/:id/packing-slip.html': packOrder,
    'GET /v1/merchant/fulfillments/:id/packing-slip.pdf': packOrder,
  },
}
