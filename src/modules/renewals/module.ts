import { SECOND_MS } from '../../kernel/time.ts'
import { handle } from '../../platform/outbox.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const renewals = {
  name: 'renewals',
  is: 'charges the subscriptions that are due, and tries declined ones again',
  uses: [
    'checkout',
    'operations',
    'orders',
    'payments',
    'provider-events',
    'shipping',
    'subscriptions',
  ],
  errors: ERRORS,
  routes: async (house) => {
    const [{ merchantRoutes }, { openCheckout }] = await Promise.all([
      import('./routes.ts'),
      import('../checkout/open.ts'),
    ])
    return { merchant: [merchantRoutes(openCheckout(house))] }
  },
  loops: async (house) => {
    const [{ createRenewalWorker }, { openCheckout }, { WAKE_RENEWALS }] = await Promise.all([
      import('./jobs.ts'),
      import('../checkout/open.ts'),
      import('../subscriptions/cycles.ts'),
    ])
    const deps = { ...openCheckout(house), database: house.workerDatabase }
    return [
      {
        name: 'renewals',
        everyMs: SECOND_MS,
        // A new card wakes it.
        wakeOn: [WAKE_RENEWALS],
        open: (onFree) => createRenewalWorker({ ...deps, onFree }),
      },
    ]
  },
  hears: async () => {
    const [{ WEBHOOK_RECEIVED }, { readEventSubject }, { onCardUpdate }] = await Promise.all([
      import('../provider-events/schema.ts'),
      import('../provider-events/service.ts'),
      import('./event-jobs.ts'),
    ])
    return {
      [WEBHOOK_RECEIVED.type]: handle(WEBHOOK_RECEIVED, async (event, db) => {
        const subject = await readEventSubject(db, event)
        if (subject?.topic === 'cards') await onCardUpdate(db, event, subject)
      }),
    }
  },
  due: async (house) => {
    const [{ dueRenewals }, { openCheckout }] = await Promise.all([
      import('./jobs.ts'),
      import('../checkout/open.ts'),
    ])
    return [{ rank: 'renewals', work: [dueRenewals(openCheckout(house))] }]
  },
} as const satisfies Face
