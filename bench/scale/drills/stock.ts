import { createRecount } from '../../../src/modules/inventory/jobs.ts'
import { PAGES_FREE, PAGES_TIMES_MAX } from '../compare.ts'
import type { FilledApp } from '../filled-app.ts'
import { countPages } from '../pages.ts'
import { ORDERS } from '../size.ts'
import type { Drill } from './drill.ts'

/** The nightly recount of one store, whose history only grows: the second, which continues the first. */
export async function compareRecounts({ admin, runtime }: FilledApp): Promise<Drill> {
  const alerts: unknown[] = []
  const logger = { error: (...alert: unknown[]) => void alerts.push(alert) }
  const step = createRecount({ database: runtime.workerDatabase, logger, days: 30 })
  const recountAll = async () => {
    while ((await step()) > 0);
  }
  await recountAll()
  const recount = async (tenant: string) => {
    await admin.query('update inventory_recounts set due_at = now() where tenant_ref = $1', [
      tenant,
    ])
    const began = performance.now()
    const { total } = await countPages(admin, recountAll)
    return { total, ms: performance.now() - began }
  }
  const full = await recount(ORDERS.full)
  const hundredth = await recount(ORDERS.hundredth)
  return {
    line:
      `stock recount: ${full.total} pages and ${full.ms.toFixed(0)} ms, ` +
      `of a hundredth ${hundredth.total} and ${hundredth.ms.toFixed(0)} ms; ${alerts.length} alerts`,
    holds: alerts.length === 0 && full.total <= PAGES_TIMES_MAX * hundredth.total + PAGES_FREE,
  }
}
