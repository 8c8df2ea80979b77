import { MINUTE_MS, SECOND_MS } from '../../kernel/time.ts'
import { bySlice, forGood, owner, STORE, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'
import { inventoryReservationsSlice } from './retention-queries.ts'

export const inventory = {
  name: 'inventory',
  is: 'stock by location: levels, reservations, counts, transfers, and what units have cost',
  uses: ['ledger', 'stores', 'webhooks'],
  tables: {
    inventory_cost_entries: forGood('What goods have cost: closed books do not change.'),
    inventory_costs: owner('variants'),
    inventory_counts: owner('inventory_levels'),
    inventory_discrepancies: owner('inventory_levels'),
    inventory_levels: owner('variants'),
    inventory_locations: forGood(STORE),
    inventory_movements: forGood('Recounts sum them: the stock of a store is proven by them.'),
    inventory_order_changes: owner('orders', 'so that a change is never made twice'),
    inventory_recounts: owner('stores', 'one row for each'),
    inventory_reservations: bySlice(
      'RETENTION_RESERVATION_DAYS',
      'released for longer than the period; until then with their order',
      inventoryReservationsSlice,
    ),
    inventory_settings: owner('variants'),
    inventory_unposted: until('posted to the ledger', 'stock journals'),
    stock_count_lines: owner('stock_counts'),
    stock_counts: forGood('Says why a level was adjusted, as its movements do.'),
  },
  counted: {
    locations: 'Stock locations, archived ones included.',
    stock_counts: 'Cycle counts, ended ones included.',
  },
  errors: ERRORS,
  events: () => import('./events.ts'),
  routes: async ({ key }) => {
    const { merchantRoutes } = await import('./routes.ts')
    return { merchant: [merchantRoutes({ idempotencyKey: key('idempotency fingerprint') })] }
  },
  loops: async ({ workerDatabase: database, logger, config }) => {
    const [{ createRecount }, { postStockJournals }] = await Promise.all([
      import('./jobs.ts'),
      import('./journal-jobs.ts'),
    ])
    return [
      loop('stock journals', SECOND_MS, (signal) => postStockJournals(database, signal)),
      loop(
        'stock recount',
        MINUTE_MS,
        createRecount({ database, logger, days: config.HISTORY_CHECK_DAYS }),
      ),
    ]
  },
} as const satisfies Face
