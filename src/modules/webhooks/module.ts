import { MINUTE_MS, SECOND_MS } from '../../kernel/time.ts'
import { byMonth, forGood, owner, STORE, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'
import { DELIVERY_SLICES, EVENT_SLICES } from './retention-queries.ts'

export const webhooks = {
  name: 'webhooks',
  is: 'events, numbered for each store, and their delivery to endpoints',
  uses: ['entitlements', 'stores'],
  tables: {
    webhook_attempts: byMonth('RETENTION_WEBHOOK_DAYS', 'the month of their delivery goes'),
    webhook_deliveries: byMonth(
      'RETENTION_WEBHOOK_DAYS',
      'a whole month is older than the period, and none of it is still to be sent',
      DELIVERY_SLICES,
    ),
    webhook_events: byMonth(
      'RETENTION_WEBHOOK_DAYS',
      'the month of their deliveries is gone',
      EVENT_SLICES,
    ),
    webhook_feeds: owner('stores'),
    webhook_lanes: until('their deliveries are sent', 'webhook dispatch'),
    webhook_queue: until('taken into a lane', 'webhook dispatch'),
    webhook_subscriptions: forGood(STORE),
  },
  limits: () => import('./limits.ts'),
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
  routes: async ({ database, operatorDatabase, key, safeFetch, limits, events }) => {
    const { merchantRoutes, operatorRoutes } = await import('./routes.ts')
    return {
      merchant: [merchantRoutes({ key: key('webhook secret'), fetch: safeFetch, limits, events })],
      operator: [operatorRoutes({ database, operator: operatorDatabase.allStores })],
    }
  },
  loops: async (house) => {
    const [jobs, { createDispatcher }, { openDispatch }, { WAKE_NUMBERING }, { WAKE_DISPATCH }] =
      await Promise.all([
        import('./jobs.ts'),
        import('./dispatcher.ts'),
        import('./open.ts'),
        import('./define-event.ts'),
        import('./redrive.ts'),
      ])
    const { workerDatabase: database, notifier, logger, ports } = house
    const number = async (signal: AbortSignal) => {
      const numbered = await jobs.numberNewEvents(database, {
        signal,
        onFault: (err, tenant_ref) =>
          logger.error({ err, tenant_ref }, 'the events of a store could not be numbered'),
        onNumbered: ports.webhooks.eventsNumbered,
      })
      if (numbered > 0) notifier.notify(WAKE_DISPATCH)
      return numbered
    }
    // A new event is numbered at once and then sent; the timers only help when a notification was lost.
    return [
      { ...loop('event numbering', SECOND_MS / 2, number), wakeOn: [WAKE_NUMBERING] },
      {
        name: 'webhook dispatch',
        everyMs: SECOND_MS / 2,
        wakeOn: [WAKE_DISPATCH],
        open: (onFree) => createDispatcher({ ...openDispatch(house), onFree }),
      },
      loop('webhook erasure', MINUTE_MS, (signal) => jobs.eraseDeliveredEvents(database, signal)),
    ]
  },
  due: async (house) => {
    const [{ dueNumbering }, { dueDeliveries }, { openDispatch }] = await Promise.all([
      import('./jobs.ts'),
      import('./dispatcher.ts'),
      import('./open.ts'),
    ])
    const work = [
      dueNumbering(house.ports.webhooks.eventsNumbered),
      dueDeliveries(openDispatch(house)),
    ]
    return [{ rank: 'events', work }]
  },
} as const satisfies Face
