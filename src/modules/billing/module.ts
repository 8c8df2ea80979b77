import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts'
import { forGood, owner, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'

const INVOICES =
  'What the operator bills: kept as the law asks, with the store and no shopper in it.'

export const billing = {
  name: 'billing',
  is: 'what a store pays the operator: plans, usage, invoices',
  uses: ['documents', 'entitlements', 'media', 'stores'],
  tables: {
    api_call_writers: until('their process has added nothing for a week', 'billing upkeep'),
    api_calls: until('their month is closed; its usage has their sum', 'billing'),
    billing_accounts: owner('stores', 'one row for each'),
    billing_credit_notes: forGood(INVOICES),
    billing_invoice_lines: owner('billing_invoices'),
    billing_invoices: forGood(`${INVOICES} Drafts go when their month costs nothing.`),
    billing_issuers: forGood(INVOICES),
    billing_payments: forGood(INVOICES),
    billing_plans: forGood('What stores have agreed to pay.'),
    billing_reminders: owner('billing_invoices'),
    billing_store_plans: forGood('What stores have agreed to pay.'),
    billing_usage: forGood(INVOICES),
  },
  errors: ERRORS,
  routes: async ({ pdfs, database, operatorDatabase, key }) => {
    const [{ merchantRoutes }, { operatorRoutes }] = await Promise.all([
      import('./routes.ts'),
      import('./operator-routes.ts'),
    ])
    const idempotencyKey = key('idempotency fingerprint')
    const operator = operatorDatabase.allStores
    return {
      merchant: [merchantRoutes({ pdfs })],
      operator: [operatorRoutes({ database, operator, idempotencyKey })],
    }
  },
  loops: async ({ workerDatabase: database }) => {
    const { countAndClose, deleteIdleWriters, remindDue } = await import('./jobs.ts')
    return [
      loop('billing', 30 * SECOND_MS, (signal) => countAndClose(database, signal)),
      loop('billing reminders', MINUTE_MS, (signal) => remindDue(database, signal)),
      loop('billing upkeep', HOUR_MS, () => deleteIdleWriters(database)),
    ]
  },
} as const satisfies Face
