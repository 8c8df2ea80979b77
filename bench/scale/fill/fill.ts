import pg from 'pg'
import { Database } from '../../../src/db/database.ts'
import { roleUrl } from '../../../src/db/roles.ts'
import { deriveKey } from '../../../src/kernel/tokens.ts'
import { RESOURCES } from '../../../test/harness/all-resources.ts'
import { listStoreSizes, type Size } from '../size.ts'
import { AFFILIATE_STEPS } from './affiliates.ts'
import { AFTER_SALE_STEPS } from './after-sale.ts'
import { ANALYTICS_STEPS, countJournals } from './analytics.ts'
import { AUDIT_STEPS } from './audit.ts'
import { BILLING_STEPS } from './billing.ts'
import { CAMPAIGN_STEPS } from './campaigns.ts'
import { CATALOG_STEPS } from './catalog.ts'
import { customerSteps } from './customers.ts'
import { FRAUD_STEPS } from './fraud.ts'
import { GIFT_CARD_STEPS } from './gift-cards.ts'
import { chainJournals, LEDGER_STEPS } from './ledger.ts'
import { ORDER_STEPS } from './orders.ts'
import { PAYMENT_STEPS } from './payments.ts'
import { countOrders, PEOPLE_STEPS } from './people.ts'
import { planSteps, type Step } from './plan.ts'
import { SHOPPER_MAIL_STEPS } from './shopper-mail.ts'
import { STOCK_STEPS } from './stock.ts'
import { STORE_STEPS } from './stores.ts'
import { SUBSCRIPTION_STEPS } from './subscriptions.ts'
import { TEST_CLOCK_STEPS } from './test-clock.ts'
import { WEBHOOK_STEPS } from './webhooks.ts'

export interface FillOptions {
  /** The address of the database, for the superuser. */
  url: string
  secretKey: string
  size: Size
  /** Called after each step, with its name and seconds. */
  onStep?: (name: string, seconds: number) => void
}

/**
 * Fills a migrated database. The rows are those that the platform itself would have written; triggers and
 * foreign keys are off meanwhile, and the torture test proves afterwards that they would have held.
 */
export async function fill({ url, secretKey, size, onStep }: FillOptions): Promise<void> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    onStep?.(name, (performance.now() - began) / 1_000)
  }
  const steps: Step[] = [
    ...planSteps(listStoreSizes(size)),
    ...STORE_STEPS,
    ...CATALOG_STEPS,
    ...customerSteps(deriveKey(secretKey, 'customers')),
    ...ORDER_STEPS,
    ...AFTER_SALE_STEPS,
    ...SUBSCRIPTION_STEPS,
    ...PAYMENT_STEPS,
    ...GIFT_CARD_STEPS,
    ...STOCK_STEPS,
    ...AFFILIATE_STEPS,
    ...LEDGER_STEPS,
    ...WEBHOOK_STEPS,
    ...SHOPPER_MAIL_STEPS,
    ...CAMPAIGN_STEPS,
    ...FRAUD_STEPS,
    ...AUDIT_STEPS,
    ...TEST_CLOCK_STEPS,
    ...RESOURCES.flatMap(({ scale }) => scale?.fill ?? []),
    ...ANALYTICS_STEPS,
    ...PEOPLE_STEPS,
    ...BILLING_STEPS,
  ]
  try {
    await admin.query(
      `set session_replication_role = replica; set jit = off; set work_mem = '256MB'; set timezone = 'UTC'`,
    )
    for (const [name, sql] of steps) await timed(name, () => admin.query(sql))
    const worker = new Database({ url: roleUrl(url, 'fd_worker', secretKey), name: 'fill', max: 5 })
    await timed('chain of the ledger', () => chainJournals(admin, worker))
    // Without statistics the loop would read whole tables, which it does in no real store.
    await timed('analyze', () => admin.query('analyze'))
    await timed('figures', () => countJournals(worker))
    await timed('orders of people', () => countOrders(worker))
    await worker.close()
    await admin.query('drop schema scale cascade')
    // Also for the pages of index-only scans, which need to know that all rows are visible.
    await timed('vacuum and analyze', () => admin.query('vacuum (analyze)'))
  } finally {
    await admin.end()
  }
}
