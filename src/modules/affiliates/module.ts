import { MINUTE_MS } from '../../kernel/time.ts'
import { forGood, MONEY, owner } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'

export const affiliates = {
  name: 'affiliates',
  is: 'who brings shoppers for a commission: codes, clicks, commissions, payouts',
  uses: ['entitlements', 'ledger', 'sites', 'stores', 'webhooks'],
  tables: {
    affiliate_attributions: owner('orders', 'which affiliate it came from, and no shopper'),
    affiliate_clicks: owner('affiliate_codes', 'a number, and no person'),
    affiliate_codes: owner('affiliates'),
    affiliate_commissions: forGood(MONEY),
    affiliate_devices: owner('affiliates', 'hashes of at most 20 browsers, until erased'),
    affiliate_payouts: forGood(MONEY),
    affiliate_settings: owner('stores'),
    affiliates: forGood('To pay what the store owes them, until erased; then amounts alone.'),
  },
  counted: {
    affiliates: 'Affiliates, applicants included.',
  },
  limits: () => import('./limits.ts'),
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
  routes: async (house) => {
    const [routes, payouts, pages, { openAffiliates }] = await Promise.all([
      import('./routes.ts'),
      import('./payout-routes.ts'),
      import('./storefront-routes.ts'),
      import('./open.ts'),
    ])
    const deps = openAffiliates(house)
    return {
      merchant: [routes.merchantRoutes(deps), payouts.merchantRoutes(deps)],
      storefront: [pages.storefrontRoutes(deps)],
    }
  },
  loops: async ({ workerDatabase: database }) => {
    const { approveDue } = await import('./jobs.ts')
    return [loop('commission approval', MINUTE_MS, (signal) => approveDue(database, signal))]
  },
  due: async () => {
    const { dueApprovals } = await import('./jobs.ts')
    return [{ rank: 'commissions', work: [dueApprovals] }]
  },
} as const satisfies Face
