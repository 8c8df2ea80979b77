import { forGood, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const carriers = {
  name: 'carriers',
  is: 'shipping labels, bought and voided at carriers, and what carriers report of parcels',
  uses: ['documents', 'fulfillment', 'operations', 'order-changes', 'orders', 'provider-events'],
  tables: {
    carrier_labels: owner('orders', 'what was spent on carriers'),
    sim_shipments: forGood('The books of the simulated carrier, which stands in for a real one.'),
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
} as const satisfies Face
