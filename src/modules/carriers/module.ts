import { SECOND_MS } from '../../kernel/time.ts'
import { handle } from '../../platform/outbox.ts'
import { forGood, owner } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
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
  routes: async ({ carriers, key }) => {
    const { merchantRoutes } = await import('./routes.ts')
    const idempotencyKey = key('idempotency fingerprint')
    return { merchant: [merchantRoutes({ carriers, idempotencyKey })] }
  },
  loops: async (house) => {
    const [{ finishLabels }, { openLabels }] = await Promise.all([
      import('./jobs.ts'),
      import('./open.ts'),
    ])
    const deps = openLabels(house)
    return [loop('unfinished labels', SECOND_MS, (signal) => finishLabels(deps, signal))]
  },
  hears: async ({ carriers }) => {
    const [labels, { PARCEL_CANCELLED }, { WEBHOOK_RECEIVED }, { isOfCarrier, onCarrierEvent }] =
      await Promise.all([
        import('./void-label.ts'),
        import('../fulfillment/service.ts'),
        import('../provider-events/schema.ts'),
        import('./event-jobs.ts'),
      ])
    return {
      [PARCEL_CANCELLED.type]: handle(PARCEL_CANCELLED, (parcel, db) =>
        labels.voidOfCancelled({ carriers }, db, parcel),
      ),
      [labels.LABEL_UNUSED.type]: handle(labels.LABEL_UNUSED, (label, db) =>
        labels.voidUnused({ carriers }, db, label),
      ),
      [WEBHOOK_RECEIVED.type]: handle(WEBHOOK_RECEIVED, async (event, db) => {
        if (isOfCarrier(event)) await onCarrierEvent({ carriers }, db, event)
      }),
    }
  },
  due: async (house) => {
    const [{ dueLabels }, { openLabels }] = await Promise.all([
      import('./jobs.ts'),
      import('./open.ts'),
    ])
    return [{ rank: 'labels', work: [dueLabels(openLabels(house))] }]
  },
} as const satisfies Face
