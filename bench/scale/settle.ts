import type pg from 'pg'
import * as analytics from '../../src/modules/analytics/jobs.ts'
import * as ledger from '../../src/modules/ledger/jobs.ts'
import * as segments from '../../src/modules/segments/jobs.ts'
import * as webhooks from '../../src/modules/webhooks/jobs.ts'
import type { Runtime } from '../../src/runtime.ts'
import { FRESH, NEIGHBOUR, ORDERS } from './size.ts'

/** The stores that the drills shop in. */
const SOLD_IN = [ORDERS.full, FRESH, NEIGHBOUR]

/**
 * Numbers, counts and vacuums the orders of earlier drills, as a running worker and autovacuum would have
 * done by now. In a kept database they still wait for that, and every list of them would read the table
 * beside its index.
 */
export async function settle(admin: pg.Client, { workerDatabase: database }: Runtime) {
  await untilNoneIsLeft(() => ledger.chainNewJournals(database))
  await untilNoneIsLeft(() => webhooks.numberNewEvents(database))
  for (const table of ['analytics_generations', 'segment_positions']) {
    await admin.query(`update ${table} set due_at = now() where tenant_ref = any ($1)`, [SOLD_IN])
  }
  await untilNoneIsLeft(() => segments.countPeople(database))
  const isDue = `
    select from analytics_generations where tenant_ref = any ($1) and due_at <= now()`
  while ((await admin.query(isDue, [SOLD_IN])).rowCount !== 0) {
    for (const tenant of SOLD_IN) await analytics.stepOf(database.tenant(tenant))
  }
  // Without `index_cleanup` pages with a few dead rows stay as they are.
  await admin.query('vacuum (analyze, index_cleanup on)')
}

async function untilNoneIsLeft(step: () => Promise<number>): Promise<void> {
  while ((await step()) > 0);
}
