import { MINUTE_MS, SECOND_MS } from '../../kernel/time.ts'
import { handle } from '../../platform/outbox.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'
import type { ProviderEventDeps } from './provider-event-jobs.ts'

export const checkout = {
  name: 'checkout',
  is: 'prices a cart, takes its payment, places the order',
  uses: [
    'affiliates',
    'catalog',
    'customers',
    'entitlements',
    'fraud',
    'gift-cards',
    'inventory',
    'ledger',
    'marketing',
    'operations',
    'order-changes',
    'orders',
    'payments',
    'pricing',
    'provider-events',
    'returns',
    'shipping',
    'sites',
    'store-credit',
    'stores',
    'subscriptions',
  ],
  errors: ERRORS,
  routes: async (house) => {
    const [carts, exchanges, reviews, decisions, keys, { openCheckout }] = await Promise.all([
      import('./routes.ts'),
      import('./exchange-routes.ts'),
      import('./review-routes.ts'),
      import('./decide-payment-routes.ts'),
      import('./lookup-routes.ts'),
      import('./open.ts'),
    ])
    const deps = openCheckout(house)
    const { keepCart } = house.ports.checkout
    return {
      merchant: [exchanges.merchantRoutes(deps), reviews.merchantRoutes(deps), keys.merchantRoutes],
      storefront: [
        carts.storefrontRoutes({
          ...deps,
          keepCart: (db, cart) => keepCart(house.limits, db, cart),
        }),
        exchanges.storefrontRoutes(deps),
        keys.storefrontRoutes,
      ],
      operator: [decisions.operatorRoutes(deps)],
    }
  },
  loops: async (house) => {
    const [jobs, { openCheckout }] = await Promise.all([import('./jobs.ts'), import('./open.ts')])
    const deps = { ...openCheckout(house), database: house.workerDatabase }
    return [
      loop('unfinished payments', SECOND_MS, (signal) => jobs.reconcile(deps, signal)),
      loop('late approvals', SECOND_MS, (signal) => jobs.watchLateApprovals(deps, signal)),
      loop('expired authorisations', MINUTE_MS, (signal) =>
        jobs.expireAuthorizations(deps, signal),
      ),
      loop('expired payment requests', MINUTE_MS, (signal) =>
        jobs.expirePaymentRequests(deps, signal),
      ),
    ]
  },
  hears: async ({ payments, logger }) => {
    const [{ WEBHOOK_RECEIVED }, { readEventSubject }, { onProviderEvent }] = await Promise.all([
      import('../provider-events/schema.ts'),
      import('../provider-events/service.ts'),
      import('./provider-event-jobs.ts'),
    ])
    const deps: ProviderEventDeps = {
      payments,
      onAlert: (alert, message) => logger.error(alert, message),
    }
    return {
      [WEBHOOK_RECEIVED.type]: handle(WEBHOOK_RECEIVED, async (event, db) => {
        const subject = await readEventSubject(db, event)
        if (subject === null || subject.topic === 'cards') return
        await onProviderEvent(deps, db, event, subject)
      }),
    }
  },
  due: async (house) => {
    const [{ duePayments }, { openCheckout }] = await Promise.all([
      import('./jobs.ts'),
      import('./open.ts'),
    ])
    const deps = { ...openCheckout(house), database: house.workerDatabase }
    return [{ rank: 'payments', work: duePayments(deps) }]
  },
} as const satisfies Face
